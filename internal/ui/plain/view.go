package plain

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"adze/internal/commands"
	"adze/internal/msg"
	"adze/internal/platform/proc/task"
	"adze/internal/session"
	"adze/internal/tool"
	"adze/internal/ui/ask"
	"adze/internal/ui/controller"
	"adze/internal/ui/draw"
)

// Begin shows the greeting, the end of an earlier conversation, and the initial input.
func (f *Front) Begin(c *controller.Conversation, first string) {
	f.out.talk, f.asked = c, nil
	f.out.say(greet(c.Greeting))
	f.out.recall(c.Earlier)
	if first != "" {
		f.out.say("> " + first)
		f.remember(first)
	}
}

// greet returns a greeting as lines.
func greet(g commands.Greeting) string {
	if g.Branch != "" {
		g.Dir += " (" + g.Branch + ")"
	}
	if g.Mode != "" {
		g.Mode = "permission mode " + g.Mode
	}
	return join("\n", join(", ", g.Program, g.Model, g.Dir, g.Mode), g.Help, g.Notes)
}

// join joins the texts that are not empty.
func join(separator string, texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(text string) bool { return text == "" }), separator)
}

// Left does nothing: the terminal holds the typed text.
func (f *Front) Left(*controller.Conversation) {}

// Entry shows an entry of the session.
func (f *Front) Entry(e session.Entry) {
	f.out.count(e.Seq)
	switch ev := e.Event.(type) {
	case session.Started:
		f.out.begin()
		f.out.phase("working")
	case session.Loop:
		f.out.event(ev.Event)
	case session.Task:
		f.out.crew.note(ev)
	case session.Finished:
		f.out.finished(ev)
	case session.Changed:
		f.out.changed(ev)
	}
}

// Ask shows a question.
func (f *Front) Ask(q controller.Question) {
	f.out.fresh()
	if s := q.Suggestion; s != nil {
		if s.Body != "" {
			f.out.say(s.Body)
		}
		f.out.say(s.Question)
		var options []session.Option
		for _, text := range s.Answers {
			options = append(options, session.Option{Label: text})
		}
		drawOptions(f.out, options)
		f.out.say(chooseOrContinue)
		f.Ready()
		return
	}
	f.asked = dialogFor(q.Question)
	f.asked.draw(f.out)
	f.Ready()
}

// Settled shows why the current question no longer needs an answer.
func (f *Front) Settled(q controller.Question, s session.Settled) {
	f.asked = nil
	if !f.Leaving() {
		f.out.say(ask.Settled(q.Question, s))
	}
}

// Offer shows a list with numbered choices.
func (f *Front) Offer(_ context.Context, l commands.List) {
	if len(l.Choices) == 0 {
		f.Decline()
		f.out.page(l.Page)
		return
	}
	l.Choices = l.Choices[:min(maxChoices, len(l.Choices))]
	f.out.lines(draw.Choices(l, f.out.options()))
	f.out.say(chooseOrContinue)
}

// chooseOrContinue explains a list that does not require an answer.
const chooseOrContinue = "Enter a number to choose, or anything else to continue."

// Postponed does nothing: the next prompt is an ordinary one.
func (f *Front) Postponed() {}

// Began shows that something is running.
func (f *Front) Began(id, title string) {
	f.out.calls = append(f.out.calls, &call{id: id, title: title, began: time.Now()})
}

// Progress records its output.
func (f *Front) Progress(id string, d tool.Display) { f.out.progress(id, d) }

// Over records that it has ended.
func (f *Front) Over(id string) { f.out.forget(id) }

// TaskEnded shows that a task has ended.
func (f *Front) TaskEnded(t *task.Task) { f.out.taskEnded(t) }

// Say writes a text.
func (f *Front) Say(text string) { f.out.say(text) }

// Fail writes an error.
func (f *Front) Fail(err error) { f.out.fail(err) }

// Page writes a page.
func (f *Front) Page(p commands.Page) { f.out.page(p) }

// Whole writes a page without omitting anything.
func (f *Front) Whole(p commands.Page) {
	f.out.unbounded = true
	f.out.page(p)
	f.out.unbounded = false
}

// Typing reports whether the user has begun a multi-line entry.
func (f *Front) Typing() bool { return f.partial != "" }

// Holding reports whether questions have to wait.
func (f *Front) Holding() bool { return f.partial != "" }

// Return does nothing: the terminal edits the line.
func (f *Front) Return(string, []msg.Span) {}

// Frame does nothing: everything is written immediately.
func (f *Front) Frame() (room <-chan struct{}) { return nil }

// Ready writes the prompt of the current question or of the conversation.
func (f *Front) Ready() {
	f.out.fresh()
	switch {
	case f.Conversation() == nil:
	case f.asked == nil:
		f.out.prompt("> ")
	default:
		f.out.prompt(f.asked.prompt())
	}
}

// Resume writes the prompt unless it is already shown.
func (f *Front) Resume() {
	if !f.out.prompted {
		f.Ready()
	}
}

// Tick writes the current wait.
func (f *Front) Tick() {
	if !f.Asking() && f.Offered() == nil {
		f.out.waiting()
	}
}

// Yield completes the line before another program takes over the terminal.
func (f *Front) Yield() { f.out.fresh() }

// Clipboard returns an error because a line-based terminal has no clipboard.
func (f *Front) Clipboard(string) error {
	return errors.New("this terminal has no clipboard, and neither wl-copy, xclip, xsel nor pbcopy is there")
}
