package agents

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"sync"

	"adze/internal/domain/agentdef"
	"adze/internal/feature/agents/builtin"
	"adze/internal/hook"
	"adze/internal/platform/fs/fsys"
	"adze/internal/platform/fs/scope"
	"adze/internal/platform/text/texts"
	"adze/internal/settings"
	"adze/internal/setup"
)

// Flags holds the definitions from the command line or the host. It is safe for concurrent use;
// the zero value is empty.
type Flags struct {
	mu       sync.Mutex
	list     []*agentdef.Definition
	problems []agentdef.Problem
}

// Add parses definitions in JSON.
func (f *Flags) Add(data []byte) error {
	list, problems, err := agentdef.ParseFlag(data)
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.list = append(list, f.list...)
	f.problems = append(f.problems, problems...)
	return nil
}

func (f *Flags) definitions() []*agentdef.Definition {
	if f == nil {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.list
}

// Any reports whether there are any definitions or problems.
func (f *Flags) Any() bool { return len(f.definitions()) > 0 || len(f.Problems()) > 0 }

// Problems returns problems with ignored fields.
func (f *Flags) Problems() []agentdef.Problem {
	if f == nil {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.problems
}

// Config configures the sources of a workspace's definitions. Flags may be nil.
type LibraryConfig struct {
	Project  *settings.Project
	Language func() texts.Language
	// Plugins returns the plugins' directories, and Early the ones known without checking all
	// files; may be nil.
	Plugins, Early func() []agentdef.Root
	Flags          *Flags
}

// OpenLibrary returns a workspace's definitions. Nothing is read until needed.
func OpenLibrary(c LibraryConfig) *agentdef.Library {
	index := ""
	if c.Project.Home != "" {
		index = Index(c.Project)
	}
	with := func(plugins func() []agentdef.Root) func() []agentdef.Root {
		if plugins == nil {
			return nil
		}
		return func() []agentdef.Root { return append(Folders(c.Project), plugins()...) }
	}
	return agentdef.NewLibrary(agentdef.Config{
		Index: index,
		Roots: with(c.Plugins), Early: with(c.Early),
		Extra: func() []*agentdef.Definition {
			return append(c.Flags.definitions(), builtin.Definitions(c.Language())...)
		},
		Problems: c.Flags.Problems,
	})
}

// Index returns the path of a project's agent index.
func Index(p *settings.Project) string {
	return filepath.Join(p.Cache, "agents-index", fsys.HashedKey(p.Source().Dir))
}

// Folders returns the agent directories, omitting an untrusted workspace's.
func Folders(p *settings.Project) []agentdef.Root {
	var roots []agentdef.Root
	for _, f := range p.Folders("agents") {
		root := agentdef.Root{Path: f.Path}
		switch f.Scope {
		case scope.Managed:
			root.Source.Kind = agentdef.Managed
		case scope.User:
			root.Source.Kind = agentdef.User
		default:
			root.Source.Kind, root.Within = agentdef.Project, p.Trust.Root
		}
		roots = append(roots, agentdef.WithFolders(root)...)
	}
	return roots
}

// Main returns the definition of the main conversation's agent, by name or from the settings,
// or nil. It fails if the agent does not exist, or if the user has not approved its hooks and
// servers.
func Main(p *settings.Project, l *agentdef.Library, name string) (*agentdef.Definition, error) {
	where := "--agent"
	if name == "" {
		name, where = p.Values().Prompt.Agent, "the setting agent"
	}
	if name == "" {
		return nil, nil
	}
	set := l.Set()
	d := set.Get(name)
	if d == nil {
		return nil, setup.Errorf("%s: %v", where, set.Unknown(name))
	}
	if err := Approved(p.Trust, d); err != nil {
		return nil, setup.Errorf("%s: %v", where, err)
	}
	return d, nil
}

// Approved returns an error if a project agent has hooks or servers that the user has not
// approved.
func Approved(t *settings.Trust, d *agentdef.Definition) error {
	for _, it := range settings.AgentItems(d) {
		if !t.Approved(it) {
			return fmt.Errorf("agent %s is not used: you have not approved its %s %s; run adze trust to review it", d.Name, it.Kind, it.Name)
		}
	}
	return nil
}

// agentSource is the prefix of hook source names for agents.
const agentSource = "agent "

// Written returns the event for which a hook was written and approved; see [WorkerHooks].
func Written(from hook.Source, event string) string {
	if event == string(hook.SubagentStop) && strings.HasPrefix(from.Name, agentSource) {
		return string(hook.Stop)
	}
	return event
}

// Hooks returns an agent's hooks; none if d is nil.
func Hooks(d *agentdef.Definition) []hook.Source {
	if d == nil || d.Hooks == nil {
		return nil
	}
	src := hook.Source{Name: agentSource + d.Name, Scope: scope.User, File: d.File, JSON: d.Hooks}
	switch d.Source.Kind {
	case agentdef.Managed:
		src.Scope = scope.Managed
	case agentdef.Project: // found only if trusted
		src.Scope, src.Workspace, src.Trusted = scope.Project, true, true
	}
	return []hook.Source{src}
}

// WorkerHooks returns a sub-agent's hooks, with Stop hooks mapped to SubagentStop.
func WorkerHooks(d *agentdef.Definition) []hook.Source {
	list := Hooks(d)
	for i := range list {
		var events map[string]json.RawMessage
		if json.Unmarshal(list[i].JSON, &events) != nil {
			continue // errors are reported when they are read
		}
		stop, ok := events[string(hook.Stop)]
		if !ok {
			continue
		}
		delete(events, string(hook.Stop))
		events[string(hook.SubagentStop)] = joined(events[string(hook.SubagentStop)], stop)
		list[i].JSON, _ = json.Marshal(events) // ok: they were read from JSON
	}
	return list
}

// joined concatenates two JSON lists. The first may be nil.
func joined(a, b json.RawMessage) json.RawMessage {
	var first, second []json.RawMessage
	if json.Unmarshal(a, &first) != nil && a != nil || json.Unmarshal(b, &second) != nil {
		return b // errors are reported when they are read
	}
	all, _ := json.Marshal(append(first, second...)) // ok: they were read from JSON
	return all
}
