package edit

import (
	"strings"

	"github.com/aymanbagabas/go-udiff/lcs"
)

// blanks are invisible characters at a line end.
const blanks = " \t\r"

func trimmed(line string) string { return strings.TrimRight(line, blanks) }

// atLineEnds returns a request for the only text that equals r.Old except for trailing blanks,
// as it appears in the file. Lines that r does not change keep their blanks.
func (t *text) atLineEnds(r Request) (Request, bool) {
	if r.All || len(t.data)-t.start > nearBytes {
		return r, false
	}
	old, _ := foldEnds(r.Old)
	fresh, _ := foldEnds(r.New)
	want := strings.Split(old, "\n")
	if strings.TrimSpace(old) == "" || len(want) == 1 && trimmed(old) == old {
		return r, false
	}
	file := strings.Split(t.decode(t.data[t.start:]), "\n")
	var found []string
	for at := range len(file) - len(want) + 1 {
		there, ok := alike(file[at:at+len(want)], want)
		if ok && found != nil {
			return r, false
		}
		if ok {
			found = there
		}
	}
	if found == nil {
		return r, false
	}
	lines := strings.Split(fresh, "\n")
	i, j := 0, 0
	same := func(to int) {
		for ; i < to; i, j = i+1, j+1 {
			lines[j] = strings.TrimSuffix(found[i], "\r")
		}
	}
	for _, d := range lcs.DiffLines(want, lines) {
		same(d.Start)
		i, j = d.End, d.ReplEnd
	}
	same(len(want))
	return Request{Old: strings.Join(found, "\n"), New: strings.Join(lines, "\n")}, true
}

// alike returns the part of file's lines that equals want except for trailing blanks. The first
// line may begin before it, and the last may continue after it.
func alike(file, want []string) (there []string, ok bool) {
	last := len(want) - 1
	for i, line := range file {
		switch {
		case i == last && trimmed(want[i]) == want[i] && i > 0:
			if !strings.HasPrefix(line, want[i]) {
				return nil, false
			}
			line = want[i]
		case i == 0:
			if !strings.HasSuffix(trimmed(line), trimmed(want[i])) {
				return nil, false
			}
			line = line[len(trimmed(line))-len(trimmed(want[i])):]
		case trimmed(line) != trimmed(want[i]):
			return nil, false
		}
		there = append(there, line)
	}
	return there, true
}

// A CopyMistake is a typical mistake a model makes when copying text.
type CopyMistake struct {
	// Numbered is true if the lines start with line numbers, as they are displayed.
	Numbered bool
	// Escaped is the character, such as a quotation mark, that has a backslash not in the file,
	// or "".
	Escaped string
}

// slip returns the mistake in s, which was not found, if the text matches without it.
func (t *text) slip(s string) CopyMistake {
	there := func(s string) bool {
		return strings.TrimSpace(s) != "" && t.findAll(t.needle(s, exactly), false).count > 0
	}
	if plain, ok := unnumbered(s); ok && there(plain) {
		return CopyMistake{Numbered: true}
	}
	all := s
	for _, c := range []string{`"`, `'`, "`", `\`} {
		plain := strings.ReplaceAll(s, `\`+c, c)
		if plain != s && there(plain) {
			return CopyMistake{Escaped: c}
		}
		all = strings.ReplaceAll(all, `\`+c, c)
	}
	for c, real := range map[string]string{"n": "\n", "t": "\t"} {
		for _, text := range []string{s, all} {
			if plain := strings.ReplaceAll(text, `\`+c, real); plain != text && there(plain) {
				return CopyMistake{Escaped: c}
			}
		}
	}
	return CopyMistake{}
}

// unnumbered returns s without line numbers. Not ok means that a line has none.
func unnumbered(s string) (plain string, ok bool) {
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		if line == "" && i == len(lines)-1 {
			break
		}
		digits := strings.TrimLeft(line, " ")
		rest := strings.TrimLeft(digits, "0123456789")
		text, tab := strings.CutPrefix(rest, "\t")
		if arrow, ok := strings.CutPrefix(rest, "→"); ok {
			text, tab = arrow, true
		}
		if !tab || rest == digits {
			return "", false
		}
		lines[i] = text
	}
	return strings.Join(lines, "\n"), true
}
