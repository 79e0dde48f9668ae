package tui

import (
	"context"
	"encoding/base64"
	"errors"
	"time"

	"adze/internal/commands"
	"adze/internal/commands/suggest"
	"adze/internal/platform/proc/task"
	"adze/internal/session"
	"adze/internal/tool"
	"adze/internal/ui/ask"
	"adze/internal/ui/controller"
	"adze/internal/ui/draw"
	"adze/internal/ui/edit"
	"adze/internal/ui/tui/attention"
	"adze/internal/ui/tui/pager"
	"adze/internal/ui/tui/popup"
	"adze/internal/ui/tui/status"
)

// Begin shows the greeting, the end of an earlier conversation, and the initial input.
func (f *Front) Begin(c *controller.Conversation, first string) {
	f.asked.close()
	f.pages.close()
	f.outbox.reset()
	f.popup = popup.New(suggest.New(c.Registry, time.Now), f.cfg.Glyphs, func(work func() func()) {
		f.Background(func(context.Context) func() { return work() })
	})
	f.keyboard.load(c)
	f.remarks.begin(len(c.Conversation()))
	f.footer.bar = status.Bar{Session: c.Glance()}
	f.refresh()
	f.lookForRequest()
	f.script.Say(c.Greeting)
	f.script.Recall(commands.Recent(c.Conversation()))
	f.script.Prompt(first, first)
	f.keyboard.keep(first, true)
}

// Left saves the draft and the queued messages.
func (f *Front) Left(c *controller.Conversation) {
	f.remarks.dismiss()
	f.keyboard.save(c, f.outbox.Drafts())
	f.keyboard.DropStash() // the stash belongs to the session
	f.outbox.Drain()
}

// Entry shows an entry of the session.
func (f *Front) Entry(e session.Entry) {
	f.outbox.entry(e)
	f.script.Entry(e)
	f.heed(e)
	f.remarks.entry(e)
}

// Ask shows a question.
func (f *Front) Ask(q controller.Question) {
	f.remarks.forget()
	f.asked.open(q)
	f.await(attention.Question)
}

// Settled shows why the current question no longer needs an answer.
func (f *Front) Settled(q controller.Question, s session.Settled) {
	f.asked.close()
	f.await(attention.Nothing)
	if !f.Leaving() {
		f.asked.write(draw.Line(draw.Faint, ask.Settled(q.Question, s)))
	}
}

// Postponed hides the suggestion.
func (f *Front) Postponed() {
	f.asked.close()
	f.await(attention.Nothing)
}

// Offer shows a list.
func (f *Front) Offer(ctx context.Context, l commands.List) { f.pages.pick(ctx, l) }

// Began shows that something is running.
func (f *Front) Began(id, title string) { f.script.Began(id, title) }

// Progress records its output.
func (f *Front) Progress(id string, d tool.Display) { f.script.Progress(id, d) }

// Over records that it has ended.
func (f *Front) Over(id string) { f.script.Over(id) }

// TaskEnded shows that a task has ended.
func (f *Front) TaskEnded(t *task.Task) { f.script.TaskEnded(t) }

// Say shows a text.
func (f *Front) Say(text string) { f.script.Say(text) }

// Fail shows an error.
func (f *Front) Fail(err error) { f.script.Fail(err) }

// Page shows a page. A page that does not fit on the screen is opened in the pager, and only
// its beginning stays in the scrollback.
func (f *Front) Page(p commands.Page) {
	if f.pages.long(p) {
		f.script.Begin(p, kept)
		f.pages.read(context.Background(), pager.Text{Lines: pager.Page(p, draw.Options{Dir: f.cfg.Dir, Glyphs: f.cfg.Glyphs})})
		return
	}
	f.script.Page(p)
}

// Whole shows a page without omitting anything.
func (f *Front) Whole(p commands.Page) { f.script.Whole(p) }

// Typing reports whether the user has begun to type.
func (f *Front) Typing() bool { return !f.keyboard.Empty() }

// Holding reports whether questions wait. They do not wait for typing, since they do not take
// keys from it, but for a page that would cover them.
func (f *Front) Holding() bool { return f.pages.current != nil }

// Return puts a text into the input, before typed text.
func (f *Front) Return(text string) {
	f.outbox.putBack([]*edit.Draft{{Pieces: []edit.Piece{{Text: text}}}})
}

// Ready does nothing: the prompt is always visible.
func (f *Front) Ready() {}

// Resume does nothing; see Ready.
func (f *Front) Resume() {}

// Tick does nothing: the next frame shows the time.
func (f *Front) Tick() {}

// Yield completes the output and moves the cursor below it, for another program.
func (f *Front) Yield() {
	f.screen.ClosePage()
	f.script.Settle()
	f.screen.Frame(f.cfg.Palette.Lines(append(f.script.Final(f.cfg.Width()), f.asked.take()...)), nil, noPoint)
	f.screen.Leave()
}

// maxCopied is the maximum size of text sent to the terminal for the clipboard, in bytes; many
// terminals drop more.
const maxCopied = 74_000

// Clipboard asks the terminal to copy text to the clipboard.
func (f *Front) Clipboard(text string) error {
	if len(text) > maxCopied {
		return errors.New("the answer is too long for the terminal's clipboard; /export writes the session to a file")
	}
	f.screen.Send("\x1b]52;c;" + base64.StdEncoding.EncodeToString([]byte(text)) + "\a")
	return nil
}
