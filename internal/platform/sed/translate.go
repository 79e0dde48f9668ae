package sed

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A translator turns a POSIX pattern into one of Go that matches the same, as far as it is certain. There
// are no alternatives, and groups are neither repeated nor nested: then the longest match and what its
// groups hold are the same for everybody.
type translator struct {
	rest     string
	extended bool

	out    strings.Builder
	groups int
	ascii  bool // it is certain only for ASCII

	open   bool   // in a group
	filled bool   // the open group holds something
	atom   string // what a repetition would be about; empty if nothing may be repeated
	least  int    // how many characters it matches at least
	solid  bool   // the next atom has to be there
	word   bool   // the last atom is a letter, a digit or _, and is there
	edge   bool   // it looks for the edges of words
}

func (t *translator) translate() bool {
	if t.rest == "" || !utf8.ValidString(t.rest) {
		return false
	}
	if rest, ok := strings.CutPrefix(t.rest, "^"); ok {
		t.out.WriteByte('^')
		t.rest = rest
	}
	end := false
	for t.rest != "" {
		if t.rest == "$" {
			t.flush()
			t.out.WriteByte('$')
			end = true
			break
		}
		if !t.next() {
			return false
		}
	}
	t.flush()
	whole := t.out.String()
	if t.open || t.solid || t.edge && t.least == 0 {
		return false
	}
	if t.least == 0 && whole != "^" && !(end && whole == "$") {
		t.ascii = true // nothing is found between characters, whatever those are
	}
	return true
}

// flush writes the atom that can no longer be repeated.
func (t *translator) flush() {
	t.out.WriteString(t.atom)
	t.atom = ""
}

// next translates one element.
func (t *translator) next() bool {
	r, n := utf8.DecodeRuneInString(t.rest)
	c := t.rest[:n]
	t.rest = t.rest[n:]
	switch {
	case c == "\\":
		return t.escaped()
	case c == "*":
		return t.repeat("*", 0)
	case c == ".":
		t.ascii = true
		return t.add("(?s:.)", false)
	case c == "[":
		return t.bracket()
	case c == "^" || c == "$" || r < ' ' && c != "\t" || r == 0x7f:
		return false
	case t.extended && (c == "+" || c == "?"):
		return t.repeat(c, map[string]int{"+": 1}[c])
	case t.extended && c == "{":
		return t.interval("}")
	case t.extended && c == "(":
		return t.group()
	case t.extended && c == ")":
		return t.endGroup()
	case t.extended && (c == "|" || c == "}"):
		return false
	}
	return t.literal(c)
}

// literal adds a character that stands for itself. One that is not ASCII is several to some, so that it
// must not be repeated.
func (t *translator) literal(c string) bool {
	if len(c) > 1 {
		t.flush()
		t.out.WriteString(c)
		t.least, t.filled, t.word = t.least+1, true, false
		return !t.solid
	}
	return t.add(regexp.QuoteMeta(c), wordByte(c[0]))
}

func wordByte(b byte) bool {
	return b == '_' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
}

// add adds something that matches one character.
func (t *translator) add(atom string, word bool) bool {
	t.flush()
	if t.solid && !word {
		return false
	}
	t.atom, t.word, t.filled = atom, word, true
	t.least++
	if t.solid && t.repeats() {
		return false
	}
	t.solid = false
	return true
}

// repeats reports whether a repetition follows.
func (t *translator) repeats() bool {
	if t.extended {
		return t.rest != "" && strings.IndexByte("*+?{", t.rest[0]) >= 0
	}
	for _, mark := range []string{"*", `\+`, `\?`, `\{`} {
		if strings.HasPrefix(t.rest, mark) {
			return true
		}
	}
	return false
}

// repeat repeats the atom before.
func (t *translator) repeat(mark string, least int) bool {
	if t.atom == "" {
		return false
	}
	t.flush()
	t.out.WriteString(mark)
	t.least += least - 1
	t.word = false
	return !t.repeats()
}

// interval reads n, n, or n,m and what closes it.
func (t *translator) interval(end string) bool {
	text, rest, ok := strings.Cut(t.rest, end)
	if !ok {
		return false
	}
	t.rest = rest
	from, to, ranged := strings.Cut(text, ",")
	least, ok := number(from)
	if !ok {
		return false
	}
	if ranged && to != "" {
		if most, ok := number(to); !ok || most < least {
			return false
		}
	}
	return t.repeat("{"+text+"}", least)
}

func number(text string) (int, bool) {
	n, err := strconv.Atoi(text)
	return n, err == nil && n <= 200 && strings.Trim(text, "0123456789") == ""
}

