package skill

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// A quoteContext is the syntactic context of a placeholder in a command. It determines the quoting.
type quoteContext uint8

const (
	inCode   quoteContext = iota // possibly code: only plain values are accepted
	unquoted                     // part of a word
	alone                        // a whole word, or several
	inDouble
	inSingle
)

// command fills in a command for a shell.
func (f *filler) command(text, shell string) (string, error) {
	places := f.places(text)
	if len(places) == 0 {
		return text, nil
	}
	var stands []quoteContext
	if shell == "" || shell == "bash" {
		stands = quoteContexts(text, places)
	}
	i := -1
	var wrong error
	filled := f.put(text, places, func(p place) string {
		i++
		if p.literal {
			return p.value
		}
		at := inCode
		if stands != nil {
			at = stands[i]
		}
		value, ok := f.quote(p, at)
		if !ok && wrong == nil {
			wrong = fmt.Errorf("in the command `%s`, %q stands where it could be taken for code: only letters, digits and ./:@%%+=,_- can stand there", text, p.value)
		}
		return value
	})
	return filled, wrong
}

// quote returns a place's value, quoted for its context, or false if that is impossible.
func (f *filler) quote(p place, at quoteContext) (string, bool) {
	switch at {
	case alone:
		if p.all {
			var words []string
			for _, w := range f.words {
				words = append(words, quoteWord(w))
			}
			return strings.Join(words, " "), true
		}
		fallthrough
	case unquoted:
		if p.value == "" {
			return "", true
		}
		return quoteWord(p.value), true
	case inDouble:
		return strings.NewReplacer(`\`, `\\`, `"`, `\"`, `$`, `\$`, "`", "\\`").Replace(p.value), true
	case inSingle:
		return strings.ReplaceAll(p.value, "'", `'\''`), true
	}
	return p.value, plain(p.value)
}

// quoteWord quotes a value as a single shell word.
func quoteWord(value string) string {
	if value != "" && plain(value) {
		return value
	}
	return "'" + strings.ReplaceAll(value, "'", `'\''`) + "'"
}

// plain reports whether a value needs no quoting anywhere in a command.
func plain(value string) bool {
	for i := range len(value) {
		if !wordByte(value[i]) && strings.IndexByte("./:@%+=,-", value[i]) < 0 {
			return false
		}
	}
	return true
}

// quoteContexts returns the context of each place in a command, or nil if the command can't be
// parsed.
func quoteContexts(text string, places []place) []quoteContext {
	mark := "adzeMark"
	for strings.Contains(text, mark) {
		mark += "M"
	}
	n := -1
	marked := (&filler{}).put(text, places, func(place) string { n++; return mark + strconv.Itoa(n) + "E" })
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(marked), "")
	if err != nil {
		return nil
	}
	r := reader{mark: mark, places: places, stands: make([]quoteContext, len(places)), seen: make([]int, len(places))}
	syntax.Walk(file, r.visit)
	for i, times := range r.seen {
		if times != 1 {
			r.stands[i] = inCode
		}
	}
	return r.stands
}

// A reader finds the marks in a parsed command.
type reader struct {
	mark   string
	places []place
	path   []syntax.Node
	stands []quoteContext
	seen   []int
}

// visit is called for each node, and with nil after its children.
func (r *reader) visit(n syntax.Node) bool {
	if n == nil {
		r.path = r.path[:len(r.path)-1]
		return true
	}
	switch n := n.(type) {
	case *syntax.Lit:
		r.note(n.Value, r.ofLiteral(n))
	case *syntax.SglQuoted:
		at := inSingle
		if n.Dollar || r.hazard() {
			at = inCode
		}
		r.note(n.Value, at)
	case *syntax.Comment:
		r.note(n.Text, inCode)
	}
	r.path = append(r.path, n)
	return true
}

