// Package flags defines the command-line syntax: flags, parsing, command descriptions, and the
// help, shell completions and manual page generated from them.
package flags

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"adze/internal/platform/text/rank"
	"adze/internal/setup"
)

// A Flag is an entry in a command's flag table, bound to a field of the command's options.
type Flag struct {
	Name    string
	Short   string
	Aliases []string // other names used by clients
	Value   string   // value's name; empty for a switch
	// Optional means that a value can only be given as --name=value, and Bare that it may be
	// omitted.
	Optional, Bare bool
	// More reports whether the argument after a value is another value; may be nil.
	More func(arg string) bool
	Doc  string
	Set  func(value string) error
	// Choices are completions of the value; Source names a kind of completion, such as models.
	// Without either the value is free-form, such as a file.
	Choices []string
	Source  string
	// Missing names the feature that the flag needs and this version lacks. The flag is ignored
	// with a note or, if Refused is set, rejected, because ignoring it would do the wrong
	// thing.
	Missing string
	Refused bool
	// Inherited passes the flag on to child processes, because it limits their permissions.
	Inherited bool
	// Group is the flag's heading in a long list; see [WriteGroups].
	Group string
}

// An Invocation holds a command's arguments other than flag values.
type Invocation struct {
	Args  []string        // positional arguments
	Rest  []string        // part of Args after --
	Given map[string]bool // flags given, by name
	Notes []string        // notes on flags without effect
	// Inherited holds the flags and values for child processes.
	Inherited []string
}

// Parse parses arguments with a flag table.
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

// parseFlag parses the flag at the start of args and returns how many of the following
// arguments it uses.
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

// Find returns the flag with the given name or alias, or nil.
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
	if near := rank.Closest(strings.TrimLeft(name, "-"), names, 1); len(near) > 0 {
		return setup.Errorf("unknown flag %s; did you mean --%s? See adze --help", name, near[0]) // clients look for these words
	}
	return setup.Errorf("unknown flag %s; see adze --help", name)
}

// Only returns the flags with these names, in table order.
func Only(table []Flag, names ...string) []Flag {
	return slices.DeleteFunc(table, func(f Flag) bool { return !slices.Contains(names, f.Name) })
}

// SetBool returns a setter for a boolean flag. The other Set functions do the same for other
// types.
func SetBool(p *bool) func(string) error {
	return func(string) error { *p = true; return nil }
}

// SetText returns a setter for a string.
func SetText(p *string) func(string) error {
	return func(v string) error { *p = v; return nil }
}

// OneOf completes a flag whose value must be among choices.
func OneOf[T ~string](f Flag, p *T, choices ...T) Flag {
	f.Set = SetChoice(p, choices...)
	for _, c := range choices {
		f.Choices = append(f.Choices, string(c))
	}
	return f
}

// SetChoice returns a setter for a value among choices.
func SetChoice[T ~string](p *T, choices ...T) func(string) error {
	return func(v string) error {
		if !slices.Contains(choices, T(v)) {
			return fmt.Errorf("invalid value %q (want one of %s)", v, joined(choices))
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

// SetCount returns a setter for an integer of at least least.
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

// AddTo returns a setter that appends a value verbatim: lists of rules are split by the rule
// parser.
func AddTo(p *[]string) func(string) error {
	return func(v string) error { *p = append(*p, v); return nil }
}
