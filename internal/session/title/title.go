// Package title names sessions: beside a turn it asks the small model for a few words that say what the session is
// about. Nothing waits for it, and a session that it does not name is known by the first words of its first message.
// Where titles are kept and shown is left to others, as is the title that the user chooses.
package title

import (
	"context"
	_ "embed"
	"log/slog"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"adze/internal/agent/aside"
	"adze/internal/msg"
	"adze/internal/platform/texts"
)

const (
	// worth is from how many characters on the first words of a message do not say what it is about.
	worth = 60
	// maxSaid is how much of the message the model reads, in characters.
	maxSaid = 1500
	// maxTitle is the longest title, in characters.
	maxTitle = 80
	// maxTries bounds how often a session is named: a turn may end before it is.
	maxTries  = 3
	maxTokens = 1024
	maxTime   = 20 * time.Second
)

// A Config is what a session is named with. Log may be nil.
type Config struct {
	Small    *aside.Small
	Language func() texts.Language
	// Titled reports whether the session has a title.
	Titled func() bool
	// Keep stores the title.
	Keep func(title string) error
	Log  *slog.Logger
}

// A Namer names one session. It is safe for concurrent use.
type Namer struct {
	cfg Config

	mu    sync.Mutex
	tries int
}

// New returns a namer.
func New(c Config) *Namer {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return &Namer{cfg: c}
}

// Prefetch returns what names the session after a message, while the turn goes on; nil if it is not worth it, or
// there is no small model.
func (n *Namer) Prefetch(message []msg.Part) func(context.Context) []msg.Part {
	said := words(message)
	if utf8.RuneCountInString(said) <= worth && !strings.Contains(said, "\n") || n.cfg.Titled() || !n.cfg.Small.Own() || !n.try() {
		return nil
	}
	return func(ctx context.Context) []msg.Part {
		if err := n.name(ctx, said); err != nil && ctx.Err() == nil {
			n.cfg.Log.Warn("the session was not named", "err", err)
		}
		return nil
	}
}

func (n *Namer) try() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.tries++
	return n.tries <= maxTries
}

// words returns what the user said, without what the program added.
func words(parts []msg.Part) string {
	var said []string
	for _, p := range parts {
		_, reminder := msg.Reminded(p)
		if t, ok := p.(*msg.Text); ok && !reminder {
			said = append(said, msg.Own(t.Text))
		}
	}
	return strings.TrimSpace(strings.Join(said, "\n"))
}

// name asks for a title and keeps it.
func (n *Namer) name(ctx context.Context, said string) error {
	if r := []rune(said); len(r) > maxSaid {
		said = string(r[:maxSaid])
	}
	seal := aside.NewSeal()
	answer, err := n.cfg.Small.Ask(ctx, aside.Question{
		Purpose:  "session titles",
		System:   []msg.Part{&msg.Text{Text: catalogue.Text(n.cfg.Language(), "name")}},
		Messages: []msg.Message{msg.UserText(seal.Quote("message", said))}, MaxTokens: maxTokens, Timeout: maxTime,
	})
	if err != nil {
		return err
	}
	text, err := answer.Words()
	if err != nil {
		return err
	}
	title := strings.Trim(text, "\"'`*#“”「」《》.。 ")
	if title == "" || strings.ContainsAny(title, "\n<>{}") || utf8.RuneCountInString(title) > maxTitle {
		return aside.ErrUnusable
	}
	if n.cfg.Titled() { // by now
		return nil
	}
	return n.cfg.Keep(title)
}

var (
	//go:embed texts.en.md
	english string
	//go:embed texts.zh.md
	chinese string

	catalogue = texts.New(english, chinese)
)
