package pdf

import (
	"context"
	"math"
	"strings"
)

// Limits per page.
const (
	maxOps      = 500_000
	maxPageText = 2 << 20
	maxForms    = 12 // nesting depth
)

// Text returns the text of page n, counted from 1, in drawing order, with line breaks and
// spaces where there are gaps between letters.
func (d *Document) Text(ctx context.Context, n int) (string, error) {
	p := d.pages[n-1]
	r := reader{d: d, ctx: ctx, fonts: map[int]*font{}}
	err := r.run(d.content(p), d.dict(p.dict["Resources"]), identity, 0)
	if err == errEnough {
		err = nil
	}
	return strings.TrimSpace(r.out.String()), err
}

// A matrix is an affine transformation: x' = ax + cy + e, y' = bx + dy + f.
type matrix struct{ a, b, c, d, e, f float64 }

var identity = matrix{a: 1, d: 1}

// then returns the transformation that applies m first and n second.
func (m matrix) then(n matrix) matrix {
	return matrix{
		m.a*n.a + m.b*n.c, m.a*n.b + m.b*n.d,
		m.c*n.a + m.d*n.c, m.c*n.b + m.d*n.d,
		m.e*n.a + m.f*n.c + n.e, m.e*n.b + m.f*n.d + n.f,
	}
}

// A state is the part of the graphics state that q saves and Q restores.
type state struct {
	ctm                             matrix
	font                            *font
	size, char, word, leading, wide float64
}

// A reader interprets drawing instructions and collects the text.
type reader struct {
	d     *Document
	ctx   context.Context
	fonts map[int]*font // keyed by object number
	ops   int
	out   strings.Builder

	// End position and height of the last letter.
	x, y, height float64
	began        bool
}

type stopError string

func (e stopError) Error() string { return string(e) }

// errEnough stops at a page with an unreasonable amount of text.
const errEnough = stopError("the page is too long")

// run interprets a content stream.
func (r *reader) run(content []byte, resources dict, ctm matrix, depth int) error {
	l := &lexer{data: content}
	c := canvas{
		reader: r, resources: resources, depth: depth, state: state{ctm: ctm, wide: 1},
		tm: identity, line: identity, named: map[name]*font{},
	}
	var args []object
	for !l.end() {
		o, err := l.next(0)
		if err != nil {
			return nil // the rest is damaged
		}
		op, ok := o.(keyword)
		if !ok {
			if len(args) < 64 {
				args = append(args, o)
			}
			continue
		}
		if r.ops++; r.ops > maxOps || r.out.Len() > maxPageText {
			return errEnough
		}
		if r.ops%1024 == 0 && r.ctx.Err() != nil {
			return r.ctx.Err()
		}
		if op == "BI" {
			skipPicture(l)
		} else if err := c.do(op, args); err != nil {
			return err
		}
		args = args[:0]
	}
	return nil
}

// skipPicture skips an inline image.
func skipPicture(l *lexer) {
	for !l.end() {
		o, err := l.next(0)
		if err != nil || o == keyword("ID") {
			break
		}
	}
	for l.pos+3 < len(l.data) {
		if isSpace(l.data[l.pos]) && string(l.data[l.pos+1:l.pos+3]) == "EI" && isSpace(l.data[l.pos+3]) {
			l.pos += 3
			return
		}
		l.pos++
	}
	l.pos = len(l.data)
}

// A canvas is the drawing context of a content stream.
type canvas struct {
	*reader
	resources dict
	depth     int
	state
	saved    []state
	tm, line matrix
	named    map[name]*font
}

