package shell

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
)

// Needs are the permissions that a read-only line needs in its jail.
type Needs struct {
	// Programs are the names of the programs that it may execute, in addition to the shell
	// itself. A program given by path is included with its path. Some may not be installed.
	Programs []string
	// Git are its git commands, which package gitrepo must approve.
	Git []GitUse
	// Scripted is true if a program may start sh through a sed or awk script that is known only
	// at run time.
	Scripted bool
	// Processes is true if it inspects the system's processes, mounts or devices, Network if it
	// inspects sockets and interfaces.
	Processes, Network bool

	outside bool // the proof is not for a jail
}

func (n *Needs) program(names ...string) {
	for _, name := range names {
		if !slices.Contains(n.Programs, name) {
			n.Programs = append(n.Programs, name)
		}
	}
}

// Jailed returns the line's needs if the whole line is known to be read-only in a jail, or the
// first reason to doubt it. The jail makes it safe; the proof finds lines that would not work
// as intended there. So every program must be known, and every option and output that the line
// spells out, but not the results of its expansions.
func (s *Script) Jailed() (Needs, error) {
	var n Needs
	if s.Opaque || s.doubt != "" {
		return n, errors.New(cmp.Or(s.doubt, s.Problem))
	}
	if len(s.Parts) > maxParts {
		return n, errors.New("it has more than 50 commands")
	}
	for _, p := range s.Parts {
		if err := p.jailed(&n); err != nil {
			return Needs{}, err
		}
	}
	return n, nil
}

// JailDoubt returns the reason why the part would not be read-only even in a jail, or nil.
func (p *Part) JailDoubt() error { return p.jailed(&Needs{}) }

// jailed adds the needs of p to n, or returns the reason why p is not known to be read-only in
// a jail.
func (p *Part) jailed(n *Needs) error {
	for i := range p.Redirects {
		if err := p.Redirects[i].jailed(); err != nil {
			return err
		}
	}
	if len(p.Words) == 0 {
		return nil // assignments are judged by name; see structure
	}
	for _, a := range p.Assigns {
		if !quietAssign(a.Name, a.Value.Value) && !(a.Name == "IFS" && p.Words[0].Value == "read") {
			return fmt.Errorf("it sets %s for a program", a.Name)
		}
	}
	if p.Words[0].Value == "tac" && len(plainOperands(p.Words[1:], "")) == 0 && !slices.ContainsFunc(p.Redirects, func(r Redirect) bool { return r.Op == "<" }) {
		return errors.New("`tac` needs temporary files unless it is given a file")
	}
	return p.proves(filled(p.Words), n, false)
}

// jailed returns the reason why a redirection is unsuitable for a jail.
func (r *Redirect) jailed() error {
	switch {
	case r.Op == "<<" || r.Op == "<<-" || r.Op == "<<<":
		return nil
	case r.odd != "":
		return errors.New(r.odd)
	case r.Verb != WritePath:
		return nil
	case !r.Target.Static:
		return errors.New("it redirects to a file with a computed name")
	case sink(r.Target.Value):
		return nil
	}
	return fmt.Errorf("it writes to %s", r.Target.Text)
}

// proves adds a command's needs to n, or returns the reason why it is not known to be read-only
// in a jail. A command run by another program is external: neither a function nor a builtin.
func (p *Part) proves(words []Word, n *Needs, external bool) error {
	name := words[0]
	if why := uncertainName(name); why != "" {
		return errors.New(why)
	}
	program := name.Value
	if dir, base := path.Split(program); dir != "" {
		if dir != "/bin/" && dir != "/usr/bin/" && dir != "/usr/local/bin/" || find(base) == nil && !Is(base, wrapperProved) {
			return fmt.Errorf("adze doesn't know the program %s", name.Text)
		}
		external = true
		words = slices.Clone(words)
		words[0] = plainWord(base)
	}
	if number := p.script.funcs[program]; number != 0 && !external {
		if p.body >= number {
			return fmt.Errorf("the function %s may call itself without end", program)
		}
		return nil
	}
	if columns(words[0].Value).traits&wrapperProved != 0 {
		return p.provesRunner(program, words, n, external)
	}
	e, rest := lookup(words)
	if e == nil {
		return doubtful(words, unverified(words))
	}
	if e.runs {
		if err := p.settled(e, rest, n); err != nil {
			return err
		}
	}
	if words[0].Value == "git" {
		if p.dirs == nil {
			return errors.New("the directory of git can't be determined")
		}
		n.Git = append(n.Git, p.gitUses(words)...)
	}
	if e.needs&builtin == 0 || external {
		if e.needs&builtin != 0 && e.class == ClassNeutral && !e.plain {
			return fmt.Errorf("`%s` is not a program", name.Text)
		}
		n.program(program)
	}
	n.Processes = n.Processes || e.needs&processes != 0
	n.Network = n.Network || e.needs&network != 0
	n.program(strings.Fields(e.helpers)...)
	if (words[0].Value == "printf" || words[0].Value == "wait") && len(rest) > 0 && strings.HasPrefix(rest[0].Value, "-v") {
		if len(rest) < 2 || rest[0].Value != "-v" {
			return errors.New("it sets a variable")
		}
		if err := settable(rest[1]); err != nil {
			return fmt.Errorf("`%s` %w", words[0].Value, err)
		}
	}
	if err := e.prove(name, rest, !n.outside); err != nil {
		return doubtful(words, err)
	}
	return nil
}

