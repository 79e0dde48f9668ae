package wire

import (
	"context"
	"errors"
	"runtime"
	"slices"

	cut "adze/internal/agent/snip"
	"adze/internal/app/extras"
	"adze/internal/app/questions"
	"adze/internal/app/servers"
	"adze/internal/app/settings"
	"adze/internal/app/skills"
	"adze/internal/app/subagents"
	"adze/internal/app/transcript"
	"adze/internal/app/webtools"
	"adze/internal/confine"
	"adze/internal/mcp/serve"
	"adze/internal/model/catalog"
	"adze/internal/permission"
	"adze/internal/platform/gitrepo"
	"adze/internal/platform/osproc"
	"adze/internal/platform/search"
	"adze/internal/session/window"
	"adze/internal/tool"
	"adze/internal/tool/command"
	searchplace "adze/internal/tool/place"
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
	"adze/internal/tools/webfetch"
	"adze/internal/tools/websearch"
	"adze/internal/tools/write"
)

// toolDeps are what the built-in tools of a conversation are made with.
type toolDeps struct {
	resultReader
	experiments
	delegates
	values  *settings.Values
	runner  *osproc.Runner
	engine  *search.Engine
	gate    *permission.Gate
	sandbox *confine.Confinement // nil if commands are not confined
	git     *gitrepo.Judge       // nil if the tool may have its own
	shell   *shellState
	files   *fileRecords
	plan    plan.Config
	web     webfetch.Config
	// unattended says that no user waits while a command runs, and that a turn waits for those in the background.
	unattended bool
	// calls says where calls come from: nothing can outlive a single one.
	calls   Calls
	lookup  websearch.Config
	extras  *extras.Extras // nil if no tool is looked up
	servers *servers.Share // nil if no server is used
	// output takes the value that a turn must end in.
	output *structured.Output
}

// A resultReader is who reads the results of tools.
type resultReader struct {
	// model returns the model that reads the results; nil if the user does.
	model func() catalog.Model
	// count asks the provider how many tokens a text is; it may be nil.
	count func(ctx context.Context, text string) (int, error)
}

// delegates are what does parts of the work in its own way; each may be nil.
type delegates struct {
	skill  *skills.Skills
	skills *skills.Listing
	agents *subagents.Agents
}

// experiments are what the tools of experiments tell and ask.
type experiments struct {
	// stale hears from the model what can be cut out of the conversation, and inspect says how full the
	// window is; both may be nil.
	stale   snip.Marker
	inspect func() string
}

// tools is the list of all tools. To add one, write its package and add its line. A tool that lacks what it
// needs is in it, too, and says so when it is to be offered.
func (d *toolDeps) tools() []tool.Tool {
	files, shell, at := d.files.changes, d.command(), searchplace.Config{Dir: d.shell.dir.Here, Denied: d.denials, Named: d.engine.Named}
	return append([]tool.Tool{
		bash.New(shell),
		powershell.New(inPowerShell(shell)),
		read.New(d.reading()),
		edit.New(edit.Config{Files: files, WholeOnly: !d.values.Files.AllowCovered}),
		write.New(write.Config{Files: files}),
		notebook.New(notebook.Config{Files: files}),
		glob.New(glob.Config{Config: at, Engine: d.engine}),
		grep.New(grep.Config{Config: at, Engine: d.engine}),
		webfetch.New(d.web),
		websearch.New(d.lookup),
		taskoutput.New(d.shell.tasks),
		taskstop.New(d.shell.tasks),
		plan.Enter(d.plan),
		plan.Exit(d.plan),
		snip.New(d.stale),
		ctxinspect.New(d.inspect),
		d.skill.Tool(),
		d.agents.Tool(),
		d.skills.Tool(),
		d.output,
	}, append(d.servers.ResourceTools(), d.extras.Tools()...)...)
}

// simpleTools are those of the simple mode.
var simpleTools = [...]string{bash.Name, powershell.Name, read.Name, edit.Name}

// shellTools are those that run commands, the usual one first.
func shellTools() []string { return []string{bash.Name, powershell.Name} }

// dedicatedTools are those that do what a shell has commands for.
func dedicatedTools() []string {
	return []string{read.Name, edit.Name, write.Name, glob.Name, grep.Name}
}

// Served returns the tools that are offered to other programs: those for files, searching, commands and the web, with what
// holds for every call of them.
func Served() []serve.Offer {
	looks, changes, web := &serve.Facts{ReadOnly: true}, &serve.Facts{}, &serve.Facts{ReadOnly: true, OpenWorld: true}
	return []serve.Offer{
		{Name: bash.Name}, {Name: powershell.Name}, {Name: taskoutput.Name}, {Name: taskstop.Name},
		{Name: read.Name, Facts: looks}, {Name: glob.Name, Facts: looks}, {Name: grep.Name, Facts: looks},
		{Name: edit.Name, Facts: changes}, {Name: write.Name, Facts: changes}, {Name: notebook.Name, Facts: changes},
		{Name: webfetch.Name, Facts: web}, {Name: websearch.Name, Facts: web},
	}
}

