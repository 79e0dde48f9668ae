package wire

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"unicode/utf8"

	"adze/internal/agent/collapse"
	"adze/internal/agent/compact"
	"adze/internal/agent/snip"
	"adze/internal/app/settings"
	"adze/internal/platform/filestate"
	"adze/internal/platform/task"
	"adze/internal/session"
	"adze/internal/session/notes"
	"adze/internal/session/store"
	"adze/internal/session/window"
	"adze/internal/tool"
)

// windowParts are the experiments that shorten the conversation, where the settings switch them on.
type windowParts struct {
	snipper *snip.Snipper    // nil if nothing is cut out
	folder  *collapse.Folder // nil if nothing is folded
}

// keepWithin lets the session keep its conversation within the context window.
func (c *Conversation) keepWithin(cfg *session.Config) {
	v := c.ws.values()
	w := &window.Config{
		Off:      !v.Window.Auto,
		Percent:  v.Window.Percent,
		Reactive: v.Window.ReactiveOnly,
		Keep:     keepNoted(v.Window, c.ws.Say),
		LastTurn: c.spec.Entry == Print,
		Tools:    windowTools(),
		Language: c.ws.language(),
		Hooks:    c.Hooks.Compaction(),
	}
	if c.record.log != nil {
		w.Transcript = c.record.log.Path
	}
	w.State = c.record.state().Last
	// The steps shorten what is sent, in this order.
	if c.window.snipper != nil {
		w.Steps = append(w.Steps, window.Snip(c.window.snipper, snipTool))
	}
	w.Steps = append(w.Steps, window.Clear(v.Window.Micro))
	if v.Window.Collapse {
		c.window.folder = collapse.New(collapse.Config{Asker: asker(cfg), Language: w.Language, Log: c.debug})
		w.Steps = append(w.Steps, window.Fold(c.window.folder))
	}
	w.Notes = newNotes(c, cfg)
	files := &restorer{state: c.files.state, hidden: c.Gate.Hidden, plan: c.planFile(), tasks: c.shell.tasks}
	w.Sources = files.sources
	w.Done = func(restored []string) {
		files.forget(restored)
		c.told.reset()
	}
	cfg.Window = w
}

// keepNoted returns how much of a conversation stays when notes take the place of the rest.
func keepNoted(s settings.Window, say func(string)) compact.Keep {
	k := s.KeepNoted
	if !k.Valid() {
		d := compact.DefaultKeep
		say(fmt.Sprintf("sessionMemoryCompact.minTokens is %d, which is more than maxTokens, %d; using the defaults %d and %d", k.MinTokens, k.MaxTokens, d.MinTokens, d.MaxTokens))
		return d
	}
	return k
}

// notesKind is the kind of the note that says how far the session notes tell of the conversation.
const notesKind = "session-notes"

// newNotes returns what keeps notes of the session beside its transcript, or nil if nothing does.
func newNotes(c *Conversation, cfg *session.Config) *notes.Keeper {
	v := c.ws.values()
	if c.record.log == nil || c.spec.Bare || !v.Window.Notes {
		return nil
	}
	var last struct{ Last string }
	json.Unmarshal(c.record.state().Last[notesKind], &last) // ok: then they are written again
	custom := func(name string) string {
		text, _ := os.ReadFile(filepath.Join(c.ws.Project.Home, "session-memory", "config", name)) // ok: most have none
		return string(text)
	}
	k, err := notes.New(notes.Config{
		Asker: asker(cfg), Language: c.ws.language(), Template: custom("template.md"), Prompt: custom("prompt.md"),
		Path: func() string { return filepath.Join(c.record.folder(), "session-memory", "notes.md") },
		Log:  c.debug, Last: last.Last,
		Written: func(last string) error {
			return c.record.log.Note(store.Other{Kind: notesKind, Fields: map[string]any{"last": last}})
		},
	})
	if err != nil {
		c.ws.Say(err.Error())
	}
	return k
}

// reread puts back into a conversation that was compacted what the model still has to see: the files that
// were read last, the plan, what runs in the background. It belongs to the session's worker.
type restorer struct {
	state  *filestate.Store
	hidden func(path string) bool
	plan   string
	tasks  *task.Table // nil if nothing runs in the background
	read   map[string]filestate.Entry
}

// maxRestored bounds how much of a file is looked at, in bytes; more is never put back.
const maxRestored = 1 << 20

func (r *restorer) sources(context.Context) compact.Sources {
	r.read = map[string]filestate.Entry{}
	s := compact.Sources{Plan: compact.Source{Name: r.plan, Text: func() (string, bool) { return r.text(r.plan) }}}
	if r.tasks != nil {
		for _, t := range r.tasks.List() {
			if t.Status() == task.Running {
				s.Running = append(s.Running, fmt.Sprintf("- %s: %s; output in %s", t.ID, tool.OneLine(t.Title, 200), t.Output.Path()))
			}
		}
	}
	for _, e := range r.state.Recent() {
		if e.Origin == filestate.Injected || e.Path == r.plan { // an instruction file, or what a host gave
			continue
		}
		s.Files = append(s.Files, compact.Source{Name: e.Path, Text: func() (string, bool) { return r.text(e.Path) }})
	}
	return s
}

// text returns the text of a file as it is now.
func (r *restorer) text(path string) (string, bool) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxRestored || r.hidden(path) {
		return "", false
	}
	data, err := os.ReadFile(path)
	if err != nil || !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0 {
		return "", false
	}
	r.read[path] = filestate.Entry{
		Path: path, Hash: sha256.Sum256(data), Stamp: filestate.StampOf(info), Origin: filestate.Read,
		Offset: 1, Complete: true, Content: data,
	}
	return string(data), true
}

// forget makes the file tools forget what the model no longer sees: all but the files that were put back.
func (r *restorer) forget(restored []string) {
	r.state.Clear()
	for _, path := range restored {
		if e, ok := r.read[path]; ok {
			r.state.Record(e)
		}
	}
	r.read = nil
}
