package dialog

import (
	"fmt"
	"strings"

	"adze/internal/msg"
	"adze/internal/permission"
	"adze/internal/platform/fs/scope"
	"adze/internal/platform/term"
	"adze/internal/session"
	"adze/internal/tool"
	"adze/internal/ui/draw"
	"adze/internal/ui/markdown"
)

// The indexes of the choices about a plan.
const (
	planYes = iota
	planAsk
	planFresh
	planNo
)

func planItems(p *tool.Plan) []item {
	accept := "Yes, and stop asking about edits"
	if keepsMode(p) {
		accept = "Yes, in " + p.Next + " mode"
	}
	return []item{
		planYes:   {text: accept},
		planAsk:   {text: "Yes, and ask before each edit"},
		planFresh: {text: "Yes, with a fresh context"},
		planNo:    {text: "No, and tell it what to change", harmless: true, apart: true},
	}
}

// keepsMode reports whether planning began in a mode that itself decides about prompts.
func keepsMode(p *tool.Plan) bool {
	switch permission.Mode(p.Next) {
	case "", permission.Default, permission.AcceptEdits:
		return false
	}
	return true
}

// planRows returns the entire plan.
func (k *permissionKind) planRows(w int) []draw.Row {
	plan := markdown.Stream{Width: max(1, w-2), Marks: k.o.Marks, Links: k.o.Links, Glyphs: k.o.Glyphs}
	rows := append(plan.Add(strings.TrimSpace(term.SpellControls(k.text()))), plan.End()...)
	return draw.Indent(rows, draw.Blanks(2), draw.Blanks(2))
}

// planTitle names the plan.
func (k *permissionKind) planTitle() draw.Row {
	text := "Plan"
	if k.draft != nil {
		text = "Plan, as you changed it"
	}
	return draw.Line(draw.Title, text)
}

func (k *permissionKind) choosePlan(i int) Result {
	mode := func(m permission.Mode) []permission.Update {
		return []permission.Update{{Type: permission.SetMode, Mode: m, Destination: scope.Session}}
	}
	switch i {
	case planYes:
		if keepsMode(k.plan) {
			return k.allow(nil)
		}
		return k.allow(mode(permission.AcceptEdits))
	case planAsk:
		return k.allow(mode(permission.Default))
	case planFresh:
		return k.afresh()
	}
	k.choices.field = newField(" "+fmt.Sprint(i+1)+" No: ", "")
	return Result{Used: true}
}

// afresh approves the plan and ends the turn; the work starts with only the plan.
func (k *permissionKind) afresh() Result {
	text := fmt.Sprintf("Carry out this plan, which is in %s:\n\n%s", k.plan.File, k.text())
	return Result{
		Used:  true,
		Reply: session.Decision{Answer: permission.Answer{Behavior: permission.Allow, Interrupt: true, Input: k.input(map[string]any{"clearContext": true})}},
		Then:  []session.Op{session.Clear{}, session.Prompt{Parts: []msg.Part{&msg.Text{Text: text}}, Quoted: true}},
	}
}
