package app

import (
	"os"
	"time"

	"adze/internal/platform/config"
	"adze/internal/platform/osproc"
	"adze/internal/tool"
	"adze/internal/tools/bash"
	"adze/internal/tools/read"
)

// A catalogued tool is one line of the catalogue of tools: those that are there, and those to come.
type catalogued struct {
	name    string
	aliases string
	state   string // core, deferred, conditional or experimental
	doc     string
}

// catalogue declares every tool of the product. The tool reference is generated from it.
func catalogue() []catalogued {
	return []catalogued{
		{"Bash", "Shell", "core", "run a shell command"},
		{"Read", "", "core", "read a text file"},
		{"Edit", "", "core", "replace a string in a file"},
		{"Write", "", "core", "create or replace a file"},
		{"NotebookEdit", "", "core", "change a cell of a notebook"},
		{"Glob", "", "core", "find files by name"},
		{"Grep", "", "core", "find content by regular expression"},
		{"Agent", "Task", "core", "start a sub-agent"},
		{"AskUserQuestion", "", "core", "put a question to the user"},
		{"TaskCreate", "", "core", "add to the task list"},
		{"TaskGet", "", "core", "look at one task"},
		{"TaskList", "", "core", "show the task list"},
		{"TaskUpdate", "", "core", "change a task"},
		{"TodoWrite", "", "conditional", "replace the to-do list, where there is no task list"},
		{"TaskOutput", "", "core", "read the output of a background task"},
		{"TaskStop", "", "core", "stop a background task"},
		{"EnterPlanMode", "", "core", "ask to plan before acting"},
		{"ExitPlanMode", "", "core", "submit the plan"},
		{"VerifyPlanExecution", "", "conditional", "check that a plan was carried out"},
		{"WebFetch", "", "core", "fetch a page and extract an answer"},
		{"WebSearch", "", "core", "search the web"},
		{"LSP", "", "conditional", "definitions, references and diagnostics of a language server"},
		{"Skill", "", "core", "execute a skill"},
		{"Workflow", "", "experimental", "run a scripted workflow of agents"},
		{"Sleep", "", "experimental", "wait without holding the shell"},
		{"SearchExtraTools", "ToolSearch", "conditional", "find deferred tools"},
		{"ExecuteExtraTool", "", "conditional", "run a deferred tool"},
		{"StructuredOutput", "", "conditional", "return the final answer as checked JSON"},
		{"SendMessage", "", "deferred", "send a message to an agent"},
		{"TeamCreate", "", "deferred", "create a team of agents"},
		{"TeamDelete", "", "deferred", "dissolve a team of agents"},
		{"EnterWorktree", "", "deferred", "move into a git worktree"},
		{"ExitWorktree", "", "deferred", "leave a git worktree"},
		{"CronCreate", "", "deferred", "schedule a prompt"},
		{"CronDelete", "", "deferred", "remove a scheduled prompt"},
		{"CronList", "", "deferred", "list scheduled prompts"},
		{"ListMcpResources", "", "deferred", "list the resources of servers"},
		{"ReadMcpResource", "", "deferred", "read a resource of a server"},
		{"Brief", "", "deferred", "send the user a short message"},
		{"PowerShell", "", "conditional", "run a PowerShell command"},
		{"DiscoverSkills", "", "experimental", "search for skills"},
		{"RemoteTrigger", "", "experimental", "manage agents that are started from afar"},
		{"Monitor", "", "experimental", "watch a source and report events"},
		{"SendUserFile", "", "experimental", "hand a file to the user"},
		{"PushNotification", "", "experimental", "notify the user's device"},
		{"SubscribePR", "subscribe_pr_activity", "experimental", "receive the events of a pull request"},
		{"WebBrowser", "", "experimental", "drive a browser"},
		{"Snip", "", "experimental", "cut a span out of the conversation"},
		{"CtxInspect", "", "experimental", "inspect the use of context"},
		{"ListPeers", "", "experimental", "list other sessions on this machine"},
	}
}

// simpleTools are what is left with ADZE_SIMPLE.
var simpleTools = [...]string{"Bash", "Read", "Edit"}

// builtinTools is the visible list of the tools there are. Programs are run by runner, which the
// caller closes.
func builtinTools(s *config.Settings, dir string, runner *osproc.Runner) []tool.Tool {
	here := func() string { return dir }
	return []tool.Tool{
		bash.New(bash.Config{
			Dir: here, Runner: runner, Env: func() []string { return shellEnv(s) },
			Timeout: milliseconds(s, "shell.defaultTimeoutMs"), MaxTimeout: milliseconds(s, "shell.maxTimeoutMs"),
		}),
		read.New(read.Config{Dir: here, MaxBytes: int64(s.Int("read.maxBytes")), MaxTokens: s.Int("read.maxTokens")}),
	}
}

// shellEnv returns the environment of commands.
func shellEnv(s *config.Settings) []string {
	environ := osproc.ScrubEnv(os.Environ())
	if s.Bool("ADZE_SUBPROCESS_ENV_SCRUB") {
		environ = osproc.DropSecrets(environ, s.Strings("shell.passEnv"))
	}
	return environ
}

func milliseconds(s *config.Settings, key string) time.Duration {
	return time.Duration(s.Int(key)) * time.Millisecond
}
