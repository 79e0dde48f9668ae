package dialog

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"adze/internal/permission"
	"adze/internal/session"
	"adze/internal/tool"
	"adze/internal/ui/ask"
	"adze/internal/ui/draw"
	"adze/internal/ui/keys"
)

// A permissionKind asks whether a call may run.
type permissionKind struct {
	permission.Question
	o       Options
	choices menu
	grant   grant
	plan    *tool.Plan // presented plan, or nil
	draft   *string    // the user's edited text; nil if unedited
}

// The indexes of the choices, which are the same for all calls but plans.
const (
	yes = iota
	always
	no
	noAndSay
)

func newPermission(q session.Permission, o Options) *permissionKind {
	k := &permissionKind{Question: q.Question, o: o, grant: newGrant(q.Question)}
	if k.Draft != nil && k.Draft.Plan != nil {
		k.plan = k.Draft.Plan
		k.choices.items = planItems(k.plan)
		return k
	}
	k.choices.items = []item{
		yes:      {text: "Yes"},
		always:   {text: "(adze asks each time)", off: true},
		no:       {text: "No", harmless: true},
		noAndSay: {text: "No, and tell it what to do", harmless: true, apart: true},
	}
	k.offer()
	if k.Warning != "" {
		k.choices.at = no
	}
	return k
}

// offer words the lasting choice.
func (k *permissionKind) offer() {
	if text := ask.Changes(&k.Question, k.grant.updates); text != "" {
		k.choices.items[always] = item{text: "Yes, and " + tool.OneLine(text, ask.MaxReason)}
	}
}

func (k *permissionKind) menu() *menu     { return &k.choices }
func (k *permissionKind) warning() string { return tool.OneLine(k.Warning, ask.MaxAbout) }

// head returns the proposed action in full.
func (k *permissionKind) head(w int) []draw.Row {
	var rows []draw.Row
	if k.Agent != nil {
		rows = append(rows, draw.Wrap(draw.Line(draw.Faint, draw.Clean(tool.OneLine(k.Agent.String(), ask.MaxAbout))+" asks:"), w, nil)...)
	}
	rows = append(rows, draw.Wrap(k.title(), w, draw.Blanks(2))...)
	if k.Command != "" {
		rows = append(rows, ask.Whole(k.Command, w)...)
	}
	switch {
	case k.plan != nil:
		rows = append(rows, k.planRows(w)...)
	case k.Preview != nil:
		rows = append(rows, k.preview(w)...)
	case k.Command == "" && !k.NeedsPerson:
		rows = append(rows, ask.Input(k.Input, w)...)
	}
	return rows
}

// title returns the first row: the programs that a command runs, or a description of the call.
func (k *permissionKind) title() draw.Row {
	name := firstOf(k.DisplayName, k.Tool)
	switch {
	case k.plan != nil:
		return draw.Row{{Role: draw.Strong, Text: "Plan"}, {Role: draw.Faint, Text: "  " + draw.Clean(k.short(k.plan.File))}}
	case k.Command == "":
		row := draw.Line(draw.Strong, draw.Clean(firstOf(k.Title, name)))
		if d, ok := k.Preview.(tool.Diff); ok {
			row = append(row, draw.Span{Role: draw.Faint, Text: fmt.Sprintf("  +%d -%d", d.Added, d.Removed)})
		}
		return row
	}
	row := draw.Line(draw.Strong, "Run")
	if len(k.Programs) > 0 {
		row = append(row, draw.Span{Role: draw.Strong, Text: "  " + draw.Clean(strings.Join(k.Programs, ", "))})
	}
	text := "  " + k.o.Glyphs.Dot + " " + name
	if k.About != "" {
		text += ": " + tool.OneLine(k.About, ask.MaxAbout)
	}
	return append(row, draw.Span{Role: draw.Faint, Text: draw.Clean(text)})
}

