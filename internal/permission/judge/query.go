package judge

import (
	_ "embed"
	"slices"
	"strings"

	"adze/internal/agent/sidequery"
	"adze/internal/msg"
	"adze/internal/permission"
	"adze/internal/platform/text/texts"
	"adze/internal/tool"
)

var (
	//go:embed texts.en.md
	english string
	//go:embed texts.zh.md
	chinese string

	catalogue = texts.New(english, chinese)
)

// Limits on the part of a conversation the model sees: the last user messages and calls, each
// truncated.
const (
	maxMessages, messageChars = 20, 2000
	maxCalls, callChars       = 30, 300
	instructionChars          = 6000
)

// query returns the question about a call. Everything not written by adze is quoted.
func (j *Judge) query(seal sidequery.Nonce, q permission.Question, call string) string {
	said, calls := transcriptOf(j.cfg.Said(), q.ID)
	var b strings.Builder
	add := func(name, text string) {
		if text != "" {
			b.WriteString(seal.Quote(name, text) + "\n\n")
		}
	}
	add("instructions", cut(j.cfg.Instructions(), instructionChars))
	for _, w := range j.remembered(said) {
		add("user", w)
	}
	add("calls", strings.Join(calls, "\n"))
	add("call", call)
	return strings.TrimSpace(b.String())
}

// remembered returns the user's messages, oldest first: the conversation's, preceded by the
// ones it no longer has.
func (j *Judge) remembered(said []string) []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	var before []string
	for _, text := range j.heard {
		if text = cut(text, messageChars); !slices.Contains(said, text) {
			before = append(before, text)
		}
	}
	all := append(before, said...)
	return all[max(0, len(all)-maxMessages):]
}

// words returns the user's own text in a message, without adze's additions.
func words(parts []msg.Part) string {
	var own []string
	for _, p := range parts {
		_, reminder := msg.ReminderText(p)
		if t, ok := p.(*msg.Text); ok && !reminder {
			own = append(own, msg.OwnText(t.Text))
		}
	}
	return strings.TrimSpace(strings.Join(own, "\n"))
}

// transcriptOf returns the user's messages and the calls made, oldest first, except the call in
// question. It omits tool results, the model's text, and adze's additions to messages.
func transcriptOf(entries []msg.Entry, except string) (said, calls []string) {
	for _, e := range slices.Backward(entries) {
		switch {
		case e.Hidden:
		case e.Message.Role == msg.User && len(said) < maxMessages:
			if text := words(e.Message.Parts); text != "" {
				said = append(said, cut(text, messageChars))
			}
		case e.Message.Role == msg.Assistant:
			for _, u := range slices.Backward(e.Message.Uses()) {
				if u.ID != except && len(calls) < maxCalls {
					calls = append(calls, u.Name+" "+tool.OneLine(string(u.Input), callChars))
				}
			}
		}
	}
	slices.Reverse(said)
	slices.Reverse(calls)
	return said, calls
}

// cut returns the beginning and the end of a long text.
func cut(text string, limit int) string {
	r := []rune(text)
	if len(r) <= limit {
		return text
	}
	return string(r[:limit/2]) + "\n[…]\n" + string(r[len(r)-limit/2:])
}
