package wire

import (
	"net/http"
	"sync"

	"adze/internal/app/plugins"
	"adze/internal/platform/contacts"
	"adze/internal/platform/transport"
)

// pluginSet returns the plugins in use, and tells the user once what is wrong with those that are wanted.
func pluginSet(w *Workspace) *plugins.Set {
	set := w.Plugins.Set()
	w.pluginsSaid.tell(set, w.Say)
	return set
}

// earlyPlugins does so with the plugins as they are known first; see [plugins.Plugins.Early].
func earlyPlugins(w *Workspace) *plugins.Set {
	set := w.Plugins.Early()
	w.pluginsSaid.tell(set, w.Say)
	return set
}

// A said is what the user was told of plugins. It is safe for concurrent use.
type said struct {
	mu   sync.Mutex
	last *plugins.Set // whose errors were told
	sure bool         // the files of all were looked at
	told map[string]bool
}

// tell tells the user of the errors of the first set, and of those that were found when all files were looked at.
func (s *said) tell(set *plugins.Set, say func(string)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sure || s.last == set {
		return
	}
	s.last, s.sure = set, !set.Unsure()
	s.add(set.Errors(), say)
}

// lines tells the user of errors that are known before there is a set.
func (s *said) lines(errors []string, say func(string)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.add(errors, say)
}

// add tells the user of errors that were not told. The caller holds mu.
func (s *said) add(errors []string, say func(string)) {
	for _, line := range errors {
		if !s.told[line] {
			say(line)
		}
		if s.told == nil {
			s.told = map[string]bool{}
		}
		s.told[line] = true
	}
}

// PluginManager returns what installs, updates and removes plugins.
func PluginManager(w *Workspace) *plugins.Manager {
	return w.Plugins.Manage(plugins.Fetch{
		Runner: w.runner, Environ: func() []string { return w.environment().List },
		Network: func() http.RoundTripper { return transport.New(w.network(contacts.Plugins)) },
	})
}
