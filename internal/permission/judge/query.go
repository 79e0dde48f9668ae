package judge

import (
	_ "embed"
	"slices"
	"strings"

	"adze/internal/agent/aside"
	"adze/internal/msg"
	"adze/internal/permission"
	"adze/internal/platform/texts"
	"adze/internal/tool"
)

var (
	//go:embed texts.en.md
	english string
	//go:embed texts.zh.md
	chinese string

	catalogue = texts.New(english, chinese)
)

// How much of a conversation the model sees: so many messages of the user and calls, the last ones, each cut to
// so many characters.
const (
	maxMessages, messageChars = 20, 2000
	maxCalls, callChars       = 30, 300
	instructionChars          = 6000
)

// query returns what the model is asked about a call. All that is not the program's own is quoted.
func (j *Judge) query(seal aside.Seal, q permission.Question, call string) string {
	said, calls := told(j.cfg.Said(), q.ID)
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

// remembered returns what the user said, the oldest first: what the conversation has, and before it what it had.
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

// words returns what the user wrote of a message, without what the program added.
func words(parts []msg.Part) string {
	var own []string
	for _, p := range parts {
		_, reminder := msg.Reminded(p)
		if t, ok := p.(*msg.Text); ok && !reminder {
			own = append(own, msg.Own(t.Text))
		}
	}
	return strings.TrimSpace(strings.Join(own, "\n"))
}

// told returns what the user said and which calls were made, the oldest first, without the call in question. What
// tools returned and what the model said is left out, and what the program added to a message.
func told(entries []msg.Entry, except string) (said, calls []string) {
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
