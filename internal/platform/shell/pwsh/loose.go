package pwsh

import (
	"strings"
	"unicode"
)

// A run is a sequence of words that may contain a command starting at any of them.
type run struct {
	words []string
	text  string // words joined by blanks, in lower case
	at    []int  // offset of each word in text
}

// Characters that end a command, always or possibly.
const (
	ends     = "\n;|&(){}"
	mayEnd   = ends + "[],=<>$@#"
	quotesTo = mayEnd + `'"`
)

// findRuns returns the word sequences of a line, seeing through obfuscation: it replaces
// characters that PowerShell treats as ASCII ones, and removes escapes and invisible
// characters. Separators and quotes are interpreted in several ways, because only PowerShell
// knows their effect in each place.
func findRuns(src string) []run {
	text := plain(src)
	texts := []string{text}
	if strings.Contains(text, "<#") {
		texts = append(texts, withoutComments(text))
	}
	var runs []run
	for _, text := range texts {
		runs = append(runs, split(text, ends)...)
		if strings.ContainsAny(text, mayEnd[len(ends):]) {
			runs = append(runs, split(text, mayEnd)...)
		}
		if strings.ContainsAny(text, `'"`) {
			runs = append(runs, split(text, quotesTo)...)
		}
	}
	return runs
}

// withoutComments removes block comments, up to the first end marker or the end of the text.
func withoutComments(text string) string {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(text, "<#")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		_, text, _ = strings.Cut(after, "#>")
		b.WriteByte(' ')
	}
}

// plain replaces characters that PowerShell treats like an ASCII one by that character, and
// removes characters that it ignores.
func plain(src string) string {
	src = strings.NewReplacer("`\r\n", " ", "`\n", " ", "`\r", " ").Replace(src) // line continuation
	return strings.Map(func(r rune) rune {
		switch {
		case r == '`':
			return -1
		case r >= 0x2013 && r <= 0x2015:
			return '-'
		case r >= 0x2018 && r <= 0x201b:
			return '\''
		case r >= 0x201c && r <= 0x201e:
			return '"'
		case r == '\n' || r == '\r' || r == 0x2028 || r == 0x2029:
			return '\n'
		case r == '\t' || r == 0x85 || unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Variation_Selector):
			return -1
		}
		return r
	}, src)
}

// split splits text into runs at the characters in ends. Quotes not in ends are ignored.
func split(text, ends string) []run {
	var runs []run
	var words []string
	var b strings.Builder
	endWord := func() {
		if b.Len() > 0 {
			words = append(words, b.String())
			b.Reset()
		}
	}
	endRun := func() {
		endWord()
		if len(words) > 0 {
			runs = append(runs, newRun(words))
			words = nil
		}
	}
	for _, r := range text {
		switch {
		case r == ' ':
			endWord()
		case strings.ContainsRune(ends, r):
			endRun()
		case r == '\'' || r == '"':
		default:
			b.WriteRune(r)
		}
	}
	endRun()
	return runs
}

func newRun(words []string) run {
	r := run{words: words}
	var b strings.Builder
	for i, w := range words {
		if i > 0 {
			b.WriteByte(' ')
		}
		r.at = append(r.at, b.Len())
		b.WriteString(strings.ToLower(w))
	}
	r.text = b.String()
	return r
}

// canonical joins a command's words in the form used for matching rules: lower case, with the
// program resolved.
func canonical(words []string) string {
	out := make([]string, len(words))
	for i, w := range words {
		if out[i] = strings.ToLower(w); i == 0 {
			out[i] = resolve(w)
		}
	}
	return strings.Join(out, " ")
}
