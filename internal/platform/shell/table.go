package shell

import (
	"fmt"
	"strings"
	"sync"
)

// A command is one row of the tables of commands that only read. It lists every option it may have;
// one that is not listed, abbreviated or glued to its value in another way makes the command unknown.
//
// The options are words: "-l" stands alone, "-n:#" has a value in the next word or, if it is long,
// behind an equals sign. The letter says what the value is:
//
//	#  a number, which may also follow a short option directly (-n5)
//	L  a list of numbers and ranges, likewise (-f1,3-)
//	K  a sort key, likewise (-k2,2nr)
//	1  a single character, likewise (-d:)
//	N  any text
//	G  any text, which may also follow a short option directly (-Stext)
//	P  a path that is read
//	=  any text, and only behind an equals sign (--color=auto)
//
// "-#" is a number as an option (head -20). Options without values may be joined (ls -la), and the last
// of them may have a value in the next word.
type command struct {
	name     string
	class    Class
	options  string
	operands operands
	check    func(a *arguments) error // beyond the options, or nil
}

// operands says what the other words of a command are.
type operands uint8

const (
	paths     operands = iota // files and directories that are read
	onePath                   // at most one of them: a second would be written
	texts                     // no files
	none                      // there must not be any
	pattern                   // text, unless an option gives it, then paths
	script                    // text, then paths
	anything                  // no options at all; check says what they mean
	revisions                 // of git: names in a repository, or paths
)

// arguments are the words of a command, sorted by a row of a table.
type arguments struct {
	words    []Word // all of them
	options  []string
	values   []Word // of options
	paths    []Word // values of options that are paths
	operands []Word
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

// An entry is a row that is read when it is first looked up.
type entry struct {
	command
	read   sync.Once
	alone  map[string]bool // options without a value
	values map[string]byte // what the value of an option is
}

// commands returns the rows by name. Rows of git are named with their sub-command.
var commands = sync.OnceValue(func() map[string]*entry {
	all := make(map[string]*entry)
	for _, table := range [][]command{searchTable, readTable, systemTable, listTable, neutralTable, gitTable, toolTable} {
		for _, c := range table {
			e := &entry{command: c}
			for name := range strings.FieldsSeq(c.name) {
				all[strings.ReplaceAll(name, "_", " ")] = e
			}
		}
	}
	return all
})

// find returns the row of that name with its options read, or nil.
func find(name string) *entry {
	e := commands()[name]
	if e != nil {
		e.read.Do(e.readOptions)
	}
	return e
}

func (e *entry) readOptions() {
	e.alone, e.values = make(map[string]bool), make(map[string]byte)
	for option := range strings.FieldsSeq(e.options) {
		if name, kind, ok := strings.Cut(option, ":"); ok {
			e.values[name] = kind[0]
		} else {
			e.alone[option] = true
		}
	}
}

// sort reads words, without the name of the command, by the row.
func (e *entry) sort(words []Word) (*arguments, error) {
	a := &arguments{words: words}
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
		// --include=*.go stays that option, whatever it may stand for.
		if name, _, _ := strings.Cut(v, "="); words[i].Glob && strings.ContainsAny(name, "*?[") || words[i].Glob && name == v {
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

// option reads one option and returns how many of the words after it are its value.
func (e *entry) option(a *arguments, v string, rest []Word) (taken int, err error) {
	if e.alone[v] {
		a.options = append(a.options, v)
		return 0, nil
	}
	if kind := e.values[v]; kind != 0 && kind != '=' {
		return 1, e.value(a, v, kind, rest)
	}
	if name, value, ok := strings.Cut(v, "="); ok && strings.HasPrefix(v, "--") && e.values[name] != 0 {
		return 0, e.value(a, name, e.values[name], []Word{plainWord(value)})
	}
	if e.alone["-#"] && digits(v[1:]) {
		return 0, nil
	}
	if v[1] != '-' {
		if kind := e.values[v[:2]]; kind != 0 && kind != 'N' && kind != 'P' && valid(kind, v[2:]) {
			return 0, e.value(a, v[:2], kind, []Word{plainWord(v[2:])})
		}
		return e.joined(a, v, rest)
	}
	return 0, fmt.Errorf("the option %s is not known to only read", v)
}

// joined reads short options that share a dash.
func (e *entry) joined(a *arguments, v string, rest []Word) (taken int, err error) {
	for i := 1; i < len(v); i++ {
		option := "-" + v[i:i+1]
		kind := e.values[option]
		switch {
		case kind != 0 && i == len(v)-1:
			return 1, e.value(a, option, kind, rest)
		case !e.alone[option]:
			return 0, fmt.Errorf("the option %s is not known to only read", v)
		}
		a.options = append(a.options, option)
	}
	return 0, nil
}

func (e *entry) value(a *arguments, option string, kind byte, rest []Word) error {
	switch {
	case len(rest) == 0:
		return fmt.Errorf("the option %s lacks its value", option)
	case rest[0].Glob:
		return fmt.Errorf("the value of %s is a pattern", option)
	case !valid(kind, rest[0].Value):
		return fmt.Errorf("the value of %s is not understood", option)
	}
	a.options = append(a.options, option)
	a.values = append(a.values, rest[0])
	if kind == 'P' {
		a.paths = append(a.paths, rest[0])
	}
	return nil
}

// valid reports whether value is of the kind.
func valid(kind byte, value string) bool {
	var letters string
	switch kind {
	case '#':
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
	case pattern:
		if !a.has("-e", "-f", "--regexp", "--file", "--files") && len(ops) > 0 {
			ops = ops[1:]
		}
	case script:
		if len(ops) > 0 {
			ops = ops[1:]
		}
	}
	return append(a.paths[:len(a.paths):len(a.paths)], ops...)
}
