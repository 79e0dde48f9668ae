package session

import "fmt"

type (
	// Visit asks the user to open a page in a web browser. A [Visited] answers it.
	Visit struct {
		From    string // the asker, such as a server
		Message string
		// URL contains only printable ASCII. Host is its host.
		URL, Host string
		ID        string // ID given by the server; may be empty
		// Opened is true if the user has agreed; the question is then whether they are done
		// with the page.
		Opened bool
	}

	// Visited answers [Visit].
	Visited struct {
		Action Action
		// Open is true if the program should open the page because the front end has not.
		Open bool
	}

	// Sampling asks whether a server may query the model. A [Filled] without values answers it.
	Sampling struct {
		From      string // the server
		Text      string // complete input to the model, by role
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

// Unanswered cancels the request.
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
