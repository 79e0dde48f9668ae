package keys

// The contexts of full-screen views.
const (
	Select     Context = "Select"      // a list to choose from
	Values     Context = "ModelPicker" // a list of choices with values
	Transcript Context = "Transcript"  // a long text
)

// The actions of lists and long texts.
const (
	SelectNext     Action = "select:next"
	SelectPrevious Action = "select:previous"
	SelectPageDown Action = "select:pageDown"
	SelectPageUp   Action = "select:pageUp"
	SelectFirst    Action = "select:first"
	SelectLast     Action = "select:last"
	SelectAccept   Action = "select:accept"
	SelectCancel   Action = "select:cancel"
	NextView       Action = "select:nextView"
	PreviousView   Action = "select:previousView"
	NextValue      Action = "modelPicker:increaseEffort"
	PreviousValue  Action = "modelPicker:decreaseEffort"

	ClosePage    Action = "transcript:exit"
	LineUp       Action = "scroll:lineUp"
	LineDown     Action = "scroll:lineDown"
	HalfUp       Action = "scroll:halfPageUp"
	HalfDown     Action = "scroll:halfPageDown"
	PageUp       Action = "scroll:pageUp"
	PageDown     Action = "scroll:pageDown"
	Top          Action = "scroll:top"
	Bottom       Action = "scroll:bottom"
	Find         Action = "scroll:search"
	FindNext     Action = "scroll:searchNext"
	FindPrevious Action = "scroll:searchPrevious"
	NextPart     Action = "scroll:nextPart"
	PreviousPart Action = "scroll:previousPart"
)

// pageEntries returns the actions of lists and long texts.
func pageEntries() []entry {
	return []entry{
		{Select, SelectNext, "down, ctrl+n", "in a list: the next choice"},
		{Select, SelectPrevious, "up, ctrl+p", "in a list: the previous choice"},
		{Select, SelectPageDown, "pagedown", "in a list: a page down"},
		{Select, SelectPageUp, "pageup", "in a list: a page up"},
		{Select, SelectFirst, "home", "in a list: the first choice"},
		{Select, SelectLast, "end", "in a list: the last choice"},
		{Select, SelectAccept, "enter", "in a list: take the choice"},
		{Select, SelectCancel, "escape", "in a list: clear the text, go back to the previous list, or leave"},
		{Select, NextView, "tab, ctrl+a", "in a list: show the next part, or everything"},
		{Select, PreviousView, "shift+tab", "in a list: show the previous part"},
		{Values, NextValue, "right", "in a list with values: the next value"},
		{Values, PreviousValue, "left", "in a list with values: the previous value"},
		{Transcript, ClosePage, "q, escape, ctrl+o", "in a long text: close it"},
		{Transcript, LineUp, "up, k, ctrl+p", "in a long text: a row up"},
		{Transcript, LineDown, "down, j, enter, ctrl+n", "in a long text: a row down"},
		{Transcript, HalfUp, "u, ctrl+u", "in a long text: half a page up"},
		{Transcript, HalfDown, "d", "in a long text: half a page down"},
		{Transcript, PageUp, "pageup, b, ctrl+b", "in a long text: a page up"},
		{Transcript, PageDown, "pagedown, space, f, ctrl+f", "in a long text: a page down"},
		{Transcript, Top, "g, home", "in a long text: the start"},
		{Transcript, Bottom, "G, end", "in a long text: the end, and follow it"},
		{Transcript, Find, "/", "in a long text: search"},
		{Transcript, FindNext, "n", "in a long text: the next match"},
		{Transcript, FindPrevious, "N", "in a long text: the previous match"},
		{Transcript, NextPart, "], tab", "in a long text: the next file or message"},
		{Transcript, PreviousPart, "[, shift+tab", "in a long text: the previous file or message"},
	}
}