// preview returns the proposed change. For a single file, the title already describes it.
func (k *permissionKind) preview(w int) []draw.Row {
	shown := draw.Rows(k.Preview, draw.Options{Dir: k.o.Dir, Proposed: true, Glyphs: k.o.Glyphs})
	if d, ok := k.Preview.(tool.Diff); ok && !d.Created && len(shown) > 1 {
		shown = shown[1:]
	}
	var rows []draw.Row
	for _, row := range draw.Indent(shown, draw.Blanks(2), draw.Blanks(2)) {
		n, length := gutter(row, w), len(row.String())
		n = min(n, length)
		rows = append(rows, draw.Indent(draw.Wrap(row.Slice(n, length), w-n, nil), row.Slice(0, n), draw.Blanks(n))...)
	}
	return rows
}

// gutter returns the column where the text of a diff line begins: after its number and sign.
func gutter(row draw.Row, w int) int {
	text := row.String()
	n := len(text) - len(strings.TrimLeft(text, " 0123456789"))
	if strings.HasPrefix(text[n:], "+") || strings.HasPrefix(text[n:], "-") {
		n++
	}
	return max(4, min(n, w/3))
}

// about describes where and why, and the meaning of a yes.
func (k *permissionKind) about(w int) []draw.Row {
	if k.plan != nil {
		return k.planAbout(w)
	}
	var said []string
	if k.Server != "" {
		said = append(said, "A tool of the server "+k.Server+".")
	}
	if why := ask.Why(&k.Question); why != "" {
		said = append(said, why)
	}
	if k.Dir != "" && k.Command != "" {
		said = append(said, "In "+k.short(k.Dir)+".")
	}
	var row draw.Row
	if k.Consent == "" {
		row = draw.Line(draw.Strong, draw.Clean(tool.OneLine(ask.Question(&k.Question), ask.MaxAbout)))
	}
	if len(said) > 0 {
		if row != nil {
			said[0] = " " + said[0]
		}
		row = append(row, draw.Span{Role: draw.Faint, Text: draw.Clean(strings.Join(said, " "))})
	}
	var rows []draw.Row
	if len(row) > 0 {
		rows = draw.Wrap(row, w, nil)
	}
	for line := range strings.SplitSeq(k.Consent, "\n") {
		if line != "" {
			rows = append(rows, draw.Wrap(draw.Line(draw.Text, draw.Clean(line)), w, nil)...)
		}
	}
	return rows
}

// short returns a path as users write it.
func (k *permissionKind) short(path string) string {
	if rest, ok := strings.CutPrefix(path, k.o.Home+"/"); ok && k.o.Home != "" {
		return "~/" + rest
	}
	return path
}

func (k *permissionKind) choose(i int) Result {
	if k.plan != nil {
		return k.choosePlan(i)
	}
	switch i {
	case yes:
		return k.allow(nil)
	case always:
		r := k.allow(k.grant.updates)
		r.Final = []draw.Row{draw.Line(draw.Faint, draw.Clean(ask.Saved(&k.Question, k.grant.updates)))}
		return r
	case no:
		return k.refuse()
	}
	k.choices.field = newField("  "+fmt.Sprint(i+1)+" No: ", "")
	return Result{Used: true}
}

// allow lets the call run, with the user's edits.
func (k *permissionKind) allow(updates []permission.Update) Result {
	return Result{Used: true, Reply: session.Decision{Answer: permission.Answer{Behavior: permission.Allow, Updates: slices.Clone(updates), Input: k.input(nil)}}}
}

// input returns the input with the user's draft and other values, or nil if there is neither.
func (k *permissionKind) input(more map[string]any) json.RawMessage {
	if k.draft == nil && more == nil {
		return nil
	}
	all := map[string]any{}
	var given map[string]json.RawMessage
	if json.Unmarshal(k.Input, &given) == nil {
		for name, v := range given {
			all[name] = v
		}
	}
	if k.draft != nil {
		all[k.Draft.Field] = *k.draft
	}
	for name, v := range more {
		all[name] = v
	}
	data, err := json.Marshal(all)
	if err != nil {
		return nil
	}
	return data
}

