package ignore

import "strings"

// A setting is an assignment in a configuration file. Section and key are in lower case.
type setting struct {
	section, subsection, key string
	value                    string
	assigned                 bool // false for a key without =, which means true
}

func (s setting) isTrue() bool {
	if !s.assigned {
		return true
	}
	switch strings.ToLower(s.value) {
	case "true", "yes", "on":
		return true
	case "", "false", "no", "off", "0":
		return false
	}
	return strings.Trim(s.value, "0123456789") == ""
}

// A configParser parses git's configuration format.
type configParser struct {
	text                string
	section, subsection string
	settings            []setting
}

// parseConfig returns the settings in a file up to the first syntax error.
func parseConfig(text string) []setting {
	p := configParser{text: strings.TrimPrefix(text, "\xef\xbb\xbf")}
	p.text = strings.ReplaceAll(p.text, "\r\n", "\n")
	for p.next() {
	}
	return p.settings
}

// next parses a header, an assignment or a comment.
func (p *configParser) next() bool {
	p.text = strings.TrimLeft(p.text, " \t\n\v\f\r")
	switch {
	case p.text == "":
		return false
	case p.text[0] == '#' || p.text[0] == ';':
		_, p.text, _ = strings.Cut(p.text, "\n")
		return true
	case p.text[0] == '[':
		return p.header()
	}
	return p.assignment()
}

// header parses [section], [section "subsection"] or the old [section.subsection].
func (p *configParser) header() bool {
	end := strings.IndexAny(p.text, " \t]\n\"")
	if end < 0 {
		return false
	}
	p.section, p.subsection, _ = strings.Cut(strings.ToLower(p.text[1:end]), ".")
	p.text = strings.TrimLeft(p.text[end:], " \t")
	if rest, ok := strings.CutPrefix(p.text, `"`); ok {
		if p.subsection, p.text, ok = quoted(rest); !ok {
			return false
		}
	}
	rest, ok := strings.CutPrefix(p.text, "]")
	p.text = rest
	return ok
}

// quoted parses up to the closing quote. A backslash makes the next character literal.
func quoted(text string) (value, rest string, ok bool) {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			return b.String(), text[i+1:], true
		case '\n':
			return "", "", false
		case '\\':
			if i++; i == len(text) {
				return "", "", false
			}
		}
		b.WriteByte(text[i])
	}
	return "", "", false
}

// assignment parses a key and its value.
func (p *configParser) assignment() bool {
	end := 0
	for end < len(p.text) && isKeyChar(p.text[end]) {
		end++
	}
	if end == 0 {
		return false
	}
	s := setting{section: p.section, subsection: p.subsection, key: strings.ToLower(p.text[:end])}
	p.text = strings.TrimLeft(p.text[end:], " \t")
	if p.text != "" && p.text[0] != '\n' {
		rest, ok := strings.CutPrefix(p.text, "=")
		if !ok {
			return false
		}
		s.assigned = true
		if s.value, p.text, ok = configValue(rest); !ok {
			return false
		}
	}
	p.settings = append(p.settings, s)
	return true
}

func isKeyChar(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-'
}

// configValue parses a value to the end of its line: surrounding white space is dropped, quotes
// preserve white space and comment marks, a backslash at the end continues the value on the
// next line.
func configValue(text string) (value, rest string, ok bool) {
	var b strings.Builder
	kept := 0 // length of the value without trailing white space
	inQuotes, inComment := false, false
	i := 0
	for ; i < len(text) && text[i] != '\n'; i++ {
		c := text[i]
		switch {
		case inComment:
			continue
		case !inQuotes && (c == ' ' || c == '\t'):
			if b.Len() > 0 {
				b.WriteByte(c)
			}
			continue
		case !inQuotes && (c == '#' || c == ';'):
			inComment = true
			continue
		case c == '"':
			inQuotes = !inQuotes
			kept = b.Len()
			continue
		case c == '\\':
			i++
			if i == len(text) {
				return "", "", false
			}
			if text[i] == '\n' {
				continue
			}
			at := strings.IndexByte(`tbn"\`, text[i])
			if at < 0 {
				return "", "", false
			}
			c = "\t\b\n\"\\"[at]
		}
		b.WriteByte(c)
		kept = b.Len()
	}
	return b.String()[:kept], text[i:], !inQuotes
}