// do executes an instruction.
func (c *canvas) do(op keyword, args []object) error {
	n := func(i int) float64 {
		if i < len(args) {
			return c.d.float(args[i], 0)
		}
		return 0
	}
	last := object(nil)
	if len(args) > 0 {
		last = args[len(args)-1]
	}
	switch op {
	case "q":
		if len(c.saved) < 256 {
			c.saved = append(c.saved, c.state)
		}
	case "Q":
		if k := len(c.saved); k > 0 {
			c.state, c.saved = c.saved[k-1], c.saved[:k-1]
		}
	case "cm":
		c.ctm = matrix{n(0), n(1), n(2), n(3), n(4), n(5)}.then(c.ctm)
	case "BT":
		c.tm, c.line = identity, identity
	case "Tf":
		c.size = n(1)
		if len(args) > 0 {
			c.font = c.fontNamed(args[0])
		}
	case "Tc":
		c.char = n(0)
	case "Tw":
		c.word = n(0)
	case "Tz":
		c.wide = n(0) / 100
	case "TL":
		c.leading = n(0)
	case "Td":
		c.move(n(0), n(1))
	case "TD":
		c.leading = -n(1)
		c.move(n(0), n(1))
	case "Tm":
		c.line = matrix{n(0), n(1), n(2), n(3), n(4), n(5)}
		c.tm = c.line
	case "T*":
		c.move(0, -c.leading)
	case "Tj":
		c.show(last)
	case "'":
		c.move(0, -c.leading)
		c.show(last)
	case "\"":
		c.word, c.char = n(0), n(1)
		c.move(0, -c.leading)
		c.show(last)
	case "TJ":
		items, _ := last.(array)
		for _, item := range items {
			if _, ok := item.(str); ok {
				c.show(item)
			} else {
				c.advance(-c.d.float(item, 0) / 1000 * c.size * c.wide)
			}
		}
	case "Do":
		return c.form(last)
	}
	return nil
}

func (c *canvas) move(x, y float64) {
	c.line = matrix{a: 1, d: 1, e: x, f: y}.then(c.line)
	c.tm = c.line
}

func (c *canvas) advance(x float64) { c.tm = matrix{a: 1, d: 1, e: x}.then(c.tm) }

func (c *canvas) fontNamed(o object) *font {
	key, _ := o.(name)
	if f, ok := c.named[key]; ok {
		return f
	}
	value := c.d.dict(c.resources["Font"])[key]
	r, shared := value.(ref)
	f := c.fonts[r.num]
	if f == nil || !shared {
		f = c.d.newFont(c.d.dict(value))
	}
	if shared {
		c.fonts[r.num] = f
	}
	c.named[key] = f
	return f
}

// show outputs a string.
func (c *canvas) show(o object) {
	s, ok := o.(str)
	if !ok || c.font == nil {
		return
	}
	for _, g := range c.font.glyphs(s) {
		at := c.tm.then(c.ctm)
		height := math.Hypot(at.c, at.d) * math.Abs(c.size)
		c.write(g.text, at, height)
		width := g.width*c.size + c.char
		if g.space {
			width += c.word
		}
		c.advance(width * c.wide)
		end := c.tm.then(c.ctm)
		c.x, c.y = end.e, end.f
	}
}

// write adds text at a position, after a break if there is a gap. Gaps are measured relative to
// the direction of the text, which need not be horizontal.
func (r *reader) write(text string, at matrix, height float64) {
	if text == "" {
		return
	}
	if r.began {
		scale := max(height, r.height, 1e-6)
		length := max(math.Hypot(at.a, at.b), 1e-6)
		x, y := at.e-r.x, at.f-r.y
		along := (x*at.a + y*at.b) / length
		across := math.Abs(y*at.a-x*at.b) / length
		switch {
		case across > 2.2*scale:
			r.out.WriteString("\n\n")
		case across > 0.4*scale:
			r.out.WriteByte('\n')
		case (along > 0.18*scale || along < -1.5*scale) && text != " " && !strings.HasSuffix(r.out.String(), " "):
			r.out.WriteByte(' ')
		}
	}
	r.began, r.height = true, height
	r.out.WriteString(text)
}

// form draws a form XObject.
func (c *canvas) form(o object) error {
	key, _ := o.(name)
	s, ok := c.d.resolve(c.d.dict(c.resources["XObject"])[key]).(*stream)
	if !ok || c.depth >= maxForms || c.d.resolve(s.dict["Subtype"]) != name("Form") {
		return nil
	}
	data, err := c.d.decode(s)
	if err != nil {
		return nil
	}
	resources := c.d.dict(s.dict["Resources"])
	if resources == nil {
		resources = c.resources
	}
	ctm := c.ctm
	if m := c.d.list(s.dict["Matrix"]); len(m) == 6 {
		f := func(i int) float64 { return c.d.float(m[i], 0) }
		ctm = matrix{f(0), f(1), f(2), f(3), f(4), f(5)}.then(ctm)
	}
	return c.run(data, resources, ctm, c.depth+1)
}
