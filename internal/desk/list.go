package desk

import "context"

// A List is a list to choose from. Front ends that read lines show Page and Choices, each with a number, and leave out the
// rest. A front end with a screen for lists shows the views, if there are any, and offers everything else.
type List struct {
	// Page is shown before the choices.
	Page
	Choices []Choice
	// Choose is called with the choice of the user. It may be nil in a list with views: then there is nothing to choose.
	Choose func(ctx context.Context, c Choice) (Answer, error)
	// Leave is called if the user leaves the list without a choice; it may be nil.
	Leave func()
	// Usage is the command that chooses without the list; it may be empty.
	Usage string

	// Title names the list in a word or two, and Verb says what choosing does, such as "opens"; both may be empty.
	Title, Verb string
	// Views are the parts of the list of which one is shown at a time; the first one first. There may be none.
	Views []View
	// Actions are what else can be done with a choice.
	Actions []Action
	// Preview returns what is shown of the choice that the user is at. It is called beside, and may be nil.
	Preview func(ctx context.Context, c Choice) (Page, error)
	// Search returns the choices with a text in what they stand for. It is called beside, and may be nil: then only what is
	// shown of the choices is searched.
	Search func(ctx context.Context, text string) ([]Found, error)
	// Set is called when the user has changed the value of a choice, and returns what to tell the user. If it is nil, the
	// choice has the value when it is taken.
	Set func(ctx context.Context, c Choice) (string, error)
}

// A Choice is one of a list.
type Choice struct {
	ID, Title string
	// About says more in a few words. Cells is the same in columns, for a list that has them; both may be empty.
	About string
	Cells []string
	// Values are those that it can have, and Value is the place of the one that it has, or -1 if that is none of them.
	Values []string
	Value  int
}

// A View is a part of a list.
type View struct {
	Name string
	// Choices are those of the view, and Load returns them as they are then; it is called beside. One of them may be nil.
	Choices []Choice
	Load    func(ctx context.Context) ([]Choice, error)
	// Empty is said if there are none.
	Empty string
	// Actions are further ones, of this view.
	Actions []Action
}

// An Action is something to do with a choice. If it returns a page, the list stays and shows it.
type Action struct {
	// Key is the key for it, as in keybindings.json, and Name says what it does, such as "renames".
	Key, Name string
	// Ask is what the user is asked for first, and Text returns what stands in the field for it. Without Ask nothing is
	// asked; Text may be nil.
	Ask  string
	Text func(c Choice) string
	// Confirm returns a question that the user has to say yes to first; it may be nil.
	Confirm func(c Choice) string
	// Alone says that it needs no choice. It gets an empty one if there is none.
	Alone bool
	// Run does it, with what the user entered. It is called beside.
	Run func(ctx context.Context, c Choice, text string) (Answer, error)
}

// Found is a choice with the text around the place where something was found in it.
type Found struct{ ID, Text string }
