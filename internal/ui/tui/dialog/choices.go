package dialog

import (
	"fmt"
	"strings"

	"adze/internal/session"
	"adze/internal/ui/ask"
	"adze/internal/ui/draw"
	"adze/internal/ui/keys"
)

// A choicesKind asks for one choice after the other.
type choicesKind struct {
	session.Choices
	chosen  [][]string
	choices menu
	o       Options
}

func newChoices(q session.Choices, o Options) *choicesKind {
	k := &choicesKind{Choices: q, o: o}
	k.next()
	return k
}

// next offers the options of the next item.
func (k *choicesKind) next() {
	c := k.Items[len(k.chosen)]
	k.choices = menu{ticks: c.Multiple}
	for _, o := range c.Options {
		k.choices.items = append(k.choices.items, item{text: o.Label, remark: o.Description})
	}
	if !c.Closed {
		k.choices.items = append(k.choices.items, item{text: "Something else", apart: true, harmless: true})
	}
	k.choices.items = append(k.choices.items, item{text: "Skip this question", apart: true, harmless: true})
}

func (k *choicesKind) menu() *menu                    { return &k.choices }
func (k *choicesKind) act(keys.Action) (Result, bool) { return Result{}, false }
func (k *choicesKind) hints() []string                { return nil }

// body returns the options' previews, if any.
func (k *choicesKind) body(w int) []draw.Row {
	var rows []draw.Row
	for i, o := range k.Items[len(k.chosen)].Options {
		if shown := ask.Preview(o); shown != nil {
			rows = append(rows, draw.Wrap(draw.Line(draw.Strong, fmt.Sprintf("  %d %s", i+1, draw.CleanQuestion(o.Label))), w, draw.Blanks(4))...)
			rows = append(rows, shown...)
		}
	}
	return rows
}

// card returns the question, and who asks it if it is not the model.
func (k *choicesKind) card(w int) card {
	item := k.Items[len(k.chosen)]
	c := card{title: draw.Line(draw.Title, "Question")}
	if n := len(k.Items); n > 1 {
		c.asker = fmt.Sprintf("%d of %d", len(k.chosen)+1, n)
	}
	switch {
	case k.From != "":
		c.title = draw.Line(draw.Title, ask.Asks(k.From))
		c.question = ask.Quote(item.Text, w)
		return c
	case item.Header != "":
		c.title = draw.Line(draw.Title, draw.CleanQuestion(item.Header))
	}
	c.question = indented(draw.Wrap(draw.Line(draw.Strong, draw.CleanQuestion(item.Text)), w-indent, nil))
	return c
}

func (k *choicesKind) choose(i int) Result {
	c := k.Items[len(k.chosen)]
	switch {
	case i == len(c.Options) && !c.Closed:
		k.choices.field = newField(fmt.Sprintf(" %d ", i+1), "")
		return Result{Used: true}
	case i >= len(c.Options):
		return k.take(nil)
	case !c.Multiple:
		return k.take([]string{c.Options[i].Label})
	}
	var labels []string
	for _, n := range k.choices.ticked() {
		labels = append(labels, c.Options[n].Label)
	}
	return k.take(labels)
}

// enter accepts the user's own answer in addition to the ticked options.
func (k *choicesKind) enter(text string) Result {
	if text = strings.TrimSpace(text); text == "" {
		return Result{Used: true, note: "Write your answer, or go back with Esc."}
	}
	var labels []string
	for i, it := range k.choices.items {
		if it.ticked {
			labels = append(labels, k.Items[len(k.chosen)].Options[i].Label)
		}
	}
	return k.take(append(labels, text))
}

// take accepts the answer to one item.
func (k *choicesKind) take(labels []string) Result {
	k.chosen = append(k.chosen, labels)
	if len(k.chosen) < len(k.Items) {
		k.next()
		return Result{Used: true, next: true}
	}
	for _, labels := range k.chosen {
		if len(labels) > 0 {
			return Result{Used: true, Reply: session.Selection{Chosen: k.chosen}}
		}
	}
	return Result{Used: true, Reply: session.Selection{Declined: true}}
}

func (k *choicesKind) refuse() Result {
	return Result{Used: true, Reply: session.Selection{Declined: true}, Stop: true}
}
