package controller

import (
	"context"

	"adze/internal/commands"
	"adze/internal/msg"
	"adze/internal/platform/proc/task"
	"adze/internal/session"
	"adze/internal/tool"
)

// A View shows a conversation, reads user input and passes it to the driver.
type View interface {
	Screen
	QuestionView
	CallView
	// Begin shows a newly opened conversation: its greeting, the end of earlier messages, and
	// the initial input, which may be empty. Left is called when the user has left a
	// conversation.
	Begin(c *Conversation, first string)
	Left(c *Conversation)
	// Entry shows an entry of the session. Questions are shown by Ask.
	Entry(e session.Entry)

	// Typing reports whether the user has begun to type.
	Typing() bool
	// Return puts a text into the input, parts of which were pasted.
	Return(text string, pasted []msg.Span)
	// Ready prompts the user. Resume does so unless the prompt is already shown.
	Ready()
	Resume()

	// Frame updates the terminal. It returns nil or, if the terminal is too slow for more, a
	// channel that receives a value when it has caught up; until then no entry is shown. Tick
	// is called each second during activity.
	Frame() (room <-chan struct{})
	Tick()
	// Yield releases the terminal to another program.
	Yield()
	// Clipboard asks the terminal to copy a text to the clipboard.
	Clipboard(text string) error
}

// A QuestionView shows questions and lists.
type QuestionView interface {
	// Ask shows the first pending question. Settled shows that it no longer needs an answer,
	// and why.
	Ask(q Question)
	Settled(q Question, s session.Settled)
	// Postponed hides the current suggestion.
	Postponed()
	// Holding reports whether a question has to wait, for example until the user has finished
	// typing.
	Holding() bool
	// Offer shows a list that the user may choose from; see [Driver.Choose].
	Offer(ctx context.Context, l commands.List)
}

// A CallView shows what runs for the user alongside the turn.
type CallView interface {
	// Began shows that a call is running, Progress its output, and Over that it has ended.
	Began(id, title string)
	Progress(id string, d tool.Display)
	Over(id string)
	// TaskEnded shows that a background task has ended.
	TaskEnded(t *task.Task)
}

// A Screen shows messages to the user.
type Screen interface {
	// Say shows a text, and Fail an error.
	Say(text string)
	Fail(err error)
	// Page shows a page, and Whole shows one without omitting anything.
	Page(p commands.Page)
	Whole(p commands.Page)
}

func farewell(s Screen, c *Conversation) {
	if t := c.Sum(); t.Usage.Output > 0 {
		s.Say(commands.Spent(t))
	}
	if len(c.Conversation()) > 0 && !c.Unsaved {
		s.Say("To continue this session: adze --resume " + c.ID())
	}
}
