// Package collapse prepares for a conversation that grows too long: it summarizes ranges of old
// messages in the background and keeps these folds ready. Requests do not change until the
// caller drains the folds; the stored history stays complete. It is experimental: without it,
// compaction just takes longer.
package collapse

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"

	"adze/internal/agent/sidequery"
	"adze/internal/model"
	"adze/internal/msg"
	"adze/internal/platform/text/texts"
)

const (
	// recent is the number of trailing messages that are never folded.
	recent = 8
	// leastFold is the smallest range to fold, in tokens; for a large window it is a tenth of
	// the window.
	leastFold = 4_000
	share     = 10
	// maxOutput limits the model's answer, in tokens.
	maxOutput = 4_000
)

// A Config configures a [Folder]. Asker is required; Log may be nil.
type Config struct {
	Asker sidequery.Asker
	// Language selects the language of the model-facing texts.
	Language texts.Language
	Log      *slog.Logger
}

// A Fold replaces a range of messages that begins with an answer and ends before one.
type Fold struct {
	From int    `json:"from"`
	To   int    `json:"to"`
	Text string `json:"text"`
}

// A Folder folds one conversation. It is safe for concurrent use.
type Folder struct {
	cfg  Config
	work sync.WaitGroup
	life context.Context
	end  context.CancelFunc

	mu     sync.Mutex
	folds  []fold // contiguous, in order
	busy   bool
	stop   context.CancelFunc // cancels the running summary
	age    int                // number of conversations so far
	size   int                // size of the conversation when last seen, in tokens
	limit  int
	failed sidequery.Failures
}

type fold struct {
	Fold
	part      *msg.Text // reused, so that encoders recognize it
	committed bool
}

// New returns a folder.
func New(cfg Config) *Folder {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	f := &Folder{cfg: cfg, stop: func() {}}
	f.life, f.end = context.WithCancel(context.Background())
	return f
}

// Close cancels a running summary and waits for it.
func (f *Folder) Close() {
	f.end()
	f.work.Wait()
}

// Restart resets the folder for a conversation that starts over. It reports whether any folds
// had been committed.
func (f *Folder) Restart() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	had := slices.ContainsFunc(f.folds, func(d fold) bool { return d.committed })
	f.stop()
	f.folds, f.busy, f.failed = nil, false, 0
	f.age++
	return had
}

// Committed returns the committed folds, for [Folder.Restore] in a later process.
func (f *Folder) Committed() []Fold {
	f.mu.Lock()
	defer f.mu.Unlock()
	var all []Fold
	for _, d := range f.folds {
		if d.committed {
			all = append(all, d.Fold)
		}
	}
	return all
}

// Restore sets the folds that an earlier process committed.
func (f *Folder) Restore(folds []Fold) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.folds = nil
	at := 1
	for _, d := range folds {
		if d.From != at || d.To <= d.From || d.To%2 == 0 || d.Text == "" {
			return // ok: messages with unreadable folds are sent in full
		}
		at = d.To
		f.folds = append(f.folds, fold{d, &msg.Text{Text: d.Text}, true})
	}
}

// Drain commits the staged folds and reports whether there were any.
func (f *Folder) Drain() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	drained := false
	for i := range f.folds {
		drained = drained || !f.folds[i].committed
		f.folds[i].committed = true
	}
	return drained
}

// Project returns messages with the committed folds applied. Messages alternate and begin with
// the user, as in a [msg.Conversation].
func (f *Folder) Project(messages []msg.Message) []msg.Message {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []msg.Message
	at := 0
	for _, d := range f.folds {
		if !d.committed || d.To > len(messages) {
			break
		}
		out = append(out, messages[at:d.From]...)
		last := &out[len(out)-1]
		last.Parts = append(slices.Clip(last.Parts), d.part)
		at = d.To
	}
	if at == 0 {
		return messages
	}
	return append(out, messages[at:]...)
}

