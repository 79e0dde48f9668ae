package wire

import (
	"context"
	"fmt"
	"path/filepath"

	"adze/internal/app/belongings"
	"adze/internal/app/setup"
	"adze/internal/msg"
	"adze/internal/platform/filehistory"
	"adze/internal/platform/filestate"
	"adze/internal/platform/replace"
	"adze/internal/platform/search"
	"adze/internal/session"
	"adze/internal/tool/change"
)

// fileRecords are what a conversation knows about files: what it has read, what they held before it changed
// them, and what the writing tools share.
type fileRecords struct {
	state   *filestate.Store
	history *filehistory.History // nil if none is kept
	changes *change.Files        // nil without a state home: then there are no locks, and no tools that write
}

// openFiles makes the records.
func (c *Conversation) openFiles() error {
	f := &fileRecords{state: filestate.New()}
	c.files = f
	c.contract = newContract(c)
	if w := c.spec.Worker; w != nil {
		if w.fork() {
			f.state = w.Lead.files.state.Clone() // it has seen what its lead has
			c.closers.add(func() { w.Lead.files.state.Merge(f.state) })
		}
		c.closers.add(func() { c.ws.writers.End(w.Author.ID) })
	}
	home := c.ws.Project.Home
	if c.ws.values().Files.History && c.spec.Worker == nil && !c.spec.Session.Ephemeral && home != "" {
		h, err := filehistory.Open(belongings.HistoryDir(home, c.record.ID), session.FileChanges(c.record.State()), c.debug)
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
			c.ws.Say(fmt.Sprintf("restoring files (%s) was interrupted: some may be restored and others not. adze --resume %s --rewind-files %s completes it, with %s it is taken back", to, c.record.ID, to, undo))
		}
	}
	if home != "" {
		f.changes = &change.Files{
			Dir: c.dir.Here, State: f.state, Hidden: c.Gate.Hidden, Named: c.ws.Engine.Named, Log: c.debug,
			Replacer:  replace.New(filepath.Join(home, "locks")),
			Listeners: []change.Listener{searchNews{c.ws.Engine}, c.contract},
			Author:    c.spec.author(), Writers: c.ws.writers,
		}
		if f.history != nil {
			f.changes.History = f.history
		} else if w := c.spec.Worker; w != nil && w.Lead.files.changes != nil {
			f.changes.History = w.Lead.files.changes.History // what an agent changes is part of the turn
		}
		c.closers.add(f.changes.Wait)
	}
	return nil
}

// hear tells the model at the beginning of a turn which files were changed behind its back.
func (f *fileRecords) hear(ctx context.Context, _ session.Prompt) (h session.Hearing) {
	for _, text := range f.changes.News(ctx) {
		h.Context = append(h.Context, msg.Reminder(text))
	}
	return h
}

// seen returns the files that the model has read or written.
func (f *fileRecords) seen() []string {
	var files []string
	for _, e := range f.state.Recent() {
		files = append(files, e.Path)
	}
	return files
}

// searchNews tells the search engine of changes, so that it never answers from what a file once held.
type searchNews struct{ engine *search.Engine }

// Changed implements [change.Listener].
func (s searchNews) Changed(_ context.Context, path string) error {
	s.engine.Changed(path)
	return nil
}
