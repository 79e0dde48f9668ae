package screen

import "strings"

// A kind is the type of a token.
type kind uint8

const (
	character kind = iota
	style          // SGR
	link           // OSC 8
	fillLine       // fills the rest of the line with the background; at the end of a row
	unsafe         // anything a terminal might interpret
)

// eraseLine erases from the cursor to the end of the line, in the current background.
const eraseLine = "\x1b[K"

// reset ends all styles.
const reset = "\x1b[0m"

// token returns the length and kind of the first piece of a text.
func token(text string) (int, kind) {
	if text == "" {
		return 0, character
	}
	switch c := text[0]; {
	case c == 0x1b:
		if n := styleLen(text); n > 0 {
			return n, style
		}
		if strings.HasPrefix(text, eraseLine) {
			return len(eraseLine), fillLine
		}
		if n := linkLen(text); n > 0 {
			return n, link
		}
		return 1, unsafe
	case c == '\t' || c >= ' ' && c < 0x7f:
		return 1, character
	case c < ' ' || c == 0x7f:
		return 1, unsafe
	case c == 0xc2 && len(text) > 1 && text[1] >= 0x80 && text[1] < 0xa0: // 8-bit (C1) controls
		return 2, unsafe
	}
	return runeLen(text), character
}

// runeLen returns the length of the character that text begins with, or 1 if it is invalid.
func runeLen(text string) int {
	for i := range text {
		if i > 0 {
			return i
		}
	}
	return len(text)
}

// styleLen returns the length of the style sequence that text begins with, or 0.
func styleLen(text string) int {
	if !strings.HasPrefix(text, "\x1b[") {
		return 0
	}
	for i := 2; i < len(text); i++ {
		switch c := text[i]; {
		case c == 'm':
			return i + 1
		case (c < '0' || c > '9') && c != ';' && c != ':':
			return 0
		}
	}
	return 0
}

// linkLen returns the length of the link start or end sequence that text begins with, or 0.
func linkLen(text string) int {
	if !strings.HasPrefix(text, "\x1b]8;") {
		return 0
	}
	for i := 4; i < len(text); i++ {
		switch c := text[i]; {
		case c == 0x1b && strings.HasPrefix(text[i:], "\x1b\\") && strings.Contains(text[4:i], ";"):
			return i + 2
		case c <= ' ' || c >= 0x7f:
			return 0
		}
	}
	return 0
}

// A pen is the active style and link in a row.
type pen struct{ style, link string }

// take applies a style or link sequence.
func (p *pen) take(sequence string, k kind) {
	switch {
	case k == style && (sequence == reset || sequence == "\x1b[m"):
		p.style = ""
	case k == style:
		p.style += sequence
	case k == link && strings.HasSuffix(sequence, ";\x1b\\"):
		p.link = ""
	case k == link:
		p.link = sequence
	}
}

// String returns the sequences that establish this state.
func (p *pen) String() string { return p.link + p.style }

// close returns the sequences that reset the style and link.
func (p *pen) close() string {
	text := ""
	if p.style != "" {
		text = reset
	}
	if p.link != "" {
		text += "\x1b]8;;\x1b\\"
	}
	return text
}