// A Snapshot is a conversation just before a request, without any folds.
type Snapshot struct {
	Messages []msg.Message
	// Sent is the last answered request, with the committed folds, or nil if unknown. The
	// summary request extends a prefix of it, which the provider has cached.
	Sent *model.Request
	// Size returns the size of messages; Limit is the size at which the conversation is too
	// long, in tokens.
	Size  func(...msg.Message) int
	Limit int
}

// Stage summarizes the next range in the background if the conversation is long enough. It
// never blocks.
func (f *Folder) Stage(m Snapshot) {
	f.mu.Lock()
	defer f.mu.Unlock()
	from := 1
	if n := len(f.folds); n > 0 {
		from = f.folds[n-1].To
	}
	f.size, f.limit = m.Size(m.Messages...), m.Limit
	to := (len(m.Messages)-recent)/2*2 - 1 // ends before an answer, which stays
	if f.busy || f.failed.TooMany() || to <= from || f.life.Err() != nil || m.Sent == nil {
		return
	}
	req, staged := *m.Sent, ""
	end := to
	for _, d := range f.folds {
		if d.committed {
			end -= d.To - d.From
		} else {
			staged += "\n\n" + d.Text
		}
	}
	if end > len(req.Messages) {
		return // the range was not sent yet
	}
	req.Messages = req.Messages[:end:end]
	size := m.Size(m.Messages[from:to]...)
	if size < max(leastFold, m.Limit/share) {
		return
	}
	ctx, stop := context.WithCancel(f.life)
	f.busy, f.stop = true, stop
	told := slices.Clone(m.Messages[from:to]) // the caller may modify its slice
	age := f.age
	f.work.Go(func() {
		defer stop()
		text, err := f.ask(ctx, &req, staged, told)
		f.mu.Lock()
		defer f.mu.Unlock()
		if age != f.age {
			return // the conversation was restarted
		}
		f.busy = false
		f.failed.Count(err)
		if err != nil {
			f.cfg.Log.Warn("a part of the conversation was not folded", "err", err)
			return
		}
		f.folds = append(f.folds, fold{Fold{from, to, text}, &msg.Text{Text: text}, false})
	})
}

// ask returns the fold for the messages in told: the model's summary and the user's own words.
// They are the last messages of req, after any that are folded or staged.
func (f *Folder) ask(ctx context.Context, req *model.Request, staged string, told []msg.Message) (string, error) {
	order := catalogue.Text(f.cfg.Language, "order")
	if staged != "" {
		order += "\n\n" + catalogue.Text(f.cfg.Language, "already") + staged
	}
	q := sidequery.Conversation{Request: req}.Question(order, maxOutput)
	q.Purpose = "folding"
	answer, err := f.cfg.Asker.Ask(ctx, q)
	if err != nil {
		return "", err
	}
	summary, err := answer.Words()
	if err != nil {
		return "", err
	}
	text := write(f.cfg.Language, summary, userTexts(told))
	if len(text) >= length(told) {
		return "", errors.New("the fold is longer than the messages it replaces")
	}
	return text, nil
}

// userTexts returns the user's texts in messages.
func userTexts(messages []msg.Message) []string {
	var said []string
	for _, m := range messages {
		if m.Role != msg.User {
			continue
		}
		for _, p := range m.Parts {
			if t, ok := p.(*msg.Text); ok && !ours(t) {
				said = append(said, t.Text)
			}
		}
	}
	return said
}

// ours reports whether a text was written by adze rather than the user.
func ours(t *msg.Text) bool {
	_, reminder := msg.ReminderText(t)
	return reminder || strings.HasPrefix(t.Text, "[Request interrupted by user") || strings.HasPrefix(t.Text, "[step ")
}

// length returns the number of bytes of text in messages.
func length(messages []msg.Message) (n int) {
	for _, m := range messages {
		for _, p := range m.Parts {
			switch p := p.(type) {
			case *msg.Text:
				n += len(p.Text)
			case *msg.ToolUse:
				n += len(p.Input)
			case *msg.ToolResult:
				n += length([]msg.Message{{Parts: p.Parts}})
			}
		}
	}
	return n
}
