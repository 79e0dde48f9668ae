package cli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"adze/internal/app/setup"
	"adze/internal/platform/spell"
)

// A flag is one line of a command's table of flags, bound to a field of the command's options.
type flag struct {
	name    string
	short   string
	aliases []string // other names that clients use
	value   string   // what the value is called; empty for a switch
	// optional says that a value can only be given as --name=value, bare that it may be left out.
	optional, bare bool
	// more reports whether the argument after a value is a further value; it may be nil.
	more func(arg string) bool
	doc  string
	set  func(value string) error
	// missing names the part of the program that the flag needs and this version lacks: the flag is ignored
	// with a note, or, if refused is set, is an error, because ignoring it would do the wrong thing.
	missing string
	refused bool
}

// An invocation holds the arguments of a command that are not values of its flags.
type invocation struct {
	args  []string        // what is not a flag
	given map[string]bool // flags by name
	notes []string        // flags that have no effect
}

// parse reads arguments by a table of flags.
func parse(table []flag, args []string) (in invocation, err error) {
	in.given = map[string]bool{}
	for i := 0; i < len(args); i++ {
		arg := args[i]
		switch {
		case arg == "--":
			in.args = append(in.args, args[i+1:]...)
			return in, nil
		case len(arg) < 2 || arg[0] != '-':
			in.args = append(in.args, arg)
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
func (in *invocation) parseFlag(table []flag, args []string) (used int, err error) {
	name, value, hasValue := strings.Cut(args[0], "=")
	f := findFlag(table, name)
	if f == nil {
		return 0, unknownFlag(table, name)
	}
	if f.refused {
		return 0, setup.Errorf("%s needs %s, which this version does not have", name, f.missing)
	}
	switch {
	case f.value == "" && hasValue:
		if value != "true" && value != "false" {
			return 0, setup.Errorf("%s takes no value, got %q", name, value)
		}
		if value == "false" {
			return 0, nil
		}
	case f.bare && !hasValue && (len(args) < 2 || strings.HasPrefix(args[1], "-")):
	case f.value != "" && !hasValue && !f.optional:
		if len(args) < 2 {
			return 0, setup.Errorf("%s needs a value: %s %s", name, name, f.value)
		}
		value, used = args[1], 1
	}
	in.given[f.name] = true
	if f.missing != "" {
		in.notes = append(in.notes, fmt.Sprintf("%s has no effect: this version does not have %s yet", name, f.missing))
		return used, nil
	}
	if err := f.set(value); err != nil {
		return 0, setup.Errorf("%s: %v", name, err)
	}
	for f.more != nil && used+1 < len(args) && f.more(args[used+1]) {
		used++
		if err := f.set(args[used]); err != nil {
			return 0, setup.Errorf("%s: %v", name, err)
		}
	}
	return used, nil
}

func findFlag(table []flag, name string) *flag {
	for i := range table {
		f := &table[i]
		if name == "--"+f.name || f.short != "" && name == "-"+f.short {
			return f
		}
		for _, a := range f.aliases {
			if name == "--"+a {
				return f
			}
		}
	}
	return nil
}

func unknownFlag(table []flag, name string) error {
	var names []string
	for _, f := range table {
		names = append(names, f.name)
		names = append(names, f.aliases...)
	}
	if near := spell.Closest(strings.TrimLeft(name, "-"), names, 1); len(near) > 0 {
		return setup.Errorf("there is no flag %s; did you mean --%s? See adze --help", name, near[0])
	}
	return setup.Errorf("there is no flag %s; see adze --help", name)
}

// only returns the flags of a table that have these names, in the order of the table.
func only(table []flag, names ...string) []flag {
	return slices.DeleteFunc(table, func(f flag) bool { return !slices.Contains(names, f.name) })
}

// Setters, for the tables of flags.

func setBool(p *bool) func(string) error {
	return func(string) error { *p = true; return nil }
}

func setText(p *string) func(string) error {
	return func(v string) error { *p = v; return nil }
}

func setChoice[T ~string](p *T, choices ...T) func(string) error {
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

func setCount(p *int, least int) func(string) error {
	return func(v string) error {
		n, err := strconv.Atoi(v)
		if err != nil || n < least {
			return fmt.Errorf("%q is not a whole number of at least %d", v, least)
		}
		*p = n
		return nil
	}
}

// addTo appends a value as it is: lists of rules are split by the package that parses rules.
func addTo(p *[]string) func(string) error {
	return func(v string) error { *p = append(*p, v); return nil }
}
