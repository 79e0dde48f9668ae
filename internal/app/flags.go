package app

import (
	"fmt"
	"strings"

	"adze/internal/platform/spell"
)

// A flag is one line of a command's table of flags.
type flag struct {
	name    string
	short   string
	aliases []string // other names that clients use
	value   string   // what the value is called; empty for a switch
	// optional says that a value can only be given as --name=value, bare that it may be left out.
	optional, bare bool
	// more, if not nil, says whether the argument after a value is a further value.
	more func(arg string) bool
	doc  string
	set  func(o *options, value string) error
	// missing says what part is not there yet; the flag is accepted with a note. With refused it is
	// not accepted: doing something else than what was asked for would be worse than nothing.
	missing string
	refused bool
}

// parseFlags reads args by the table. What is not a flag is an argument of the command.
func parseFlags(table []flag, args []string, o *options) error {
	for i := 0; i < len(args); i++ {
		arg := args[i]
		switch {
		case arg == "--":
			o.args = append(o.args, args[i+1:]...)
			return nil
		case len(arg) < 2 || arg[0] != '-':
			o.args = append(o.args, arg)
			continue
		}
		used, err := parseFlag(table, args[i:], o)
		if err != nil {
			return err
		}
		i += used
	}
	return nil
}

// parseFlag reads the flag that args begins with and returns how many arguments follow it.
func parseFlag(table []flag, args []string, o *options) (used int, err error) {
	name, value, hasValue := strings.Cut(args[0], "=")
	f := findFlag(table, name)
	if f == nil {
		return 0, unknownFlag(table, name)
	}
	if f.refused {
		return 0, setupErrorf("%s needs %s, which this version does not have yet", name, f.missing)
	}
	switch {
	case f.value == "" && hasValue:
		if value != "true" && value != "false" {
			return 0, setupErrorf("%s takes no value, got %q", name, value)
		}
		if value == "false" {
			return 0, nil
		}
	case f.bare && !hasValue && (len(args) < 2 || strings.HasPrefix(args[1], "-")):
	case f.value != "" && !hasValue && !f.optional:
		if len(args) < 2 {
			return 0, setupErrorf("%s needs a value: %s %s", name, name, f.value)
		}
		value, used = args[1], 1
	}
	if o.given == nil {
		o.given = map[string]bool{}
	}
	o.given[f.name] = true
	if f.missing != "" {
		o.notes = append(o.notes, fmt.Sprintf("%s has no effect: this version does not have %s yet", name, f.missing))
		return used, nil
	}
	if err := f.set(o, value); err != nil {
		return 0, setupErrorf("%s: %v", name, err)
	}
	for f.more != nil && used+1 < len(args) && f.more(args[used+1]) {
		used++
		if err := f.set(o, args[used]); err != nil {
			return 0, setupErrorf("%s: %v", name, err)
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
		return setupErrorf("there is no flag %s; did you mean --%s? See adze --help", name, near[0])
	}
	return setupErrorf("there is no flag %s; see adze --help", name)
}
