package app

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"adze/internal/agent/compact"
	"adze/internal/hook"
	"adze/internal/model/cost"
	"adze/internal/msg"
	"adze/internal/platform/filestate"
	"adze/internal/session"
	"adze/internal/session/notes"
)

// keepWithin lets the session keep its conversation within the context window.
func (b *builder) keepWithin(cfg *session.Config) {
	if cfg.Provider == nil {
		return
	}
	s := b.settings
	c := &session.Compaction{
		Off:     !s.Bool("autoCompact"),
		Percent: s.Int("autoCompactPercent"),
		Micro: compact.Micro{
			Keep: s.Int("microCompact.keepResults"), Total: s.Int("microCompact.maxTokens"),
			Gain: s.Int("microCompact.minGainTokens"), Idle: time.Duration(s.Int("microCompact.idleMinutes")) * time.Minute,
		},
		Language: s.Text("promptLanguage"),
		Hooks:    compactHooks{b.hooks},
	}
	if b.log != nil {
		c.Transcript = b.log.Path
	}
	if b.earlier != nil {
		var cleared struct{ Keys []string }
		json.Unmarshal(b.earlier.State.Last[session.ClearedKind], &cleared) // ok: what cannot be read is sent again
		c.Cleared = cleared.Keys
	}
	c.Notes = b.notes(cfg)
	files := &reread{state: b.state, hidden: b.gate.Hidden}
	c.Sources = files.sources
	c.Done = func() {
		files.forget()
		if b.told != nil {
			b.told.Reset()
		}
	}
	cfg.Compaction = c
}

// notes returns what keeps notes of the session beside its transcript, or nil if nothing does.
func (b *builder) notes(cfg *session.Config) *notes.Keeper {
	if b.log == nil || !b.settings.Bool("sessionMemory.enabled") {
		return nil
	}
	custom := func(name string) string {
		text, _ := os.ReadFile(filepath.Join(b.home, "session-memory", "config", name)) // ok: most have none
		return string(text)
	}
	k, err := notes.New(notes.Config{
		Provider: cfg.Provider, Language: b.settings.Text("promptLanguage"), Template: custom("template.md"), Prompt: custom("prompt.md"),
		Path: func() string {
			return filepath.Join(strings.TrimSuffix(b.log.Path(), ".jsonl"), "session-memory", "notes.md")
		},
		Booked: func(id string, u msg.Usage, took time.Duration) { cfg.Ledger.Book(id, u, cost.Times{API: took}) },
		Log:    cfg.Debug,
	})
	if err != nil {
		b.env.say(err.Error())
	}
	return k
}

// compactHooks are the hooks that are asked and told about compactions.
type compactHooks struct{ h *hooking }

func (c compactHooks) Before(ctx context.Context, t compact.Trigger, focus string) (keep, block string) {
	out := c.h.Fire(ctx, hook.OnPreCompact(string(t), focus))
	switch {
	case out.Stop != "":
		return "", out.Stop
	case out.Blocked:
		return "", out.By + ": " + out.Reason
	}
	return plainReminders(out.Context), ""
}

func (c compactHooks) After(ctx context.Context, t compact.Trigger, summary string) []msg.Part {
	parts := c.h.Fire(ctx, hook.OnPostCompact(string(t), summary)).Context
	return append(parts, c.h.start(ctx, "compact")...)
}

// plainReminders returns what reminders say, without what marks them.
func plainReminders(parts []msg.Part) string {
	text := msg.PlainText(parts)
	text = strings.ReplaceAll(text, "<system-reminder>\n", "")
	return strings.TrimSpace(strings.ReplaceAll(text, "</system-reminder>", "\n"))
}

// reread puts the files that were read last back into a conversation that was compacted. It belongs to
// the session's worker.
type reread struct {
	state  *filestate.Store
	hidden func(path string) bool
	shown  []filestate.Entry
}

const (
	// maxReread bounds how much of a file is looked at, in bytes; more is never put back.
	maxReread = 1 << 20
	// maxKnown is the size up to which a file that was put back counts as read, in bytes.
	maxKnown = 12_000
)

func (r *reread) sources(context.Context) compact.Sources {
	r.shown = nil
	var s compact.Sources
	for _, e := range r.state.Recent() {
		if e.Origin == filestate.Injected { // an instruction file, or what a host gave
			continue
		}
		s.Files = append(s.Files, compact.Source{Name: e.Path, Text: func() (string, bool) { return r.read(e.Path) }})
	}
	return s
}

// read returns the text of a file as it is now.
func (r *reread) read(path string) (string, bool) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxReread || r.hidden(path) {
		return "", false
	}
	data, err := os.ReadFile(path)
	if err != nil || !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0 {
		return "", false
	}
	if len(data) <= maxKnown {
		r.shown = append(r.shown, filestate.Entry{
			Path: path, Hash: sha256.Sum256(data), Stamp: filestate.StampOf(info), Origin: filestate.Read,
			Offset: 1, Complete: true, Content: data,
		})
	}
	return string(data), true
}

// forget makes the file tools forget what the model no longer sees.
func (r *reread) forget() {
	r.state.Clear()
	for _, e := range r.shown {
		r.state.Record(e)
	}
	r.shown = nil
}
