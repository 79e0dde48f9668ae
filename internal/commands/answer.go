package commands

import (
	"context"
	"fmt"

	"adze/internal/msg"
	"adze/internal/platform/proc/task"
	"adze/internal/session"
)

// An Answer is the result of a command, as defined below. The front end executes it.
type Answer interface{ answer() }

type (
	// A Prompt is sent to the model in place of the command.
	Prompt struct {
		Text string
		// Make creates the prompt when its turn begins; it may be nil. Text represents it until
		// then.
		Make func(ctx context.Context) (session.Prompt, error)
	}

	// An Operation is to be submitted to the session.
	Operation struct {
		session.Op
		// Page is shown when the session has accepted the operation.
		Page
		// Entries reports whether session entries show the outcome. Front ends that do not show
		// them show Result.
		Entries bool
		Result  string
		// Draft is put into the input for the user to edit; it may be empty. Pasted holds the
		// parts of it that the user pasted.
		Draft  string
		Pasted []msg.Span
	}

	// An Edit opens a file in the user's editor; Page is shown afterwards.
	Edit struct {
		Path string
		Page
	}

	// A Program restarts adze with other arguments, to interact with the user at the terminal;
	// Page is shown if it succeeds.
	Program struct {
		Args []string
		Page
	}

	// A Follow shows the output of a task until it ends; Page is the output so far.
	Follow struct {
		*task.Task
		Page
	}

	// A Copy copies a text to the clipboard; Page is shown afterwards.
	Copy struct {
		Text string
		Page
	}

	// A Switch changes to another session: the named one, or a new one if the name is empty.
	// MessageText is shown first; it may be empty.
	Switch struct{ Session, Said string }

	// Leave exits the program.
	Leave struct{}
)

// MessageText returns the prompt to submit to the session.
func (p Prompt) Said() session.Prompt {
	return session.Prompt{Parts: []msg.Part{&msg.Text{Text: p.Text}}, Make: p.Make}
}

func (Page) answer()      {}
func (List) answer()      {}
func (Prompt) answer()    {}
func (Operation) answer() {}
func (Edit) answer()      {}
func (Program) answer()   {}
func (Follow) answer()    {}
func (Copy) answer()      {}
func (Switch) answer()    {}
func (Leave) answer()     {}

// NoEditor returns the error of a front end without an editor.
func NoEditor(path string) error {
	return fmt.Errorf("no editor without a terminal; the file is %s", path)
}
