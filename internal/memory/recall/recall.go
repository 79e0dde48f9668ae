// Package recall finds memories that may help with a message: it asks a small model beside the turn which
// ones could, and tells them. What memories are and how they are listed is known to package memory; when
// they are looked for is left to the session.
package recall

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"adze/internal/agent/aside"
	"adze/internal/memory"
	"adze/internal/msg"
	"adze/internal/platform/texts"
)

const (
	maxTime   = 30 * time.Second
	maxTokens = 256
	// maxSaid is how much of a message is shown to the model that chooses, in characters.
	maxSaid = 4000
	// recentEntries is how far back the tools count as recently used.
	recentEntries = 20
)

// A Config is what memories are recalled with. Log may be nil; the rest is required.
type Config struct {
	Small  *aside.Small // chooses
	Folder memory.Folder
	// On reports whether memory is used. It is asked before and after each recall.
	On       func() bool
	Language func() texts.Language
	// Seen returns the files that the model has read or written itself, and that it still has before it.
	Seen func() []string
	// Called returns a call as one of the tool that it reached. May be nil: it is the one that the model wrote.
	Called func(*msg.ToolUse) *msg.ToolUse
	Now    func() time.Time
	Log    *slog.Logger
}

// A Recaller recalls memories for one conversation. It is safe for concurrent use.
type Recaller struct {
	cfg Config

	mu     sync.Mutex
	failed aside.Failures
	told   int // bytes that are in the conversation, or were
	// last is what was recalled last: it counts as told only if it was taken up.
	last []msg.Part
}

// New returns a recaller.
func New(c Config) *Recaller {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return &Recaller{cfg: c}
}

// Prefetch returns what looks for memories that may help with a message, while the turn goes on; nil if it is
// not worth it. Before is the conversation up to the message. A failure is logged, and otherwise ignored.
func (r *Recaller) Prefetch(message []msg.Part, before []msg.Entry) func(context.Context) []msg.Part {
	said := ownWords(message)
	if !r.cfg.On() || !memory.Worth(said) {
		return nil
	}
	return func(ctx context.Context) []msg.Part { return r.recall(ctx, said, before) }
}

// ownWords returns what the user said, without what the program added.
func ownWords(parts []msg.Part) string {
	var b strings.Builder
	for _, p := range parts {
		if _, reminder := msg.Reminded(p); reminder {
			continue
		}
		if t, ok := p.(*msg.Text); ok {
			b.WriteString(t.Text + "\n")
		}
	}
	return strings.TrimSpace(b.String())
}

func (r *Recaller) recall(ctx context.Context, said string, before []msg.Entry) []msg.Part {
	room, ok := r.begin(before)
	if !ok {
		return nil
	}
	all, err := r.cfg.Folder.List()
	if err != nil {
		r.cfg.Log.Warn("memories were not recalled", "err", err)
		return nil
	}
	known := r.known(before)
	some := memory.Candidates(all, func(name string) bool { return known[memory.Real(r.cfg.Folder.Path(name))] })
	if len(some) == 0 {
		return nil
	}
	chosen, err := r.choose(ctx, said, before, some)
	interrupted := ctx.Err() != nil
	if err != nil && !interrupted {
		r.cfg.Log.Warn("memories were not recalled", "err", err)
	}
	var parts []msg.Part
	if r.cfg.On() { // still
		for _, m := range r.cfg.Folder.Recall(chosen, room, r.cfg.Now()) {
			parts = append(parts, reminder(r.cfg.Language(), m))
		}
	}
	r.end(parts, err, interrupted)
	return parts
}

// begin returns how many bytes may still be told, and whether it is worth trying.
func (r *Recaller) begin(before []msg.Entry) (room int, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range before {
		for _, p := range e.Message.Parts {
			if slices.Contains(r.last, p) {
				r.told += len(p.(*msg.Text).Text)
			}
		}
	}
	r.last = nil
	room = memory.MaxRecallTotal - r.told
	return room, room > 0 && !r.failed.TooMany()
}

func (r *Recaller) end(parts []msg.Part, err error, interrupted bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last = parts
	if !interrupted {
		r.failed.Count(err)
	}
}

// known returns the memories that the model has before it: those that were recalled, and those that it has
// read or written itself. After a compaction it knows none.
func (r *Recaller) known(before []msg.Entry) map[string]bool {
	known := map[string]bool{}
	for _, e := range before {
		for _, p := range e.Message.Parts {
			if path, ok := pathOf(p); ok {
				known[memory.Real(path)] = true
			}
		}
	}
	for _, path := range r.cfg.Seen() {
		known[memory.Real(path)] = true
	}
	return known
}

// choose asks the model which of some memories could help.
func (r *Recaller) choose(ctx context.Context, said string, before []msg.Entry, some []memory.Memory) ([]memory.Memory, error) {
	if runes := []rune(said); len(runes) > maxSaid {
		said = string(runes[:maxSaid])
	}
	system, query := question(r.cfg.Language(), said, r.recentTools(before), memory.Manifest(some))
	answer, err := r.cfg.Small.Ask(ctx, aside.Question{
		Purpose: "memory recall", System: []msg.Part{&msg.Text{Text: system}}, Messages: []msg.Message{msg.UserText(query)},
		MaxTokens: maxTokens, Timeout: maxTime, Format: json.RawMessage(memory.AnswerSchema),
	})
	if err != nil {
		return nil, err
	}
	text, err := answer.Words()
	if err != nil {
		return nil, err
	}
	return memory.Choose(text, some)
}

// recentTools returns the names of the tools that were used lately, each once.
func (r *Recaller) recentTools(before []msg.Entry) []string {
	var names []string
	for _, e := range before[max(0, len(before)-recentEntries):] {
		for _, u := range e.Message.Uses() {
			if r.cfg.Called != nil {
				u = r.cfg.Called(u)
			}
			if !slices.Contains(names, u.Name) {
				names = append(names, u.Name)
			}
		}
	}
	return names
}
