package shell

import "strings"

// sedOutputs returns the files that sed edits in place and those that its commands write.
func sedOutputs(g *given) []use {
	var scripts []string
	ops := g.operands
	for _, o := range g.options {
		if o.name == "-e" || o.name == "--expression" {
			scripts = append(scripts, o.value.Value)
		}
	}
	if len(scripts) == 0 && !g.has("-f", "--file") && len(ops) > 0 {
		scripts, ops = []string{ops[0].Value}, ops[1:]
	}
	var uses []use
	for _, o := range g.options {
		if o.name != "-i" && o.name != "--in-place" && o.name != "-I" {
			continue
		}
		for _, w := range ops {
			uses = append(uses, use{WritePath, w})
			if suffix := o.value.Value; suffix != "" {
				uses = append(uses, backup(w, suffix))
			}
		}
	}
	script, ok := readSed(strings.Join(scripts, "\n"))
	if script.runs || !ok {
		g.runs("a command of its script")
	}
	for _, file := range script.writes {
		if file != "/dev/stdout" && file != "/dev/stderr" {
			uses = append(uses, use{WritePath, plainWord(file)})
		}
	}
	return uses
}

// backup returns the copy that sed keeps of a file: its name with a suffix, or put in place of a star.
func backup(w Word, suffix string) use {
	if w.Glob || !w.Static {
		return somewhere("copies of what it edits")
	}
	dir, base := "", w.Value
	if i := strings.LastIndexByte(base, '/'); i >= 0 {
		dir, base = base[:i+1], base[i+1:]
	}
	name := base + suffix
	if strings.Contains(suffix, "*") {
		name = strings.ReplaceAll(suffix, "*", base)
	}
	if !strings.Contains(name, "/") {
		name = dir + name
	}
	return use{WritePath, plainWord(name)}
}

// readSed reads a script of sed. It is not ok if the script is not understood. Programs differ in whether a delimiter
// in brackets ends a regular expression, so that both readings count.
func readSed(script string) (s sedReader, ok bool) {
	ok = true
	for _, brackets := range []bool{false, true} {
		r := sedReader{text: script, brackets: brackets}
		ok = r.script() && ok
		s.writes, s.commands = append(s.writes, r.writes...), append(s.commands, r.commands...)
		s.runs, s.reads = s.runs || r.runs, s.reads || r.reads
	}
	return s, ok
}

// A sedReader goes through a script of sed.
type sedReader struct {
	text     string
	brackets bool // they hide delimiters
	at       int
	writes   []string // files
	runs     bool     // it runs programs
	commands []string // those of them that it names
	reads    bool     // it runs what it reads
}

// script reads all commands.
func (s *sedReader) script() bool {
	for s.skip(" \t\n;"); !s.end(); s.skip(" \t\n;") {
		if !s.address() || s.end() || !s.command() {
			return false
		}
	}
	return true
}

func (s *sedReader) end() bool { return s.at >= len(s.text) }

func (s *sedReader) skip(letters string) {
	for !s.end() && strings.IndexByte(letters, s.text[s.at]) >= 0 {
		s.at++
	}
}

// line returns the rest of the line, with those it is continued on.
func (s *sedReader) line() string {
	from := s.at
	for !s.end() && s.text[s.at] != '\n' {
		if s.text[s.at] == '\\' {
			s.at++
		}
		s.at++
	}
	s.at = min(s.at, len(s.text))
	return s.text[from:s.at]
}

// delimited passes what ends at the delimiter.
func (s *sedReader) delimited(delimiter byte, regex bool) bool {
	for ; !s.end(); s.at++ {
		switch c := s.text[s.at]; {
		case c == '\\':
			s.at++
		case c == delimiter:
			s.at++
			return true
		case c == '[' && regex && s.brackets:
			// The first character may be the bracket that closes others.
			from := min(s.at+2, len(s.text))
			if strings.HasPrefix(s.text[s.at+1:], "^") {
				from = min(from+1, len(s.text))
			}
			if n := strings.IndexByte(s.text[from:], ']'); n >= 0 {
				s.at = from + n
			}
		}
	}
	return false
}

// address passes the addresses of a command.
func (s *sedReader) address() bool {
	for !s.end() {
		switch c := s.text[s.at]; {
		case strings.IndexByte("0123456789$,+~! \t", c) >= 0:
			s.at++
		case c == '/':
			s.at++
			if !s.delimited('/', true) {
				return false
			}
			s.skip("IM")
		case c == '\\':
			if s.at += 2; s.at > len(s.text) || !s.delimited(s.text[s.at-1], true) {
				return false
			}
			s.skip("IM")
		default:
			return true
		}
	}
	return true
}

// command passes one command, and notes what it writes and runs.
func (s *sedReader) command() bool {
	c := s.text[s.at]
	s.at++
	switch {
	case strings.IndexByte("{}=dDgGhHnNpPxzF", c) >= 0:
	case strings.IndexByte("lLqQ", c) >= 0:
		s.skip(" \t0123456789")
	case strings.IndexByte("aic#rRv", c) >= 0:
		s.line()
	case strings.IndexByte(":btT", c) >= 0:
		s.skip(" \t")
		for !s.end() && strings.IndexByte("\n; \t", s.text[s.at]) < 0 {
			s.at++
		}
	case c == 'w' || c == 'W':
		s.file()
	case c == 'e':
		s.runs = true
		command := strings.TrimSpace(s.line())
		s.commands, s.reads = append(s.commands, command), s.reads || command == ""
	case c == 's' || c == 'y':
		return s.substitution(c)
	default:
		return false
	}
	return true
}

