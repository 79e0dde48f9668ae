package shell

import "strings"

// Variables that affect a program's output format, not its behavior.
var (
	inert    = setOf(`LANG TZ NO_COLOR FORCE_COLOR COLUMNS LINES`)
	harmless = setOf(`TERM CI DEBUG NODE_ENV GOOS GOARCH CGO_ENABLED RUST_BACKTRACE RUST_LOG PYTHONUNBUFFERED PYTHONDONTWRITEBYTECODE`)
)

// inertAssign reports whether an assignment does not affect the behavior of a read-only
// command.
func inertAssign(name, value string) bool {
	if name == "TZ" && (strings.HasPrefix(value, "/") || strings.HasPrefix(value, ":") || strings.Contains(value, "..")) {
		return false // names a file that is read
	}
	return inert(name) || strings.HasPrefix(name, "LC_") || name == "TERM" && value == "dumb"
}

// harmlessAssign reports whether an allow rule still applies to a command with this assignment.
func harmlessAssign(name, value string) bool {
	return inertAssign(name, value) || harmless(name)
}

// Allowed reports whether pat, as an allow rule, covers the words of p. Its redirections are
// judged separately, as writes and reads; see [Part.Paths].
//
// A program given by path is covered only by a rule that spells out that path, and a command
// whose options name other programs to run only by a rule that quotes it. A command that may
// execute its input is covered by a star after its name, which allows any code, and never by a
// rule that quotes its words, because they do not contain the executed code.
func (p *Part) Allowed(pat Pattern) bool {
	if !p.script.Simple || !p.harmless() {
		return false
	}
	if (pat.Exact() || pat.program == "" && !pat.everything()) && p.runsInput() {
		return false
	}
	forms := p.forms()
	for i, f := range forms {
		if !pat.match(f.text) && (f.source == "" || !pat.match(f.source)) {
			continue
		}
		if pat.Exact() || p.reaches(pat, f) && pat.names(f, forms[i:]) {
			return true
		}
	}
	return false
}

// reaches reports whether a pattern with a star matches the program of a form: by its bare
// name, or by the path that both spell out. A relative path names another file if the directory
// is not the line's initial one.
func (p *Part) reaches(pat Pattern, f form) bool {
	path := f.words[0].Value
	if !strings.Contains(path, "/") {
		return true
	}
	spelled, _, whole := strings.Cut(pat.pieces[0], " ")
	return whole && spelled == f.words[0].Text && (path[0] == '/' || len(p.dirs) == 1 && p.dirs[0] == "")
}

// names reports whether a pattern with a star spells out the words of a form that determine the
// other commands it runs. Each inner form is such a command.
func (p Pattern) names(f form, inner []form) bool {
	n := 0
	for _, in := range inner {
		if k := quoted(in.words, p.pieces[0] == in.words[0].Text+" "); k > 0 && !p.grants(in) {
			n = max(n, len(f.words)-len(in.words)+k)
		}
	}
	switch {
	case n == 0:
		return true
	case n > len(f.words):
		return false
	}
	length := n - 1
	for _, w := range f.words[:n] {
		length += len(w.Text)
	}
	return len(strings.TrimRight(p.pieces[0], " ")) >= length
}

// grants reports whether the pattern is an interpreter and a star, which allows any code.
func (p Pattern) grants(f form) bool {
	name := f.words[0]
	return Is(versionless(baseName(name.Value)), AnyCode) && p.pieces[0] == name.Text+" "
}

// Programs returns the program names to look up allow rules for p.
func (p *Part) Programs() []string {
	var names []string
	for _, f := range p.forms() {
		names = append(names, baseName(f.words[0].Value))
	}
	return names
}

func (p *Part) harmless() bool {
	for _, a := range p.Assigns {
		if !a.Value.Static || !harmlessAssign(a.Name, a.Value.Value) {
			return false
		}
	}
	return true
}

// A form is a command as a rule may name it: as written, or without a wrapper around it.
type form struct {
	words        []Word
	text, source string
}

// forms returns p as written, and with each known wrapper removed.
func (p *Part) forms() []form {
	if len(p.Words) == 0 {
		return nil
	}
	all := []form{{p.Words, p.Text, p.source}}
	text := p.Text
	for words := p.Words; ; {
		n := wrapped(words)
		if n == 0 || n >= len(words) {
			return all
		}
		for _, w := range words[:n] {
			text = strings.TrimPrefix(text[len(w.Text):], " ")
		}
		words = words[n:]
		all = append(all, form{words, text, ""})
	}
}

// wrapped returns the number of words that form a wrapper that runs the rest unchanged. It is 0
// if the command is not a wrapper or has options not known to be harmless.
func wrapped(words []Word) int {
	switch words[0].Value {
	case "nohup":
		return 1
	case "time":
		return skipOptions(words, "-p", "")
	case "nice":
		return skipOptions(words, "", "-n --adjustment=")
	case "stdbuf":
		return skipOptions(words, "", "-i -o -e --input= --output= --error=")
	case "timeout":
		n := skipOptions(words, "--foreground --preserve-status -v --verbose", "-k -s --kill-after= --signal=")
		if n < len(words) && duration(words[n].Value) {
			return n + 1
		}
	case "env":
		n := 1
		for n < len(words) {
			name, value, ok := strings.Cut(words[n].Value, "=")
			if !ok {
				break
			}
			if !words[n].Static || !harmlessAssign(name, value) {
				return 0
			}
			n++
		}
		return n
	}
	return 0
}

// skipOptions returns the number of words before the first that is not a given option. Options
// in flags have no value; options in values have it in the next word or, if they end in =,
// after it.
func skipOptions(words []Word, flags, values string) int {
	isFlag, isValue := strings.Fields(flags), strings.Fields(values)
	n := 1
next:
	for n < len(words) {
		word := words[n].Value
		for _, f := range isFlag {
			if word == f {
				n++
				continue next
			}
		}
		for _, v := range isValue {
			switch {
			case strings.HasSuffix(v, "=") && strings.HasPrefix(word, v):
				n++
				continue next
			case word == v:
				n += 2
				continue next
			}
		}
		break
	}
	if n < len(words) && strings.HasPrefix(words[n].Value, "-") {
		return 0
	}
	return n
}

// duration reports whether s is a duration in the syntax of timeout.
func duration(s string) bool {
	s = strings.TrimRight(s, "smhd")
	return s != "" && strings.Trim(s, "0123456789.") == ""
}
