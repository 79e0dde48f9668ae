package transcript

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"adze/internal/model"
	"adze/internal/msg"
	"adze/internal/platform/proc/shelf"
	"adze/internal/session"
	"adze/internal/tool"
	"adze/internal/ui/draw"
	"adze/internal/ui/markdown"
)

// A response is the received part of the current response.
type response struct {
	seq    session.Seq
	missed bool // a delta was dropped: the rest of the text comes with the message
	open   *part
	block  int     // block written to open
	parts  []*part // all parts of the response
	spoken []*utterance
}

// count records the sequence number of an entry, to detect dropped ones.
func (r *response) count(seq session.Seq) {
	if r.seq != 0 && seq != r.seq+1 {
		r.missed = true
	}
	r.seq = seq
}

// settle completes the part that is being written.
func (t *Transcript) settle() {
	if t.open != nil {
		t.open.closed = true
		if th, ok := t.open.content.(*thought); ok {
			th.took = t.cfg.Now().Sub(th.began)
		}
	}
	t.open = nil
}

// begin starts a response.
func (t *Transcript) begin() {
	t.settle()
	t.response = response{seq: t.seq}
}

// write returns the content for block n of the response, after completing the previous one.
func write[C content](t *Transcript, n int, fresh func() C) C {
	if t.open != nil && t.block == n {
		if c, ok := t.open.content.(C); ok {
			return c
		}
	}
	t.settle()
	c := fresh()
	t.open, t.block = t.add(c), n
	t.parts = append(t.parts, t.open)
	return c
}

// delta handles a piece of a response.
func (t *Transcript) delta(ev model.Event) {
	now := t.cfg.Now()
	switch d := ev.(type) {
	case model.TextDelta:
		t.activity.arrived("Writing", len(d.Text), now)
		if !t.missed {
			a := write(t, d.Block, func() *answer { return &answer{} })
			t.uttered(d.Block)
			a.said.WriteString(d.Text)
		}
	case model.ThinkingDelta:
		switch {
		case d.Update && d.Text != "":
			t.activity.arrived("Writing", len(d.Text), now)
			write(t, d.Block, func() *answer { return &answer{} }).said.WriteString(d.Text)
		case d.Text != "":
			t.activity.arrived("Thinking", len(d.Text), now)
			write(t, d.Block, func() *thought { return &thought{began: now} }).said.WriteString(d.Text)
		default:
			t.activity.arrived("Thinking", 0, now)
		}
	case model.BlockDone:
		if t.open != nil && t.block == d.Block {
			t.settle()
		}
	case model.InputDelta:
		t.settle()
		t.activity.arrived("Preparing "+tool.OneLine(cmp.Or(d.Name, "a call"), 40), len(d.JSON), now)
	}
}

// withdraw drops the received part of a void response. Final rows stay, followed by a note.
func (t *Transcript) withdraw() {
	final := false
	for _, p := range t.parts {
		if p.begun {
			final = true
			p.closed = true
			p.content.(interface{ drop() }).drop()
			continue
		}
		gone := func(q *part) bool { return q == p }
		t.queue, t.book = slices.DeleteFunc(t.queue, gone), slices.DeleteFunc(t.book, gone)
	}
	t.open = nil
	t.begin()
	if final {
		t.faint(t.cfg.Glyphs.More + " The answer broke off here. Retrying.")
	}
}

// appended handles a history message: for an answer, the part that did not arrive as deltas.
func (t *Transcript) appended(e msg.Entry) {
	if e.Message.Role != msg.Assistant {
		return
	}
	n := 0
	for _, p := range e.Message.Parts {
		text, ok := p.(*msg.Text)
		if !ok {
			continue
		}
		rest := text.Text
		if n < len(t.spoken) {
			rest = t.spoken[n].complete(rest)
		}
		if strings.TrimSpace(rest) != "" {
			t.settle()
			t.put(&answer{text: rest})
		}
		n++
	}
	t.begin()
}

// An utterance is a text block of a response: one part, or several if it was interrupted by a
// question.
type utterance struct {
	block int
	parts []*part
}

// uttered records that a text block is written to the open part.
func (r *response) uttered(block int) {
	n := len(r.spoken)
	if n == 0 || r.spoken[n-1].block != block {
		r.spoken = append(r.spoken, &utterance{block: block})
		n++
	}
	if u := r.spoken[n-1]; !slices.Contains(u.parts, r.open) {
		u.parts = append(u.parts, r.open)
	}
}

