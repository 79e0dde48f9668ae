package app

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"adze/internal/confine"
	"adze/internal/model/catalog"
	"adze/internal/platform/config"
	"adze/internal/platform/envfile"
	"adze/internal/platform/filestate"
	"adze/internal/platform/osproc"
	"adze/internal/platform/replace"
	"adze/internal/platform/search"
	"adze/internal/session/window"
	"adze/internal/tool"
	"adze/internal/tool/change"
	"adze/internal/tools/bash"
	"adze/internal/tools/ctxinspect"
	"adze/internal/tools/edit"
	"adze/internal/tools/glob"
	"adze/internal/tools/grep"
	"adze/internal/tools/notebook"
	"adze/internal/tools/plan"
	"adze/internal/tools/powershell"
	"adze/internal/tools/read"
	"adze/internal/tools/snip"
	"adze/internal/tools/taskoutput"
	"adze/internal/tools/taskstop"
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
		{"TaskStop", "KillShell", "core", "stop a background task"},
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
var simpleTools = [...]string{bash.Name, powershell.Name, read.Name, edit.Name}

// windowTools names the tools that the context window makes use of.
func windowTools() window.ToolNames { return window.ToolNames{Read: read.Name, Edit: edit.Name} }

// snipTool is the tool with which the model says what can be cut out.
const snipTool = snip.Name

// A toolbox is what the built-in tools of a session are made with.
type toolbox struct {
	vars     *envfile.File
	settings *config.Settings
	dir      string
	runner   *osproc.Runner       // closed by the caller
	shell    *shelling            // nil means that commands leave nothing behind
	sandbox  *confine.Confinement // nil means that commands are not confined
	state    *filestate.Store
	// home is the state home. Without one there are no locks, and so no tools that write.
	home    string
	history change.History // nil keeps none
	// model returns the model that reads the results; nil means that a person does.
	model func() catalog.Model
	// count asks the provider how many tokens a text is. It may be nil.
	count func(ctx context.Context, text string) (int, error)
	log   *slog.Logger
	// engine searches; closed by the caller.
	engine *search.Engine
	// hidden reports whether a rule keeps a path from being read; nil means that none does.
	hidden func(path string) bool
	// hides reports whether any rule does; nil means that one may.
	hides func() bool
	// plan is how the model plans; without a file it cannot.
	plan plan.Config
	// stale takes the model's word for what can be cut out of the conversation, and inspect says how full
	// the window is; nil means that the model is not offered it.
	stale   snip.Marker
	inspect func() string
	// made is given what the writing tools share, which has to be waited for before the history is
	// closed; nil means that no tool is run.
	made func(*change.Files)
}

// tools is the visible list of the tools there are.
func (b toolbox) tools() []tool.Tool {
	s := b.settings
	if b.shell == nil {
		b.shell = still(b.dir, nil)
	}
	here := b.shell.dir.here
	reading := read.Config{
		Dir: here, MaxBytes: int64(s.Int("read.maxBytes")), MaxTokens: s.Int("read.maxTokens"),
		State: b.state, Repeat: !s.Bool("read.dedup"), Exempt: s.Strings("read.malwareReminderExempt"),
		Denied: b.hidden, CountTokens: b.count,
	}
	if b.model != nil {
		reading.Model = func() string { return b.model().ID }
		reading.Images = func() bool { return b.model().Images }
		reading.Documents = func() bool { return b.model().Documents }
	}
	var files *change.Files
	if b.home != "" {
		files = &change.Files{
			Dir: here, State: b.state, History: b.history, Hidden: b.hidden, Log: b.log,
			Replacer:  replace.New(filepath.Join(b.home, "locks")),
			Listeners: []change.Listener{searched{b.engine}},
		}
		if b.made != nil {
			b.made(files)
		}
	}
	shell := b.shell.config(b)
	shell.Files = files
	list := []tool.Tool{
		bash.New(shell),
		powershell.New(inPowerShell(shell)),
		read.New(reading),
		glob.New(glob.Config{Dir: here, Engine: b.engine, Denied: b.denials}),
		grep.New(grep.Config{Dir: here, Engine: b.engine, Denied: b.denials}),
	}
	if b.shell.tasks != nil {
		list = append(list, taskoutput.New(b.shell.tasks), taskstop.New(b.shell.tasks))
	}
	if b.stale != nil {
		list = append(list, snip.New(b.stale))
	}
	if b.inspect != nil {
		list = append(list, ctxinspect.New(b.inspect))
	}
	if b.home == "" {
		return list
	}
	if b.plan.File != nil {
		list = append(list, plan.Enter(b.plan), plan.Exit(b.plan))
	}
	return append(list,
		edit.New(edit.Config{Files: files, WholeOnly: !s.Bool("edit.allowCovered")}),
		write.New(write.Config{Files: files}),
		notebook.New(notebook.Config{Files: files}),
	)
}

// denials returns what says of a path that a rule hides it; nil means that none hides anything now.
func (b toolbox) denials() func(path string) string {
	if b.hidden == nil || b.hides != nil && !b.hides() {
		return nil
	}
	return func(path string) string {
		if b.hidden(path) {
			return "a deny rule"
		}
		return ""
	}
}

// searched tells the search engine of changes, so that it never answers from what a file once held.
type searched struct{ engine *search.Engine }

func (s searched) Changed(_ context.Context, path string) error {
	s.engine.Changed(path)
	return nil
}

// newEngine returns the search engine that the settings ask for.
func newEngine(s *config.Settings, dir string, warn func(string)) *search.Engine {
	kind, err := search.ParseKind(s.Text("search.engine"))
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

// environ returns our environment with the variables of the settings.
func environ(s *config.Settings) []string {
	env := os.Environ()
	for _, v := range s.Env() {
		env = append(env, v.Name+"="+v.Value)
	}
	return env
}

// shellEnv returns the environment of commands.
func shellEnv(s *config.Settings) []string {
	env := osproc.ScrubEnv(environ(s))
	if s.Bool("ADZE_SUBPROCESS_ENV_SCRUB") {
		env = osproc.DropSecrets(env, s.Strings("shell.passEnv"))
	}
	return env
}

func milliseconds(s *config.Settings, key string) time.Duration {
	return time.Duration(s.Int(key)) * time.Millisecond
}
