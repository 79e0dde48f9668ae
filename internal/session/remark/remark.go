// Package remark uses the small model to write remarks to the user: a summary of work done
// while they were away, and a suggestion for their next prompt.
package remark

import (
	"context"
	_ "embed"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"adze/internal/agent/sidequery"
	"adze/internal/msg"
	"adze/internal/platform/text/texts"
	"adze/internal/tool"
)

const (
	// maxExcerpt limits the part of the conversation that the model reads, in bytes: about
	// 2,000 tokens. maxMessage and maxCall limit a message and a call, in characters.
	maxExcerpt, maxMessage, maxCall = 8000, 1500, 160
	// maxAway and maxNext limit the length of remarks in characters. maxWords limits the words
	// of a suggested prompt.
	maxAway, maxNext, maxWords = 400, 100, 16
	maxTokens                  = 1024
	maxTime                    = 20 * time.Second
)

// A Maker writes remarks. Without a small model it returns none, and it gives up on a kind that
// keeps failing. It is safe for concurrent use. Log may be nil.
type Maker struct {
	Small    *sidequery.SmallModel
	Language func() texts.Language
	Log      *slog.Logger

	mu     sync.Mutex
	failed map[string]sidequery.Failures // failures by text name
}

// Away returns a sentence or two about the work done and the next steps, or "".
func (m *Maker) Away(ctx context.Context, said []msg.Entry) string {
	return tool.OneLine(m.say(ctx, "away", "summaries for a user who was away", said), maxAway)
}

// Next returns a suggestion for the user's next prompt, or "".
func (m *Maker) Next(ctx context.Context, said []msg.Entry) string {
	line := strings.Trim(m.say(ctx, "next", "suggested prompts", said), "\"`“”「」 ")
	if !typable(line) {
		return ""
	}
	return line
}

// typable reports whether a line is suitable as a prompt: short, and not a command.
func typable(line string) bool {
	return line != "" && strings.Trim(line, "-–—") != "" && !strings.ContainsRune("/!#", rune(line[0])) &&
		utf8.RuneCountInString(line) <= maxNext && len(strings.Fields(line)) <= maxWords &&
		!strings.ContainsFunc(line, func(r rune) bool { return !unicode.IsPrint(r) })
}

// say queries the model with the named text, unless that has failed too often.
func (m *Maker) say(ctx context.Context, name, purpose string, said []msg.Entry) string {
	about := excerpt(said)
	if about == "" || m.tired(name) || !m.Small.Own() {
		return ""
	}
	text, err := m.ask(ctx, name, purpose, about)
	if ctx.Err() != nil {
		return ""
	}
	m.count(name, err)
	if err != nil && m.Log != nil {
		m.Log.Warn("no remark was made", "purpose", purpose, "err", err)
	}
	return text
}

func (m *Maker) ask(ctx context.Context, name, purpose, about string) (string, error) {
	answer, err := m.Small.Ask(ctx, sidequery.Question{
		Purpose:   purpose,
		System:    []msg.Part{&msg.Text{Text: catalogue.Text(m.Language(), name)}},
		Messages:  []msg.Message{msg.UserText(sidequery.NewNonce().Quote("conversation", about))},
		MaxTokens: maxTokens, Timeout: maxTime,
	})
	if err != nil {
		return "", err
	}
	return answer.Words()
}

func (m *Maker) tired(name string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.failed[name].TooMany()
}

func (m *Maker) count(name string, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.failed == nil {
		m.failed = map[string]sidequery.Failures{}
	}
	failed := m.failed[name]
	failed.Count(err)
	m.failed[name] = failed
}

// excerpt returns the end of a conversation: user and model text, and calls. It omits tool
// results and text that the program added to messages.
func excerpt(said []msg.Entry) string {
	var lines []string
	size := 0
	for _, e := range slices.Backward(said) {
		if e.Hidden {
			continue
		}
		for _, line := range slices.Backward(messageLines(e.Message)) {
			if size += len(line) + 1; size > maxExcerpt {
				slices.Reverse(lines)
				return strings.Join(lines, "\n")
			}
			lines = append(lines, line)
		}
	}
	slices.Reverse(lines)
	return strings.Join(lines, "\n")
}

// messageLines returns the lines of a message, each prefixed with its author.
func messageLines(m msg.Message) (lines []string) {
	who := "User: "
	if m.Role == msg.Assistant {
		who = "Agent: "
	}
	for _, p := range m.Parts {
		switch p := p.(type) {
		case *msg.Text:
			if _, reminder := msg.ReminderText(p); !reminder {
				lines = append(lines, excerptLines(who, msg.OwnText(p.Text))...)
			}
		case *msg.ToolUse:
			lines = append(lines, "Call: "+p.Name+" "+tool.OneLine(string(p.Input), maxCall))
		}
	}
	return lines
}

// excerptLines returns the start and the end of a text, prefixed with its author, or nil if the text is
// blank.
func excerptLines(who, text string) []string {
	text = strings.TrimSpace(text)
	if text == "" {
		return nil
	}
	if r := []rune(text); len(r) > maxMessage {
		text = string(r[:maxMessage/2]) + "\n[…]\n" + string(r[len(r)-maxMessage/2:])
	}
	return []string{who + text}
}

var (
	//go:embed texts.en.md
	english string
	//go:embed texts.zh.md
	chinese string

	catalogue = texts.New(english, chinese)
)
