package sed

import (
	"regexp"
	"strings"
)

// A substitution is one s command.
type substitution struct {
	re    *regexp.Regexp
	with  []piece
	all   bool // g
	ascii bool // it is certain only for ASCII
}

// A piece of the replacement is text, or what a group matched.
type piece struct {
	text  string
	group int // -1 for text
}

// apply makes the substitution in a line.
func (s *substitution) apply(line []byte) []byte {
	n := 1
	if s.all {
		n = -1
	}
	matches := s.re.FindAllSubmatchIndex(line, n)
	if matches == nil {
		return line
	}
	var out []byte
	from := 0
	for _, m := range matches {
		out = append(out, line[from:m[0]]...)
		for _, p := range s.with {
			if p.group < 0 {
				out = append(out, p.text...)
			} else {
				out = append(out, line[m[2*p.group]:m[2*p.group+1]]...)
			}
		}
		from = m[1]
	}
	return append(out, line[from:]...)
}

// parseScript reads s commands, separated by semicolons.
func parseScript(script string, extended bool) ([]substitution, bool) {
	if strings.ContainsAny(script, "\n\x00") {
		return nil, false
	}
	var steps []substitution
	rest := script
	for {
		rest = strings.TrimLeft(rest, " \t;")
		if rest == "" {
			return steps, true
		}
		s, after, ok := parseOne(rest, extended)
		if !ok {
			return nil, false
		}
		steps = append(steps, s)
		rest = after
	}
}

// parseOne reads one s command and returns what follows it.
func parseOne(script string, extended bool) (s substitution, rest string, ok bool) {
	if len(script) < 4 || script[0] != 's' || strings.IndexByte("/|,#:@!%_=~", script[1]) < 0 {
		return s, "", false
	}
	delimiter := script[1]
	pattern, rest, ok := section(script[2:], delimiter)
	if !ok {
		return s, "", false
	}
	replacement, rest, ok := section(rest, delimiter)
	if !ok {
		return s, "", false
	}
	if after, found := strings.CutPrefix(rest, "g"); found {
		s.all, rest = true, after
	}
	rest = strings.TrimLeft(rest, " \t")
	if rest != "" && rest[0] != ';' {
		return s, "", false
	}
	t := translator{rest: pattern, extended: extended}
	if !t.translate() {
		return s, "", false
	}
	re, err := regexp.Compile(t.out.String())
	if err != nil {
		return s, "", false
	}
	re.Longest()
	s.re, s.ascii = re, t.ascii
	s.with, ok = parseReplacement(replacement, t.groups)
	return s, rest, ok
}

// section returns the text up to the delimiter, in which an escaped slash is a plain one. Any other
// escaped delimiter may mean something in a pattern.
func section(script string, delimiter byte) (text, rest string, ok bool) {
	var b strings.Builder
	for i := 0; i < len(script); i++ {
		switch c := script[i]; {
		case c == delimiter:
			return b.String(), script[i+1:], true
		case c == '\\' && i+1 < len(script):
			i++
			switch {
			case script[i] == delimiter && delimiter == '/':
				b.WriteByte('/')
			case script[i] == delimiter:
				return "", "", false
			default:
				b.WriteByte('\\')
				b.WriteByte(script[i])
			}
		default:
			b.WriteByte(c)
		}
	}
	return "", "", false
}

// parseReplacement reads the replacement of a pattern with so many groups.
func parseReplacement(text string, groups int) ([]piece, bool) {
	var pieces []piece
	var b strings.Builder
	flush := func() {
		if b.Len() > 0 {
			pieces = append(pieces, piece{b.String(), -1})
			b.Reset()
		}
	}
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '&':
			flush()
			pieces = append(pieces, piece{"", 0})
		case c != '\\':
			b.WriteByte(c)
		case i+1 == len(text):
			return nil, false
		default:
			i++
			switch e := text[i]; {
			case e >= '1' && e <= '9' && int(e-'0') <= groups:
				flush()
				pieces = append(pieces, piece{"", int(e - '0')})
			case e == 't':
				b.WriteByte('\t')
			case strings.IndexByte(`&\/.-"'$()[]{}*+?^|:;,@#%!=~<>_ `, e) >= 0:
				b.WriteByte(e)
			default:
				return nil, false
			}
		}
	}
	flush()
	return pieces, true
}
