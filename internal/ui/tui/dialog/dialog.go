// Package dialog asks the user a session's questions: permissions, choices and server forms. A
// dialog handles keys, draws rows and returns replies as values.
package dialog

import (
	"fmt"
	"math"

	"adze/internal/platform/term/cells"
	"adze/internal/platform/text/amount"
	"adze/internal/session"
	"adze/internal/ui/ask"
	"adze/internal/ui/draw"
	"adze/internal/ui/edit"
	"adze/internal/ui/keys"
	"adze/internal/ui/screen"
)

// Options configures dialogs. All fields but Dir and Home are required.
type Options struct {
	Dir, Home string // directories whose paths are shortened
	Glyphs    draw.Glyphs
	// Bindings returns the current key bindings.
	Bindings func() *keys.Map
	// Marks and Links are passed to [markdown.Stream].
	Marks, Links bool
}

// A Dialog asks one question. It is not safe for concurrent use.
type Dialog struct {
	Guard
	kind
	o      Options
	chord  keys.Chord
	width  int        // row width
	height int        // maximum number of rows
	rest   []draw.Row // rows to approve that the user has not seen yet
	told   bool       // the description has been written to the scrollback
	note   string     // error in the last entry; may be empty
	// engaged is true if the user has begun to answer: text typed into the next field is
	// accepted immediately. An Enter counts only once the field could be seen.
	engaged bool
}

// A kind implements one kind of question.
type kind interface {
	// head returns the rows written to the scrollback, above the question.
	head(w int) []draw.Row
	// about returns the description of the question, shown between its head and its choices.
	about(w int) []draw.Row
	// warning returns a line that is always shown, or "".
	warning() string
	// menu returns the choices, which stay the same until a choice is made.
	menu() *menu
	// choose selects the choice with that index, and enter accepts the text typed for the
	// marked one.
	choose(i int) Result
	enter(text string) Result
	// act performs another action. It returns false if it does not handle a.
	act(a keys.Action) (Result, bool)
	// refuse answers no.
	refuse() Result
	// hints returns hints for keys other than the menu keys.
	hints() []string
}

// A Result is the effect of an event.
type Result struct {
	// Used reports whether the event was meant for the dialog. If false, the event belongs to
	// the composer.
	Used bool
	// Reply is the answer, which ends the dialog, or nil. If Stop is true, the turn ends with
	// it. Then is submitted after it.
	Reply session.Reply
	Stop  bool
	Then  []session.Op
	// Final are rows to write to the scrollback.
	Final []draw.Row
	// Edit is a text for the user to edit, who may take long; see [Dialog.Edited]. Nil means
	// none.
	Edit *string

	note    string // error in the entry
	changed bool   // the question looks different
	next    bool   // moved on to the next item or field
}

// New returns the dialog of a question.
func New(q session.Question, g Guard, o Options) *Dialog {
	d := &Dialog{Guard: g, o: o}
	switch q := q.(type) {
	case session.Permission:
		d.kind = newPermission(q, o)
	case session.Choices:
		d.kind = newChoices(q, o)
	case session.Form:
		d.kind = newForm(q, o)
	case session.Visit:
		d.kind = newVisit(q)
	case session.Sampling:
		d.kind = newSampling(q)
	default:
		panic(fmt.Sprintf("dialog: unknown question %T", q))
	}
	return d
}

// Use returns the ID of the tool use that the question shows, or "".
func (d *Dialog) Use() string {
	if p, ok := d.kind.(*permissionKind); ok {
		return p.ID
	}
	return ""
}

// Subject returns the call to approve, in rows of w cells.
func (d *Dialog) Subject(w int) []draw.Row { return d.head(w) }

// maxAbout is the maximum number of live rows for the description of a question; a longer one
// is written to the scrollback.
const maxAbout = 4

// Open returns the rows to write to the scrollback when the question is first shown, broken to
// w cells if possible. The dialog then has h rows.
func (d *Dialog) Open(w, h int) []draw.Row {
	d.width, d.height = w, h
	d.rest = d.head(w)
	about := d.about(w)
	choices, _ := d.menu().rows(look{glyphs: d.o.Glyphs}, w, math.MaxInt)
	if d.told = len(about) > min(maxAbout, h-len(choices)-len(d.must(w))); d.told {
		d.rest = append(d.rest, about...)
	}
	return d.page(ask.MaxPage)
}

