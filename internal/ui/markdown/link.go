package markdown

import (
	"net/url"
	"strings"
)

// bracket parses the end of a link text and the address that follows.
func (p *inlines) bracket(i, from int) int {
	if len(p.brackets) == 0 {
		return 0
	}
	first := p.brackets[len(p.brackets)-1]
	target, n, cut := destination(p.text[i+1:])
	if cut {
		p.open = min(p.open, p.nodes[first].src)
	}
	p.brackets = p.brackets[:len(p.brackets)-1]
	if n == 0 {
		return 0
	}
	p.add(from, i)
	image := p.nodes[first].text == "!["
	p.nodes[first].text = ""
	p.enclose(first + 1)
	shown := ""
	for j := first + 1; j < len(p.nodes); j++ {
		p.nodes[j].link = target
		p.nodes[j].opens = false
		shown += p.nodes[j].text
	}
	if !image {
		p.brackets = p.brackets[:0] // a link cannot contain another
	}
	p.nodes = append(p.nodes, node{text: aside(shown, target, p.links), src: i})
	return 1 + n
}

// destination returns the parenthesized address that text begins with and its total length, or
// 0 if text does not begin with one. Cut reports whether more input could complete an address.
func destination(text string) (target string, n int, cut bool) {
	if text == "" {
		return "", 0, true
	}
	if text[0] != '(' {
		return "", 0, false
	}
	depth := 0
	for i := 1; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && i+1 < len(text):
			i++
		case c == '(':
			depth++
		case c == ')' && depth > 0:
			depth--
		case c == ')':
			return strings.Trim(text[1:i], " <>"), i + 1, false
		case c == ' ' || c == '\n':
			target, n, cut = titled(text, i)
			return target, n, cut
		}
	}
	return "", 0, true
}

// titled returns an address that is followed by a title or by blanks.
func titled(text string, i int) (target string, n int, cut bool) {
	target = strings.Trim(text[1:i], "<>")
	rest := strings.TrimLeft(text[i:], " \n")
	if rest == "" {
		return "", 0, true
	}
	if target != "" && (rest[0] == '"' || rest[0] == '\'') {
		end := strings.IndexByte(rest[1:], rest[0])
		if end < 0 {
			return "", 0, true
		}
		rest = strings.TrimLeft(rest[end+2:], " \n")
		if rest == "" {
			return "", 0, true
		}
	}
	if rest[0] != ')' {
		return "", 0, false
	}
	return target, len(text) - len(rest) + 1, false
}

// aside returns the text shown after a link: its address, unless the terminal supports links or
// the link text is the address itself. If the terminal supports links but the link text looks
// like another address, it is the host.
func aside(shown, target string, links bool) string {
	u, err := url.Parse(target)
	linked := err == nil && (u.Scheme == "http" || u.Scheme == "https" || u.Scheme == "file")
	switch {
	case shown == target || target == "" || target[0] == '#':
		return ""
	case !links || !linked:
		return " (" + target + ")"
	case looksLike(shown) && !strings.EqualFold(hostOf(shown), u.Host):
		return " (" + u.Host + ")"
	}
	return ""
}

// looksLike reports whether text could be mistaken for an address: it contains an address or a
// host name.
func looksLike(text string) bool {
	host := hostOf(text)
	dot := strings.LastIndexByte(host, '.')
	return strings.Contains(text, "://") || dot > 0 && len(host)-dot > 2 && !strings.ContainsAny(host, " \t")
}

// hostOf returns the host part of an address.
func hostOf(text string) string {
	if _, after, ok := strings.Cut(text, "://"); ok {
		text = after
	}
	if i := strings.IndexAny(text, "/?#"); i >= 0 {
		text = text[:i]
	}
	return strings.TrimSpace(text)
}

// auto parses an address in angle brackets.
func (p *inlines) auto(i, from int) int {
	rest := p.text[i+1:]
	if !strings.HasPrefix(rest, "http://") && !strings.HasPrefix(rest, "https://") {
		if strings.HasPrefix("https://", rest) || strings.HasPrefix("http://", rest) {
			p.open = min(p.open, i)
		}
		return 0
	}
	end := strings.IndexAny(rest, " <>\n")
	switch {
	case end < 0:
		p.open = min(p.open, i)
		return 0
	case rest[end] != '>':
		return 0
	}
	p.add(from, i)
	p.nodes = append(p.nodes, node{text: rest[:end], src: i, link: rest[:end]})
	return end + 2
}

// bare parses a bare address.
func (p *inlines) bare(i, from int) int {
	rest := p.text[i:]
	if !strings.HasPrefix(rest, "http://") && !strings.HasPrefix(rest, "https://") || i > 0 && wordByte(p.text[i-1]) {
		return 0
	}
	end := strings.IndexAny(rest, " \t\n<>`\"|[]\\")
	if end < 0 {
		end = len(rest)
	}
	text := strings.TrimRight(rest[:end], ".,;:!?'*_~")
	if strings.HasSuffix(text, ")") && strings.Count(text, ")") > strings.Count(text, "(") {
		text = strings.TrimRight(text, ").,;:!?'*_~")
	}
	p.add(from, i)
	p.nodes = append(p.nodes, node{text: text, src: i, link: text})
	return len(text)
}

func wordByte(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_'
}