// note records the context of the marks in a text.
func (r *reader) note(text string, at quoteContext) {
	for {
		_, rest, ok := strings.Cut(text, r.mark)
		if !ok {
			return
		}
		digits, after, _ := strings.Cut(rest, "E")
		if i, err := strconv.Atoi(digits); err == nil && i < len(r.stands) {
			r.stands[i] = at
			r.seen[i]++
		}
		text = after
	}
}

// ofLiteral returns the context of marks in a literal.
func (r *reader) ofLiteral(lit *syntax.Lit) quoteContext {
	if r.hazard() || len(r.path) == 0 {
		return inCode
	}
	switch parent := r.path[len(r.path)-1].(type) {
	case *syntax.DblQuoted:
		if !parent.Dollar {
			return inDouble
		}
	case *syntax.Word:
		if len(parent.Parts) == 1 && len(r.path) > 1 && strings.Count(lit.Value, r.mark) == 1 &&
			strings.HasPrefix(lit.Value, r.mark) && strings.HasSuffix(lit.Value, "E") && r.isWordOf(parent) {
			return alone
		}
		return unquoted
	}
	return inCode
}

// isWordOf reports whether a word may expand to several: it belongs to a call or to a loop over
// words.
func (r *reader) isWordOf(w *syntax.Word) bool {
	switch n := r.path[len(r.path)-2].(type) {
	case *syntax.CallExpr:
		return slices.Contains(n.Args, w)
	case *syntax.WordIter:
		return slices.Contains(n.Items, w)
	}
	return false
}

// hazard reports whether text at the current node may be run as code, or is not parsed as
// words.
func (r *reader) hazard() bool {
	for _, n := range r.path {
		switch n := n.(type) {
		case *syntax.CallExpr:
			if r.interprets(n) {
				return true
			}
		case *syntax.Stmt:
			if len(n.Redirs) > 0 && r.runsInput(n.Cmd) {
				return true
			}
		case *syntax.BinaryCmd:
			if (n.Op == syntax.Pipe || n.Op == syntax.PipeAll) && r.runsInput(n.Y) {
				return true
			}
		case *syntax.ProcSubst:
			if r.runsPrinted() {
				return true
			}
		case *syntax.CmdSubst:
			if n.Backquotes {
				return true
			}
		case *syntax.Redirect:
			if n.Hdoc != nil {
				return true
			}
		case *syntax.Assign:
			if n.Index != nil || n.Array != nil {
				return true
			}
		case *syntax.ParamExp, *syntax.ArithmExp, *syntax.ArithmCmd, *syntax.LetClause, *syntax.TestClause, *syntax.ExtGlob,
			*syntax.DeclClause, *syntax.FuncDecl, *syntax.BraceExp, *syntax.CStyleLoop, *syntax.CaseClause, *syntax.ArrayExpr:
			return true
		}
	}
	return false
}

// interprets reports whether a call may run any of its words as code, as written or with values
// filled in.
func (r *reader) interprets(call *syntax.CallExpr) bool {
	if len(call.Args) == 0 {
		return false
	}
	first := call.Args[0].Lit()
	if first == "" || first == "." || strings.Contains(first, r.mark) {
		return true // the source command, or a program name that is not fixed
	}
	for i, w := range call.Args {
		for _, name := range r.meanings(w.Lit()) {
			switch kind := programs(name); {
			case kind == readsCode:
				return true
			case kind != other:
				if r.hasCodeFlag(call.Args[i+1:], kind) {
					return true
				}
			}
		}
	}
	return false
}

// runsInput reports whether a command, or one nested in it, runs its input: for example a shell
// without a script.
func (r *reader) runsInput(n syntax.Node) (runs bool) {
	if n == nil {
		return false
	}
	syntax.Walk(n, func(n syntax.Node) bool {
		if call, ok := n.(*syntax.CallExpr); ok {
			args, ok := r.interpreter(call)
			runs = runs || ok && readsScript(args)
		}
		return !runs
	})
	return runs
}