// page returns the next rows. If only a few would remain, they are included.
func (d *Dialog) page(most int) []draw.Row {
	n := min(most, len(d.rest))
	if len(d.rest)-n <= ask.MaxPage/10 {
		n = len(d.rest)
	}
	rows := d.rest[:n]
	d.rest = d.rest[n:]
	return rows
}

// Press handles an event. Alone is true if nothing else was read with it.
func (d *Dialog) Press(ev keys.Event, alone bool) Result {
	if ev.Kind == keys.FocusIn {
		d.engaged = false
	}
	if text := ev.Kind == keys.Press || ev.Kind == keys.Paste; text && d.Active() && d.menu().field != nil && (d.engaged || d.seen(ev.At)) {
		d.engaged = true
		return d.done(d.typed(ev, alone))
	}
	tab, _ := (&keys.Chord{}).Press(d.o.Bindings(), ev, keys.Confirmation)
	switch d.Target(ev, alone, tab == keys.AnswerQuestion) {
	case Composer:
		d.engaged = d.engaged && d.Active()
		return Result{}
	case Activation:
		return Result{Used: true}
	}
	d.engaged = true
	return d.done(d.pressed(ev))
}

// Disturb records that the user looked elsewhere: the question has to be seen again.
func (d *Dialog) Disturb() {
	d.engaged = false
	d.Guard.Disturb()
}

// done updates the dialog's state after a result.
func (d *Dialog) done(r Result) Result {
	if r.Used {
		d.note = r.note
	}
	if r.changed || r.next {
		d.Guard.Disturb()
	}
	if r.next {
		r.Final = append(r.Final, d.Open(d.width, d.height)...)
	}
	return r
}

// pressed handles a key that is meant for the choices.
func (d *Dialog) pressed(ev keys.Event) Result {
	m := d.menu()
	action, taken := d.chord.Press(d.o.Bindings(), ev, keys.Confirmation)
	switch {
	case action == keys.Refuse:
		return d.refuse()
	case len(d.rest) > 0 && (action == keys.Choose || action == keys.Tick || action == keys.ChoiceAfter):
		return d.more()
	case action == keys.Choose:
		return d.take(m.at)
	case action == keys.ChoiceBefore, action == keys.ChoiceAfter, action == keys.Tick && m.ticks:
		m.key(action)
		return Result{Used: true}
	case action != "":
		if r, ok := d.act(action); ok {
			return r
		}
	case taken:
		return Result{Used: true} // part of a chord
	}
	if i := m.numbered(ev); i >= 0 {
		if len(d.rest) > 0 && !m.items[i].harmless {
			return d.more()
		}
		if m.items[i].cut && m.at != i { // show it in full first
			m.at = i
			return Result{Used: true, changed: true}
		}
		m.at = i
		if m.ticks && !m.items[i].apart {
			m.key(keys.Tick)
			return Result{Used: true}
		}
		return d.take(i)
	}
	if ev.Text != "" { // the user types something else
		d.Wait()
		d.engaged = false
	}
	return Result{}
}

// more shows the next rows to approve: nothing is approved half-seen.
func (d *Dialog) more() Result { return Result{Used: true, Final: d.page(ask.MaxPage), changed: true} }

// take selects a choice.
func (d *Dialog) take(i int) Result {
	it := &d.menu().items[i]
	if it.cut && !it.told {
		it.told = true
		rows := draw.Wrap(draw.Line(draw.Text, fmt.Sprintf("  %d %s", i+1, draw.CleanQuestion(it.text))), d.width, draw.Blanks(4))
		return Result{Used: true, Final: rows, changed: true}
	}
	return d.choose(i)
}

// typed handles an event while text is typed for a choice.
func (d *Dialog) typed(ev keys.Event, alone bool) Result {
	m := d.menu()
	d.Typed(ev.At)
	if !alone && ev.Key.Name == "enter" && ev.Kind == keys.Press { // part of a paste
		ev.Key = keys.Key{Mod: keys.Alt, Name: "enter"}
	}
	if step, _ := (&keys.Chord{}).Press(d.o.Bindings(), ev, keys.Confirmation); m.leaves(step) {
		return Result{Used: true, changed: true}
	}
	switch action := m.field.Press(ev, d.o.Bindings(), d.width); action {
	case "":
		return Result{Used: true}
	case keys.Submit:
		if !d.seen(ev.At) {
			return Result{Used: true}
		}
		return d.enter(m.field.Text())
	case keys.Cancel:
		m.field = nil
		return Result{Used: true, changed: true}
	default:
		return Result{} // the key affects more than the text
	}
}