// refuse denies the call and ends the turn.
func (k *permissionKind) refuse() Result {
	return Result{Used: true, Reply: session.Decision{Answer: permission.Answer{Behavior: permission.Deny, Interrupt: true}}}
}

func (k *permissionKind) enter(text string) Result {
	text = strings.TrimSpace(text)
	if k.plan == nil && k.choices.at == always {
		return k.enterRule(text)
	}
	if text == "" {
		return Result{Used: true, note: "Type what to do instead."}
	}
	return Result{Used: true, Reply: session.Decision{Answer: permission.Answer{Behavior: permission.Deny, Message: text}}}
}

func (k *permissionKind) act(a keys.Action) (Result, bool) {
	switch {
	case a == keys.EditDraft && k.Draft != nil:
		text := k.text()
		return Result{Used: true, Edit: &text}, true
	case k.plan != nil || k.choices.at != always:
		return Result{}, false
	case a == keys.EditRule && k.grant.rules() != nil:
		k.choices.field = newField("  2 Rule: ", k.grant.text())
		return Result{Used: true}, true
	case a == keys.CycleScope && k.grant.lasts():
		k.grant.cycle()
		k.offer()
		return Result{Used: true, changed: true}, true
	}
	return Result{}, false
}

// enterRule accepts the rule written by the user.
func (k *permissionKind) enterRule(text string) Result {
	if err := k.grant.set(text); err != nil {
		return Result{Used: true, note: ask.Sentence(tool.OneLine(err.Error(), ask.MaxAbout))}
	}
	k.offer()
	k.choices.field = nil
	return Result{Used: true, changed: true}
}

// text returns the text that the user may edit.
func (k *permissionKind) text() string {
	if k.draft != nil {
		return *k.draft
	}
	var given map[string]json.RawMessage
	var text string
	if json.Unmarshal(k.Input, &given) == nil {
		json.Unmarshal(given[k.Draft.Field], &text) // ok: a value that is not a string is edited as an empty text
	}
	return text
}

// edited accepts the user's edited text.
func (k *permissionKind) edited(text string, w int) Result {
	if k.Draft == nil || text == k.text() {
		return Result{}
	}
	k.draft = &text
	if k.plan != nil {
		rows := append([]draw.Row{draw.Line(draw.Strong, "Plan, as you changed it")}, k.planRows(w)...)
		return Result{Final: rows}
	}
	rows := []draw.Row{draw.Line(draw.Faint, "You changed the new text. The model will see your changes.")}
	if k.Draft.Preview == nil {
		return Result{Final: rows}
	}
	ctx, cancel := context.WithTimeout(context.Background(), previewTime)
	defer cancel()
	shown, err := k.Draft.Preview(ctx, k.input(nil))
	if err != nil {
		text := "This would fail: " + tool.OneLine(err.Error(), ask.MaxReason)
		return Result{Final: append(rows, draw.Wrap(draw.Line(draw.Bad, draw.Clean(text)), w, nil)...)}
	}
	k.Preview = shown
	return Result{Final: append(append(rows, draw.Wrap(k.title(), w, draw.Blanks(2))...), k.preview(w)...)}
}

// previewTime is the time limit for previewing an edited text.
const previewTime = 2 * time.Second

func (k *permissionKind) hints() []string {
	var all []string
	if k.plan == nil && k.choices.at == always {
		if k.grant.rules() != nil {
			all = append(all, k.o.Bindings().Keys(keys.EditRule)+" edit the rule")
		}
		if k.grant.lasts() {
			all = append(all, k.o.Bindings().Keys(keys.CycleScope)+" change how long")
		}
	}
	if k.Draft != nil {
		what := " edit the text"
		if k.plan != nil {
			what = " edit the plan"
		}
		all = append(all, k.o.Bindings().Keys(keys.EditDraft)+what)
	}
	return all
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
