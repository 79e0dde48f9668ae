package pdf

import (
	"strings"
	"unicode/utf16"
)

// A font maps the bytes of a string to text. Glyph shapes are not needed.
type font struct {
	codes   int               // bytes per code: 1, or 2 for composite fonts
	unicode map[uint32]string // ToUnicode table; takes precedence
	table   *[256]string      // text by code, for a simple font
	utf16   bool              // codes of a composite font are UTF-16
	widths  map[uint32]float64
	width   float64 // default width
}

// A glyph is one character of a string.
type glyph struct {
	text  string
	width float64 // relative to the font size
	space bool    // single-byte space, to which word spacing applies
}

func (d *Document) newFont(f dict) *font {
	n := &font{codes: 1, width: 0.5, widths: map[uint32]float64{}}
	if s, ok := d.resolve(f["ToUnicode"]).(*stream); ok {
		if data, err := d.decode(s); err == nil {
			n.unicode = readCMap(data)
		}
	}
	if d.resolve(f["Subtype"]) == name("Type0") {
		n.codes = 2
		encoding, _ := d.resolve(f["Encoding"]).(name)
		n.utf16 = strings.Contains(string(encoding), "UCS2") || strings.Contains(string(encoding), "UTF16")
		if kids := d.list(f["DescendantFonts"]); len(kids) > 0 {
			d.compositeWidths(n, d.dict(kids[0]))
		}
		return n
	}
	n.table = d.simpleTable(f)
	first := d.int(f["FirstChar"], 0)
	for i, w := range d.list(f["Widths"]) {
		n.widths[uint32(first+i)] = d.float(w, 500) / 1000
	}
	if d.resolve(f["Subtype"]) == name("Type3") { // uses its own units
		clear(n.widths)
	}
	return n
}

// maxCodes limits a font's tables.
const maxCodes = 1 << 17

// compositeWidths parses [first [w w w] first last w …].
func (d *Document) compositeWidths(n *font, f dict) {
	n.width = d.float(f["DW"], 1000) / 1000
	w := d.list(f["W"])
	for len(w) >= 2 && len(n.widths) < maxCodes {
		first := d.int(w[0], 0)
		if list, ok := d.resolve(w[1]).(array); ok {
			for i, o := range list {
				n.widths[uint32(first+i)] = d.float(o, 1000) / 1000
			}
			w = w[2:]
			continue
		}
		if len(w) < 3 {
			return
		}
		last, width := d.int(w[1], 0), d.float(w[2], 1000)/1000
		for code := first; code <= last && code-first < 1<<16; code++ {
			n.widths[uint32(code)] = width
		}
		w = w[3:]
	}
}

// glyphs splits a string into glyphs.
func (f *font) glyphs(s str) []glyph {
	var out []glyph
	for i := 0; i+f.codes <= len(s); i += f.codes {
		code := uint32(s[i])
		if f.codes == 2 {
			code = code<<8 | uint32(s[i+1])
		}
		width, ok := f.widths[code]
		if !ok {
			width = f.width
		}
		out = append(out, glyph{text: f.text(code), width: width, space: f.codes == 1 && code == ' '})
	}
	return out
}

func (f *font) text(code uint32) string {
	if t, ok := f.unicode[code]; ok {
		return t
	}
	switch {
	case f.table != nil:
		return f.table[byte(code)]
	case f.utf16:
		return string(rune(code))
	}
	return "\uFFFD"
}

// readCMap parses a ToUnicode table.
func readCMap(data []byte) map[uint32]string {
	codes := map[uint32]string{}
	l := &lexer{data: data}
	var args []object
	for !l.end() && len(codes) < maxCodes {
		o, err := l.next(0)
		if err != nil {
			break
		}
		op, ok := o.(keyword)
		if !ok {
			args = append(args, o)
			continue
		}
		switch op {
		case "endbfchar":
			for ; len(args) >= 2 && len(codes) < maxCodes; args = args[2:] {
				from, ok1 := args[0].(str)
				to, ok2 := args[1].(str)
				if ok1 && ok2 {
					codes[number(from)] = decodeUTF16(to)
				}
			}
		case "endbfrange":
			for ; len(args) >= 3 && len(codes) < maxCodes; args = args[3:] {
				addRange(codes, args[0], args[1], args[2])
			}
		}
		args = args[:0]
	}
	return codes
}

// addRange maps the codes from first to last to consecutive characters, or to a list of
// characters.
func addRange(codes map[uint32]string, first, last, to object) {
	lo, ok1 := first.(str)
	hi, ok2 := last.(str)
	if !ok1 || !ok2 {
		return
	}
	from, n := number(lo), int64(number(hi))-int64(number(lo))
	switch to := to.(type) {
	case array:
		for i, o := range to {
			if s, ok := o.(str); ok && int64(i) <= n {
				codes[from+uint32(i)] = decodeUTF16(s)
			}
		}
	case str:
		text := []rune(decodeUTF16(to))
		if len(text) == 0 {
			return
		}
		for i := range min(n, 1<<16-1) + 1 {
			codes[from+uint32(i)] = string(text[:len(text)-1]) + string(text[len(text)-1]+rune(i))
		}
	}
}

func number(s str) uint32 {
	n := uint32(0)
	for i := range len(s) {
		n = n<<8 | uint32(s[i])
	}
	return n
}

func decodeUTF16(s str) string {
	units := make([]uint16, 0, len(s)/2)
	for i := 0; i+1 < len(s); i += 2 {
		units = append(units, uint16(s[i])<<8|uint16(s[i+1]))
	}
	return string(utf16.Decode(units))
}
