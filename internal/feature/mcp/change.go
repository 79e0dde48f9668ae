package mcp

import (
	"context"
	"errors"
	"fmt"

	"adze/internal/commands"
	"adze/internal/mcp"
	"adze/internal/mcp/roster"
)

// Problems returns configuration problems, one per line.
func (f *Manager) Problems() (lines []string) {
	for _, p := range f.configured().Problems {
		lines = append(lines, p.String())
	}
	return lines
}

// load rereads the configuration.
func (f *Manager) load() (*roster.Roster, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	flags := f.cfg.Flags
	flags.Loaded, flags.Guests = nil, f.guests
	r, err := Load(f.cfg.Project, flags)
	if err == nil {
		f.roster = r
	}
	return r, err
}

// Reload rereads the configuration, closes removed servers and starts connecting to new ones.
func (f *Manager) Reload() error {
	r, err := f.load()
	if err != nil {
		return err
	}
	f.start.Do(func() {}) // Set starts them
	ctx, cancel := context.WithCancel(context.Background())
	cancel() // don't wait
	f.Set(ctx, r.Entries)
	return nil
}

// Approve records the user's approval of a project server, with its current entry, and starts
// connecting to it.
func (f *Manager) Approve(ctx context.Context, name string) error {
	for _, e := range f.configured().Entries {
		if e.Name == name && e.Scope == roster.Project && (e.Unapproved || e.Disabled) {
			return f.admit(ctx, e)
		}
	}
	for _, e := range f.configured().Unapproved {
		if e.Name == name {
			return f.admit(ctx, e)
		}
	}
	return fmt.Errorf("%s needs no approval", name)
}

// admit approves an entry and connects to it.
func (f *Manager) admit(ctx context.Context, e *roster.Entry) error {
	if !f.cfg.Project.Trust.Trusted() {
		return errors.New("the workspace is not trusted, so that nothing of it is started; see adze trust")
	}
	if err := Approve(ctx, f.cfg.Project, e, true); err != nil {
		return err
	}
	r, err := f.load()
	if err != nil {
		return err
	}
	_, _, errs := f.Set(ctx, r.Entries)
	return errs[e.Name]
}

// EnableLasting enables or disables a server in this project, now and in the future.
func (f *Manager) EnableLasting(ctx context.Context, name string, on bool) error {
	return enableLasting(ctx, f, f.Servers, name, on)
}

// enableLasting is [Manager.EnableLasting] for all of a conversation's servers.
func enableLasting(ctx context.Context, f *Manager, all *mcp.Servers, name string, on bool) error {
	for _, s := range all.List() {
		switch {
		case s.Name != name:
		case on && s.Same != "":
			return fmt.Errorf("%s is the same server as %s, which is used", name, s.Same)
		case on && s.Scope == roster.Project && s.Unapproved:
			return f.Approve(ctx, name)
		}
	}
	if err := all.Enable(name, on); err != nil {
		return err
	}
	return SetDisabled(ctx, f.cfg.Project, name, !on)
}

// Commands returns the services that the user's server commands use. s may be nil.
func (s *Client) Commands() commands.Servers {
	if s == nil {
		return commands.Servers{}
	}
	return commands.Servers{
		All: s.All, Await: s.Await, Problems: s.Problems, Approve: s.Approve,
		Enable: func(ctx context.Context, name string, on bool) error {
			return enableLasting(ctx, s.Manager, s.Servers, name, on)
		},
		SignIn: func(ctx context.Context, name string) (string, error) { return signIn(ctx, s, name) },
	}
}
