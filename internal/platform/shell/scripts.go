package shell

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"
)

// Scripts of sed and awk. They are not parsed: outside a jail only scripts of simple forms count
// as read-only, and in a jail the checks only find scripts that would fail there.

// lazily returns a function that compiles a pattern when first called, because few runs need it.
func lazily(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}

// sedTokens matches the parts of a sed script that contain no delimited text and neither read nor
// write a file nor run anything: addresses, braces, simple commands, labels, lines of text and
// comments.
var sedTokens = lazily(`\A(?:(?:\n[ \t]*#[^\n\\]*)+(?:\n|\z)|[ \t\n;{}!$,+~=0-9pPdDgGhHnNxFzqQlLIM]|[:btT][ \t]*[A-Za-z0-9_.-]*[ \t]*(?:[;}\n]|\z)|` +
	`[aic][ \t]*(?:\\\n?[^\n\\]*|[^\n\\ \t][^\n\\]*)(?:\n|\z))`)

var (
	sedBracket = lazily(`\A\[\^?\]?(?:[^]\\[\n]|\\[^]\n]|\[:[a-z]+:\])*\]`)
	sedFlags   = lazily(`\A[gpiImM0-9]*[ \t]*(?:[;}\n]|\z)`)
)

// sedDelimiters are the delimiters with which all implementations agree.
const sedDelimiters = "/|,#@:!%+~_"

// sedPrints reports whether a sed script only prints in every sed. Implementations differ in
// whether brackets hide delimiters; in a jail they may.
func sedPrints(script string, jailed bool) bool {
	labelled := false // a label ends the line for some implementations
	for s := "\n" + script; s != ""; {
		n := len(sedTokens().FindString(s))
		labelled = labelled || n > 0 && strings.IndexByte(":btT", s[0]) >= 0
		if n == 0 {
			n = sedDelimited(s, jailed)
			if labelled && strings.Contains(s[:n], "\\\n") {
				return false
			}
		}
		if n == 0 {
			return false
		}
		s = s[n:]
	}
	return true
}

// sedDelimited returns the length of the address or command with delimited text at the start of
// a sed script, or 0 if it is unusual.
func sedDelimited(s string, jailed bool) int {
	texts, at := 1, 0
	switch s[0] {
	case '/':
	case '\\':
		at = 1
	case 's', 'y':
		texts, at = 2, 1
	default:
		return 0
	}
	if at == len(s) || strings.IndexByte(sedDelimiters, s[at]) < 0 {
		return 0
	}
	delimiter := s[at]
	for i := range texts {
		regex := i == 0 && s[0] != 'y'
		for at++; at < len(s) && s[at] != delimiter; at++ {
			switch c := s[at]; {
			case c == '\n', c == '\\' && regex && strings.HasPrefix(s[at+1:], "\n"):
				return 0
			case c == '\\':
				at++
			case c == '[' && regex:
				bracket := sedBracket().FindString(s[at:])
				if bracket == "" || !jailed && strings.IndexByte(bracket, delimiter) >= 0 {
					return 0
				}
				at += len(bracket) - 1
			}
		}
		if at >= len(s) {
			return 0
		}
	}
	at++
	if s[0] != 's' {
		return at
	}
	flags := sedFlags().FindStringIndex(s[at:])
	if flags == nil {
		return 0
	}
	return at + flags[1]
}

func checkSed(a *parsedArgs) error { return checkSedWith(a, false) }

func checkSedJailed(a *parsedArgs) error { return checkSedWith(a, true) }

