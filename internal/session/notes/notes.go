// Package notes keeps a page of notes about a session up to date by querying a model in the
// background. The page has a fixed structure: the model may only change the text under its
// headings.
package notes

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"adze/internal/agent/sidequery"
	"adze/internal/model/tokens"
	"adze/internal/platform/fs/fsys"
	"adze/internal/platform/text/texts"
)

// Config configures a Keeper. Asker and Path are required.
type Config struct {
	Asker sidequery.Asker
	// Path returns the path of the notes file, or "" if it is not known yet.
	Path func() string
	// Language is the language of the built-in texts.
	Language texts.Language
	// Template and Prompt replace the built-in texts, if not empty. A template needs a heading.
	Template, Prompt string
	// Last is the ID of the last entry covered by the notes of an earlier process, or empty.
	// Written, if not nil, saves that ID for a later process.
	Last    string
	Written func(last string) error
	// Log may be nil.
	Log *slog.Logger
}

// Thresholds for updates: percentages of the tokens that a request may have, and a number of
// tool calls.
const (
	firstAt   = 25
	thenAfter = 10
	minCalls  = 3
	// wait is how long a summary waits for a running update.
	wait = 15 * time.Second
	// maxOutput limits the model's answer in tokens: a full page and some more. If the
	// conversation's own limit is lower, it is used instead, but at least leastOutput.
	maxOutput   = 16_000
	leastOutput = 8_000
)

// ErrTemplate reports that a template has no heading.
var ErrTemplate = errors.New("the template for session notes has no heading; the built-in one is used")

// ErrTooLong reports that the conversation and the notes prompt do not fit in the model's
// context.
var ErrTooLong = errors.New("the conversation has become too long to take notes of it; /compact makes room")

// A Keeper maintains the notes of a session. It is safe for concurrent use.
type Keeper struct {
	cfg      Config
	template string
	work     sync.WaitGroup
	life     context.Context
	end      context.CancelFunc

	mu      sync.Mutex
	busy    chan struct{} // closed when the running update is done; nil if none runs
	tokens  int           // size of the conversation at the last update
	calls   int           // calls since then
	written string        // ID of the last entry covered by the notes
	epoch   int           // number of calls to Forget
}

// New returns a Keeper. A non-nil error reports that a setting was replaced by its default.
func New(cfg Config) (*Keeper, error) {
	k := &Keeper{cfg: cfg, template: template(cfg.Language), written: cfg.Last}
	if cfg.Log == nil {
		k.cfg.Log = slog.New(slog.DiscardHandler)
	}
	k.life, k.end = context.WithCancel(context.Background())
	if cfg.Template == "" {
		return k, nil
	}
	if s := parse(cfg.Template); len(s) == 0 || s[0].heading == "" {
		return k, ErrTemplate
	}
	k.template = cfg.Template
	return k, nil
}

// Close cancels a running update and waits for it.
func (k *Keeper) Close() {
	k.end()
	k.work.Wait()
}

// A Snapshot is the state of a conversation between two requests.
type Snapshot struct {
	// Said is the conversation, and Last the ID of its last entry.
	Said sidequery.Conversation
	Last string
	// Tokens is the size of the conversation, Calls the number of calls since the last moment.
	// Ended is true at the end of a turn.
	Tokens, Calls int
	Ended         bool
	// Usable is how many tokens a request may have, and Room how many of them are free.
	Usable, Room int
}

// tooLong reports whether the notes prompt and the page do not fit.
func (m Snapshot) tooLong() bool { return m.Room < min(maxNotes, m.Usable/10) }

// See updates the notes in the background if an update is due. It never blocks.
func (k *Keeper) See(m Snapshot) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.calls += m.Calls
	if m.Tokens < k.tokens { // the conversation was shortened
		k.tokens = m.Tokens
	}
	due := m.Tokens >= m.Usable*firstAt/100
	if k.written != "" {
		due = m.Tokens >= k.tokens+m.Usable*thenAfter/100 && (k.calls >= minCalls || m.Ended && m.Calls == 0)
	}
	if !due || m.tooLong() || k.busy != nil || k.life.Err() != nil {
		return
	}
	done := k.claim(m)
	k.work.Go(func() {
		defer done()
		if err := k.update(k.life, m); err != nil && k.life.Err() == nil {
			k.cfg.Log.Warn("the session notes were not brought up to date", "err", err)
		}
	})
}