// uncertainName returns the reason why a command's name is uncertain, or "".
func uncertainName(w Word) string {
	switch {
	case !w.Static || w.expanded:
		return "the name of a command is known only at run time"
	case w.Glob || w.brace:
		return "the name of the command is a pattern"
	case w.Value == "" || strings.HasPrefix(w.Value, "%") || !ascii(w.Value):
		return "the name of the command has unusual characters"
	}
	return ""
}

// provesRunner is proves for a command that runs another.
func (p *Part) provesRunner(program string, words []Word, n *Needs, external bool) error {
	var skip int
	var err error
	switch name := words[0].Value; name {
	case "find":
		n.program(program)
		if err := p.settled(find("find"), words[1:], n); err != nil {
			return err
		}
		return p.provesFind(words, n)
	case "exec":
		if len(words) > 1 {
			return errors.New("`exec` replaces the shell by a program")
		}
		return nil // redirects the shell itself
	case "command", "builtin":
		if external {
			return fmt.Errorf("`%s` is not a program", name)
		}
		if len(words) > 1 && strings.HasPrefix(words[1].Value, "-") && words[1].Value != "-p" && words[1].Value != "--" {
			return find("command").prove(words[0], words[1:], false)
		}
		skip = skipOptions(words, "-p --", "")
	default:
		if skip, err = skipRunner(words); err != nil {
			return err
		}
		if name != "time" || external || !keyword(p) {
			external = true
			n.program(program)
		}
		if name == "xargs" && skip >= len(words) {
			n.program("echo") // the default command of xargs
			return nil
		}
		if skip > 0 && skip < len(words) && name == "xargs" {
			if baseName(words[skip].Value) == "xargs" {
				return errors.New("`xargs` runs what it reads")
			}
			words = handedOn(words, skip)
		}
	}
	for _, w := range words[1:min(max(skip, 1), len(words))] {
		if len(w.gaps) > 0 && (p.spreads(w) || p.unsettled(w)) {
			return fmt.Errorf("%s may make `%s` run another program", w.shown(), words[0].Value)
		}
	}
	switch {
	case skip == 0:
		return fmt.Errorf("`%s` has options that adze doesn't know", words[0].Value)
	case skip >= len(words) && external:
		return fmt.Errorf("`%s` has no command to run", words[0].Value)
	case skip >= len(words):
		return nil
	}
	return p.proves(words[skip:], n, external)
}

// keyword reports whether the time before a part is the shell keyword.
func keyword(p *Part) bool { return p.script.Simple && p.Words[0].Text == "time" }

// skipRunner returns the number of words before the command that words run, or 0 if they are
// not known to be harmless.
func skipRunner(words []Word) (int, error) {
	switch words[0].Value {
	case "nice":
		if len(words) > 1 && len(words[1].Value) > 1 && digits(words[1].Value[1:]) {
			return 2, nil // nice -10
		}
	case "ionice":
		if len(words) > 1 && len(words[1].Value) > 2 && strings.HasPrefix(words[1].Value, "-c") {
			return 2, nil // ionice -c3
		}
		return skipOptions(words, "-t", "-c -n"), nil
	case "stdbuf":
		n := 1
		for n < len(words) && strings.HasPrefix(words[n].Value, "-") {
			if len(words[n].Value) == 2 {
				n++
			}
			n++
		}
		return n, nil
	case "env":
		return skipEnv(words)
	case "xargs":
		return skipXargs(words)
	}
	return wrapped(words), nil
}

// skipEnv returns the number of words before the command that env runs.
func skipEnv(words []Word) (int, error) {
	n := 1
	for n < len(words) {
		if words[n].Value == "-u" && n+1 < len(words) {
			n += 2
			continue
		}
		variable, value, ok := strings.Cut(words[n].Value, "=")
		if !ok || variable == "" || strings.HasPrefix(variable, "-") {
			break
		}
		if !words[n].Static || !quietAssign(variable, value) {
			return 0, fmt.Errorf("`env` sets %s", variable)
		}
		n++
	}
	switch {
	case n >= len(words):
		return 0, errors.New("`env` shows the whole environment")
	case strings.HasPrefix(words[n].Value, "-"):
		return 0, nil
	}
	return n, nil
}

