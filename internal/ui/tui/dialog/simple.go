package dialog

import (
	"slices"
	"strings"

	"adze/internal/session"
	"adze/internal/ui/draw"
	"adze/internal/ui/keys"
)

// A Simple question has a few answers and needs no session. The reply is a [session.Selection]
// with the answer, or a declined one.
type Simple struct {
	Title    string // the subject in a few words
	Body     string // what the user should know before; may be empty
	Warning  string // what the user may lose; may be empty
	Question string
	Reason   string // one line; may be empty
	Answers  []string
	Remarks  []string // explanations of the answers; may be shorter, and nil
	Marked   int      // index of the preselected answer
	Letters  string   // one key per answer; may be empty
	Leaving  string   // effect of Esc, such as "no"
}

// NewSimple returns the dialog of a simple question.
func NewSimple(q Simple, g Guard, o Options) *Dialog {
	k := &simpleKind{Simple: q, choices: menu{at: q.Marked}}
	for i, text := range q.Answers {
		it := item{text: text, harmless: i == q.Marked}
		if i < len(q.Letters) {
			it.letter = q.Letters[i : i+1]
		}
		if i < len(q.Remarks) {
			it.remark = q.Remarks[i]
		}
		k.choices.items = append(k.choices.items, it)
	}
	return &Dialog{Guard: g, kind: k, o: o}
}

// A simpleKind asks a simple question.
type simpleKind struct {
	Simple
	choices menu
}

func (k *simpleKind) card(w int) card {
	var title draw.Row
	if k.Title != "" {
		title = draw.Line(draw.Title, draw.CleanQuestion(k.Title))
	}
	return card{
		title: title, warning: draw.CleanQuestion(k.Warning), reason: draw.CleanQuestion(k.Reason),
		question: indented(draw.Wrap(draw.Line(draw.Strong, draw.CleanQuestion(k.Question)), w-indent, nil)),
	}
}

func (k *simpleKind) body(w int) []draw.Row {
	var rows []draw.Row
	for line := range strings.Lines(k.Body) {
		rows = append(rows, draw.Wrap(draw.Line(draw.Text, "  "+draw.CleanQuestion(strings.TrimSuffix(line, "\n"))), w, draw.Blanks(2))...)
	}
	return rows
}

func (k *simpleKind) menu() *menu { return &k.choices }

func (k *simpleKind) act(keys.Action) (Result, bool) { return Result{}, false }
func (k *simpleKind) hints() []string                { return nil }
func (k *simpleKind) enter(string) Result            { return Result{Used: true} }

func (k *simpleKind) choose(i int) Result {
	return Result{Used: true, Reply: session.Selection{Chosen: [][]string{{k.Answers[i]}}}}
}

func (k *simpleKind) refuse() Result {
	return Result{Used: true, Reply: session.Selection{Declined: true}, Stop: true}
}

// Chosen returns the index of the answer in a reply, or -1.
func (q Simple) Chosen(r session.Reply) int {
	s, ok := r.(session.Selection)
	if !ok || s.Declined || len(s.Chosen) != 1 || len(s.Chosen[0]) != 1 {
		return -1
	}
	return slices.Index(q.Answers, s.Chosen[0][0])
}
