package session

import "fmt"

type (
	// Visit asks the user to open a page in a web browser. A [Visited] answers it.
	Visit struct {
		From    string // who asks, such as a server
		Message string
		// URL is written with printable ASCII alone, and Host is its host.
		URL, Host string
		ID        string // of the server; it may be empty
		// Opened says that the user has agreed, and is asked to say when they are done with the page.
		Opened bool
	}

	// Visited answers [Visit].
	Visited struct {
		Action Action
		// Open says that the program is to open the page: the front end has not.
		Open bool
	}

	// Sampling asks whether a server may ask the model something. A [Filled] without values answers it.
	Sampling struct {
		From      string // the server
		Text      string // all that the model would be told, by role
		MaxTokens int
	}
)

func (Visited) reply() {}

// Unanswered cancels the visit.
func (Visit) Unanswered() Reply { return Visited{Action: Cancel} }

func (Visit) check(r Reply) error {
	v, ok := r.(Visited)
	if !ok {
		return mismatch(r)
	}
	return v.Action.check()
}

// Unanswered refuses the request.
func (Sampling) Unanswered() Reply { return Filled{Action: Cancel} }

func (Sampling) check(r Reply) error {
	f, ok := r.(Filled)
	if !ok {
		return mismatch(r)
	}
	return f.Action.check()
}

func (a Action) check() error {
	switch a {
	case Accept, Decline, Cancel:
		return nil
	}
	return fmt.Errorf("a question is accepted, declined or cancelled, not %q", a)
}
