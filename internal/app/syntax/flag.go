// Package syntax is the language of the command line: flags and how arguments are read by a table of them, the
// description of a command, and what is made of it: help, completions in shells, and the manual page. Which commands there
// are, and what they do, is left to package cli.
package syntax

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"adze/internal/app/setup"
	"adze/internal/platform/spell"
)

// A Flag is one line of a command's table of flags, bound to a field of the command's options.
type Flag struct {
	Name    string
	Short   string
	Aliases []string // other names that clients use
	Value   string   // what the value is called; empty for a switch
	// Optional says that a value can only be given as --name=value, Bare that it may be left out.
	Optional, Bare bool
	// More reports whether the argument after a value is a further value; it may be nil.
	More func(arg string) bool
	Doc  string
	Set  func(value string) error
	// Choices complete the value in a shell, and so does Source, which names a kind of thing, such as models. Without
	// either the value can be anything, such as a file.
	Choices []string
	Source  string
	// Missing names the part of the program that the flag needs and this version lacks: the flag is ignored
	// with a note, or, if Refused is set, is an error, because ignoring it would do the wrong thing.
	Missing string
	Refused bool
	// Inherited says that processes that work for this one get the flag, too: it limits what they may do.
	Inherited bool
	// Group is the heading that the flag stands below in a long list; see [WriteGroups].
	Group string
}

// An Invocation holds the arguments of a command that are not values of its flags.
type Invocation struct {
	Args  []string        // what is not a flag
	Rest  []string        // the end of Args that stands after --
	Given map[string]bool // flags by name
	Notes []string        // flags that have no effect
	// Inherited are the flags, with their values, for processes that work for this one.
	Inherited []string
}

// Parse reads arguments by a table of flags.
func Parse(table []Flag, args []string) (in Invocation, err error) {
	in.Given = map[string]bool{}
	for i := 0; i < len(args); i++ {
		arg := args[i]
		switch {
		case arg == "--":
			in.Rest = args[i+1:]
			in.Args = append(in.Args, in.Rest...)
			return in, nil
		case len(arg) < 2 || arg[0] != '-':
			in.Args = append(in.Args, arg)
			continue
		}
		used, err := in.parseFlag(table, args[i:])
		if err != nil {
			return in, err
		}
		i += used
	}
	return in, nil
}

// parseFlag reads the flag that args begins with and returns how many arguments follow it.
func (in *Invocation) parseFlag(table []Flag, args []string) (used int, err error) {
	name, value, hasValue := strings.Cut(args[0], "=")
	f := Find(table, name)
	if f == nil {
		return 0, unknownFlag(table, name)
	}
	if f.Refused {
		return 0, setup.Errorf("%s needs %s, which this version does not have", name, f.Missing)
	}
	switch {
	case f.Value == "" && hasValue:
		if value != "true" && value != "false" {
			return 0, setup.Errorf("%s takes no value, got %q", name, value)
		}
		if value == "false" {
			return 0, nil
		}
	case f.Bare && !hasValue && (len(args) < 2 || strings.HasPrefix(args[1], "-")):
	case f.Value != "" && !hasValue && !f.Optional:
		if len(args) < 2 {
			return 0, setup.Errorf("%s needs a value: %s %s", name, name, f.Value)
		}
		if next, _, _ := strings.Cut(args[1], "="); len(next) > 1 && next[0] == '-' && Find(table, next) != nil {
			return 0, setup.Errorf("%s needs a value before %s: %s %s (%s=%s if you mean the value %s)", name, next, name, f.Value, name, args[1], args[1])
		}
		value, used = args[1], 1
	}
	in.Given[f.Name] = true
	if f.Missing != "" {
		in.Notes = append(in.Notes, fmt.Sprintf("%s has no effect: this version does not have %s yet", name, f.Missing))
		return used, nil
	}
	if err := in.set(f, value); err != nil {
		return 0, setup.Errorf("%s: %v", name, err)
	}
	for f.More != nil && used+1 < len(args) && f.More(args[used+1]) {
		used++
		if err := in.set(f, args[used]); err != nil {
			return 0, setup.Errorf("%s: %v", name, err)
		}
	}
	return used, nil
}

// set sets a flag.
func (in *Invocation) set(f *Flag, value string) error {
	if f.Inherited {
		arg := "--" + f.Name
		if f.Value != "" {
			arg += "=" + value
		}
		in.Inherited = append(in.Inherited, arg)
	}
	return f.Set(value)
}

// Find returns the flag that is typed like name, or nil.
func Find(table []Flag, name string) *Flag {
	for i := range table {
		f := &table[i]
		if name == "--"+f.Name || f.Short != "" && name == "-"+f.Short {
			return f
		}
		for _, a := range f.Aliases {
			if name == "--"+a {
				return f
			}
		}
	}
	return nil
}

func unknownFlag(table []Flag, name string) error {
	var names []string
	for _, f := range table {
		names = append(names, f.Name)
		names = append(names, f.Aliases...)
	}
	if near := spell.Closest(strings.TrimLeft(name, "-"), names, 1); len(near) > 0 {
		return setup.Errorf("unknown flag %s; did you mean --%s? See adze --help", name, near[0]) // words that clients look for
	}
	return setup.Errorf("unknown flag %s; see adze --help", name)
}

// Only returns the flags of a table that have these names, in the order of the table.
func Only(table []Flag, names ...string) []Flag {
	return slices.DeleteFunc(table, func(f Flag) bool { return !slices.Contains(names, f.Name) })
}

// SetBool returns a setter, for the tables of flags, as do the next four functions: this one for a switch.
func SetBool(p *bool) func(string) error {
	return func(string) error { *p = true; return nil }
}

// SetText is for a text.
func SetText(p *string) func(string) error {
	return func(v string) error { *p = v; return nil }
}

// OneOf completes a flag whose value is one of some words.
func OneOf[T ~string](f Flag, p *T, choices ...T) Flag {
	f.Set = SetChoice(p, choices...)
	for _, c := range choices {
		f.Choices = append(f.Choices, string(c))
	}
	return f
}

// SetChoice is for one of some words.
func SetChoice[T ~string](p *T, choices ...T) func(string) error {
	return func(v string) error {
		if !slices.Contains(choices, T(v)) {
			return fmt.Errorf("%q is not one of %s", v, joined(choices))
		}
		*p = T(v)
		return nil
	}
}

func joined[T ~string](words []T) string {
	all := make([]string, len(words))
	for i, w := range words {
		all[i] = string(w)
	}
	return strings.Join(all, ", ")
}

// SetCount is for a whole number of at least least.
func SetCount(p *int, least int) func(string) error {
	return func(v string) error {
		n, err := strconv.Atoi(v)
		if err != nil || n < least {
			return fmt.Errorf("%q is not a whole number of at least %d", v, least)
		}
		*p = n
		return nil
	}
}

// AddTo appends a value as it is: lists of rules are split by the package that parses rules.
func AddTo(p *[]string) func(string) error {
	return func(v string) error { *p = append(*p, v); return nil }
}
