package app

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"adze/internal/agent/collapse"
	"adze/internal/agent/compact"
	"adze/internal/agent/snip"
	"adze/internal/platform/filestate"
	"adze/internal/platform/task"
	"adze/internal/platform/texts"
	"adze/internal/session"
	"adze/internal/session/notes"
	"adze/internal/session/store"
	"adze/internal/session/window"
	"adze/internal/tool"
)

// keepWithin lets the session keep its conversation within the context window.
func (b *builder) keepWithin(cfg *session.Config) {
	if cfg.Provider == nil {
		return
	}
	s := b.settings
	c := &window.Config{
		Off:      !s.Bool("autoCompact"),
		Percent:  s.Int("autoCompactPercent"),
		Reactive: s.Bool("reactiveCompactOnly"),
		Keep:     b.keptBesideNotes(),
		LastTurn: !interactive(b.env, b.o) && b.o.input != inputStream,
		Tools:    windowTools(),
		Language: texts.Language(s.Text("promptLanguage")),
		Hooks:    b.hooks.Compaction(),
	}
	if b.log != nil {
		c.Transcript = b.log.Path
	}
	if b.snipper != nil {
		c.Steps = append(c.Steps, window.Snip(b.snipper, snipTool))
	}
	c.Steps = append(c.Steps, window.Clear(compact.Micro{
		Keep: s.Int("microCompact.keepResults"), Total: s.Int("microCompact.maxTokens"),
		Gain: s.Int("microCompact.minGainTokens"), Idle: time.Duration(s.Int("microCompact.idleMinutes")) * time.Minute,
	}))
	if s.Bool("contextCollapse.enabled") {
		b.folder = collapse.New(collapse.Config{Asker: asker(cfg), Language: c.Language, Log: cfg.Debug})
		c.Steps = append(c.Steps, window.Fold(b.folder))
	}
	if b.earlier != nil {
		c.State = b.earlier.State.Last
	}
	c.Notes = b.notes(cfg)
	files := &reread{state: b.state, hidden: b.gate.Hidden, plan: b.planFile(), tasks: b.tasks}
	c.Sources = files.sources
	c.Done = func(restored []string) {
		files.forget(restored)
		if b.announcer != nil {
			b.announcer.Reset()
		}
		b.prompts.Reset()
	}
	cfg.Window = c
}

// keptBesideNotes returns how much of a conversation stays when notes take the place of the rest.
func (b *builder) keptBesideNotes() compact.Keep {
	s := b.settings
	k := compact.Keep{
		MinTokens: s.Int("sessionMemoryCompact.minTokens"), MinTexts: s.Int("sessionMemoryCompact.minTextMessages"),
		MaxTokens: s.Int("sessionMemoryCompact.maxTokens"),
	}
	if !k.Valid() {
		d := compact.DefaultKeep
		b.env.say(fmt.Sprintf("sessionMemoryCompact.minTokens is %d, which is more than maxTokens, %d; the defaults %d and %d are used", k.MinTokens, k.MaxTokens, d.MinTokens, d.MaxTokens))
		return d
	}
	return k
}

// experiment gives tools to the parts that are tried out, where the settings switch them on.
func (b *builder) experiment(box *toolbox) {
	if b.settings.Bool("snip.enabled") {
		b.snipper = new(snip.Snipper)
		box.stale = b.snipper
	}
	if b.settings.Bool("contextCollapse.enabled") {
		box.inspect = func() string { return b.folder.Report() }
	}
}

// notesKind is the kind of the note that says how far the session notes tell of the conversation.
const notesKind = "session-notes"

// notes returns what keeps notes of the session beside its transcript, or nil if nothing does.
func (b *builder) notes(cfg *session.Config) *notes.Keeper {
	if b.log == nil || b.o.bare || !b.settings.Bool("sessionMemory.enabled") {
		return nil
	}
	var earlier struct{ Last string }
	if b.earlier != nil {
		json.Unmarshal(b.earlier.State.Last[notesKind], &earlier) // ok: then they are written anew
	}
	custom := func(name string) string {
		text, _ := os.ReadFile(filepath.Join(b.home, "session-memory", "config", name)) // ok: most have none
		return string(text)
	}
	k, err := notes.New(notes.Config{
		Asker: asker(cfg), Language: texts.Language(b.settings.Text("promptLanguage")), Template: custom("template.md"), Prompt: custom("prompt.md"),
		Path: func() string {
			return filepath.Join(strings.TrimSuffix(b.log.Path(), ".jsonl"), "session-memory", "notes.md")
		},
		Log: cfg.Debug, Last: earlier.Last,
		Written: func(last string) error {
			return b.log.Note(store.Other{Kind: notesKind, Fields: map[string]any{"last": last}})
		},
	})
	if err != nil {
		b.env.say(err.Error())
	}
	return k
}

// reread puts back into a conversation that was compacted what the model still has to see: the files that
// were read last, the plan, what runs in the background. It belongs to the session's worker.
type reread struct {
	state  *filestate.Store
	hidden func(path string) bool
	plan   string
	tasks  *task.Table // nil if nothing runs in the background
	read   map[string]filestate.Entry
}

// maxReread bounds how much of a file is looked at, in bytes; more is never put back.
const maxReread = 1 << 20

func (r *reread) sources(context.Context) compact.Sources {
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
func (r *reread) text(path string) (string, bool) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxReread || r.hidden(path) {
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
func (r *reread) forget(restored []string) {
	r.state.Clear()
	for _, path := range restored {
		if e, ok := r.read[path]; ok {
			r.state.Record(e)
		}
	}
	r.read = nil
}
