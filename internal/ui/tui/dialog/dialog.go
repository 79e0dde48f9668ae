// Package dialog asks the user a session's questions: permissions, choices and server forms. A
// dialog handles keys, draws rows and returns replies as values.
package dialog

import (
	"fmt"
	"math"
	"slices"

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

// A Dialog asks one question, in a card: the subject between two rules, and below it the question,
// the choices and the keys. A subject with more rows than the screen is written to the scrollback.
// It is not safe for concurrent use.
type Dialog struct {
	Guard
	kind
	o       Options
	chord   keys.Chord
	width   int        // row width
	height  int        // maximum number of rows
	subject []draw.Row // rows of the subject for drawn cells; valid unless drawn is 0
	drawn   int
	written bool       // the subject is in the scrollback
	rest    []draw.Row // rows to approve that the user has not seen yet
	details bool       // the details are shown
	note    string     // error in the last entry; may be empty
	// engaged is true if the user has begun to answer: text typed into the next field is
	// accepted immediately. An Enter counts only once the field could be seen.
	engaged bool
}

// A kind implements one kind of question.
type kind interface {
	// card returns the texts, in rows of w cells.
	card(w int) card
	// body returns the rows of the subject. It may be empty.
	body(w int) []draw.Row
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
func (d *Dialog) Subject(w int) []draw.Row {
	return append([]draw.Row{d.card(w).title}, d.content(w)...)
}

// content returns the rows of the subject.
func (d *Dialog) content(w int) []draw.Row {
	if d.drawn != w {
		d.subject, d.drawn = d.body(w), w
	}
	return d.subject
}

// Overflow returns rows to write to the scrollback before [Dialog.Rows] draws the dialog in h
// rows of w cells: the subject, unless the dialog has room for it. From then on, nothing else
// may be written until the dialog is closed; see [Dialog.Holds].
func (d *Dialog) Overflow(w, h int) []draw.Row {
	d.width, d.height = w, h
	if d.written {
		return nil
	}
	rows := d.framed(w, nil)
	if len(d.content(w)) == 0 {
		return nil
	}
	c := d.card(w)
	var warning []draw.Row
	if !c.warns(d.o.Glyphs, w) {
		warning = c.warn(w)
	}
	choices, _ := d.menu().rows(d.look(), w, math.MaxInt)
	live := d.framed(w, fitting)
	if len(live)+len(warning)+len(c.question)+len(c.why(d.o.Glyphs, w, false))+len(d.news(w))+len(choices)+1 <= h {
		return nil
	}
	d.written = true
	d.rest = rows[:len(rows)-1]
	return d.page(ask.MaxPage)
}

// framed returns the subject between its rules, with its rows fitted to w cells by fit unless
// it is nil.
func (d *Dialog) framed(w int, fit func([]draw.Row, int) []draw.Row) []draw.Row {
	c, body := d.card(w), d.content(w)
	if fit != nil {
		body = fit(body, w)
	}
	top, asker := c.top(d.o.Glyphs, w, len(body) > 0)
	rows := slices.Concat([]draw.Row{top}, asker, body)
	if len(body) > 0 {
		rows = append(rows, c.bottom(d.o.Glyphs, w))
	}
	return rows
}

// Holds reports whether the subject is in the scrollback, directly above the dialog: nothing may
// come between.
func (d *Dialog) Holds() bool { return d.written }

// Close returns the rows to write to the scrollback when the dialog ends, so that they keep what
// the user decided about.
func (d *Dialog) Close() []draw.Row {
	if d.written {
		c := d.card(d.width)
		return []draw.Row{c.bottom(d.o.Glyphs, d.width)}
	}
	_, simple := d.kind.(*simpleKind)
	if simple || len(d.content(d.width)) == 0 {
		return nil
	}
	return d.framed(d.width, nil)
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
		d.advance(&r)
	}
	return r
}

// advance shows the next item or field. What was asked about the last one stays in the
// scrollback, unless the subject is the same.
func (d *Dialog) advance(r *Result) {
	d.details = false
	next := d.body(d.width)
	if slices.EqualFunc(next, d.content(d.width), func(a, b draw.Row) bool { return slices.Equal(a, b) }) {
		return
	}
	r.Final = append(r.Final, d.Close()...)
	d.subject, d.written, d.rest = next, false, nil
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
	case action == keys.ShowDetails && len(d.card(d.width).details) > 0:
		return d.unfold()
	case action != "":
		if r, ok := d.act(action); ok {
			return r
		}
	case d.changesMode(ev):
		if r, ok := d.act(keys.CycleMode); ok {
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

// unfold shows or hides the details. If there is no room for them, they are written to the
// scrollback.
func (d *Dialog) unfold() Result {
	c := d.card(d.width)
	all := c.why(d.o.Glyphs, d.width, true)
	choices, _ := d.menu().rows(d.look(), d.width, math.MaxInt)
	if !d.details && len(all)+len(c.question)+len(c.warn(d.width))+len(d.news(d.width))+len(choices)+1 > d.height {
		return Result{Used: true, Final: all}
	}
	d.details = !d.details
	return Result{Used: true}
}

// changesMode reports whether a key changes the mode outside of questions.
func (d *Dialog) changesMode(ev keys.Event) bool {
	action, _ := (&keys.Chord{}).Press(d.o.Bindings(), ev, keys.Chat)
	return action == keys.CycleMode
}

// more shows the next rows to approve: nothing is approved half-seen.
func (d *Dialog) more() Result { return Result{Used: true, Final: d.page(ask.MaxPage), changed: true} }

// take selects a choice.
func (d *Dialog) take(i int) Result {
	it := &d.menu().items[i]
	if it.cut && !it.told {
		it.told = true
		rows := draw.Wrap(draw.Line(draw.Text, fmt.Sprintf(" %d %s", i+1, draw.CleanQuestion(it.text))), d.width, draw.Blanks(3))
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
func (d *Dialog) Edited(text string) {
	d.Disturb()
	p, ok := d.kind.(*permissionKind)
	if !ok || !p.edited(text) {
		return
	}
	d.drawn, d.written, d.rest = 0, false, nil
}

// Rows draws the dialog in at most h rows of at most w cells. [Dialog.Overflow] must be called
// before. The caret is nil while the question waits.
func (d *Dialog) Rows(w, h int) ([]draw.Row, *screen.Point) {
	d.width, d.height = w, h
	g := d.o.Glyphs
	c := d.card(w)
	var head, warning []draw.Row
	if d.written || !c.warns(g, w) {
		warning = c.warn(w)
	}
	if d.written {
		head = []draw.Row{c.bottom(g, w)}
	} else {
		head = d.framed(w, fitting)
	}
	why, news := c.why(g, w, d.details), d.news(w)
	choices, caret := d.menu().rows(d.look(), w, math.MaxInt)
	last := []draw.Row{draw.Line(draw.Faint, draw.Blank(indent)+d.keys(w-indent, &c)).Cut(w, g.More)}
	below := slices.Concat(c.question, why, warning, news)
	if len(head)+len(below)+len(choices)+len(last) > h {
		head, below, choices, last, caret = d.squeezed(&c, why, last, w, h)
	}
	if below = append(below, choices...); caret != nil {
		caret.Row += len(head) + len(below) - len(choices)
	}
	below = append(below, last...)
	if !d.Active() {
		caret = nil
		for i, row := range below {
			below[i] = faint(row)
		}
	}
	rows := append(head, below...)
	for i, row := range rows {
		rows[i] = row.Cut(w, g.More)
	}
	return rows, caret
}

// squeezed returns the parts of a dialog that has no room for all of them. The choices come
// first, and how to answer while the question waits.
func (d *Dialog) squeezed(c *card, why, hints []draw.Row, w, h int) (head, below, choices, last []draw.Row, caret *screen.Point) {
	g := d.o.Glyphs
	must := c.warn(w)
	if !d.written && c.asker != "" {
		must = append(must, indented([]draw.Row{draw.Line(draw.Faint, c.asker)})...)
	}
	must = append(must, d.news(w)...)
	for i := range must {
		must[i] = must[i].Cut(w, g.More)
	}
	most := h - len(must)
	if !d.Active() {
		most--
	}
	if most > len(d.menu().items) { // one row of the question
		most--
	}
	choices, caret = d.menu().rows(d.look(), w, max(1, most))
	must = must[:min(len(must), max(0, h-len(choices)))]
	room := h - len(must) - len(choices)
	take := func(rows []draw.Row) []draw.Row {
		rows = rows[:min(len(rows), max(0, room))]
		room -= len(rows)
		return rows
	}
	if !d.Active() {
		last = take(hints)
	}
	question := take(c.question)
	if d.Active() {
		last = take(hints)
	}
	below = append(append(question, take(why)...), must...)
	if d.written {
		head = take([]draw.Row{c.bottom(g, w)})
	}
	return head, below, choices, last, caret
}

// look returns how the choices are drawn.
func (d *Dialog) look() look { return look{d.o.Glyphs, len(d.rest) > 0} }

// news returns how many rows are still to be shown, and the error in the last entry.
func (d *Dialog) news(w int) []draw.Row {
	var rows []draw.Row
	if left := len(d.rest); left > 0 {
		rows = append(rows, draw.Line(draw.Strong, amount.Of(left, "more line", "more lines")+": Enter to show"))
	}
	if d.note != "" {
		rows = append(rows, draw.Wrap(draw.Line(draw.Bad, draw.Clean(d.note)), w-indent, nil)...)
	}
	return indented(rows)
}

// keys describes the available keys, as far as they fit into w cells. The first and the last are
// the most important ones.
func (d *Dialog) keys(w int, c *card) string {
	m := d.o.Bindings()
	var first, last string
	var more []string
	switch {
	case !d.Active():
		first, last = "Waiting for you", m.Keys(keys.AnswerQuestion)+" to answer"
		if w < 36 {
			first = ""
		}
	case d.menu().field != nil:
		first, last = "Enter accept", "Esc back"
	default:
		first, last = "Enter select", d.leave(w)
		if len(d.rest) > 0 {
			first = "Enter show more"
		}
		if d.menu().ticks {
			more = append(more, "Space toggle")
		}
		more = append(more, d.hints()...)
		if key := m.Keys(keys.ShowDetails); key != "" && d.details {
			more = append([]string{key + " hide details"}, more...)
		} else if key != "" && len(c.details) > 0 {
			more = append(more, key+" details")
		}
	}
	dot := " " + d.o.Glyphs.Dot + " "
	if first != "" {
		last = dot + last
	}
	for _, one := range more {
		if cells.Width(first+dot+one+last) <= w {
			first += dot + one
		}
	}
	return first + last
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

// faint returns the row with everything but warnings faint, and nothing marked.
func faint(r draw.Row) draw.Row {
	out := make(draw.Row, len(r))
	for i, s := range r {
		if s.Role != draw.Warning {
			s.Role = draw.Faint
		}
		s.Ground = draw.NoGround
		out[i] = s
	}
	return out
}

// newField returns a field with a prompt.
func newField(prompt, text string) *edit.Field {
	f := edit.New(prompt, "   ")
	if text != "" {
		f.Set(text)
	}
	return f
}
