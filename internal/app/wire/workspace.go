// Package wire assembles the program: a [Workspace] holds the state shared by a process's
// conversations, and a [Conversation] is created from a workspace and a [Spec].
package wire

import (
	"path/filepath"
	"slices"
	"sync"
	"time"

	"adze/internal/app/conversation"
	"adze/internal/app/models"
	"adze/internal/app/terminal"
	"adze/internal/domain/agentdef"
	"adze/internal/domain/skill/library"
	"adze/internal/feature/agents"
	"adze/internal/feature/mcp"
	"adze/internal/feature/plugins"
	"adze/internal/platform/fs/fsys"
	"adze/internal/platform/git/gitinfo"
	"adze/internal/platform/git/gitrepo"
	"adze/internal/platform/proc/osproc"
	"adze/internal/platform/sandbox"
	"adze/internal/platform/search"
	"adze/internal/platform/search/gitstatus"
	"adze/internal/settings"
	"adze/internal/tool/change"
	"adze/internal/tools/structured"
)

// An Env is the process environment of a workspace.
type Env struct {
	// Dir is the absolute working directory.
	Dir    string
	Getenv func(string) string
	// Environ returns all environment variables, including ones withheld from programs; nil
	// means the process's environment.
	Environ func() []string
	Now     func() time.Time
	// Say shows the user a one-line message outside the conversation.
	Say func(string)
	// Program is the path used to start this program again; empty means that it must not be
	// started. Flags are restrictions on this process that its child processes must inherit.
	Program string
	Flags   []string
	Version string
	// Agents are the agent definitions from the command line and the host; nil means none.
	Agents *agents.Flags
	// Servers holds the command-line options for MCP servers.
	Servers mcp.Flags
	// Editor is the user's editor; nil if there is none.
	Editor change.Editor
	// Plugins are the project's plugins; nil means the ones in its settings.
	Plugins *plugins.Plugins
}

// A Workspace holds the state shared by all conversations of a process in one project:
// environment, settings, trust, processes, search, the model catalog and providers. It is safe
// for concurrent use.
type Workspace struct {
	Env
	Project *settings.Project
	Models  *models.Models
	// Agents holds the agent definitions.
	Agents *agentdef.Library
	// Engine searches files. It caches results for later searches.
	Engine *search.Engine
	// MCP returns the MCP servers, which are located on the first call. It does not start
	// them.
	MCP func() (*mcp.Manager, error)
	// languages returns the language servers, or nil if they are off. It does not start them.
	languages func() *languageServers
	// Keys are the terminal key bindings.
	Keys *terminal.Bindings

	runner       *osproc.Runner
	env          conversation.CommandEnvCache // environment of commands
	probe        sandbox.Probe                // tests the sandbox once for all conversations
	git          gitFacts
	schemas      structured.Cache // output schemas
	plansOnce    sync.Once
	watch        settings.Watch
	pluginErrors reportedErrors
	writers      *change.Writers // tracks which conversation changes which files
	// library returns the skills, including ones in directories added by the first
	// conversation.
	library func(added []string) *library.Library
	start   startCache
	closers closers
}

// gitFacts caches repository information.
type gitFacts struct {
	// judge decides in which repositories git may run without prompting.
	judge  *gitrepo.Judge
	once   sync.Once
	source *gitinfo.Source // see [Workspace.snapshot]
}

// Open returns a project's workspace. It starts nothing.
func Open(env Env, p *settings.Project) *Workspace {
	w := &Workspace{Env: env, Project: p, runner: &osproc.Runner{Reaper: env.Program}}
	w.closers.add(w.runner.Close)
	w.git.judge = gitrepo.New(gitrepo.Config{
		Environ: func() []string { return w.environment().List },
		Roots:   func() []string { return []string{env.Dir} },
	})
	w.MCP = sync.OnceValues(func() (*mcp.Manager, error) { return w.openMCP() })
	w.languages = sync.OnceValue(w.openLanguages)
	if w.Plugins == nil {
		w.Plugins = plugins.Open(plugins.Config{Project: p, Say: env.Say})
	}
	w.closers.add(w.Plugins.Close)
	w.writers = change.NewWriters(env.Now)
	w.library = w.openLibrary()
	if w.Env.Agents == nil {
		w.Env.Agents = &agents.Flags{}
	}
	w.Agents = agents.OpenLibrary(agents.LibraryConfig{
		Project: p, Language: w.language, Flags: w.Env.Agents,
		Plugins: func() []agentdef.Root { return w.pluginSet().Agents() }, Early: func() []agentdef.Root { return w.earlyPlugins().Agents() },
	})
	w.closers.add(w.Agents.Close)
	w.Models = models.OpenModels(p, env.Say)
	w.Keys = terminal.OpenBindings(p.Config, p.Other, env.Now)
	w.Engine = newEngine(p.Values().Search, env.Dir, env.Say)
	w.closers.add(w.Engine.Close)
	return w
}

// Close releases the workspace's resources. Its conversations must be closed first.
func (w *Workspace) Close() { w.closers.run() }

func (w *Workspace) values() *settings.Values { return w.Project.Values() }

// snapshot starts reading the repository of dir, once, in the background, and returns a
// function that waits for the result. It does not require trust: git runs only if the
// repository's configuration executes nothing.
func (w *Workspace) snapshot(dir string) func() gitinfo.Snapshot {
	w.git.once.Do(func() {
		c := gitinfo.Config{Judge: w.git.judge, Dir: dir, Wait: w.values().Prompt.StatusWait, Quick: gitstatus.Short}
		if w.Project.Home != "" {
			c.Cache = filepath.Join(w.Project.Cache, "git-facts", fsys.HashedKey(dir))
		}
		w.git.source = gitinfo.Open(c)
		w.closers.add(w.git.source.Close)
	})
	return w.git.source.Snapshot
}

// newEngine returns a search engine configured by the settings.
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

// closers is a stack of cleanup functions, run in reverse order.
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
