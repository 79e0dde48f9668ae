package talk

import (
	"context"

	"adze/internal/desk"
	"adze/internal/platform/task"
	"adze/internal/session"
	"adze/internal/tool"
)

// A View shows a conversation and takes what the user types. It calls the driver with that.
type View interface {
	Screen
	// Begin shows a conversation that was opened: its greeting, the end of what was said before, and what is entered
	// first, which may be nothing. Left says that the user has left one.
	Begin(c *Conversation, first string)
	Left(c *Conversation)
	// Entry shows what happened in the session. Questions are shown by Ask.
	Entry(e session.Entry)
	// Ask shows the first question of those that wait, and Settled that it no longer needs an answer, and why.
	Ask(q Question)
	Settled(q Question, s session.Settled)
	// Postponed hides the suggestion that is shown.
	Postponed()
	// Offer shows a list that the user may choose from; see [Driver.Choose].
	Offer(ctx context.Context, l desk.List)
	// Began shows that something runs for the user beside the turn, Progress what it prints, and Over that it has ended.
	Began(id, title string)
	Progress(id string, d tool.Display)
	Over(id string)
	// TaskEnded shows that a background task has ended.
	TaskEnded(t *task.Task)

	// Typing reports whether the user has begun to type something, and Holding whether a question has to wait for that.
	Typing() bool
	Holding() bool
	// Return puts a text into the input.
	Return(text string)
	// Keep remembers what the user entered.
	Keep(text string)
	// Drop forgets what was typed for a conversation that could not be opened, and reports whether there was anything.
	Drop() bool
	// Replay handles what was typed before the conversation was open.
	Replay(ctx context.Context)
	// Ready prompts the user. Resume does so unless the prompt stands there already.
	Ready()
	Resume()
	// Frame brings the terminal up to date. It returns nil, or if the terminal is too slow for more, a channel that gets a
	// value when it is not any more; until then no entry is shown. Tick is called each second while something goes on.
	Frame() (room <-chan struct{})
	Tick()
	// Yield leaves the terminal to another program.
	Yield()
	// Clipboard asks the terminal to put a text on the clipboard.
	Clipboard(text string) error
}

// A Screen shows what the program says.
type Screen interface {
	// Say shows a text, and Fail what went wrong.
	Say(text string)
	Fail(err error)
	// Page shows a page, and Whole one of which nothing is left out.
	Page(p desk.Page)
	Whole(p desk.Page)
}

func farewell(s Screen, c *Conversation) {
	if t := c.Sum(); t.Usage.Output > 0 {
		s.Say(desk.Spent(t))
	}
	if len(c.Conversation()) > 0 {
		s.Say("To continue this session: adze --resume " + c.ID())
	}
}
