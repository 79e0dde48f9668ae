package app

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"adze/internal/brief"
	"adze/internal/memory"
	"adze/internal/model"
	"adze/internal/model/cost"
	"adze/internal/msg"
	"adze/internal/session"
)

// What a recall may take.
const (
	recallTime   = 30 * time.Second
	recallTokens = 256
	// maxSaid is how much of a message is shown to the model that chooses, in characters.
	maxSaid = 4000
	// recentEntries is how far back the tools count as recently used.
	recentEntries = 20
	// maxRecallErrors is how often in a row the model may fail before it is not asked any more.
	maxRecallErrors = 3
)

// Tries is what the recalls of a session know of each other.
type tries struct {
	mu     sync.Mutex
	failed int // in a row
	told   int // bytes that are in the conversation, or were
	// last is what was recalled last: it counts as told only if it was taken up.
	last []msg.Part
}

// prefetch returns what looks for memories beside each turn.
func (m *remembering) prefetch(cfg *session.Config) func(session.Prompt, []msg.Entry) []func(context.Context) []msg.Part {
	log := cfg.Debug
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	r := recaller{m, cfg.Provider, func(id string, u msg.Usage, took time.Duration) {
		cfg.Records.Ledger.Book(id, u, cost.Times{API: took})
	}, log}
	return func(p session.Prompt, before []msg.Entry) []func(context.Context) []msg.Part {
		said := plainWords(p.Parts)
		if !m.on() || !memory.Worth(said) {
			return nil
		}
		return []func(context.Context) []msg.Part{func(ctx context.Context) []msg.Part { return r.recall(ctx, said, before) }}
	}
}

// plainWords returns what the person said, without what the program added.
func plainWords(parts []msg.Part) string {
	var b strings.Builder
	for _, p := range parts {
		if t, ok := p.(*msg.Text); ok && !strings.HasPrefix(t.Text, "<system-reminder>") {
			b.WriteString(t.Text + "\n")
		}
	}
	return strings.TrimSpace(b.String())
}

// A recaller asks a model which memories a message could need.
type recaller struct {
	*remembering
	provider model.Provider
	booked   func(id string, u msg.Usage, took time.Duration)
	log      *slog.Logger
}

// recall returns memories that may help with what was said. Nobody sees that it failed.
func (r *recaller) recall(ctx context.Context, said string, before []msg.Entry) []msg.Part {
	room, ok := r.tries.begin(before)
	if !ok {
		return nil
	}
	all, err := r.folder.List()
	if err != nil {
		r.log.Warn("memories were not recalled", "err", err)
		return nil
	}
	known := r.known(before)
	some := memory.Candidates(all, func(name string) bool { return known[memory.Real(r.folder.Path(name))] })
	if len(some) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, recallTime)
	defer cancel()
	answer, err := r.ask(ctx, said, recentTools(before), memory.Manifest(some))
	var chosen []memory.Memory
	if err == nil {
		chosen, err = memory.Choose(answer, some)
	}
	if err != nil && ctx.Err() == nil {
		r.log.Warn("memories were not recalled", "err", err)
	}
	var parts []msg.Part
	for _, m := range r.folder.Recall(chosen, room, r.b.env.Now()) {
		parts = append(parts, brief.Recalled(r.b.promptLanguage(), m))
	}
	if r.off.Load() { // meanwhile
		parts = nil
	}
	r.tries.end(parts, err != nil && ctx.Err() == nil)
	return parts
}

// begin returns how many bytes may still be told, and whether it is worth trying.
func (t *tries) begin(said []msg.Entry) (room int, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, e := range said {
		for _, p := range e.Message.Parts {
			if slices.Contains(t.last, p) {
				t.told += len(p.(*msg.Text).Text)
			}
		}
	}
	t.last = nil
	room = memory.MaxRecallTotal - t.told
	return room, room > 0 && t.failed < maxRecallErrors
}

func (t *tries) end(parts []msg.Part, failed bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last = parts
	if t.failed++; !failed {
		t.failed = 0
	}
}

// known returns the memories that the model has before it: those that were recalled, and those that it has
// read or written itself. After a compaction it knows none.
func (r *recaller) known(said []msg.Entry) map[string]bool {
	known := map[string]bool{}
	for _, e := range said {
		for _, p := range e.Message.Parts {
			if path, ok := brief.RecalledPath(p); ok {
				known[memory.Real(path)] = true
			}
		}
	}
	if r.b.state != nil {
		for _, e := range r.b.state.Recent() {
			known[memory.Real(e.Path)] = true
		}
	}
	return known
}

// recentTools returns the names of the tools that were used lately, each once.
func recentTools(said []msg.Entry) []string {
	var names []string
	for _, e := range said[max(0, len(said)-recentEntries):] {
		for _, u := range e.Message.Uses() {
			if !slices.Contains(names, u.Name) {
				names = append(names, u.Name)
			}
		}
	}
	return names
}

// ask returns what the small model answers.
func (r *recaller) ask(ctx context.Context, said string, tools []string, manifest string) (string, error) {
	if runes := []rune(said); len(runes) > maxSaid {
		said = string(runes[:maxSaid])
	}
	system, question := brief.Recall(r.b.promptLanguage(), said, tools, manifest)
	req := &model.Request{
		Model: r.b.smallModel(), System: []msg.Part{&msg.Text{Text: system}}, Messages: []msg.Message{msg.UserText(question)},
		MaxTokens: recallTokens, Format: json.RawMessage(memory.AnswerSchema), Background: true,
	}
	began := time.Now()
	var acc model.Accumulator
	defer func() {
		if u := acc.Usage(); u != (msg.Usage{}) {
			r.booked(req.Model, u, time.Since(began))
		}
	}()
	for ev, err := range r.provider.Stream(ctx, req) {
		if err != nil {
			return "", fmt.Errorf("asking for memories: %w", err)
		}
		acc.Add(ev)
	}
	return msg.PlainText(acc.Message().Parts), ctx.Err()
}
