// Package code finds comments, strings, numbers and keywords in source code, line by line. It
// is just precise enough for syntax highlighting.
package code

import "strings"

// A Class is the syntactic class of a token.
type Class uint8

// The classes.
const (
	Plain Class = iota
	Keyword
	String
	Number
	Comment
)

// A Token is a piece of a line. It begins where the previous token ends.
type Token struct {
	Class Class
	End   int
}

// A Lexer tokenizes the lines of a text in order. The zero value has no language: everything is
// plain.
type Lexer struct {
	lang *language
	in   *delimiter // open comment or string that spans lines; may be nil
	tag  bool       // markup only: the line begins inside a tag
}

// New returns a lexer for a language name, as in a Markdown fence, or a file name.
func New(name string) Lexer {
	name = strings.ToLower(strings.TrimSpace(name))
	if i := strings.IndexAny(name, " \t,{"); i >= 0 {
		name = name[:i]
	}
	name = name[strings.LastIndexAny(name, `/\`)+1:]
	table := languages()
	lang := table[name]
	if i := strings.LastIndexByte(name, '.'); lang == nil && i >= 0 {
		lang = table[name[i+1:]]
	}
	return Lexer{lang: lang}
}

// Known reports whether the lexer knows the language.
func (l *Lexer) Known() bool { return l.lang != nil }

// Line appends the tokens of a line, given without its line end, to tokens.
func (l *Lexer) Line(tokens []Token, line string) []Token {
	if line == "" {
		return tokens
	}
	if l.lang == nil {
		return add(tokens, Plain, len(line))
	}
	for i := 0; i < len(line); {
		from, class := i, Plain
		switch c := line[i]; {
		case l.in != nil:
			class = l.in.class
			i = l.through(line, i)
		case wordStart(c) && !l.lang.opens(line[i:]):
			i = wordEnd(line, i)
			class = l.word(line, from, i)
		case c >= '0' && c <= '9':
			class, i = Number, numberEnd(line, i)
		case l.lang.starts[c]:
			class, i = l.delimited(line, i)
		default:
			i++
		}
		tokens = add(tokens, class, i)
	}
	return tokens
}

// add appends a token that ends at offset end, or extends the last token if it has the same
// class.
func add(tokens []Token, class Class, end int) []Token {
	if n := len(tokens); n > 0 && tokens[n-1].Class == class {
		tokens[n-1].End = end
		return tokens
	}
	return append(tokens, Token{class, end})
}

// word returns the class of a word.
func (l *Lexer) word(line string, from, to int) Class {
	lang := l.lang
	if lang.markup {
		if l.tag && from > 0 && (line[from-1] == '<' || line[from-1] == '/') {
			return Keyword
		}
		return Plain
	}
	if from > 0 && (line[from-1] == '.' || line[from-1] == '$' || line[from-1] == '@') && !lang.dotted {
		return Plain // a field or variable
	}
	if !lang.fold {
		if lang.keywords[line[from:to]] && (!lang.shell || lang.commandAt(line, from, to)) {
			return Keyword
		}
		return Plain
	}
	var lower [16]byte
	if to-from > len(lower) {
		return Plain
	}
	for i := range to - from {
		if lower[i] = line[from+i]; lower[i] >= 'A' && lower[i] <= 'Z' {
			lower[i] |= 0x20
		}
	}
	if lang.keywords[string(lower[:to-from])] {
		return Keyword
	}
	return Plain
}

// commandAt reports whether a word in a shell line is in command position, or is the "in" of a
// loop.
func (l *language) commandAt(line string, from, to int) bool {
	before := strings.TrimRight(line[:from], " \t")
	if before == "" || line[from:to] == "in" || strings.IndexByte(";|&({!`", before[len(before)-1]) >= 0 {
		return true
	}
	if before == "$" || before == "%" { // a prompt
		return true
	}
	last := before[strings.LastIndexAny(before, " \t;")+1:]
	return len(before) < from && l.keywords[last]
}

// delimiter reads the comment or string at i, or a single character if neither begins there.
func (l *Lexer) delimited(line string, i int) (Class, int) {
	rest := line[i:]
	for d := range l.lang.delimited {
		d := &l.lang.delimited[d]
		if !strings.HasPrefix(rest, d.open) || !l.begins(d, line, i) {
			continue
		}
		if d.close == "" {
			return d.class, len(line)
		}
		l.in = d
		end := l.through(line, i+len(d.open))
		if l.in != nil && !d.lines {
			l.in = nil
			if d.open == "'" { // an apostrophe
				return Plain, i + 1
			}
		}
		return d.class, end
	}
	if l.lang.markup && (rest[0] == '<' || rest[0] == '>') {
		l.tag = rest[0] == '<'
	}
	return Plain, i + 1
}

// begins reports whether the opening delimiter at i really begins a comment or string.
func (l *Lexer) begins(d *delimiter, line string, i int) bool {
	before := byte(' ')
	if i > 0 {
		before = line[i-1]
	}
	switch {
	case d.open == "#":
		return before == ' ' || before == '\t' || before == ';'
	case d.open == "'" && l.lang.char:
		return charLen(line[i:]) > 0
	case d.open == "'" && wordByte(before):
		return l.lang.prefixed && (i < 2 || !wordByte(line[i-2]) || i < 3 || !wordByte(line[i-3]))
	case d.class == String && l.lang.markup:
		return l.tag
	}
	return true
}

// through returns the end of the comment or string that contains the text at i, and closes it
// if it ends on this line.
func (l *Lexer) through(line string, i int) int {
	d := l.in
	for i < len(line) {
		switch {
		case d.escapes && line[i] == '\\':
			i += 2
		case strings.HasPrefix(line[i:], d.close):
			l.in = nil
			return i + len(d.close)
		default:
			i++
		}
	}
	return len(line)
}

// charLen returns the length of the character literal that text begins with, or 0 if it does
// not begin with one (a lifetime name, for example).
func charLen(text string) int {
	end := strings.IndexByte(text[1:], '\'') + 1
	if end < 2 {
		return 0
	}
	if text[1] == '\\' {
		if text[2] == '\'' {
			end++
		}
		return end + 1
	}
	for i := range text[1:end] {
		if i > 0 { // more than one character
			return 0
		}
	}
	return end + 1
}

func wordStart(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' || c >= 0x80 }

func wordByte(c byte) bool { return wordStart(c) || c >= '0' && c <= '9' }

func wordEnd(line string, i int) int {
	for i < len(line) && wordByte(line[i]) {
		i++
	}
	return i
}

func numberEnd(line string, i int) int {
	from, digit := i, func(i int) bool { return i < len(line) && line[i] >= '0' && line[i] <= '9' }
	for i < len(line) {
		switch c := line[i]; {
		case wordByte(c), (c == '.' || c == '\'') && digit(i+1):
		case (c == '-' || c == '+') && i > from && line[i-1]|0x20 == 'e' && digit(i+1) && !hexadecimal(line[from:i]):
		default:
			return i
		}
		i++
	}
	return i
}

func hexadecimal(number string) bool { return len(number) > 1 && number[1]|0x20 == 'x' }