// skipXargs returns the number of words before the command that xargs runs.
func skipXargs(words []Word) (int, error) {
	n := 1
	for n < len(words) {
		v := words[n].Value
		switch {
		case len(v) < 2 || v[0] != '-':
			return n, nil
		case v == "--":
			return n + 1, nil
		case v == "-0" || v == "-r" || v == "-t" || v == "-x" || v == "-0r" || v == "-r0" || v == "-i" || v == "-l" ||
			v == "--null" || v == "--no-run-if-empty" || v == "--verbose" || v == "--exit":
		case strings.HasPrefix(v, "--"):
			option, _, ok := strings.Cut(v, "=")
			switch option {
			case "--max-args", "--max-procs", "--max-lines", "--replace", "--delimiter", "--max-chars", "--eof":
			case "--arg-file":
				return 0, errors.New("`xargs` takes its arguments from a file")
			default:
				return 0, fmt.Errorf("`xargs` has the option %s, which adze doesn't know", v)
			}
			if !ok && option != "--replace" && option != "--max-lines" && option != "--eof" {
				n++
			}
		default:
			// -I{} or -I {}, also after options without a value as in -0I{}.
			cluster := strings.TrimLeft(v[1:], "0rtx")
			if cluster == "" {
				break
			}
			if strings.IndexByte("InLPdsEJ", cluster[0]) < 0 {
				return 0, fmt.Errorf("`xargs` has the option %s, which adze doesn't know", v)
			}
			if len(cluster) == 1 {
				n++
			}
		}
		n++
	}
	return n, nil
}

// provesFind checks the expression of find and the commands that it runs.
func (p *Part) provesFind(words []Word, n *Needs) error {
	rest, inner, err := findCommands(words[1:])
	if err != nil {
		return err
	}
	if slices.ContainsFunc(words, func(w Word) bool { return w.Value == "-execdir" }) {
		elsewhere := *p
		elsewhere.dirs = nil
		p = &elsewhere
	}
	for _, command := range inner {
		if err := p.proves(command, n, true); err != nil {
			return err
		}
	}
	return find("find").prove(words[0], rest, false)
}

// findCommands splits the words of find into the rest and the commands that it runs.
func findCommands(words []Word) (rest []Word, inner [][]Word, err error) {
	if findAction(words) == "" {
		return words, nil, nil
	}
	for i := 0; i < len(words); i++ {
		switch words[i].Value {
		case "-exec", "-execdir":
		default:
			rest = append(rest, words[i])
			continue
		}
		end := slices.IndexFunc(words[i:], func(w Word) bool { return w.Value == ";" || w.Value == "+" })
		if end < 2 {
			return nil, nil, errors.New("`find` runs a command that adze can't determine")
		}
		inner = append(inner, words[i+1:i+end])
		i += end
	}
	return rest, inner, nil
}

// onlyRead reports whether the commands that find or xargs runs are known to be read-only.
func onlyRead(inner [][]Word) bool {
	p := &Part{script: &Script{}, dirs: []string{""}}
	return !slices.ContainsFunc(inner, func(words []Word) bool { return p.proves(words, &Needs{outside: true}, true) != nil })
}

// commands returns the words of p, and of each command that they are known to run.
func (p *Part) commands() [][]Word {
	if len(p.Words) == 0 {
		return nil
	}
	all := [][]Word{p.Words}
	for i := 0; i < len(all); i++ {
		inner, _ := innerCommands(all[i])
		all = append(all, inner...)
	}
	return all
}

// innerCommands returns the commands that a command's words run, without the words that run
// them, and whether they get unknown further arguments.
func innerCommands(words []Word) (inner [][]Word, more bool) {
	n := 0
	switch baseName(words[0].Value) {
	case "xargs":
		if n, err := skipXargs(words); err == nil && n < len(words) {
			return [][]Word{words[n:]}, true
		}
		return nil, true
	case "find":
		_, inner, err := findCommands(words[1:])
		if err != nil || len(inner) == 0 || !onlyRead(inner) {
			return nil, false
		}
		for i, command := range inner { // the results are below its roots, or links there
			inner[i] = slices.DeleteFunc(slices.Clone(command), func(w Word) bool { return strings.Contains(w.Value, "{}") })
		}
		return inner, true
	case "command", "builtin", "ionice", "stdbuf", "nice":
		for n = 1; n < len(words) && strings.HasPrefix(words[n].Value, "-"); n++ {
			if len(words[n].Value) == 2 && strings.Contains("-n -c -i -o -e", words[n].Value) {
				n++ // skip its value
			}
		}
	case "nohup", "time", "timeout", "env":
		if n = wrapped(words); n == 0 {
			for n = 1; n < len(words) && (strings.HasPrefix(words[n].Value, "-") || strings.Contains(words[n].Value, "=") || duration(words[n].Value)); n++ {
			}
		}
	}
	if n > 0 && n < len(words) {
		return [][]Word{words[n:]}, false
	}
	return nil, false
}
