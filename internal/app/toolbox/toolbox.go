// Package toolbox lists the built-in tools and creates them for a conversation. Tools bound to
// another part's state are created by that part.
package toolbox

import (
	"context"
	"errors"
	"runtime"

	"adze/internal/app/conversation"
	"adze/internal/feature/agents"
	"adze/internal/feature/deferred"
	"adze/internal/feature/mcp"
	"adze/internal/feature/skills"
	"adze/internal/model/catalog"
	"adze/internal/permission"
	"adze/internal/permission/confine"
	"adze/internal/platform/fs/filestate"
	"adze/internal/platform/fs/scope"
	"adze/internal/platform/git/gitrepo"
	"adze/internal/platform/proc/osproc"
	"adze/internal/platform/search"
	"adze/internal/session/window"
	"adze/internal/settings"
	"adze/internal/tool"
	"adze/internal/tool/change"
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

// Config configures the built-in tools.
type Config struct {
	Reader
	Experiments
	Delegates
	Values  *settings.Values
	Runner  *osproc.Runner
	Engine  *search.Engine
	Gate    *permission.Gate
	Sandbox *confine.Confinement // nil if commands are not sandboxed
	Git     *gitrepo.Judge       // nil if the tool may create its own
	Shell   *conversation.Shell
	State   *filestate.Store // files read
	Files   *change.Files    // nil if files cannot be changed
	// PlanFile returns the path of the plan file; may be nil.
	PlanFile func() string
	Pages    webfetch.Config
	Search   websearch.Config
	Turns    Turns
	// Single is true for a single call, which nothing can outlive.
	Single bool
	// NoRepository is true if the conversation started outside a git repository.
	NoRepository bool
	Extras       *deferred.Extras // nil if no tools are deferred
	Servers      *mcp.Client      // nil without servers
	// Output receives the value that a turn must end in.
	Output *structured.Output
}

// Turns configures how long turns wait for commands.
type Turns struct {
	// Unattended is true if no user waits while a command runs. A turn then waits for
	// background commands.
	Unattended bool
	// Agent is true for an agent's turns, which do not wait for its background commands.
	// Reports is true if its work, and with it these commands, ends with a turn.
	Agent, Reports bool
	// Fixed makes every command start in the agent's own directory: cd has no lasting effect.
	Fixed bool
}

// A Reader is the reader of tool results. The zero value is the user.
type Reader struct {
	// Model returns the model that reads them; may be nil.
	Model func() catalog.Model
	// Count returns the number of tokens of a text, as counted by the provider; may be nil.
	Count func(ctx context.Context, text string) (int, error)
	// Program is true if another program, which accepts pictures, reads them.
	Program bool
}

// Delegates holds parts that provide their own tools; each may be nil.
type Delegates struct {
	Skill  *skills.Skills
	Skills *skills.Listing
	Agents *agents.Agents
}

// Experiments configures the tools of experiments.
type Experiments struct {
	// Stale receives the parts of the conversation that the model wants to cut, and Inspect
	// describes how full the context window is; both may be nil.
	Stale   snip.Marker
	Inspect func() string
}

// New returns all tools. To add one, write its package and add its line. A tool that lacks a
// dependency is included too, and reports that when it is about to be offered.
func New(c Config) []tool.Tool {
	shell, plans := c.command(), c.plan()
	at := searchplace.Config{Dir: c.Shell.Dir.Here, Denied: c.denials, Named: c.Engine.Named}
	return append([]tool.Tool{
		bash.New(shell),
		powershell.New(inPowerShell(shell)),
		read.New(c.reading()),
		edit.New(edit.Config{Files: c.Files, WholeOnly: !c.Values.Files.AllowCovered}),
		write.New(write.Config{Files: c.Files}),
		notebook.New(notebook.Config{Files: c.Files}),
		glob.New(glob.Config{Config: at, Engine: c.Engine}),
		grep.New(grep.Config{Config: at, Engine: c.Engine, State: c.State}),
		webfetch.New(c.Pages),
		websearch.New(c.Search),
		taskoutput.New(c.Shell.Tasks),
		taskstop.New(c.Shell.Tasks),
		plan.Enter(plans),
		plan.Exit(plans),
		snip.New(c.Stale),
		ctxinspect.New(c.Inspect),
		c.Skill.Tool(),
		c.Agents.Tool(),
		c.Skills.Tool(),
		c.Output,
	}, append(c.Servers.ResourceTools(), c.Extras.Tools()...)...)
}

// Small returns the tools of the small prompt.
func Small() []string { return append(Shells(), read.Name, edit.Name) }

// Medium returns the tools of the medium prompt.
func Medium() []string { return append(Shells(), Dedicated()...) }

// Shells returns the tools that run commands, the default first.
func Shells() []string { return []string{bash.Name, powershell.Name} }

// Dedicated returns the tools that replace shell commands.
func Dedicated() []string {
	return []string{read.Name, edit.Name, write.Name, glob.Name, grep.Name}
}

// Creators returns the tools that create files.
func Creators() []string { return append(Shells(), write.Name) }

// OfWindow returns the tool names used by context window management.
func OfWindow() window.ToolNames { return window.ToolNames{Read: read.Name} }

// Snip is the tool with which the model marks parts to cut.
const Snip = snip.Name

func (c *Config) reading() read.Config {
	f := c.Values.Files
	r := read.Config{
		Dir: c.Shell.Dir.Here, MaxBytes: f.MaxBytes, MaxTokens: f.MaxTokens, State: c.State,
		Repeat: f.Repeat, Exempt: f.Exempt, Denied: c.Gate.Hidden, Named: c.Engine.Named, CountTokens: c.Count,
	}
	if c.Files != nil && c.Files.Editor != nil {
		r.Unsaved = c.Files.Editor.Unsaved
	}
	if c.Program {
		r.Images = func() bool { return true }
		r.Repeat = true // several clients share the conversation
	}
	if c.Model != nil {
		if f.Remind {
			r.Model = func() string { return c.Model().ID }
		}
		r.Images = func() bool { return c.Model().Images }
		r.Documents = func() bool { return c.Model().Documents }
	}
	return r
}

// command returns the shell tool's configuration.
func (c *Config) command() bash.Config {
	s, sh := c.Values.Shell, c.Shell
	b := bash.Config{
		Snapshot: sh.Snapshot, Files: c.Files, Roots: sh.Dir.Roots, Git: c.Git,
		MayRead: func(path string) bool { return c.Gate.Policy().MayRead(path) },
		Hidden:  func() []string { return c.Gate.Policy().DeniedPlaces() },
		Config: command.Config{
			Dir: sh.Dir.Here, SetDir: sh.Dir.Move, Runner: c.Runner, Env: sh.WithVars, Missing: sh.Notes.About,
			TempDir: sh.Temp, MaxChars: s.MaxChars, Attribution: s.Attribution, NoRepository: c.NoRepository,
			Limits: command.Limits{Tasks: sh.Tasks, Budget: s.Budget, Timeout: s.Timeout, MaxTimeout: s.MaxTimeout, Wait: s.Wait},
		},
	}
	if c.Turns.Unattended {
		b.Budget, b.Awaited = 0, true
	}
	b.Left, b.Reported = c.Turns.Agent, c.Turns.Reports
	if c.Turns.Fixed {
		b.SetDir = nil
	}
	if c.Single {
		b.Tasks = nil
	}
	for _, v := range c.Values.Env {
		if v.Scope == scope.Project {
			b.Project = append(b.Project, v.Name+"="+v.Value)
		} else {
			b.Keep = append(b.Keep, v.Name)
		}
	}
	if c.Sandbox != nil {
		b.Sandbox = c.Sandbox
	}
	return b
}

// denials returns a function that names the rule hiding a path, or nil if no rule hides
// anything now.
func (c *Config) denials() func(path string) string {
	if !c.Gate.Hides() {
		return nil
	}
	return func(path string) string {
		if c.Gate.Hidden(path) {
			return "a deny rule"
		}
		return ""
	}
}

// inPowerShell returns the configuration of the PowerShell tool, which replaces the shell tool.
func inPowerShell(c bash.Config) powershell.Config {
	return powershell.Config{
		Config:   c.Config,
		Unwanted: func() error { return noPowerShell(runtime.GOOS, func() error { _, err := bash.Find(); return err }) },
	}
}

// noPowerShell returns why commands do not run in PowerShell, or nil. missing returns why they
// do not run in a shell.
func noPowerShell(system string, missing func() error) error {
	switch {
	case system != "windows":
		return errors.New("it is for Windows")
	case missing() == nil:
		return errors.New("commands run in Git Bash, with the tool Bash")
	}
	return nil
}
