package dialog

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"adze/internal/permission"
	"adze/internal/platform/term/cells"
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
	problem string     // the error that the edited text would cause; may be empty
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
		if k.accepts() {
			k.choices.items[always].remark = k.o.Bindings().Keys(keys.CycleMode)
		}
	}
}

// accepts reports whether the lasting choice accepts edits in this session, like the key that
// changes the mode.
func (k *permissionKind) accepts() bool {
	u := k.grant.updates
	return k.plan == nil && len(u) == 1 && u[0].Mode == permission.AcceptEdits
}

func (k *permissionKind) menu() *menu { return &k.choices }

func (k *permissionKind) card(w int) card {
	c := card{warning: draw.Clean(tool.OneLine(k.Warning, ask.MaxAbout)), details: k.details()}
	if k.Agent != nil {
		c.asker = draw.Clean(tool.OneLine(k.Agent.String(), ask.MaxAbout)) + " asks"
	}
	c.question = indented(draw.Wrap(draw.Line(draw.Strong, draw.Clean(ask.Question(&k.Question))), w-indent, nil))
	if k.plan != nil {
		c.title = k.planTitle()
		return c
	}
	c.title = k.title(w)
	var said []string
	if why := ask.Why(&k.Question); why != "" {
		said = append(said, why)
	}
	if k.Dir != "" && k.Command != "" {
		said = append(said, "In "+k.short(k.Dir)+".")
	}
	c.reason = draw.Clean(strings.Join(said, " "))
	return c
}

// title names the call.
func (k *permissionKind) title(w int) draw.Row {
	if k.Command == "" {
		row := draw.Line(draw.Title, draw.Clean(ask.Title(&k.Question)))
		if d, ok := k.Preview.(tool.Diff); ok && !d.Partial {
			row = append(row, draw.Span{Role: draw.Added, Text: fmt.Sprintf("  +%d", d.Added)}, draw.Span{Role: draw.Removed, Text: fmt.Sprintf(" -%d", d.Removed)})
		}
		return row
	}
	if k.brief(w) {
		return draw.Line(draw.Title, "Run "+k.Command)
	}
	return draw.Line(draw.Title, draw.Clean(ask.Title(&k.Question)))
}

// brief reports whether the title shows the whole command. It must not look like a part of the
// rule.
func (k *permissionKind) brief(w int) bool {
	room := w - len("-- ! Run  --") - cells.Width(k.Warning) - len("-- ")
	return !strings.ContainsAny(k.Command, "\n\t!") && !strings.Contains(k.Command, k.o.Glyphs.Rule) && draw.Spell(k.Command) == k.Command && cells.Width(k.Command) <= room
}

// body returns the proposed action in full.
func (k *permissionKind) body(w int) []draw.Row {
	var rows []draw.Row
	if k.draft != nil && k.plan == nil {
		text := "You changed the new text. The model will see your changes."
		rows = append(rows, draw.Wrap(draw.Line(draw.Faint, "  "+text), w, draw.Blanks(2))...)
	}
	if k.problem != "" {
		rows = append(rows, draw.Wrap(draw.Line(draw.Bad, "  "+draw.Clean("This would fail: "+k.problem)), w, draw.Blanks(2))...)
	}
	if k.Command != "" {
		if !k.brief(w) {
			rows = append(rows, ask.Whole(k.Command, w)...)
		}
		if k.About != "" {
			rows = append(rows, draw.Wrap(draw.Line(draw.Faint, "  "+draw.Clean(tool.OneLine(k.About, ask.MaxAbout))), w, draw.Blanks(2))...)
		}
	}
	switch {
	case k.plan != nil:
		rows = append(rows, k.planRows(w)...)
	case k.problem != "":
	case k.Preview != nil:
		rows = append(rows, k.preview(w)...)
	case k.Command == "" && !k.NeedsPerson:
		rows = append(rows, ask.Input(k.Input, w)...)
	}
	for line := range strings.SplitSeq(k.Consent, "\n") {
		if line != "" && k.plan == nil {
			rows = append(rows, draw.Wrap(draw.Line(draw.Text, "  "+draw.Clean(line)), w, draw.Blanks(2))...)
		}
	}
	return rows
}

// details returns the facts behind the question.
func (k *permissionKind) details() []detail {
	var all []detail
	add := func(name, text string) {
		if text != "" {
			all = append(all, detail{name, draw.Clean(tool.OneLine(text, ask.MaxReason))})
		}
	}
	if text := k.Reason.String(); text != "" {
		add("Why", ask.Sentence(text))
	}
	if k.plan != nil {
		add("File", k.short(k.plan.File))
	}
	add("Tool", k.Tool)
	add("Server", k.Server)
	if k.Agent != nil {
		add("Asked by", k.Agent.String())
	}
	add("Runs", strings.Join(k.Programs, ", "))
	add("Folder", k.short(k.Dir))
	if k.grant.rules() != nil {
		add("2 saves", k.grant.text())
	}
	return all
}

// preview returns the proposed change.
func (k *permissionKind) preview(w int) []draw.Row {
	shown := ask.Change(&k.Question, draw.Options{Dir: k.o.Dir, Glyphs: k.o.Glyphs})
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
	k.choices.field = newField(" "+fmt.Sprint(i+1)+" No: ", "")
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
	case a == keys.CycleMode && k.accepts():
		return k.choose(always), true
	case a == keys.EditDraft && k.Draft != nil:
		text := k.text()
		return Result{Used: true, Edit: &text}, true
	case k.plan != nil || k.choices.at != always:
		return Result{}, false
	case a == keys.EditRule && k.grant.rules() != nil:
		k.choices.field = newField(" 2 Rule: ", k.grant.text())
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

// edited accepts the user's edited text, and reports whether it has changed.
func (k *permissionKind) edited(text string) bool {
	if k.Draft == nil || text == k.text() {
		return false
	}
	k.draft, k.problem = &text, ""
	if k.plan != nil || k.Draft.Preview == nil {
		return true
	}
	ctx, cancel := context.WithTimeout(context.Background(), previewTime)
	defer cancel()
	shown, err := k.Draft.Preview(ctx, k.input(nil))
	if err != nil {
		k.problem = tool.OneLine(err.Error(), ask.MaxReason)
		return true
	}
	k.Preview = shown
	return true
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
		what := " edit first"
		if k.plan != nil {
			what = " edit the plan"
		}
		all = append(all, k.o.Bindings().Keys(keys.EditDraft)+what)
	}
	return all
}