func (t *translator) group() bool {
	t.flush()
	if t.open || t.solid || t.groups == 9 {
		return false
	}
	t.out.WriteByte('(')
	t.open, t.filled, t.word = true, false, false
	t.groups++
	return true
}

func (t *translator) endGroup() bool {
	t.flush()
	if !t.open || !t.filled || t.solid || t.repeats() {
		return false
	}
	t.out.WriteByte(')')
	t.open = false
	return true
}

// escaped translates what follows a backslash.
func (t *translator) escaped() bool {
	if t.rest == "" {
		return false
	}
	c := t.rest[0]
	t.rest = t.rest[1:]
	switch {
	case strings.IndexByte(`.*[]^$/\`, c) >= 0 || t.extended && strings.IndexByte("+?{}()|", c) >= 0:
		return t.literal(string(c))
	case strings.IndexByte(`-":;,@#%!=~& `, c) >= 0:
		return t.literal(string(c))
	case c == 't':
		return t.literal("\t")
	case strings.IndexByte("wWsS", c) >= 0:
		t.ascii = true
		class := map[byte]string{'w': `[0-9A-Za-z_]`, 'W': `[^0-9A-Za-z_]`, 's': `[\t-\r ]`, 'S': `[^\t-\r ]`}[c]
		return t.add(class, false)
	case strings.IndexByte("b<>", c) >= 0:
		return t.boundary(c)
	case t.extended:
		return false
	}
	switch c {
	case '(':
		return t.group()
	case ')':
		return t.endGroup()
	case '{':
		return t.interval(`\}`)
	case '+':
		return t.repeat("+", 1)
	case '?':
		return t.repeat("?", 0)
	}
	return false
}

// boundary looks for the edge of a word. The beginning of one is certain if a letter follows, the end if
// one is before it.
func (t *translator) boundary(c byte) bool {
	if c == '>' && !t.word || t.solid || t.repeats() {
		return false
	}
	t.flush()
	t.out.WriteString(`\b`)
	t.ascii, t.edge, t.word, t.filled = true, true, false, true
	t.solid = c == '<'
	return true
}

// bracket translates a set of characters.
func (t *translator) bracket() bool {
	rest, negated := strings.CutPrefix(t.rest, "^")
	var set [128]bool
	for first := true; ; first = false {
		if rest == "" {
			return false
		}
		c := rest[0]
		switch {
		case c == ']' && !first:
			t.rest = rest[1:]
			t.ascii = t.ascii || negated
			return t.add(class(set, negated), false)
		case strings.HasPrefix(rest, "[:"):
			name, after, ok := strings.Cut(rest[2:], ":]")
			if !ok || !addClass(&set, name) {
				return false
			}
			t.ascii, rest = true, after
			continue
		case c == '\\' || c == '[' || c >= 0x80 || c < ' ' && c != '\t' || c == 0x7f:
			return false
		case c == '-' && !first && !strings.HasPrefix(rest, "-]"):
			return false
		}
		if len(rest) > 2 && rest[1] == '-' && rest[2] != ']' {
			if !sameKind(c, rest[2]) {
				return false
			}
			for b := c; b <= rest[2]; b++ {
				set[b] = true
			}
			rest = rest[3:]
			continue
		}
		set[c] = true
		rest = rest[1:]
	}
}

// sameKind reports whether a range from a to b is the same in every language.
func sameKind(a, b byte) bool {
	for _, kind := range []string{"09", "az", "AZ"} {
		if a >= kind[0] && a <= b && b <= kind[1] {
			return true
		}
	}
	return false
}

// addClass adds the ASCII characters of a class.
func addClass(set *[128]bool, name string) bool {
	ranges, ok := map[string]string{
		"alpha": "azAZ", "digit": "09", "alnum": "azAZ09", "upper": "AZ", "lower": "az", "xdigit": "09afAF",
		"space": "\t\r  ", "blank": "\t\t  ", "punct": "!/:@[`{~",
	}[name]
	for i := 0; i < len(ranges); i += 2 {
		for b := ranges[i]; b <= ranges[i+1]; b++ {
			set[b] = true
		}
	}
	return ok
}

// class spells a set as Go does.
func class(set [128]bool, negated bool) string {
	var b strings.Builder
	b.WriteByte('[')
	if negated {
		b.WriteByte('^')
	}
	for c, in := range set {
		if in {
			fmt.Fprintf(&b, `\x%02x`, c)
		}
	}
	b.WriteByte(']')
	return b.String()
}