func checkSedWith(a *parsedArgs, jailed bool) error {
	script, _, ok := sedScript(a)
	switch {
	case !ok:
		return errors.New("lacks a script")
	case a.late && a.has("-e", "--expression"):
		return errors.New("may have another script, because options follow an operand")
	case !jailed && slices.ContainsFunc(a.options, func(o option) bool { return strings.HasSuffix(o.value.Value, `\`) }):
		return errors.New("has a script that may not continue in the next -e")
	case !sedPrints(script, jailed):
		return errors.New("has a script that may do more than print")
	}
	return nil
}

// sedScript returns the script on a command line and the operands that are files. It is not ok
// if there is no script.
func sedScript(g *parsedArgs) (script string, files []Word, ok bool) {
	var scripts []string
	for _, o := range g.options {
		if o.name == "-e" || o.name == "--expression" {
			scripts = append(scripts, o.value.Value)
		}
	}
	files = g.operands
	if len(scripts) == 0 && !g.has("-f", "--file") && len(files) > 0 {
		scripts, files = []string{files[0].Value}, files[1:]
	}
	return strings.Join(scripts, "\n"), files, len(scripts) > 0
}

// sedNames returns all texts in a sed script that may be the name of a file after one of these
// commands: such a name extends to the end of the line.
func sedNames(script, commands string) []string {
	var names []string
	for line := range strings.Lines(script) {
		for i := range len(line) {
			if strings.IndexByte(commands, line[i]) < 0 {
				continue
			}
			if name := strings.TrimLeft(strings.TrimSuffix(line[i+1:], "\n"), " \t"); name != "" {
				names = append(names, name)
				if short := strings.TrimRight(name, "} \t"); short != name && short != "" {
					names = append(names, short)
				}
			}
		}
	}
	return names
}

// SedFiles returns all texts in a word of sed that may be names of files that it reads and
// writes, if the word is a script or an option with one.
func SedFiles(word string) (reads, writes []string) {
	return sedNames(word, "rR"), sedNames(word, "wW")
}

// sedOutputs returns the files that sed edits in place and those that its script may write.
func sedOutputs(g *parsedArgs) []use {
	script, files, _ := sedScript(g)
	var uses []use
	for _, o := range g.options {
		if o.name != "-i" && o.name != "--in-place" && o.name != "-I" {
			continue
		}
		for _, w := range files {
			uses = append(uses, use{verb: WritePath, word: w})
			suffix := o.value.Value
			if suffix != "" {
				uses = append(uses, backup(w, suffix))
			}
			if strings.Contains(suffix, "*") { // some take the star literally
				uses = append(uses, use{verb: WritePath, word: plainWord(w.Value + suffix)})
			}
		}
	}
	if sedPrints(script, false) {
		return uses
	}
	if sedRuns(script) {
		g.runs("a command of its script")
	}
	names := sedNames(script, "wW")
	if len(names) > 100 {
		return append(uses, somewhere(FromScript))
	}
	for _, name := range names {
		if name != "/dev/stdout" && name != "/dev/stderr" {
			uses = append(uses, use{verb: WritePath, word: plainWord(name)})
		}
	}
	return uses
}

// backup returns the backup that sed makes of a file: its name with a suffix, or substituted
// for a star.
func backup(w Word, suffix string) use {
	if w.Glob || !w.Static {
		return somewhere(FromOperands)
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
	return use{verb: WritePath, word: plainWord(name)}
}

// sedRuns reports whether a sed script may run a command.
func sedRuns(script string) bool {
	return strings.Contains(script, "e") && !sedPrints(script, false)
}

// sedCommands inspects a sed script for commands that it may run.
func (f argumentCode) sedCommands(script string) {
	if !sedRuns(script) {
		return
	}
	f.active = true
	for line := range strings.Lines(script) {
		for i := range len(line) {
			if line[i] == 'e' && (i == 0 || !letter(line[i-1])) {
				f.script(line[i+1:], true)
			}
		}
	}
	for _, text := range strings.FieldsFunc(script, func(r rune) bool { return strings.ContainsRune(sedDelimiters, r) }) {
		f.script(text, true) // s/x/command/e
	}
	f.guess(script)
	f.doubt("sed may run a command of its script")
}

func letter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// awkBare returns an awk program with a quote in place of each string and 1 in place of each simple
// regular expression, up to the first sign that may start another one, a division or a comment, and
// the rest, in which strings cannot be told from code. It keeps strings after the start of the
// program and the given signs.
func awkBare(program, keep string) (bare, rest string) {
	var b strings.Builder
	for {
		n := strings.IndexAny(program, "\"/#")
		if n < 0 {
			return b.String() + program, ""
		}
		b.WriteString(program[:n])
		program = program[n:]
		before := strings.TrimRight(b.String(), " \t")
		if n := len(awkRegex().FindString(program)); n > 0 && (before == "" || strings.IndexByte("~(,!&|{;", before[len(before)-1]) >= 0) {
			b.WriteString("1 ")
			program = program[n:]
			continue
		}
		at := awkString().FindStringIndex(program)
		if at == nil || at[0] > 0 {
			return b.String(), program
		}
		if before == "" || strings.IndexByte(keep, before[len(before)-1]) >= 0 {
			b.WriteString(program[:at[1]])
		} else {
			b.WriteByte('\'')
		}
		program = program[at[1]:]
	}
}

// awkPrinted returns a bare awk program from the first print on, without outputs to standard
// output and error, and without comparisons in parentheses.
func awkPrinted(bare string) string {
	_, printed, _ := strings.Cut(awkDevices().ReplaceAllString(bare, "$1"), "print")
	for range 5 { // nested parentheses
		printed = awkGroup().ReplaceAllString(printed, "1")
	}
	return printed
}

// awkPrints returns the reason why an awk program may do more than print outside a jail, or nil.
// It does not parse the program, since implementations differ in how they do: a command needs a
// pipe or a call, and an output follows a print in the order of the text.
func awkPrints(program string) error {
	if err := awkReads(program); err != nil {
		return err
	}
	bare, rest := awkBare(program, ">")
	backslash := strings.Contains(bare, `\`) || strings.Contains(rest, "\\\n")
	switch bare += rest; {
	case backslash:
		return errors.New("has a program that adze doesn't understand")
	case awkRuns(program):
		return errors.New("may run another program")
	case strings.Contains(awkPrinted(bare), ">"):
		return errors.New("may write a file")
	}
	return nil
}

// awkPrintsJailed returns the reason why an awk program would fail in a jail, or nil.
func awkPrintsJailed(program string) error {
	if err := awkReads(program); err != nil {
		return err
	}
	bare, rest := awkBare(program, ">")
	bare = awkString().ReplaceAllString(awkDevices().ReplaceAllString(bare+rest, "$1"), "'")
	switch {
	case awkCall().MatchString(program) || awkIntoPipe().MatchString(bare):
		return errors.New("runs another program")
	case awkWrite().MatchString("print" + awkPrinted(bare)):
		return errors.New("writes a file")
	}
	return nil
}

var (
	awkRegex   = lazily(`\A/[A-Za-z0-9_ .:<>|*+?^$@%&,-][A-Za-z0-9_ .:=<>|*+?^$@%&,-]*/`)
	awkString  = lazily(`"(?:[^"\\\n]|\\.)*"`)
	awkDevices = lazily(`>>?[ \t]*"/dev/(?:stdout|stderr|null)"[ \t]*([;}\n]|\z)`)
	awkGroup   = lazily(`\([^()"/;{}#\n]*\)`)
	awkOther   = lazily(`ENVIRON|SYMTAB|FUNCTAB|ARG[VCI]|extension`)
	awkCall    = lazily(`system(?:[ \t\r\n]|\\\r?\n)*\(|@[ \t]*[A-Za-z0-9_:]+[ \t]*[("']`)
	awkSystem  = lazily(`(?:\A|[^A-Za-z_])system\b`) // one awk needs no argument: it runs the input
	awkPipe    = lazily(`(?:^|[^|])\|(?:[^|]|$)`)
	// awkIntoPipe and awkWrite match programs without the contents of their strings.
	awkIntoPipe = lazily(`\|&|\|[ \t]*(?:'|getline)|print[^;{}()\n]*[^|;{}()\n]\|[^|]`)
	awkWrite    = lazily(`>>?[ \t]*'|print[^;{}()\n]*>`)
)

// awkReads returns the reason why an awk program may read the environment, or files other than
// its operands, or nil.
func awkReads(program string) error {
	if name := awkOther().FindString(program); name != "" {
		return fmt.Errorf("uses %s", name)
	}
	if strings.Contains(program, "getline") && strings.Contains(program, "<") {
		return errors.New("may read another file")
	}
	return nil
}

// awkRuns reports whether an awk program may run a command.
func awkRuns(program string) bool {
	bare, rest := awkBare(program, ">")
	return awkBareRuns(bare + rest)
}

func awkBareRuns(bare string) bool {
	_, printed, _ := strings.Cut(bare, "print")
	return awkCall().MatchString(bare) || awkSystem().MatchString(bare) || strings.Contains(bare, "|&") || awkPipe().MatchString(printed) ||
		strings.Contains(bare, "getline") && awkPipe().MatchString(bare)
}

// awkSpelled matches commands that an awk program spells out.
var awkSpelled = lazily(`system[ \t]*\([ \t]*"[^"\\]*"[ \t]*\)|\|&?[ \t]*"[^"\\]*"[ \t]*(?:[;}\n]|$)|[({;\n][ \t]*"[^"\\]*"[ \t]*\|&?[ \t]*getline`)

// awkCommands inspects an awk program for commands that it may run, which may be any of its
// strings. Words are the arguments of awk.
func (f argumentCode) awkCommands(program string, words []Word) {
	if !awkRuns(program) {
		return
	}
	f.active = true
	for text := range strings.SplitSeq(program, `"`) {
		f.script(strings.NewReplacer(`\t`, "\t", `\n`, "\n", `\`, "").Replace(text), true)
	}
	for _, w := range words { // awk -v c='rm x' 'BEGIN { system(c) }'
		f.guess(w.Value)
	}
	if awkRunsUnknown(program) {
		f.doubt("awk runs a command that is known only at run time")
	}
}

// awkRunsUnknown reports whether an awk program may run a command that it does not spell out.
func awkRunsUnknown(program string) bool {
	bare, rest := awkBare(program, "(|&{;\n")
	return awkBareRuns(awkSpelled().ReplaceAllString(bare, ";") + rest)
}

// awkPrograms returns the programs on a command line of awk, and the operands that are files.
func awkPrograms(g *parsedArgs) (programs []Word, files []Word) {
	for _, o := range g.options {
		if o.name == "-e" || o.name == "--source" {
			programs = append(programs, o.value)
		}
	}
	files = g.operands
	if len(programs) == 0 && !g.has("-f", "--file", "-E", "--exec") && len(files) > 0 {
		programs, files = files[:1], files[1:]
	}
	return programs, files
}

// awkTarget matches an output that an awk program names.
var awkTarget = lazily(`>>?[ \t]*"([^"\\]*)"[ \t]*([;}\n]|\z)`)

// awkOutputs returns the files that an awk program writes or edits in place.
func awkOutputs(g *parsedArgs) []use {
	programs, files := awkPrograms(g)
	var uses []use
	for _, o := range g.options {
		if (o.name == "-i" || o.name == "--include") && strings.HasPrefix(o.value.Value, "inplace") {
			uses = append(uses, all(WritePath, files)...)
		}
	}
	for _, w := range programs {
		program := w.Value
		if awkPrints(program) == nil {
			continue
		}
		if awkRuns(program) || strings.Contains(program, "getline") {
			g.runs("a command of its program")
		}
		bare, rest := awkBare(program, ">")
		if rest != "" {
			bare += "/" // so that an output does not end there
		}
		for _, m := range awkTarget().FindAllStringSubmatch(bare+rest, -1) {
			uses = append(uses, use{verb: WritePath, word: plainWord(m[1])})
		}
		if strings.Contains(awkPrinted(awkTarget().ReplaceAllString(bare, "$2")+rest), ">") {
			uses = append(uses, somewhere(FromScript))
		}
	}
	return uses
}

// checkAwk accepts programs that can neither run nor write anything, nor read the environment
// or files other than their operands.
func checkAwk(a *parsedArgs) error { return checkAwkWith(a, awkPrints) }

func checkAwkJailed(a *parsedArgs) error { return checkAwkWith(a, awkPrintsJailed) }

func checkAwkWith(a *parsedArgs, check func(program string) error) error {
	words := a.words
	for len(words) > 0 && len(words[0].Value) > 1 && words[0].Value[0] == '-' {
		v := words[0].Value
		switch {
		case v == "--":
		case v == "-F" || v == "-v":
			if len(words) < 2 || v == "-v" && !awkAssigns(words[1].Value) {
				return errors.New("has a value of " + v + " that adze doesn't understand")
			}
			words = words[1:]
		case strings.HasPrefix(v, "-F"), strings.HasPrefix(v, "-v") && awkAssigns(v[2:]), v == "--csv", v == "--posix", v == "--re-interval", v == "-Wversion":
		default:
			return fmt.Errorf("may do more than read with %s", v)
		}
		words = words[1:]
		if v == "--" {
			break
		}
	}
	if len(words) == 0 {
		return errors.New("lacks a program")
	}
	return check(words[0].Value)
}

// awkAssigns reports whether awk treats an operand as an assignment, NAME=value. Any other
// operand is a file.
func awkAssigns(operand string) bool {
	name, _, ok := strings.Cut(operand, "=")
	return ok && syntax.ValidName(name)
}

// awkFiles returns awk's operands after its program.
func awkFiles(words []Word) []Word {
	for i := 0; i < len(words); i++ {
		switch v := words[i].Value; {
		case v == "-F" || v == "-v" || v == "-f":
			i++
		case len(v) > 1 && v[0] == '-':
		default:
			return slices.DeleteFunc(slices.Clone(words[i+1:]), func(w Word) bool { return w.Static && awkAssigns(w.Value) })
		}
	}
	return nil
}
