package app

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"adze/internal/model/catalog"
	"adze/internal/platform/config"
	"adze/internal/platform/filestate"
	"adze/internal/platform/osproc"
	"adze/internal/platform/replace"
	"adze/internal/platform/search"
	"adze/internal/tool"
	"adze/internal/tool/change"
	"adze/internal/tools/bash"
	"adze/internal/tools/edit"
	"adze/internal/tools/glob"
	"adze/internal/tools/grep"
	"adze/internal/tools/notebook"
	"adze/internal/tools/read"
	"adze/internal/tools/write"
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
		{"Read", "", "core", "read a text, picture, PDF or notebook"},
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

// A toolbox is what the built-in tools of a session are made with.
type toolbox struct {
	settings *config.Settings
	dir      string
	runner   *osproc.Runner // closed by the caller
	state    *filestate.Store
	// home is the state home. Without one there are no locks, and so no tools that write.
	home    string
	history change.History // nil keeps none
	// model returns the model that reads the results; nil means that a person does.
	model func() catalog.Model
	log   *slog.Logger
	// engine searches; closed by the caller.
	engine *search.Engine
}

// tools is the visible list of the tools there are.
func (b toolbox) tools() []tool.Tool {
	s := b.settings
	here := func() string { return b.dir }
	reading := read.Config{
		Dir: here, MaxBytes: int64(s.Int("read.maxBytes")), MaxTokens: s.Int("read.maxTokens"),
		State: b.state, Repeat: !s.Bool("read.dedup"), Exempt: s.Strings("read.malwareReminderExempt"),
	}
	if b.model != nil {
		reading.Model = func() string { return b.model().ID }
		reading.Images = func() bool { return b.model().Images }
		reading.Documents = func() bool { return b.model().Documents }
	}
	list := []tool.Tool{
		bash.New(bash.Config{
			Dir: here, Runner: b.runner, Env: func() []string { return shellEnv(s) },
			Timeout: milliseconds(s, "shell.defaultTimeoutMs"), MaxTimeout: milliseconds(s, "shell.maxTimeoutMs"),
		}),
		read.New(reading),
		glob.New(glob.Config{Dir: here, Engine: b.engine}),
		grep.New(grep.Config{Dir: here, Engine: b.engine}),
	}
	if b.home == "" {
		return list
	}
	files := &change.Files{
		Dir: here, State: b.state, History: b.history, Log: b.log,
		Replacer:  replace.New(filepath.Join(b.home, "locks")),
		Listeners: []change.Listener{searched{b.engine}},
	}
	return append(list,
		edit.New(edit.Config{Files: files, WholeOnly: !s.Bool("edit.allowCovered")}),
		write.New(write.Config{Files: files}),
		notebook.New(notebook.Config{Files: files}),
	)
}

// searched tells the search engine of changes, so that it never answers from what a file once held.
type searched struct{ engine *search.Engine }

func (s searched) Changed(_ context.Context, path string) error {
	s.engine.Changed(path)
	return nil
}

// newEngine returns the search engine that the settings ask for.
func newEngine(s *config.Settings, dir string, warn func(string)) *search.Engine {
	kind, err := search.ParseKind(s.Text("search.engine"), func(string) string { return "" })
	if err != nil {
		warn(err.Error())
	}
	if !s.Bool("ADZE_USE_BUILTIN_RIPGREP") {
		kind = search.System
	}
	return search.New(search.Config{
		Kind: kind, Timeout: milliseconds(s, "search.timeoutMs"), Warn: warn,
		WorkDirs: func() []string { return []string{dir} },
	})
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
