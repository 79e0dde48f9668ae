package keys

import "slices"

// A Context is a place in the UI where a binding applies.
type Context string

// The contexts that have bindings. A key is looked up in the active contexts, the narrowest
// first.
const (
	Global        Context = "Global"
	Chat          Context = "Chat"          // composing a message
	Task          Context = "Task"          // a command is running, and the input is empty
	HistorySearch Context = "HistorySearch" // searching the message history
	Confirmation  Context = "Confirmation"  // answering a question
	Autocomplete  Context = "Autocomplete"  // suggestions are shown
	Queue         Context = "Queue"         // messages are queued, and the input is empty
)

// contexts lists the contexts a file may name. Most have no action of their own.
var contexts = []Context{
	Global, Chat, Task, HistorySearch, Select, Values, Transcript, Confirmation, Autocomplete, Queue, "MessageSelector", "Help", "Settings", "Tabs",
	"ThemePicker", "Attachments", "Footer", "DiffDialog", "Plugin", "Scroll", "Doctor",
}

// An Action is the action a key is bound to. An action with [CommandPrefix] enters an adze
// command.
type Action string

// CommandPrefix begins the action that enters the command named after it: command:cost enters
// /cost.
const CommandPrefix = "command:"

// The actions. Text actions are handled by the field that holds the text.
const (
	Interrupt    Action = "app:interrupt"
	Exit         Action = "app:exit"
	Suspend      Action = "app:suspend"
	Redraw       Action = "app:redraw"
	ShowOutput   Action = "app:toggleTranscript"
	ShowTasks    Action = "app:toggleTodos"
	Search       Action = "history:search"
	Previous     Action = "history:previous"
	Next         Action = "history:next"
	Submit       Action = "chat:submit"
	NewLine      Action = "chat:newline"
	Cancel       Action = "chat:cancel"
	CycleMode    Action = "chat:cycleMode"
	PickModel    Action = "chat:modelPicker"
	ShowThinking Action = "chat:thinkingToggle"
	Undo         Action = "chat:undo"
	Redo         Action = "chat:redo"
	OpenEditor   Action = "chat:externalEditor"
	Stash        Action = "chat:stash"
	Complete     Action = "autocomplete:accept"
	Background   Action = "task:background"
	SearchNext   Action = "historySearch:next"
	SearchAccept Action = "historySearch:accept"
	SearchCancel Action = "historySearch:cancel"
	SearchEnter  Action = "historySearch:execute"

	AnswerQuestion Action = "confirm:answer"
	Choose         Action = "confirm:yes"
	Refuse         Action = "confirm:no"
	ChoiceBefore   Action = "confirm:previous"
	ChoiceAfter    Action = "confirm:next"
	Tick           Action = "confirm:toggle"
	EditRule       Action = "confirm:editRule"
	CycleScope     Action = "confirm:cycleScope"
	EditDraft      Action = "confirm:edit"
	ShowDetails    Action = "confirm:details"

	Left          Action = "edit:left"
	Right         Action = "edit:right"
	WordLeft      Action = "edit:wordLeft"
	WordRight     Action = "edit:wordRight"
	LineStart     Action = "edit:lineStart"
	LineEnd       Action = "edit:lineEnd"
	TextStart     Action = "edit:textStart"
	TextEnd       Action = "edit:textEnd"
	Backspace     Action = "edit:backspace"
	Delete        Action = "edit:delete"
	KillLineStart Action = "edit:killLineStart"
	KillLineEnd   Action = "edit:killLineEnd"
	KillWordLeft  Action = "edit:killWordLeft"
	KillWordRight Action = "edit:killWordRight"
	Yank          Action = "edit:yank"
	YankPop       Action = "edit:yankPop"
)

// An entry is an action with its default keys, separated by commas.
type entry struct {
	context Context
	action  Action
	keys    string
	doc     string
}