// Forget discards the notes because the messages they cover left the conversation. The next
// notes start from the template.
func (k *Keeper) Forget() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.written, k.tokens, k.calls = "", 0, 0
	k.epoch++
	if path := k.cfg.Path(); path != "" {
		os.Remove(path) // ok: it may be missing, and is not used without written
	}
}

// claim makes the caller the only writer until it calls done.
func (k *Keeper) claim(m Snapshot) (done func()) {
	busy := make(chan struct{})
	k.busy, k.tokens, k.calls = busy, m.Tokens, 0
	return func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.busy = nil
		close(busy)
	}
}

// Update updates the notes now and returns them.
func (k *Keeper) Update(ctx context.Context, m Snapshot) (string, error) {
	if m.tooLong() {
		return "", ErrTooLong
	}
	for {
		k.mu.Lock()
		if k.busy == nil {
			break
		}
		busy := k.busy
		k.mu.Unlock()
		select {
		case <-busy:
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
	}
	done := k.claim(m)
	k.mu.Unlock()
	defer done()
	if err := k.update(ctx, m); err != nil {
		return "", err
	}
	return k.read()
}

// Summary implements [adze/internal/agent/compact.Notes].
func (k *Keeper) Summary(ctx context.Context) (text, last string) {
	k.mu.Lock()
	busy := k.busy
	k.mu.Unlock()
	if busy != nil {
		t := time.NewTimer(wait)
		defer t.Stop()
		select {
		case <-busy:
		case <-t.C:
			return "", ""
		case <-ctx.Done():
			return "", ""
		}
	}
	k.mu.Lock()
	last = k.written
	k.mu.Unlock()
	page, err := k.read()
	if err != nil || last == "" || blank(page) {
		return "", ""
	}
	return summary(k.cfg.Language, page, tokens.New("")), last
}

// read returns the page, or the template if it does not exist yet.
func (k *Keeper) read() (string, error) {
	data, err := os.ReadFile(k.cfg.Path())
	if errors.Is(err, fs.ErrNotExist) {
		return k.template, nil
	}
	return string(data), err
}

// update asks the model for changed sections and merges them into the page. It drops an answer
// that does not match the page's structure.
func (k *Keeper) update(ctx context.Context, m Snapshot) error {
	path := k.cfg.Path()
	if path == "" {
		return nil
	}
	page, err := k.read()
	if err != nil {
		return fmt.Errorf("reading the session notes: %w", err)
	}
	if !sameShape(page, k.template) {
		page = k.template // the page was edited by hand
	}
	epoch := k.forgotten()
	answer, err := k.ask(ctx, m, page)
	if err != nil {
		return fmt.Errorf("asking for session notes: %w", err)
	}
	next, err := revise(page, answer)
	if err != nil {
		return err
	}
	k.mu.Lock()
	if epoch != k.epoch {
		k.mu.Unlock()
		return nil
	}
	k.written, err = m.Last, write(path, next)
	k.mu.Unlock()
	if err != nil {
		return fmt.Errorf("writing the session notes: %w", err)
	}
	if k.cfg.Written == nil {
		return nil
	}
	return k.cfg.Written(m.Last)
}

// forgotten returns the number of calls to Forget.
func (k *Keeper) forgotten() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.epoch
}

func (k *Keeper) ask(ctx context.Context, m Snapshot, page string) (string, error) {
	order := k.cfg.Prompt
	if order == "" {
		order = catalogue.Text(k.cfg.Language, "update")
	}
	order += "\n\n" + catalogue.Text(k.cfg.Language, "answer", strings.TrimSpace(page))
	if more := reminders(k.cfg.Language, page, tokens.New(m.Said.Request.Model)); more != "" {
		order += "\n" + more
	}
	limit := max(leastOutput, min(maxOutput, m.Said.Request.MaxTokens))
	q := m.Said.Question(order, limit)
	q.Purpose = "session notes"
	answer, err := k.cfg.Asker.Ask(ctx, q)
	if err != nil {
		return "", err
	}
	return answer.Words()
}

// write atomically replaces the file at path.
func write(path, text string) error {
	if err := fsys.MkdirPrivate(filepath.Dir(path)); err != nil {
		return err
	}
	tmp, err := fsys.CreateTemp(filepath.Dir(path), ".notes-")
	if err != nil {
		return err
	}
	_, err = tmp.WriteString(text)
	if err = errors.Join(err, tmp.Close()); err == nil {
		err = fsys.Rename(tmp.Name(), path)
	}
	if err != nil {
		os.Remove(tmp.Name()) // ok: the write error is returned
	}
	return err
}
