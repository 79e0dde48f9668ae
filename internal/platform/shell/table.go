package shell

import (
	"fmt"
	"strings"
	"sync"
)

// A command is a row in the tables of read-only commands. It lists all permitted options; an
// option that is unlisted, abbreviated or attached to its value in another way makes the
// command unknown.
//
// Options are words: "-l" has no value, "-n:#" has a value in the next word or, for a long
// option, after an equals sign. The letter is the kind of value:
//
//	#  a number, which may also follow a short option directly (-n5)
//	L  a list of numbers and ranges, likewise (-f1,3-)
//	K  a sort key, likewise (-k2,2nr)
//	1  a single character, likewise (-d:)
//	N  any text
//	G  any text, which may also follow a short option directly (-Stext)
//	P  a path that is read
//	=  any text, only after an equals sign (--color=auto)
//	+  a number, only directly after a short option (-w5)
//	2  any two words
//	Q  a word, and a path that is read
//
// "-#" is a number as an option (head -20). Options without values may be joined (ls -la), and
// the last of them may have a value in the next word. In a jail any value may follow a short
// option directly.
type command struct {
	name     string
	class    Class
	options  string
	operands operands
	check    func(a *arguments) error // further check, or nil

	// jail is true if the command is proven only for a line that runs in a jail, and more lists
	// options for which that holds: they have further effects than the words show, or have not
	// been examined closely enough.
	jail bool
	more string
	// needs lists the command's needs in a jail in addition to its own program, helpers the
	// programs that it executes.
	needs   need
	helpers string
	must    string // required options, any of which suffices, or empty
	// runs is true if the command has unlisted options with which it runs or loads something
	// else: none of its words may become such an option at run time.
	runs bool
}

// A need is a resource that a command needs in a jail.
type need uint8

const (
	builtin   need = 1 << iota // implemented by the shell, not a program
	processes                  // all processes, mounts or devices
	network                    // sockets and interfaces
)

// operands is the kind of a command's other words.
type operands uint8

const (
	paths     operands = iota // files and directories that are read
	onePath                   // a single path: a second would be written
	texts                     // text, no files
	none                      // no operands permitted
	pattern                   // text, unless an option gives it, then paths
	script                    // text, then paths
	anything                  // no options; check interprets the words
	revisions                 // git revisions or paths
	archive                   // a path, then names inside it
	program                   // paths of programs that it may run or only read
)

// arguments are a command's words, classified by a table row.
type arguments struct {
	words    []Word // all words
	options  []string
	values   []Word   // option values
	valued   []string // options that have them
	paths    []Word   // option values that are paths
	operands []Word
	jail     bool // the command runs in a jail
}

func (a *arguments) has(options ...string) bool {
	for _, have := range a.options {
		for _, want := range options {
			if have == want {
				return true
			}
		}
	}
	return false
}

// An entry is a row that is parsed on first lookup.
type entry struct {
	command
	read   sync.Once
	alone  map[string]bool // options without a value
	values map[string]byte // kind of each option's value
	jailed map[string]bool // options proven only in a jail
}

// commands returns the rows by name. Rows of git include the sub-command in their name.
var commands = sync.OnceValue(func() map[string]*entry {
	all := make(map[string]*entry)
	for _, table := range [][]command{
		searchTable, readTable, systemTable, listTable, neutralTable, gitTable, toolTable,
		textTable, archiveTable, binaryTable, machineTable, packageTable, versionTable, builtinTable,
	} {
		for _, c := range table {
			e := &entry{command: c}
			for name := range strings.FieldsSeq(c.name) {
				if program, _, _ := strings.Cut(name, "_"); program == "git" || program == "go" || subcommanded(program) {
					name = strings.ReplaceAll(name, "_", " ")
				}
				all[name] = e
			}
		}
	}
	return all
})

// find returns the row of that name with its options parsed, or nil.
func find(name string) *entry {
	e := commands()[name]
	if e != nil {
		e.read.Do(e.readOptions)
	}
	return e
}

func (e *entry) readOptions() {
	e.alone, e.values, e.jailed = make(map[string]bool), make(map[string]byte), make(map[string]bool)
	for i, list := range []string{e.options, e.more} {
		for option := range strings.FieldsSeq(list) {
			name, kind, ok := strings.Cut(option, ":")
			if ok {
				e.values[name] = kind[0]
			} else {
				e.alone[name] = true
			}
			e.jailed[name] = i == 1
		}
	}
}

