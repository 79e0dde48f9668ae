package commands

import "context"

// A List is a list to choose from. Line-based front ends show Page and the numbered Choices,
// and ignore the rest. A front end with a list screen shows the views, if any, and supports
// everything else.
type List struct {
	// Page is shown before the choices.
	Page
	// Question asks for the choice, after the page; it may be empty. The full terminal asks such
	// a list like other questions, in a card with the title, and leaves the conversation visible.
	Question string
	Choices  []Choice
	// Choose is called with the user's choice. It may be nil in a list with views: then nothing
	// can be chosen.
	Choose func(ctx context.Context, c Choice) (Answer, error)
	// Leave is called if the user leaves the list without a choice; it may be nil.
	Leave func()
	// Usage is the command that chooses without the list; it may be empty.
	Usage string

	// If Full is true, a list screen takes the whole terminal; otherwise it is as tall as the
	// list and replaces the input.
	Full bool
	// Title names the list in a word or two, and Verb describes the effect of choosing, such as
	// "opens"; both may be empty.
	Title, Verb string
	// Views are the parts of the list, shown one at a time, the first one first. There may be
	// none.
	Views []View
	// Actions are further actions on a choice.
	Actions []Action
	// Preview returns the preview of the current choice. It is called in another goroutine, and
	// may be nil.
	Preview func(ctx context.Context, c Choice) (Page, error)
	// Search returns the choices whose content contains a text. It is called in another
	// goroutine, and may be nil: then only the displayed text of the choices is searched.
	Search func(ctx context.Context, text string) ([]Found, error)
	// Set is called when the user has changed the value of a choice, and returns a message for
	// the user. If it is nil, the choice carries the value when it is taken.
	Set func(ctx context.Context, c Choice) (string, error)
}

// A Choice is an item of a list.
type Choice struct {
	ID, Title string
	// About is a short description. Cells is the same in columns, for a list that has them;
	// both may be empty.
	About string
	Cells []string
	// Values are the possible values, and Value is the index of the current one, or -1 if it is
	// not in Values.
	Values []string
	Value  int
}

// A View is a part of a list.
type View struct {
	Name string
	// Choices are the view's choices. Load returns the current ones; it is called in another
	// goroutine. Either may be nil.
	Choices []Choice
	Load    func(ctx context.Context) ([]Choice, error)
	// Empty is shown if the view is empty.
	Empty string
	// Actions are additional actions of this view.
	Actions []Action
}

// An Action is an operation on a choice. If it returns a page, the list stays and shows it.
type Action struct {
	// Key is its key, as in keybindings.json, and Name describes it, such as "renames".
	Key, Name string
	// Ask is the question for text input before the action, and Text returns the initial text.
	// If Ask is empty, the user is not prompted; Text may be nil.
	Ask  string
	Text func(c Choice) string
	// Confirm returns a question that the user has to confirm first; it may be nil.
	Confirm func(c Choice) string
	// If Alone is true, the action needs no choice. Without a current choice it gets an empty
	// one.
	Alone bool
	// Run performs the action with the user's input. It is called in another goroutine.
	Run func(ctx context.Context, c Choice, text string) (Answer, error)
}

// Found is a choice with the text around a match in its content.
type Found struct{ ID, Text string }
