// Package actions implements tables of command actions, such as list and remove: lookup by
// name, argument counts, and help.
package actions

import (
	"context"
	"strings"

	"adze/internal/app/cli/flags"
	"adze/internal/platform/text/rank"
	"adze/internal/setup"
)

// Any as Most means any number of arguments.
const Any = -1

// An Action is an action of a command. T is the type it operates on.
type Action[T any] struct {
	Name, Alias string
	Args, Doc   string
	Least, Most int // number of arguments
	Run         func(context.Context, T) error
}

// Check returns an error if the action does not accept n arguments.
func (a *Action[T]) Check(command string, n int) error {
	if n < a.Least || a.Most != Any && n > a.Most {
		return setup.Errorf("usage: adze %s %s", command, strings.TrimSpace(a.Name+" "+a.Args))
	}
	return nil
}

// A Table holds a command's actions.
type Table[T any] []Action[T]

// Find returns a command's action by name.
func (t Table[T]) Find(command, name string) (*Action[T], error) {
	var names []string
	for i, a := range t {
		if a.Name == name || a.Alias == name && name != "" {
			return &t[i], nil
		}
		names = append(names, a.Name)
	}
	return nil, Unknown(command, name, names)
}

// Help returns the actions for help.
func (t Table[T]) Help() (list []flags.Action) {
	for _, a := range t {
		list = append(list, flags.Action{Name: a.Name, Args: a.Args, Doc: a.Doc})
	}
	return list
}

// Unknown returns the error for an unknown action, given the known names.
func Unknown(command, name string, names []string) error {
	if near := rank.Closest(name, names, 1); len(near) > 0 {
		return setup.Errorf("unknown command: adze %s %s; did you mean %s?", command, name, near[0])
	}
	return setup.Errorf("unknown command: adze %s %s; usage: adze %s %s", command, name, command, strings.Join(names, "|"))
}
