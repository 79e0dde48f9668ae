package wire

import (
	"context"
	"fmt"
	"path/filepath"

	"adze/internal/app/artifacts"
	"adze/internal/feature"
	"adze/internal/msg"
	"adze/internal/platform/fs/filehistory"
	"adze/internal/platform/fs/filestate"
	"adze/internal/platform/fs/replace"
	"adze/internal/platform/search"
	"adze/internal/session"
	"adze/internal/setup"
	"adze/internal/tool/change"
)

// fileRecords holds a conversation's file state: the files it has read, their content before it
// changed them, and the state shared by the writing tools.
type fileRecords struct {
	state   *filestate.Store
	history *filehistory.History // nil if history is off
	changes *change.Files        // nil without a state home; no locks or writing tools then
}

// openFiles creates the file records.
func (c *Conversation) openFiles() error {
	f := &fileRecords{state: filestate.New()}
	c.files = f
	if c.contract == nil {
		c.contract = c.newContract()
	}
	author, lead := c.spec.worker.author, c.spec.worker.lead.files
	if lead != nil {
		if c.spec.worker.fork {
			f.state = lead.state.Clone() // a fork has seen its lead's files
			c.closers.add(func() { lead.state.Merge(f.state) })
		}
		c.closers.add(func() { c.ws.writers.End(author.ID) })
	}
	home := c.ws.Project.Home
	if c.ws.values().Files.History && lead == nil && !c.spec.Session.Ephemeral && home != "" {
		h, err := filehistory.Open(artifacts.HistoryDir(home, c.record.ID), session.FileChanges(c.record.State()), c.debug)
		if err != nil {
			return setup.Errorf("%v", err)
		}
		c.closers.add(func() {
			if err := h.Close(); err != nil {
				c.ws.Say(fmt.Sprintf("the file history is incomplete: %v", err))
			}
		})
		f.history = h
		if to, undo, ok := h.Interrupted(); ok {
			c.ws.Say(fmt.Sprintf("restoring files (%s) was interrupted: some may be restored and others not. adze --resume %s --rewind-files %s completes it; with %s instead, it is undone", to, c.record.ID, to, undo))
		}
	}
	if home != "" {
		f.changes = &change.Files{
			Dir: c.dir.Here, State: f.state, Hidden: c.Gate.Hidden, Named: c.ws.Engine.Named, Log: c.debug,
			Replacer:  replace.New(filepath.Join(home, "locks")),
			Listeners: []change.Listener{searchNews{c.ws.Engine}, c.contract, c.languages},
			Author:    author, Writers: c.ws.writers, Editor: c.ws.Editor,
		}
		if c.ws.Editor != nil {
			f.changes.Listeners = append(f.changes.Listeners, c.ws.Editor)
		}
		if f.history != nil {
			f.changes.History = f.history
		} else if lead != nil && lead.changes != nil {
			f.changes.History = lead.changes.History // an agent's changes belong to the turn
		}
		c.closers.add(f.changes.Wait)
	}
	return nil
}

// part returns the part that releases a call's file locks.
func (f *fileRecords) part() (p feature.Part) {
	if f.changes != nil {
		p = feature.Part{Name: "changes", After: f.changes}
	}
	return p
}

// promptHook tells the model at the start of a turn which files were changed externally.
func (f *fileRecords) promptHook(ctx context.Context, _ session.Prompt) (h session.HookResult) {
	for _, text := range f.changes.News(ctx) {
		h.Context = append(h.Context, msg.Reminder(text))
	}
	return h
}

// seen returns the files the model has read or written.
func (f *fileRecords) seen() []string {
	var files []string
	for _, e := range f.state.Recent() {
		files = append(files, e.Path)
	}
	return files
}

// searchNews invalidates the search engine's cache for changed files.
type searchNews struct{ engine *search.Engine }

// Changed implements [change.Listener].
func (s searchNews) Changed(_ context.Context, path string) error {
	s.engine.Changed(path)
	return nil
}