// Edited accepts the user's edited text; see [Result.Edit].
func (d *Dialog) Edited(text string) Result {
	d.Disturb()
	p, ok := d.kind.(*permissionKind)
	if !ok {
		return Result{}
	}
	r := p.edited(text, d.width)
	if len(r.Final) > 0 { // the new rows replace the unseen ones
		d.rest = r.Final
		r.Final = d.page(ask.MaxPage)
	}
	return r
}

// Rows draws the dialog in at most h rows of at most w cells. The caret is nil while the
// question waits.
func (d *Dialog) Rows(w, h int) ([]draw.Row, *screen.Point) {
	d.width, d.height = w, h
	var above []draw.Row
	if !d.told {
		above = d.about(w)
	}
	must := d.must(w)
	most := h - len(must)
	if !d.Active() { // always show how to answer
		most--
	}
	choices, caret := d.menu().rows(look{d.o.Glyphs, len(d.rest) > 0}, w, max(1, most))
	must = must[:min(len(must), max(0, h-len(choices)))]
	room := h - len(must) - len(choices)
	if !d.Active() {
		room--
	}
	above = above[:min(len(above), max(0, room))]
	var last []draw.Row
	if room > len(above) || !d.Active() && room >= 0 {
		last = []draw.Row{draw.Line(draw.Faint, "  "+d.keys(w-2)).Cut(w, d.o.Glyphs.More)}
	}
	rows := append(above, must...)
	if caret != nil {
		caret.Row += len(rows)
	}
	rows = append(append(rows, choices...), last...)
	for i, row := range rows {
		if rows[i] = row.Cut(w, d.o.Glyphs.More); !d.Active() {
			rows[i] = faint(rows[i])
		}
	}
	if !d.Active() {
		caret = nil
	}
	return rows, caret
}

// must returns the rows with the highest priority.
func (d *Dialog) must(w int) []draw.Row {
	var must []draw.Row
	if text := d.warning(); text != "" {
		must = draw.Wrap(draw.Row{{Role: draw.Warning, Text: "! " + draw.Clean(text)}}, w, draw.Blanks(2))
	}
	if left := len(d.rest); left > 0 {
		must = append(must, draw.Line(draw.Strong, amount.Of(left, "more line", "more lines")+": Enter to show"))
	}
	if d.note != "" {
		must = append(must, draw.Wrap(draw.Line(draw.Bad, draw.Clean(d.note)), w, nil)...)
	}
	for i := range must {
		must[i] = must[i].Cut(w, d.o.Glyphs.More)
	}
	return must
}

// keys describes the available keys, as far as they fit into w cells.
func (d *Dialog) keys(w int) string {
	m := d.o.Bindings()
	var all []string
	switch {
	case !d.Active():
		all = []string{"Waiting for you", m.Keys(keys.AnswerQuestion) + " to answer"}
		if w < 36 {
			all = all[1:]
		}
	case d.menu().field != nil:
		all = []string{"Enter accept", "Esc back"}
	default:
		if d.menu().ticks {
			all = append(all, "Space toggle")
		}
		all = append(append(append(all, "Enter select"), d.hints()...), d.leave(w))
	}
	text := ""
	for _, one := range all {
		if text != "" {
			one = text + " " + d.o.Glyphs.Dot + " " + one
		}
		if cells.Width(one) <= w {
			text = one
		}
	}
	return text
}

// leave describes the effect of Esc, in w cells.
func (d *Dialog) leave(w int) string {
	const narrow = 48
	_, permission := d.kind.(*permissionKind)
	simple, ok := d.kind.(*simpleKind)
	switch {
	case ok:
		return "Esc " + simple.Leaving
	case permission && w < narrow:
		return "Esc reject"
	case permission:
		return "Esc reject and stop"
	case w < narrow:
		return "Esc stop"
	}
	return "Esc stop the turn"
}

// faint returns the row with everything but warnings faint.
func faint(r draw.Row) draw.Row {
	out := make(draw.Row, len(r))
	for i, s := range r {
		if s.Role != draw.Warning {
			s.Role = draw.Faint
		}
		out[i] = s
	}
	return out
}

// newField returns a field with a prompt.
func newField(prompt, text string) *edit.Field {
	f := edit.New(prompt, "    ")
	if text != "" {
		f.Set(text)
	}
	return f
}
