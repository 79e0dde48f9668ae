package wire

import (
	"net/http"

	"adze/internal/app/plugins"
	"adze/internal/platform/contacts"
	"adze/internal/platform/transport"
)

// pluginSet returns the plugins in use, and tells the user once what is wrong with those that are wanted.
func pluginSet(w *Workspace) *plugins.Set {
	set := w.Plugins.Set()
	w.pluginsSaid.Do(func() {
		for _, line := range set.Errors() {
			w.Say(line)
		}
	})
	return set
}

// PluginManager returns what installs, updates and removes plugins.
func PluginManager(w *Workspace) *plugins.Manager {
	return w.Plugins.Manage(plugins.Fetch{
		Runner: w.runner, Environ: func() []string { return w.environment().List },
		Network: func() http.RoundTripper { return transport.New(w.network(contacts.Plugins)) },
	})
}
