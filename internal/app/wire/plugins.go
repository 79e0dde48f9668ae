package wire

import (
	"net/http"
	"sync"

	"adze/internal/feature/plugins"
	"adze/internal/platform/net/contacts"
	"adze/internal/platform/net/transport"
)

// pluginSet returns the active plugins and reports errors of enabled plugins once.
func (w *Workspace) pluginSet() *plugins.Set {
	set := w.Plugins.Set()
	w.pluginErrors.tell(set, w.Say)
	return set
}

// earlyPlugins is like pluginSet for the early set; see [plugins.Plugins.Early].
func (w *Workspace) earlyPlugins() *plugins.Set {
	set := w.Plugins.Early()
	w.pluginErrors.tell(set, w.Say)
	return set
}

// A reportedErrors tracks which plugin errors have been reported. It is safe for concurrent use.
type reportedErrors struct {
	mu   sync.Mutex
	last *plugins.Set // last set whose errors were reported
	sure bool         // all plugin files have been checked
	told map[string]bool
}

// tell reports the errors of the first set, and later any found once all files have been
// checked.
func (s *reportedErrors) tell(set *plugins.Set, say func(string)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sure || s.last == set {
		return
	}
	s.last, s.sure = set, !set.Unsure()
	s.add(set.Errors(), say)
}

// lines reports errors known before there is a set.
func (s *reportedErrors) lines(errors []string, say func(string)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.add(errors, say)
}

// add reports errors that have not been reported yet. The caller holds mu.
func (s *reportedErrors) add(errors []string, say func(string)) {
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

// PluginManager returns a manager that installs, updates and removes plugins.
func (w *Workspace) PluginManager() *plugins.Manager {
	return w.Plugins.Manage(plugins.Fetch{
		Runner: w.runner, Environ: func() []string { return w.environment().List },
		Network: func() http.RoundTripper { return transport.New(w.network(contacts.Plugins)) },
	})
}
