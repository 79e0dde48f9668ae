package wire

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"adze/internal/agent/collapse"
	"adze/internal/agent/compact"
	"adze/internal/agent/snip"
	"adze/internal/app/toolbox"
	"adze/internal/msg"
	"adze/internal/platform/fs/paths"
	"adze/internal/session/notes"
	"adze/internal/session/sight"
	"adze/internal/session/store"
	"adze/internal/session/window"
	"adze/internal/settings"
)

// windowParts holds the experimental compaction steps enabled in the settings.
type windowParts struct {
	snipper *snip.Snipper    // nil if snipping is off
	folder  *collapse.Folder // nil if collapsing is off
}

// newWindow returns the configuration that keeps the session within the context window.
func (c *Conversation) newWindow() *window.Config {
	v := c.ws.values()
	w := &window.Config{
		Off:      !v.Window.Auto,
		Percent:  v.Window.Percent,
		Reactive: v.Window.ReactiveOnly,
		Keep:     keepNoted(v.Window, c.ws.Say),
		LastTurn: c.spec.Entry == Print,
		Tools:    toolbox.OfWindow(),
		Language: c.ws.language(),
		Hooks:    c.Hooks.Compaction(),
	}
	if c.record.Log != nil {
		w.Transcript = c.record.Log.Path
	}
	w.State = c.record.State().Last
	// The steps shorten requests in this order.
	if c.window.snipper != nil {
		w.Steps = append(w.Steps, window.Snip(c.window.snipper, toolbox.Snip))
	}
	w.Steps = append(w.Steps, window.Clear(v.Window.Micro))
	if v.Window.Collapse {
		c.window.folder = collapse.New(collapse.Config{Asker: c.asker(), Language: w.Language, Log: c.debug})
		w.Steps = append(w.Steps, window.Fold(c.window.folder))
	}
	w.Notes = c.newNotes()
	files := &sight.Files{State: c.files.state, Hidden: c.Gate.Hidden, Plan: c.PlanFile(), Tasks: c.shell.Tasks}
	w.Sources = func(ctx context.Context) compact.Sources {
		all := files.Sources(ctx)
		c.parts.Restore(ctx, &all)
		return all
	}
	w.Cleared = c.unseen
	w.Done = func(restored []string) {
		files.Forget(restored)
		c.parts.Compacted()
	}
	return w
}

// keepNoted returns how much of a conversation to retain when notes replace the rest.
func keepNoted(s settings.Window, say func(string)) compact.KeepPolicy {
	k := s.KeepNoted
	if !k.Valid() {
		d := compact.DefaultKeep
		say(fmt.Sprintf("sessionMemoryCompact.minTokens is %d, which is more than maxTokens, %d; using the defaults %d and %d", k.MinTokens, k.MaxTokens, d.MinTokens, d.MaxTokens))
		return d
	}
	return k
}

// notesKind is the kind of note that records how much of the conversation the session notes
// cover.
const notesKind = "session-notes"

// newNotes returns a keeper that maintains session notes next to the transcript, or nil.
func (c *Conversation) newNotes() *notes.Keeper {
	v := c.ws.values()
	if c.record.Log == nil || c.spec.Bare || !v.Window.Notes {
		return nil
	}
	var last struct{ Last string }
	json.Unmarshal(c.record.State().Last[notesKind], &last) // ok: otherwise they are rewritten
	custom := func(name string) string {
		text, _ := os.ReadFile(filepath.Join(c.ws.Project.Config, "session-memory", "config", name)) // ok: usually does not exist
		return string(text)
	}
	k, err := notes.New(notes.Config{
		Asker: c.asker(), Language: c.ws.language(), Template: custom("template.md"), Prompt: custom("prompt.md"),
		Path: func() string { return filepath.Join(c.record.Folder(), "session-memory", "notes.md") },
		Log:  c.debug, Last: last.Last,
		Written: func(last string) error {
			return c.record.Log.Note(store.Other{Kind: notesKind, Fields: map[string]any{"last": last}})
		},
	})
	if err != nil {
		c.ws.Say(err.Error())
	}
	return k
}

// unseen makes the file tools forget the results of the given calls, so that the model can read
// unchanged files again.
func (c *Conversation) unseen(uses []*msg.ToolUse) {
	for _, dir := range []string{c.ws.Dir, c.dir.Here()} { // a call may have meant either
		for _, path := range c.Session.Pool().Paths(uses, paths.Base{Dir: dir, Home: c.ws.Project.User}) {
			c.files.state.Invalidate(path)
		}
	}
}
