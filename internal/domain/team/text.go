package team

import (
	_ "embed"
	"fmt"
	"strings"
	"unicode"

	"adze/internal/platform/text/texts"
)

var (
	//go:embed texts.en.md
	english string
	//go:embed texts.zh.md
	chinese string

	catalogue = texts.New(english, chinese)
)

// Show returns a message as shown to the model. Its content can't end the block or imitate
// another.
func (m Message) Show(l texts.Language) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<team-message from=%q", clean(m.From))
	if m.Body != nil {
		fmt.Fprintf(&b, " type=%q", m.Body.kind())
	}
	if m.Summary != "" {
		fmt.Fprintf(&b, " summary=%q", oneLine(m.Summary))
	}
	b.WriteString(">\n")
	for _, text := range []string{m.Text, content(m.Body)} {
		if text != "" {
			b.WriteString(clean(text) + "\n")
		}
	}
	b.WriteString("</team-message>")
	if note := m.note(l); note != "" {
		b.WriteString("\n" + note)
	}
	return b.String()
}

// content returns the text in a body that its sender wrote.
func content(b Body) string {
	switch b := b.(type) {
	case *ShutdownRequest:
		return b.Reason
	case *ShutdownRejected:
		return b.Reason
	case *PlanRequest:
		return b.Plan
	case *TaskAssignment:
		return b.Description
	case *Idle:
		return strings.Join(b.Sent, "\n")
	}
	return ""
}

// note returns the program's own text about a message.
func (m Message) note(l texts.Language) string {
	say := func(name string, values ...string) string {
		for i, v := range values {
			values[i] = oneLine(v)
		}
		return catalogue.Text(l, name, values...)
	}
	switch b := m.Body.(type) {
	case *ShutdownRequest:
		return say("shutdown_request", m.From, b.Request)
	case *ShutdownApproved:
		return say("shutdown_approved")
	case *ShutdownRejected:
		return say("shutdown_rejected")
	case *PlanRequest:
		return say("plan_approval_request", m.From, m.From, b.Request)
	case *ModeSet:
		return say("mode_set", b.Mode)
	case *TaskAssignment:
		return say("task_assignment", b.Task, b.Subject)
	case *Idle:
		return say("idle", m.From, b.Reason)
	case *Lost:
		text := say("teammate_lost", b.Member, b.Reason)
		if len(b.Tasks) == 0 {
			return text + " " + say("teammate_lost.none")
		}
		return text + " " + say("teammate_lost.tasks", strings.Join(b.Tasks, ", "))
	}
	return ""
}

// clean returns text without terminal control characters and with tags escaped.
func clean(s string) string {
	s = strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && (unicode.IsControl(r) || r == unicode.ReplacementChar || unicode.Is(unicode.Bidi_Control, r)) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, ""))
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(s)
}

// oneLine is like clean, without line breaks and quotation marks.
func oneLine(s string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(clean(s)), " "), `"`, "'")
}