// entries returns all actions with their keys, in display order.
func entries() []entry {
	return slices.Concat([]entry{
		{Chat, Submit, "enter", "send the message"},
		{Chat, NewLine, "alt+enter, shift+enter, ctrl+enter, ctrl+j", "begin a new line; so does Enter after a \\"},
		{Chat, Complete, "tab", "take the suggestion, or answer the question that waits; while the model works: send the text when it is done"},
		{Chat, Cancel, "escape", "interrupt the model; twice: move the input to the history, or open /rewind if it is empty"},
		{Chat, CycleMode, "shift+tab", "change to the next permission mode"},
		{Chat, PickModel, "alt+p", "choose a model"},
		{Chat, ShowThinking, "alt+t", "show or hide the model's thinking, until you exit"},
		{Chat, Previous, "up, ctrl+p", "move up a row, and to earlier messages"},
		{Chat, Next, "down, ctrl+n", "move down a row, and to later messages"},
		{Chat, Search, "ctrl+r", "search earlier messages"},
		{Chat, OpenEditor, "ctrl+g, ctrl+x ctrl+e", "edit the message in your editor"},
		{Chat, Stash, "ctrl+s", "put the text aside, and take it back"},
		{Chat, Undo, "ctrl+_, ctrl+shift+-, ctrl+shift+_", "undo the last change to the text"},
		{Chat, Redo, "alt+z, ctrl+shift+z", "redo it"},
		{Chat, Left, "left, ctrl+b", "move by a character"},
		{Chat, Right, "right, ctrl+f", "move by a character"},
		{Chat, WordLeft, "alt+b, ctrl+left, alt+left", "move to the start of the word"},
		{Chat, WordRight, "alt+f, ctrl+right, alt+right", "move to the end of the word"},
		{Chat, LineStart, "ctrl+a, home", "move to the start of the line"},
		{Chat, LineEnd, "ctrl+e, end", "move to the end of the line"},
		{Chat, TextStart, "ctrl+home, alt+<", "move to the start of the text"},
		{Chat, TextEnd, "ctrl+end, alt+>", "move to the end of the text"},
		{Chat, Backspace, "backspace, shift+backspace", "delete the character before the cursor"},
		{Chat, Delete, "delete", "delete the character after the cursor"},
		{Chat, KillLineStart, "ctrl+u", "cut to the start of the line"},
		{Chat, KillLineEnd, "ctrl+k", "cut to the end of the line"},
		{Chat, KillWordLeft, "ctrl+w, alt+backspace, ctrl+backspace", "cut the word before the cursor"},
		{Chat, KillWordRight, "alt+d, ctrl+delete, alt+delete", "cut the word after the cursor"},
		{Chat, Yank, "ctrl+y", "paste the last cut text"},
		{Chat, YankPop, "alt+y", "after pasting: replace it with the text cut before"},
		{HistorySearch, SearchNext, "ctrl+r, up", "look further back"},
		{HistorySearch, SearchAccept, "escape, tab", "edit the match"},
		{HistorySearch, SearchEnter, "enter", "send the match"},
		{HistorySearch, SearchCancel, "ctrl+c, ctrl+g", "stop searching"},
		{Confirmation, AnswerQuestion, "tab", "answer the question that waits while a message is typed"},
		{Confirmation, Choose, "enter", "take the marked choice"},
		{Confirmation, Refuse, "escape", "say no, and stop the turn"},
		{Confirmation, ChoiceBefore, "up, ctrl+p", "mark the choice above"},
		{Confirmation, ChoiceAfter, "down, ctrl+n", "mark the choice below"},
		{Confirmation, Tick, "space", "select or clear an option"},
		{Confirmation, EditRule, "e", "edit the offered rule"},
		{Confirmation, CycleScope, "s", "change how long the rule holds"},
		{Confirmation, EditDraft, "ctrl+g", "edit the plan or the new text in your editor"},
		{Confirmation, ShowDetails, "?", "show why adze asks, and what a lasting yes saves"},
		{Task, Background, "ctrl+b", "move the running command to the background"},
		{Global, ShowOutput, "ctrl+o", "show the whole transcript, with full outputs"},
		{Global, ShowTasks, "ctrl+t", "show the background tasks"},
		{Global, Redraw, "ctrl+l", "clear the screen"},
		{Global, Suspend, "ctrl+z", "suspend adze; fg in the shell continues it"},
		{Global, Interrupt, "ctrl+c", "interrupt the model, or put the text into the history; twice: exit"},
		{Global, Exit, "ctrl+d", "exit, at an empty prompt"},
	}, composeEntries(), pageEntries())
}