// complete replaces the received text with the whole text. It returns the text that is then not
// shown: the end, if all received text is already final, and all of it if the received text
// differs.
func (u *utterance) complete(text string) (rest string) {
	for i, p := range u.parts {
		a := p.content.(*answer)
		rest, ok := strings.CutPrefix(text, a.said.String())
		if !ok {
			return text
		}
		if i == len(u.parts)-1 && !p.final {
			rest = ""
		}
		a.text = text[:len(text)-len(rest)] // the session keeps it anyway
		a.said.Reset()
		text = rest
	}
	return text
}

// An answer is Markdown text from the model.
type answer struct {
	said    strings.Builder // received text
	text    string          // full text once complete; empty before
	drawn   int             // bytes passed to the stream
	stream  markdown.Stream
	dropped bool
}

// all returns the text as far as it is known.
func (a *answer) all() string {
	if a.text != "" {
		return a.text
	}
	return a.said.String()
}

// drop omits everything that is not final.
func (a *answer) drop() { a.dropped = true }

func (a *answer) group() group { return speechGroup }

func (a *answer) take(v view, closed bool) []draw.Row {
	if a.dropped {
		return nil
	}
	a.stream.Width, a.stream.Tables, a.stream.Marks, a.stream.Links, a.stream.Glyphs = v.prose, v.w, v.Marks, v.Links, v.Glyphs
	text := a.all()
	rows := a.stream.Add(text[a.drawn:])
	a.drawn = len(text)
	if closed {
		rows = append(rows, a.stream.End()...)
		a.stream = markdown.Stream{} // release the parser's memory
	}
	return rows
}

func (a *answer) live(view, bool) []draw.Row { return a.stream.Rows() }

func (a *answer) whole(v view) []section {
	s := markdown.Stream{Width: v.prose, Tables: v.w, Marks: v.Marks, Links: v.Links, Glyphs: v.Glyphs}
	rows := s.Add(a.all())
	return sections(append(rows, s.End()...))
}

// A sideAnswer is a complete answer from the model outside the conversation.
type sideAnswer struct{ text string }

func (l *sideAnswer) group() group                        { return speechGroup }
func (l *sideAnswer) take(v view, closed bool) []draw.Row { return l.rows(v) }
func (l *sideAnswer) live(v view, closed bool) []draw.Row { return l.rows(v) }
func (l *sideAnswer) whole(v view) []section              { return sections(l.rows(v)) }

func (l *sideAnswer) rows(v view) []draw.Row {
	s := markdown.Stream{Width: v.prose, Tables: v.w, Marks: v.Marks, Links: v.Links, Glyphs: v.Glyphs}
	rows := s.Add(l.text)
	return append(rows, s.End()...)
}

// A thought is the model's thinking before it answers.
type thought struct {
	answer
	began  time.Time
	took   time.Duration
	opened bool          // its text is shown
	below  *shelvedLines // its text, once moved to a shelf; may be nil
}

func (th *thought) group() group { return callGroup }

func (th *thought) take(v view, closed bool) []draw.Row {
	if th.opened && !v.thinking { // the user has hidden it
		th.opened = false
	}
	if !th.opened && v.thinking && (strings.TrimSpace(th.said.String()[th.drawn:]) != "" || len(th.stream.Rows()) > 0) {
		th.opened = true
		head := draw.Line(draw.Faint, v.Glyphs.Open+" Thinking")
		return append([]draw.Row{head}, th.rows(v, closed)...)
	}
	if th.opened {
		return th.rows(v, closed)
	}
	if closed && th.took >= patience && !th.dropped {
		return []draw.Row{th.folded(v)}
	}
	return nil
}

// rows returns the text that has become final.
func (th *thought) rows(v view, closed bool) []draw.Row {
	v.w, v.prose = max(8, v.w-2), max(8, v.prose-2)
	return inFaint(th.answer.take(v, closed))
}

func inFaint(rows []draw.Row) []draw.Row {
	for i, row := range rows {
		rows[i] = row.In(draw.Faint)
	}
	return indented(rows)
}

func (th *thought) live(v view, closed bool) []draw.Row {
	switch {
	case th.opened:
		return inFaint(th.stream.Rows())
	case closed && th.took >= patience:
		return []draw.Row{th.folded(v)}
	}
	return nil
}

func (th *thought) folded(v view) draw.Row {
	return draw.Line(draw.Faint, v.Glyphs.Active+" Thought "+elapsed(th.took))
}

func (th *thought) whole(v view) []section {
	head := sections([]draw.Row{draw.Line(draw.Faint, v.Glyphs.Open+" Thought "+elapsed(th.took))})
	if th.below != nil {
		return append(head, th.below.section())
	}
	return append(head, &lines{text: th.all(), role: draw.Faint})
}

// stow moves the text to a shelf.
func (th *thought) stow(s *shelf.Shelf) {
	th.below = stow(s, th.all(), draw.Faint)
	th.said.Reset()
	th.text = ""
}
