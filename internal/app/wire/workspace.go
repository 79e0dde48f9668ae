// Package wire puts the program together: a [Workspace] is what the conversations of a process share, a
// [Conversation] is made from a workspace and a [Spec]. What the parts do is left to them, and the list of tools to the
// package toolbox.
package wire

import (
	"path/filepath"
	"slices"
	"sync"
	"time"

	"adze/internal/agentdef"
	"adze/internal/app/agentdefs"
	"adze/internal/app/models"
	"adze/internal/app/plugins"
	"adze/internal/app/servers"
	"adze/internal/app/settings"
	"adze/internal/app/typing"
	"adze/internal/app/variables"
	"adze/internal/platform/fsys"
	"adze/internal/platform/gitinfo"
	"adze/internal/platform/gitrepo"
	"adze/internal/platform/osproc"
	"adze/internal/platform/sandbox"
	"adze/internal/platform/search"
	"adze/internal/skill/library"
	"adze/internal/tool/change"
	"adze/internal/tools/structured"
)

// An Env is what the parts see of the process around them.
type Env struct {
	// Dir is the working directory, absolute.
	Dir    string
	Getenv func(string) string
	// Environ returns all variables, also those that are kept from programs; nil means those of the process.
	Environ func() []string
	Now     func() time.Time
	// Say tells the user something beside the conversation, as one line.
	Say func(string)
	// Program starts this program again; empty means that it must not be started. Flags are what limits this process and
	// has to limit those that work for it.
	Program string
	Flags   []string
	Version string
	// Agents are the definitions of agents on the command line and of the host; nil means none.
	Agents *agentdefs.Flags
	// Servers is what the command line says about MCP servers.
	Servers servers.Flags
	// Plugins are those of the project; nil means those of its settings.
	Plugins *plugins.Plugins
}

// A Workspace is what all conversations of a process in one project share: environment, settings, trust,
// processes, search, the catalogue of models and their providers. It is safe for concurrent use.
type Workspace struct {
	Env
	Project *settings.Project
	Models  *models.Models
	// Agents are the definitions of agents.
	Agents *agentdef.Library
	// Engine searches the files; it keeps what it learns for later searches.
	Engine *search.Engine
	// Fleet returns the MCP servers, which are found when it is called first. It starts none.
	Fleet func() (*servers.Fleet, error)
	// Keys are those of the terminal.
	Keys *typing.Bindings

	runner      *osproc.Runner
	env         variables.Last // of commands
	probe       sandbox.Probe  // tests the sandbox once for all conversations
	git         gitFacts
	schemas     structured.Cache // of outputs
	plansOnce   sync.Once
	watch       settings.Watch
	pluginsSaid said
	writers     *change.Writers // who changes which files
	// library returns the skills, with those in directories that the first conversation adds.
	library func(added []string) *library.Library
	begun   beginning
	closers closers
}

// gitFacts are what is known of the repository of a workspace, and of others.
type gitFacts struct {
	// judge says which repositories git may be asked about unasked.
	judge  *gitrepo.Judge
	once   sync.Once
	source *gitinfo.Source // see [Workspace.snapshot]
}

// Open returns the workspace of a project. It starts nothing.
func Open(env Env, p *settings.Project) *Workspace {
	w := &Workspace{Env: env, Project: p, runner: &osproc.Runner{Reaper: env.Program}}
	w.closers.add(w.runner.Close)
	w.git.judge = gitrepo.New(gitrepo.Config{
		Environ: func() []string { return w.environment().List },
		Roots:   func() []string { return []string{env.Dir} },
	})
	w.Fleet = sync.OnceValues(func() (*servers.Fleet, error) { return openFleet(w) })
	if w.Plugins == nil {
		w.Plugins = plugins.Open(plugins.Config{Project: p, Say: env.Say})
	}
	w.closers.add(w.Plugins.Close)
	w.writers = change.NewWriters(env.Now)
	w.library = libraryOf(w)
	if w.Env.Agents == nil {
		w.Env.Agents = &agentdefs.Flags{}
	}
	w.Agents = agentdefs.OpenLibrary(agentdefs.Config{
		Project: p, Language: w.language, Flags: w.Env.Agents,
		Plugins: func() []agentdef.Root { return pluginSet(w).Agents() }, Early: func() []agentdef.Root { return earlyPlugins(w).Agents() },
	})
	w.closers.add(w.Agents.Close)
	w.Models = models.Open(p, env.Say)
	w.Keys = typing.Open(p.Home, p.Other, env.Now)
	w.Engine = newEngine(p.Values().Search, env.Dir, env.Say)
	w.closers.add(w.Engine.Close)
	return w
}

// Close ends what the workspace has started. Its conversations are closed before.
func (w *Workspace) Close() { w.closers.run() }

// values returns the settings in force.
func (w *Workspace) values() *settings.Values { return w.Project.Values() }

// snapshot starts reading the repository of dir, once, while other things are made ready, and returns a function that waits for
// it. That takes no trust: git is asked only if the repository sets nothing that runs.
func (w *Workspace) snapshot(dir string) func() gitinfo.Snapshot {
	w.git.once.Do(func() {
		c := gitinfo.Config{Judge: w.git.judge, Dir: dir, Wait: w.values().Prompt.StatusWait}
		if w.Project.Home != "" {
			c.Cache = filepath.Join(w.Project.Home, "git-facts", fsys.HashedKey(dir))
		}
		w.git.source = gitinfo.Open(c)
		w.closers.add(w.git.source.Close)
	})
	return w.git.source.Snapshot
}

// newEngine returns the search engine that the settings ask for.
func newEngine(s settings.Search, dir string, warn func(string)) *search.Engine {
	kind, err := search.ParseKind(s.Engine)
	if err != nil {
		warn(err.Error())
	}
	if !s.Builtin {
		kind = search.System
	}
	return search.New(search.Config{
		Kind: kind, Timeout: s.Timeout, Warn: warn, WorkDirs: func() []string { return []string{dir} },
	})
}

// closers are the functions that give back what was opened, in reverse order.
type closers struct {
	mu   sync.Mutex
	list []func()
}

func (c *closers) add(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.list = append(c.list, f)
}

func (c *closers) run() {
	c.mu.Lock()
	list := c.list
	c.list = nil
	c.mu.Unlock()
	for _, f := range slices.Backward(list) {
		f()
	}
}
