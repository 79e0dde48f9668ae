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
	toolplace "adze/internal/tool/place"
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
	"adze/internal/tools/structured"
	"adze/internal/tools/taskoutput"
	"adze/internal/tools/taskstop"
	"adze/internal/tools/write"
)

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
	// model returns the model that reads the results; nil means that the user does.
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
	// the window is; without them the model is not offered it.
	stale   snip.Marker
	inspect func() string
	// output takes the value that a turn has to come to.
	output *structured.Output
	// made is given what the writing tools share, which has to be waited for before the history is
	// closed. It may be nil: no tool is run.
	made func(*change.Files)
}

// tools is the list of all tools. One that lacks what it needs is in it, and says so when it is to be offered.
func (b toolbox) tools() []tool.Tool {
	if b.shell == nil {
		b.shell = still(b.dir, nil)
	}
	if b.home == "" {
		b.plan.File = nil
	}
	files, shell, at := b.files(), b.shell.config(b), b.place()
	shell.Files = files
	return []tool.Tool{
		bash.New(shell),
		powershell.New(inPowerShell(shell)),
		read.New(b.reading()),
		edit.New(edit.Config{Files: files, WholeOnly: !b.settings.Bool("edit.allowCovered")}),
		write.New(write.Config{Files: files}),
		notebook.New(notebook.Config{Files: files}),
		glob.New(glob.Config{Config: at, Engine: b.engine}),
		grep.New(grep.Config{Config: at, Engine: b.engine}),
		taskoutput.New(b.shell.tasks),
		taskstop.New(b.shell.tasks),
		plan.Enter(b.plan),
		plan.Exit(b.plan),
		snip.New(b.stale),
		ctxinspect.New(b.inspect),
		b.output,
	}
}

// reading returns what Read needs.
func (b toolbox) reading() read.Config {
	s := b.settings
	c := read.Config{
		Dir: b.shell.dir.here, MaxBytes: int64(s.Int("read.maxBytes")), MaxTokens: s.Int("read.maxTokens"),
		State: b.state, Repeat: !s.Bool("read.dedup"), Exempt: s.Strings("read.malwareReminderExempt"),
		Denied: b.hidden, CountTokens: b.count,
	}
	if b.model != nil {
		c.Model = func() string { return b.model().ID }
		c.Images = func() bool { return b.model().Images }
		c.Documents = func() bool { return b.model().Documents }
	}
	return c
}

// files returns what the tools that write share; nil without a state home.
func (b toolbox) files() *change.Files {
	if b.home == "" {
		return nil
	}
	files := &change.Files{
		Dir: b.shell.dir.here, State: b.state, History: b.history, Hidden: b.hidden, Log: b.log,
		Replacer:  replace.New(filepath.Join(b.home, "locks")),
		Listeners: []change.Listener{searched{b.engine}},
	}
	if b.made != nil {
		b.made(files)
	}
	return files
}

// place returns where the tools that search do so.
func (b toolbox) place() toolplace.Config {
	return toolplace.Config{Dir: b.shell.dir.here, Denied: b.denials}
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