// sort classifies words, without the command name, by the row: for a command in a jail, or for
// an unconfined one.
func (e *entry) sort(words []Word, jail bool) (*arguments, error) {
	a := &arguments{words: words, jail: jail}
	if e.operands == anything {
		a.operands = words
		return a, nil
	}
	for i := 0; i < len(words); i++ {
		v := words[i].Value
		if len(v) < 2 || v[0] != '-' {
			a.operands = append(a.operands, words[i])
			continue
		}
		// --include=*.go remains that option, regardless of its expansion.
		name, _, _ := strings.Cut(v, "=")
		if words[i].Glob && !jail && (strings.ContainsAny(name, "*?[") || name == v) {
			return a, fmt.Errorf("the option %s is a pattern", v)
		}
		if v == "--" {
			a.options = append(a.options, v)
			a.operands = append(a.operands, words[i+1:]...)
			break
		}
		taken, err := e.option(a, v, words[i+1:])
		if err != nil {
			return a, err
		}
		i += taken
	}
	return a, nil
}

// option parses one option and returns the number of following words that are its value.
func (e *entry) option(a *arguments, v string, rest []Word) (taken int, err error) {
	if e.alone[v] {
		a.options = append(a.options, v)
		return 0, nil
	}
	if kind := e.values[v]; separate(kind) {
		return e.value(a, v, kind, rest)
	}
	if name, value, ok := strings.Cut(v, "="); ok && strings.HasPrefix(v, "--") && e.values[name] != 0 {
		_, err = e.value(a, name, e.values[name], []Word{plainWord(value)})
		return 0, err
	}
	if e.alone["-#"] && digits(v[1:]) {
		return 0, nil
	}
	if v[1] != '-' {
		if e.glued(a, v[:2], v[2:]) {
			_, err = e.value(a, v[:2], e.values[v[:2]], []Word{plainWord(v[2:])})
			return 0, err
		}
		return e.joined(a, v, rest)
	}
	return 0, fmt.Errorf("the option %s is not known to only read", v)
}

// separate reports whether a value of the kind may be the next word.
func separate(kind byte) bool { return kind != 0 && kind != '=' && kind != '+' }

// glued reports whether value, which follows a short option directly, is its value.
func (e *entry) glued(a *arguments, option, value string) bool {
	switch kind := e.values[option]; kind {
	case 0, '=', '2', 'Q':
		return false
	case 'N', 'P':
		return a.jail && value != ""
	default:
		return valid(kind, value) || a.jail && kind == '1' && value != ""
	}
}

// joined parses short options that share a dash.
func (e *entry) joined(a *arguments, v string, rest []Word) (taken int, err error) {
	for i := 1; i < len(v); i++ {
		option := "-" + v[i:i+1]
		kind := e.values[option]
		switch {
		case separate(kind) && i == len(v)-1:
			return e.value(a, option, kind, rest)
		case a.jail && e.glued(a, option, v[i+1:]):
			_, err = e.value(a, option, kind, []Word{plainWord(v[i+1:])})
			return 0, err
		case !e.alone[option]:
			return 0, fmt.Errorf("the option %s is not known to only read", v)
		}
		a.options = append(a.options, option)
	}
	return 0, nil
}

// value takes an option's value from rest and returns the number of words it has.
func (e *entry) value(a *arguments, option string, kind byte, rest []Word) (taken int, err error) {
	n := 1
	if kind == '2' || kind == 'Q' {
		n = 2
	}
	if len(rest) < n {
		return 0, fmt.Errorf("the option %s lacks its value", option)
	}
	for _, w := range rest[:n] {
		switch {
		case a.jail:
		case w.Glob:
			return 0, fmt.Errorf("the value of %s is a pattern", option)
		case !valid(kind, w.Value):
			return 0, fmt.Errorf("the value of %s is not understood", option)
		}
	}
	a.options = append(a.options, option)
	a.values, a.valued = append(a.values, rest[n-1]), append(a.valued, option)
	if kind == 'P' || kind == 'Q' {
		a.paths = append(a.paths, rest[n-1])
	}
	return n, nil
}

// valid reports whether value is of the kind.
func valid(kind byte, value string) bool {
	var letters string
	switch kind {
	case '#', '+':
		letters = "0123456789"
		value = strings.TrimRight(strings.TrimLeft(value, "+-"), "kKMGbc")
	case 'L':
		letters = "0123456789,-"
	case 'K':
		letters = "0123456789.,bdfgiMhnRrV"
	case '1':
		return len([]rune(value)) == 1
	default:
		return true
	}
	return value != "" && strings.Trim(value, letters) == ""
}

func digits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// reads returns the operands that are paths.
func (e *entry) reads(a *arguments) []Word {
	ops := a.operands
	switch e.operands {
	case texts, none, anything:
		return a.paths
	case archive:
		ops = ops[:min(1, len(ops))]
	case pattern:
		if !a.has("-e", "-f", "--regexp", "--file", "--files") && len(ops) > 0 {
			ops = ops[1:]
		}
	case script:
		if !a.has("-f", "--from-file") && len(ops) > 0 {
			ops = ops[1:]
		}
	}
	return append(a.paths[:len(a.paths):len(a.paths)], ops...)
}