// windowTools names the tools that the context window makes use of.
func windowTools() window.ToolNames { return window.ToolNames{Read: read.Name} }

// snipTool is the tool with which the model says what can be cut out.
const snipTool = snip.Name

// tools makes the tools of the conversation.
func (c *Conversation) tools() []tool.Tool {
	d := &toolDeps{
		values: c.ws.values(), runner: &c.shell.runner, engine: c.ws.Engine, gate: c.Gate, sandbox: c.sandbox, git: c.ws.repositories,
		shell: c.shell, files: c.files, calls: c.spec.Calls, unattended: c.spec.unattended() && c.spec.door() == Print,
		plan: planConfig(c.Gate, c.ws.values().Plan.Restrained), output: &c.output.Output,
		web: webtools.PagesFor(c.ws.online(), reader(c)), lookup: webtools.Search(c.ws.online(), reader(c)), extras: c.told.extras, servers: c.Servers,
		delegates: delegates{skills: c.told.skills, skill: c.skills, agents: c.agents},
	}
	if c.ws.Project.Home != "" {
		d.plan.File = c.planFile
	}
	if c.model.Backend != nil {
		d.model = func() catalog.Model { m, _ := c.model.Lookup(c.Session.Model()); return m } // ok: the session has it
		d.count = c.model.CountTokens(d.model)
	}
	d.experiment(&c.window)
	tools := slices.Concat(d.tools(), scheduleTools(c), c.told.tasks.Tools(), c.flows.Tools(), worktreeTools(c), []tool.Tool{questions.Tool(questionsOf(c))})
	tools = append(tools, watchTools(c, tools)...)
	tools = append(tools, c.told.team.Tools()...)
	transcript.RestoreTools(tools, c.record.Earlier)
	return tools
}

// experiment gives tools to the experiments that the settings switch on.
func (d *toolDeps) experiment(w *windowParts) {
	if d.values.Window.Snip {
		w.snipper = new(cut.Snipper)
		d.stale = w.snipper
	}
	if d.values.Window.Collapse {
		d.inspect = func() string { return w.folder.Report() }
	}
}

func (d *toolDeps) reading() read.Config {
	f := d.values.Files
	c := read.Config{
		Dir: d.shell.dir.Here, MaxBytes: f.MaxBytes, MaxTokens: f.MaxTokens, State: d.files.state,
		Repeat: f.Repeat, Exempt: f.Exempt, Denied: d.gate.Hidden, Named: d.engine.Named, CountTokens: d.count,
	}
	if d.calls == FromClient {
		c.Images = func() bool { return true }
	}
	if d.model != nil {
		if f.Remind {
			c.Model = func() string { return d.model().ID }
		}
		c.Images = func() bool { return d.model().Images }
		c.Documents = func() bool { return d.model().Documents }
	}
	return c
}

// command returns how the shell tool is made.
func (d *toolDeps) command() bash.Config {
	s, sh := d.values.Shell, d.shell
	c := bash.Config{
		Snapshot: sh.snapshot, Files: d.files.changes, Roots: sh.dir.Roots, Git: d.git,
		MayRead: func(path string) bool { return d.gate.Policy().MayRead(path) },
		Hidden:  func() []string { return d.gate.Policy().DeniedPlaces() },
		Config: command.Config{
			Dir: sh.dir.Here, SetDir: sh.dir.Move, Runner: d.runner,
			Env:     func() []string { return sh.vars.Apply(*sh.env.Load()) },
			Missing: sh.notes.About,
			TempDir: sh.temp, MaxChars: s.MaxChars, Attribution: s.Attribution,
			Limits: command.Limits{Tasks: sh.tasks, Budget: s.Budget, Timeout: s.Timeout, MaxTimeout: s.MaxTimeout},
		},
	}
	if d.unattended {
		c.Budget, c.Awaited = 0, true
	}
	if d.calls == Single {
		c.Tasks = nil
	}
	for _, v := range d.values.Env {
		c.Keep = append(c.Keep, v.Name)
	}
	if d.sandbox != nil {
		c.Sandbox = d.sandbox
	}
	return c
}

// denials returns what says of a path that a rule hides it, or nil if none hides anything now.
func (d *toolDeps) denials() func(path string) string {
	if !d.gate.Hides() {
		return nil
	}
	return func(path string) string {
		if d.gate.Hidden(path) {
			return "a deny rule"
		}
		return ""
	}
}

// inPowerShell returns how the tool for PowerShell is made: like the one for the shell, in whose place it is
// offered.
func inPowerShell(c bash.Config) powershell.Config {
	return powershell.Config{
		Config:   c.Config,
		Unwanted: func() error { return noPowerShell(runtime.GOOS, func() error { _, err := bash.Find(); return err }) },
	}
}

// noPowerShell returns why commands do not run in PowerShell, or nil. Missing returns why they do not run
// in a shell.
func noPowerShell(system string, missing func() error) error {
	switch {
	case system != "windows":
		return errors.New("it is for Windows")
	case missing() == nil:
		return errors.New("commands run in Git Bash, with the tool Bash")
	}
	return nil
}
