// Package actions holds the actions of a command, such as list and remove, in a table: it finds one by its name, checks how
// many arguments it gets, and lists them for help. What an action does is left to the package with the table.
package actions

import (
	"context"
	"strings"

	"adze/internal/app/setup"
	"adze/internal/app/syntax"
	"adze/internal/platform/spell"
)

// Any is the Most of an action that takes any number of arguments.
const Any = -1

// An Action is one of the actions of a command. T is what it works on.
type Action[T any] struct {
	Name, Alias string
	Args, Doc   string
	Least, Most int // arguments
	Run         func(context.Context, T) error
}

// Check returns an error if the action of a command cannot have n arguments.
func (a *Action[T]) Check(command string, n int) error {
	if n < a.Least || a.Most != Any && n > a.Most {
		return setup.Errorf("usage: adze %s %s", command, strings.TrimSpace(a.Name+" "+a.Args))
	}
	return nil
}

// A Table is the actions of a command.
type Table[T any] []Action[T]

// Find returns the action of a command that has a name.
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

// Help returns the actions as help lists them.
func (t Table[T]) Help() (list []syntax.Action) {
	for _, a := range t {
		list = append(list, syntax.Action{Name: a.Name, Args: a.Args, Doc: a.Doc})
	}
	return list
}

// Unknown returns the error for an action that a command does not have, given the names of those it has.
func Unknown(command, name string, names []string) error {
	if near := spell.Closest(name, names, 1); len(near) > 0 {
		return setup.Errorf("there is no command adze %s %s; did you mean %s?", command, name, near[0])
	}
	return setup.Errorf("there is no command adze %s %s; usage: adze %s %s", command, name, command, strings.Join(names, "|"))
}
