package dialog

import (
	"fmt"
	"strings"

	"adze/internal/session"
	"adze/internal/tool"
	"adze/internal/ui/ask"
	"adze/internal/ui/draw"
	"adze/internal/ui/keys"
)

// A formKind asks for one field after the other.
type formKind struct {
	session.Form
	values  map[string]any
	at      int              // index of the current field
	options []session.Option // options of that field
	typed   bool             // its value is typed
	choices menu
	o       Options
}

func newForm(q session.Form, o Options) *formKind {
	k := &formKind{Form: q, values: map[string]any{}, o: o}
	k.next()
	return k
}

// next asks for the next field. A form without fields asks only for consent.
func (k *formKind) next() {
	k.choices = menu{}
	if len(k.Fields) == 0 {
		k.choices.items = []item{{text: "Yes"}, {text: "No", harmless: true}}
		return
	}
	f := k.Fields[k.at]
	k.options, k.typed = f.Options, false
	switch f.Type {
	case session.ListField:
		k.choices.ticks = true
	case session.ChoiceField:
	case session.BooleanField:
		k.options = []session.Option{{Label: "yes"}, {Label: "no"}}
	default:
		k.options = []session.Option{{Label: "Type a value"}}
		k.choices.field, k.typed = newField(" 1 ", ""), true
	}
	for _, o := range k.options {
		k.choices.items = append(k.choices.items, item{text: o.Label, remark: o.Description})
	}
	switch {
	case f.Default != nil:
		k.choices.items = append(k.choices.items, item{text: "The default", apart: true})
	case !f.Required:
		k.choices.items = append(k.choices.items, item{text: "Leave it out", apart: true})
	}
	k.choices.items = append(k.choices.items, item{text: "Decline to answer", harmless: true, apart: true})
}

func (k *formKind) menu() *menu                    { return &k.choices }
func (k *formKind) act(keys.Action) (Result, bool) { return Result{}, false }
func (k *formKind) hints() []string                { return nil }

// body returns the message.
func (k *formKind) body(w int) []draw.Row { return ask.Quote(k.Message, w) }

// card names who asks, and the current field.
func (k *formKind) card(w int) card {
	c := card{title: draw.Line(draw.Title, "Form")}
	if k.From != "" {
		c.title = draw.Line(draw.Title, ask.ServerAsks(k.From))
	}
	if len(k.Fields) == 0 {
		c.question = indented([]draw.Row{draw.Line(draw.Strong, "Agree?")})
		return c
	}
	if len(k.Fields) > 1 {
		c.asker = fmt.Sprintf("%d of %d", k.at+1, len(k.Fields))
	}
	f := k.Fields[k.at]
	row := draw.Row{{Role: draw.Strong, Text: draw.Clean(tool.OneLine(f.Label(), ask.MaxAbout))}}
	hint := ask.Unfilled(f)
	if k.typed {
		hint = ask.Hint(f)
	}
	if hint != "" {
		row = append(row, draw.Span{Role: draw.Faint, Text: draw.Clean(" (" + hint + ")")})
	}
	c.question = append(indented(draw.Wrap(row, w-indent, nil)), ask.Quote(f.Description, w)...)
	return c
}

func (k *formKind) choose(i int) Result {
	switch {
	case len(k.Fields) == 0 && i == 0:
		return Result{Used: true, Reply: session.Filled{Action: session.Accept}}
	case i == len(k.choices.items)-1:
		return Result{Used: true, Reply: session.Filled{Action: session.Decline}}
	}
	if i == len(k.options) { // the default, or nothing
		return k.enter("")
	}
	switch f := k.Fields[k.at]; f.Type {
	case session.BooleanField:
		return k.enter(k.options[i].Label)
	case session.ChoiceField:
		return k.value(k.options[i].Label)
	case session.ListField:
		return k.value(k.marked())
	}
	k.choices.field = newField(" 1 ", "")
	return Result{Used: true}
}

// marked returns the ticked options of a list.
func (k *formKind) marked() []string {
	var labels []string
	for _, i := range k.choices.ticked() {
		labels = append(labels, k.options[i].Label)
	}
	return labels
}

// enter accepts the text of a field.
func (k *formKind) enter(text string) Result {
	if wrong := ask.Fill(k.Fields[k.at], strings.TrimSpace(text), k.values); wrong != "" {
		return Result{Used: true, note: wrong}
	}
	return k.filled()
}

// value accepts the value of a field.
func (k *formKind) value(v any) Result {
	f := k.Fields[k.at]
	if err := f.Check(v); err != nil {
		return Result{Used: true, note: "Invalid value: " + tool.OneLine(err.Error(), ask.MaxAbout) + "."}
	}
	k.values[f.Name] = v
	return k.filled()
}

// filled continues after a field has its value.
func (k *formKind) filled() Result {
	if k.at++; k.at == len(k.Fields) {
		return Result{Used: true, Reply: session.Filled{Action: session.Accept, Values: k.values}}
	}
	k.next()
	return Result{Used: true, next: true}
}

func (k *formKind) refuse() Result {
	return Result{Used: true, Reply: session.Filled{Action: session.Cancel}, Stop: true}
}
