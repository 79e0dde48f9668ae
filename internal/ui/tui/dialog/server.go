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
	title    string
	said     func(w int) []draw.Row // the subject
	question string
	replies  [2]session.Reply // replies to yes and no
	cancel   session.Reply
}

func newVisit(q session.Visit) *yesKind {
	k := &yesKind{
		title:    "The server " + draw.Clean(q.From) + " wants to open a page",
		question: "Open it in the browser?",
		replies:  [2]session.Reply{session.Visited{Action: session.Accept, Open: !q.Opened}, session.Visited{Action: session.Decline}},
		cancel:   q.Unanswered(),
		said: func(w int) []draw.Row {
			rows := ask.Quote(q.Message, w)
			page := draw.Row{{Text: "  At "}, {Role: draw.Strong, Text: draw.Clean(q.Host)}, {Text: ":"}}
			rows = append(rows, draw.Wrap(page, w, draw.Blanks(2))...)
			return append(rows, ask.Whole(q.URL, w)...)
		},
	}
	k.choices.items = []item{{text: "Yes"}, {text: "No", harmless: true}}
	if q.Opened {
		k.title = "The server " + draw.Clean(q.From) + " waits"
		k.question = fmt.Sprintf("Are you done at %s?", draw.Clean(q.Host))
		k.replies[1] = q.Unanswered()
		k.choices.items[1].text = "No, cancel it"
		k.said = func(int) []draw.Row { return nil }
	}
	return k
}

func newSampling(q session.Sampling) *yesKind {
	return &yesKind{
		choices:  menu{items: []item{{text: "Yes"}, {text: "No", harmless: true}}},
		title:    "The server " + draw.Clean(q.From) + " wants to ask the model",
		question: fmt.Sprintf("Ask the model, for at most %d tokens?", q.MaxTokens),
		replies:  [2]session.Reply{session.Filled{Action: session.Accept}, session.Filled{Action: session.Decline}},
		cancel:   q.Unanswered(),
		said:     func(w int) []draw.Row { return ask.Quote(q.Text, w) },
	}
}

func (k *yesKind) card(w int) card {
	return card{title: draw.Line(draw.Title, k.title), question: indented(draw.Wrap(draw.Line(draw.Strong, k.question), w-indent, nil))}
}

func (k *yesKind) menu() *menu                    { return &k.choices }
func (k *yesKind) body(w int) []draw.Row          { return k.said(w) }
func (k *yesKind) act(keys.Action) (Result, bool) { return Result{}, false }
func (k *yesKind) hints() []string                { return nil }
func (k *yesKind) enter(string) Result            { return Result{Used: true} }
func (k *yesKind) choose(i int) Result            { return Result{Used: true, Reply: k.replies[i]} }
func (k *yesKind) refuse() Result                 { return Result{Used: true, Reply: k.cancel, Stop: true} }
