package wire

import (
	"io"

	"adze/internal/agent/aside"
	"adze/internal/app/providers"
	"adze/internal/app/webtools"
	"adze/internal/platform/transport"
)

// online returns the workspace as the web is reached from it.
func (w *Workspace) online() webtools.Place {
	return webtools.Place{Project: w.Project, Getenv: w.Getenv, Version: w.Version, Say: w.Say}
}

// network returns how servers that are no providers are reached.
func (w *Workspace) network(purpose string) transport.Config {
	return providers.PlainNetwork(w.Project.Settings(), w.Getenv, w.Say, purpose)
}

// reader returns the conversation as the web is read for it.
func reader(c *Conversation) webtools.Reader {
	return webtools.Reader{
		Gate: c.Gate, Model: c.model, Save: saver(c),
		Current: func() string { return c.Session.Model() },
		Small:   func() *aside.Small { return c.window.small },
	}
}

// saver returns what keeps files with the results of the conversation, or nil if it keeps none.
func saver(c *Conversation) func(name, ext string, r io.Reader) (string, error) {
	log := c.record.Log
	if log == nil {
		return nil
	}
	return func(name, ext string, r io.Reader) (string, error) {
		path, _, err := log.SaveResult(name, ext, r)
		return path, err
	}
}
