// Package title names sessions: during a turn it asks the small model for a short title in the
// background. Nothing waits for it. A session without such a title is listed by the first words
// of its first message.
package title

import (
	"context"
	_ "embed"
	"log/slog"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"adze/internal/agent/sidequery"
	"adze/internal/msg"
	"adze/internal/platform/text/texts"
)

const (
	// worth is the length, in characters, above which the first words of a message are not a
	// sufficient title.
	worth = 60
	// maxSaid is the maximum length of the message text passed to the model, in characters.
	maxSaid = 1500
	// maxTitle is the maximum length of a title, in characters.
	maxTitle = 80
	// maxTries limits the attempts to name a session: a turn may end before it has a title.
	maxTries  = 3
	maxTokens = 1024
	maxTime   = 20 * time.Second
)

// Config configures a Namer. Log may be nil.
type Config struct {
	Small    *sidequery.SmallModel
	Language func() texts.Language
	// Titled reports whether the session has a title.
	Titled func() bool
	// Keep stores the title.
	Keep func(title string) error
	Log  *slog.Logger
}

// A Namer generates the title of a session. It is safe for concurrent use.
type Namer struct {
	cfg Config

	mu    sync.Mutex
	tries int
}

// New returns a Namer.
func New(c Config) *Namer {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return &Namer{cfg: c}
}

// Prefetch returns a function that names the session from a message while the turn runs. It
// returns nil if the message is short, the session has a title, no small model is configured,
// or maxTries is reached.
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

// words returns the user's text, without text added by the program.
func words(parts []msg.Part) string {
	var said []string
	for _, p := range parts {
		_, reminder := msg.ReminderText(p)
		if t, ok := p.(*msg.Text); ok && !reminder {
			said = append(said, msg.OwnText(t.Text))
		}
	}
	return strings.TrimSpace(strings.Join(said, "\n"))
}

// name requests a title and stores it.
func (n *Namer) name(ctx context.Context, said string) error {
	if r := []rune(said); len(r) > maxSaid {
		said = string(r[:maxSaid])
	}
	seal := sidequery.NewNonce()
	answer, err := n.cfg.Small.Ask(ctx, sidequery.Question{
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
		return sidequery.ErrUnusable
	}
	if n.cfg.Titled() { // set in the meantime
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