// interpreter returns the arguments of the shell or similar program that a call starts,
// directly or through another program.
func (r *reader) interpreter(call *syntax.CallExpr) (args []*syntax.Word, ok bool) {
	for i, w := range call.Args {
		for _, name := range r.meanings(w.Lit()) {
			if kind := programs(name); kind == runsShell || kind == runsScripts {
				return call.Args[i+1:], true
			}
		}
		if i == 0 && !starts(w.Lit()) {
			break
		}
	}
	return nil, false
}

// starts reports whether a program starts the program named by its arguments.
func starts(name string) bool {
	switch path.Base(name) {
	case "env", "sudo", "doas", "nice", "nohup", "timeout", "time", "stdbuf", "setsid", "ionice", "command", "exec", "busybox", "chroot", "unshare", "docker", "podman", "kubectl":
		return true
	}
	return false
}

// readsScript reports whether a shell or similar program with these arguments may read its
// script from its input.
func readsScript(args []*syntax.Word) bool {
	for _, w := range args {
		switch lit := w.Lit(); {
		case lit == "-" || lit == "-s" || lit == "/dev/stdin":
			return true
		case !strings.HasPrefix(lit, "-"):
			return false
		}
	}
	return true
}

// runsPrinted reports whether a call around the place runs the output of a process substitution
// in it.
func (r *reader) runsPrinted() bool {
	for _, n := range r.path {
		if call, ok := n.(*syntax.CallExpr); ok {
			if _, ok := r.interpreter(call); ok {
				return true
			}
		}
	}
	return false
}

// meanings returns the words that a literal may become when arguments are filled in.
func (r *reader) meanings(lit string) []string {
	before, rest, ok := strings.Cut(lit, r.mark)
	if !ok {
		return []string{lit}
	}
	digits, after, _ := strings.Cut(rest, "E")
	i, err := strconv.Atoi(digits)
	if err != nil || i >= len(r.places) {
		return nil
	}
	if p := r.places[i]; !p.all || before+after != "" {
		return []string{before + p.value + after}
	}
	return SplitArguments(r.places[i].value)
}

// hasCodeFlag reports whether an argument makes a program run code. Arguments after the
// program's script belong to the script.
func (r *reader) hasCodeFlag(words []*syntax.Word, kind program) bool {
	script := false
	for _, w := range words {
		lit := w.Lit()
		filled := strings.Contains(lit, r.mark)
		for _, text := range r.meanings(lit) {
			if codeFlag(text, kind) && !(filled && script) {
				return true
			}
			script = script || !strings.HasPrefix(text, "-")
		}
	}
	return false
}

// A program classifies a program by its use of arguments.
type program uint8

const (
	other program = iota
	readsCode
	runsShell
	runsScripts
	runsCommand // passes the word after -c to a shell
)

func programs(name string) program {
	switch strings.TrimRight(path.Base(name), "0123456789.") {
	case "eval", "ssh", "awk", "gawk", "mawk", "nawk", "sed", "trap", "test", "[", "parallel", "watch", "su", "printf", "source", "read", "unset":
		return readsCode
	case "sh", "bash", "dash", "zsh", "ksh", "ash", "fish":
		return runsShell
	case "flock", "script", "runuser":
		return runsCommand
	case "python", "perl", "ruby", "node", "nodejs", "php", "pwsh", "powershell", "deno", "bun", "osascript", "lua", "Rscript":
		return runsScripts
	}
	return other
}

// codeFlag reports whether a word makes a program run the next word as code.
func codeFlag(text string, kind program) bool {
	if long, ok := strings.CutPrefix(text, "--"); ok {
		return long == "eval" || long == "command" || long == "exec" || long == "print"
	}
	letters := "c"
	if kind == runsScripts {
		letters = "ceErp"
	}
	return strings.HasPrefix(text, "-") && strings.ContainsAny(text, letters)
}