func (s *sedReader) substitution(c byte) bool {
	if s.end() {
		return false
	}
	delimiter := s.text[s.at]
	s.at++
	if !s.delimited(delimiter, c == 's') {
		return false
	}
	from := s.at
	if !s.delimited(delimiter, false) {
		return false
	}
	with := s.text[from : s.at-1]
	for c == 's' && !s.end() {
		switch f := s.text[s.at]; {
		case strings.IndexByte("gpIiMm0123456789", f) >= 0:
			s.at++
		case f == 'e':
			s.runs, s.reads, s.commands = true, true, append(s.commands, with)
			s.at++
		case f == 'w':
			s.at++
			s.file()
			return true
		default:
			return true
		}
	}
	return true
}

func (s *sedReader) file() {
	s.skip(" \t")
	s.writes = append(s.writes, s.line())
}

// awkOutputs returns the files that a program of awk writes, and those that it edits in place.
func awkOutputs(g *given) []use {
	ops := g.operands
	var programs []string
	for _, o := range g.options {
		if o.name == "-e" || o.name == "--source" {
			programs = append(programs, o.value.Value)
		}
	}
	if len(programs) == 0 && !g.has("-f", "--file", "-E", "--exec") && len(ops) > 0 {
		programs, ops = []string{ops[0].Value}, ops[1:]
	}
	var uses []use
	for _, o := range g.options {
		if (o.name == "-i" || o.name == "--include") && strings.HasPrefix(o.value.Value, "inplace") {
			uses = append(uses, all(WritePath, ops)...)
		}
	}
	for _, program := range programs {
		writes, runs := awkStatements(program)
		if runs {
			g.runs("a command of its program")
		}
		uses = append(uses, writes...)
	}
	return uses
}

// awkStatements returns the files that the print statements of a program write, and whether it may run
// other programs.
func awkStatements(program string) (uses []use, runs bool) {
	bare := awkBare(program)
	for _, word := range []string{"system", "@", "getline"} {
		runs = runs || strings.Contains(bare, word)
	}
	runs = runs || strings.Contains(strings.ReplaceAll(bare, "||", ""), "|")
	for at := 0; ; {
		i := strings.Index(bare[at:], "print")
		if i < 0 {
			return uses, runs
		}
		at += i + len("print")
		depth := 0
		for ; at < len(bare); at++ {
			c := bare[at]
			switch {
			case c == '(' || c == '[':
				depth++
			case c == ')' || c == ']':
				depth--
			}
			if c == ';' || c == '\n' || c == '}' {
				break
			}
			if c == '>' && depth == 0 {
				uses = append(uses, awkTarget(program, bare, at))
				break
			}
		}
	}
}

// awkTarget returns the file that follows > in a program, which has to be one string.
func awkTarget(program, bare string, at int) use {
	for at < len(bare) && strings.IndexByte("> \t", bare[at]) >= 0 {
		at++
	}
	if at < len(bare) && bare[at] == '"' {
		if end := strings.IndexByte(bare[at+1:], '"'); end >= 0 {
			name := program[at+1 : at+1+end]
			rest := strings.TrimLeft(bare[at+end+2:], " \t")
			if !strings.Contains(name, `\`) && (rest == "" || strings.IndexByte(";}\n", rest[0]) >= 0) {
				if name == "/dev/stdout" || name == "/dev/stderr" {
					name = "/dev/null"
				}
				return use{WritePath, plainWord(name)}
			}
		}
	}
	return somewhere("files that its program names")
}

// awkBare returns a program with the insides of strings and regular expressions blanked.
func awkBare(program string) string {
	bare := []byte(program)
	last := byte('{') // the last character that is not blank
	for i := 0; i < len(bare); i++ {
		c := bare[i]
		if c == '#' {
			for ; i < len(bare) && bare[i] != '\n'; i++ {
				bare[i] = ' '
			}
			continue
		}
		if c == '"' || c == '/' && (strings.IndexByte("(,{};!~&|=\n:?", last) >= 0 || awkKeyword(bare[:i])) {
			j := i + 1
			for ; j < len(bare) && bare[j] != c; j++ {
				if bare[j] == '\\' && j+1 < len(bare) {
					bare[j] = '_'
					j++
				}
				bare[j] = '_'
			}
			i = j
		}
		if c != ' ' && c != '\t' {
			last = c
		}
	}
	return string(bare)
}

// awkKeyword reports whether a program so far ends in a keyword, behind which a slash begins a regular
// expression.
func awkKeyword(program []byte) bool {
	text := strings.TrimRight(string(program), " \t")
	start := strings.LastIndexFunc(text, func(r rune) bool { return r != '_' && !('a' <= r && r <= 'z') && !('A' <= r && r <= 'Z') }) + 1
	switch text[start:] {
	case "print", "printf", "return", "in", "do", "else", "case", "exit", "delete", "getline":
		return true
	}
	return false
}
