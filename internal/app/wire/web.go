package wire

import (
	"io"

	"adze/internal/agent/sidequery"
	"adze/internal/app/models"
	"adze/internal/app/toolbox"
	"adze/internal/platform/net/transport"
)

// online returns the parts of the workspace that web tools need.
func (w *Workspace) online() toolbox.WebPlace {
	return toolbox.WebPlace{Project: w.Project, Getenv: w.Getenv, Version: w.Version, Say: w.Say}
}

// network returns the transport configuration for servers other than model providers.
func (w *Workspace) network(purpose string) transport.Config {
	return models.PlainNetwork(w.Project.Settings(), w.Getenv, w.Say, purpose)
}

// reader returns the parts of the conversation that web tools need.
func (c *Conversation) pageReader() toolbox.PageReader {
	return toolbox.PageReader{
		Gate: c.Gate, Model: c.model, Save: c.resultSaver(),
		Current: func() string { return c.Session.Model() },
		Small:   func() *sidequery.SmallModel { return c.small },
	}
}

// saver returns a function that saves files with the conversation's results, or nil if results
// are not saved.
func (c *base) resultSaver() func(name, ext string, r io.Reader) (string, error) {
	log := c.record.Log
	if log == nil {
		return nil
	}
	return func(name, ext string, r io.Reader) (string, error) {
		path, _, err := log.SaveResult(name, ext, r)
		return path, err
	}
}
