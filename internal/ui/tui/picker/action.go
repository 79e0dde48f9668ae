package picker

import (
	"context"
	"slices"

	"adze/internal/commands"
	"adze/internal/ui/draw"
	"adze/internal/ui/edit"
	"adze/internal/ui/keys"
)

// actions returns the actions available in the view.
func (p *Picker) actions() []commands.Action {
	return slices.Concat(p.list.Actions, p.views[p.view].Actions)
}

// actionOf returns the action bound to a key, or nil.
func (p *Picker) actionOf(ev keys.Event) *commands.Action {
	if ev.Kind != keys.Press || p.busy {
		return nil
	}
	all := p.actions()
	i := slices.IndexFunc(all, func(a commands.Action) bool { return a.Key == ev.Key.String() })
	if i < 0 || p.choice() == nil && !all[i].Alone {
		return nil
	}
	return &all[i]
}

// pendingQuestion is a question the user answers before an action.
type pendingQuestion struct {
	action  *commands.Action
	choice  commands.Choice
	confirm string      // yes-or-no question; empty if field is set
	field   *edit.Field // text input; nil for a yes-or-no question
}

// begin starts an action, with its question if it has one.
func (p *Picker) begin(a *commands.Action) Step {
	var c commands.Choice
	if at := p.choice(); at != nil {
		c = *at
	}
	p.said = nil
	switch {
	case a.Ask != "":
		p.asking = &pendingQuestion{action: a, choice: c, field: edit.New("", "")}
		if a.Text != nil {
			p.asking.field.Set(a.Text(c))
		}
	case a.Confirm != nil:
		p.asking = &pendingQuestion{action: a, choice: c, confirm: a.Confirm(c)}
	default:
		return p.do(a, c, "")
	}
	return Step{}
}

func (p *Picker) do(a *commands.Action, c commands.Choice, text string) Step {
	return p.run(func(ctx context.Context) (commands.Answer, error) { return a.Run(ctx, c, text) })
}

// answer handles an event for the pending question.
func (p *Picker) answer(ev keys.Event, m *keys.Map) Step {
	q := p.asking
	if q.field == nil {
		switch {
		case ev.Kind != keys.Press:
		case ev.Text == "y" || ev.Text == "Y":
			p.asking = nil
			return p.do(q.action, q.choice, "")
		default:
			p.asking = nil
		}
		return p.next()
	}
	switch action := p.press(q.field, ev, m); action {
	case keys.Submit:
		p.asking = nil
		return p.do(q.action, q.choice, q.field.Text())
	case keys.Cancel, keys.Interrupt, keys.Exit:
		p.asking = nil
	case keys.Suspend, keys.Redraw:
		return Step{Action: action}
	}
	return Step{}
}

// question returns the row of the pending question, and the cursor column in it.
func (q *pendingQuestion) question(w int, more string) (draw.Row, int) {
	if q.field == nil {
		return draw.Row{{Role: draw.Warning, Text: draw.Clean(q.confirm)}, {Text: " y or n "}}.Cut(w, more), -1
	}
	head := draw.Clean(q.action.Ask) + " "
	row := draw.Line(draw.Strong, head).Cut(w/2, more)
	used := row.Width()
	rows, at, col := q.field.Rows(max(2, w-used), 1)
	return append(row, draw.Span{Text: rows[at]}).Cut(w, more), min(used+col, w-1)
}
