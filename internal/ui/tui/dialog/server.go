package dialog

import (
	"fmt"

	"adze/internal/session"
	"adze/internal/ui/ask"
	"adze/internal/ui/draw"
	"adze/internal/ui/keys"
)

// A yesKind asks a server's yes-or-no question.
type yesKind struct {
	choices  menu
	said     func(w int) []draw.Row // rows for the scrollback
	question string
	replies  [2]session.Reply // replies to yes and no
	cancel   session.Reply
}

func newVisit(q session.Visit) *yesKind {
	k := &yesKind{
		question: "Open it in the browser?",
		replies:  [2]session.Reply{session.Visited{Action: session.Accept, Open: !q.Opened}, session.Visited{Action: session.Decline}},
		cancel:   q.Unanswered(),
		said: func(w int) []draw.Row {
			rows := append([]draw.Row{draw.Line(draw.Strong, ask.ServerAsks(q.From))}, ask.Quote(q.Message, w)...)
			page := draw.Row{{Text: "It wants you to open this page, at "}, {Role: draw.Strong, Text: draw.Clean(q.Host)}, {Text: ":"}}
			rows = append(rows, draw.Wrap(page, w, nil)...)
			return append(rows, ask.Whole(q.URL, w)...)
		},
	}
	k.choices.items = []item{{text: "Yes"}, {text: "No", harmless: true}}
	if q.Opened {
		k.question = "Are you done?"
		k.replies[1] = q.Unanswered()
		k.choices.items[1].text = "No, cancel it"
		k.said = func(w int) []draw.Row {
			text := fmt.Sprintf("The server %s waits until you are done at %s.", draw.Clean(q.From), draw.Clean(q.Host))
			return draw.Wrap(draw.Line(draw.Text, text), w, nil)
		}
	}
	return k
}

func newSampling(q session.Sampling) *yesKind {
	return &yesKind{
		choices:  menu{items: []item{{text: "Yes"}, {text: "No", harmless: true}}},
		question: "Ask the model?",
		replies:  [2]session.Reply{session.Filled{Action: session.Accept}, session.Filled{Action: session.Decline}},
		cancel:   q.Unanswered(),
		said: func(w int) []draw.Row {
			text := fmt.Sprintf("The server %s wants to ask the model this, for at most %d tokens:", draw.Clean(q.From), q.MaxTokens)
			return append(draw.Wrap(draw.Line(draw.Strong, text), w, nil), ask.Quote(q.Text, w)...)
		},
	}
}

func (k *yesKind) menu() *menu                    { return &k.choices }
func (k *yesKind) warning() string                { return "" }
func (k *yesKind) head(w int) []draw.Row          { return k.said(w) }
func (k *yesKind) about(int) []draw.Row           { return []draw.Row{draw.Line(draw.Text, k.question)} }
func (k *yesKind) act(keys.Action) (Result, bool) { return Result{}, false }
func (k *yesKind) hints() []string                { return nil }
func (k *yesKind) enter(string) Result            { return Result{Used: true} }
func (k *yesKind) choose(i int) Result            { return Result{Used: true, Reply: k.replies[i]} }
func (k *yesKind) refuse() Result                 { return Result{Used: true, Reply: k.cancel, Stop: true} }
