package desk

import (
	"context"
	"fmt"

	"adze/internal/platform/task"
	"adze/internal/session"
)

// An Answer is what a command comes to: one of the types below, and nothing else. The front end carries it out.
type Answer interface{ answer() }

type (
	// A List is something to choose from.
	List struct {
		// Page is shown before the choices.
		Page
		Choices []Choice
		// Choose does what choosing means.
		Choose func(ctx context.Context, c Choice) (Answer, error)
		// Usage is how to choose with a command; empty if only the list can be chosen from.
		Usage string
	}

	// A Prompt is said to the model in place of the command.
	Prompt struct{ Text string }

	// An Operation is for the session to do.
	Operation struct {
		session.Op
		// Page is shown when the session has taken it.
		Page
		// Entries says that entries of the session tell what comes of it. Where they are not shown, Result does.
		Entries bool
		Result  string
	}

	// An Edit lets the user edit a file; Page is shown afterwards.
	Edit struct {
		Path string
		Page
	}

	// A Follow shows what a task prints until it ends; Page is what it has printed so far.
	Follow struct {
		*task.Task
		Page
	}

	// A Switch continues with another session: the one that is named, or a new one.
	Switch struct{ Session string }

	// Leave ends the program.
	Leave struct{}
)

// A Choice is one of a list.
type Choice struct{ ID, Title, About string }

func (Page) answer()      {}
func (List) answer()      {}
func (Prompt) answer()    {}
func (Operation) answer() {}
func (Edit) answer()      {}
func (Follow) answer()    {}
func (Switch) answer()    {}
func (Leave) answer()     {}

// NoEditor says that a front end cannot let the user edit a file.
func NoEditor(path string) error {
	return fmt.Errorf("there is no editor without a terminal; the file is %s", path)
}
