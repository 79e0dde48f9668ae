// Package recall finds memories that may help with a message, by asking a small model in the
// background, and returns them as reminders.
package recall

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"adze/internal/agent/sidequery"
	"adze/internal/domain/memdir"
	"adze/internal/msg"
	"adze/internal/platform/text/texts"
)

const (
	maxTime   = 30 * time.Second
	maxTokens = 256
	// maxSaid is the part of a message shown to the choosing model, in characters.
	maxSaid = 4000
	// recentEntries is the number of entries in which tools count as recently used.
	recentEntries = 20
)

// Config configures a Recaller. Log may be nil; everything else is required.
type Config struct {
	Small  *sidequery.SmallModel // chooses the memories
	Folder memdir.Folder
	// On reports whether memory is enabled. It is called before and after each recall.
	On       func() bool
	Language func() texts.Language
	// Seen returns the files that the model has read or written itself and that are still in
	// its context.
	Seen func() []string
	// Called, if non-nil, maps a call to the tool call it resolved to.
	Called func(*msg.ToolUse) *msg.ToolUse
	Now    func() time.Time
	Log    *slog.Logger
}

// A Recaller recalls memories for one conversation. It is safe for concurrent use.
type Recaller struct {
	cfg Config

	mu     sync.Mutex
	failed sidequery.Failures
	told   int // bytes recalled so far
	// last is the most recent recall; it counts only if it was used.
	last []msg.Part
}

// New returns a recaller.
func New(c Config) *Recaller {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return &Recaller{cfg: c}
}

// Prefetch returns a function that looks for memories that may help with a message while the
// turn runs, or nil if that is not worthwhile. before is the conversation up to the message.
// Failures are only logged.
func (r *Recaller) Prefetch(message []msg.Part, before []msg.Entry) func(context.Context) []msg.Part {
	said := userText(message)
	if !r.cfg.On() || !memdir.WorthRecalling(said) {
		return nil
	}
	return func(ctx context.Context) []msg.Part { return r.recall(ctx, said, before) }
}

// userText returns the user's text, without reminders added by the program.
func userText(parts []msg.Part) string {
	var b strings.Builder
	for _, p := range parts {
		if _, reminder := msg.ReminderText(p); reminder {
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
	some := memdir.Candidates(all, func(name string) bool { return known[memdir.Real(r.cfg.Folder.Path(name))] })
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

// begin returns the remaining byte budget, and whether a recall is worthwhile.
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
	room = memdir.MaxRecallTotal - r.told
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

// known returns the memories in the model's context: recalled ones, and files that it has read
// or written itself. After a compaction it is empty.
func (r *Recaller) known(before []msg.Entry) map[string]bool {
	known := map[string]bool{}
	for _, e := range before {
		for _, p := range e.Message.Parts {
			if path, ok := pathOf(p); ok {
				known[memdir.Real(path)] = true
			}
		}
	}
	for _, path := range r.cfg.Seen() {
		known[memdir.Real(path)] = true
	}
	return known
}

// choose asks the model which of some memories could help.
func (r *Recaller) choose(ctx context.Context, said string, before []msg.Entry, some []memdir.Memory) ([]memdir.Memory, error) {
	if runes := []rune(said); len(runes) > maxSaid {
		said = string(runes[:maxSaid])
	}
	system, query := question(r.cfg.Language(), said, r.recentTools(before), memdir.Manifest(some))
	answer, err := r.cfg.Small.Ask(ctx, sidequery.Question{
		Purpose: "memory recall", System: []msg.Part{&msg.Text{Text: system}}, Messages: []msg.Message{msg.UserText(query)},
		MaxTokens: maxTokens, Timeout: maxTime, Format: json.RawMessage(memdir.AnswerSchema),
	})
	if err != nil {
		return nil, err
	}
	text, err := answer.Words()
	if err != nil {
		return nil, err
	}
	return memdir.Choose(text, some)
}

// recentTools returns the names of recently used tools, without duplicates.
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
