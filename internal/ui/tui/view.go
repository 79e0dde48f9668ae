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

// A view shows the conversation; see [controller.View].
type view struct{ *Front }

// Begin shows the greeting, the end of an earlier conversation, and the initial input.
func (f view) Begin(c *controller.Conversation, first string) {
	questionView(f).close()
	pageView(f).close()
	f.outbox = outbox{}
	f.popup = popup.New(suggest.New(c.Registry, time.Now), f.cfg.Glyphs, f.runInBackground)
	f.keyboard.load(c)
	remarker(f).begin(len(c.Conversation()))
	f.footer.bar = status.Bar{Session: c.Glance()}
	f.refresh()
	f.lookForRequest()
	f.script.Say(c.Greeting)
	f.script.Recall(commands.Recent(c.Conversation()))
	f.script.Prompt(first, first)
}

// Left saves the draft and the queued messages.
func (f view) Left(c *controller.Conversation) {
	remarker(f).dismiss()
	f.keyboard.save(c, f.outbox.Drafts())
	f.keyboard.DropStash() // the stash belongs to the session
	f.outbox.Drain()
}

// Entry shows an entry of the session.
func (f view) Entry(e session.Entry) {
	sender(f).entry(e)
	f.script.Entry(e)
	f.heed(e)
	remarker(f).entry(e)
}

// Ask shows a question.
func (f view) Ask(q controller.Question) {
	remarker(f).forget()
	questionView(f).open(q)
	f.await(attention.Question)
}

// Settled shows why the current question no longer needs an answer.
func (f view) Settled(q controller.Question, s session.Settled) {
	questionView(f).close()
	f.await(attention.Nothing)
	if !f.Leaving() {
		f.asked.write(draw.Line(draw.Faint, ask.Settled(q.Question, s)))
	}
}

// Postponed hides the suggestion.
func (f view) Postponed() {
	questionView(f).close()
	f.await(attention.Nothing)
}

// Offer shows a list.
func (f view) Offer(ctx context.Context, l commands.List) { pageView(f).pick(ctx, l) }

// Began shows that something is running.
func (f view) Began(id, title string) { f.script.Began(id, title) }

// Progress records its output.
func (f view) Progress(id string, d tool.Display) { f.script.Progress(id, d) }

// Over records that it has ended.
func (f view) Over(id string) { f.script.Over(id) }

// TaskEnded shows that a task has ended.
func (f view) TaskEnded(t *task.Task) { f.script.TaskEnded(t) }

// Say shows a text.
func (f view) Say(text string) { f.script.Say(text) }

// Fail shows an error.
func (f view) Fail(err error) { f.script.Fail(err) }

// Page shows a page. A page that does not fit on the screen is opened in the pager, and only
// its beginning stays in the scrollback.
func (f view) Page(p commands.Page) {
	if pageView(f).long(p) {
		f.script.Begin(p, kept)
		pageView(f).read(context.Background(), pager.Text{Lines: pager.Page(p, draw.Options{Dir: f.cfg.Dir, Glyphs: f.cfg.Glyphs})})
		return
	}
	f.script.Page(p)
}

// Whole shows a page without omitting anything.
func (f view) Whole(p commands.Page) { f.script.Whole(p) }

// Typing reports whether the user has begun to type.
func (f view) Typing() bool { return !f.keyboard.Empty() }

// Holding reports whether questions wait. They do not wait for typing, since they do not take
// keys from it, but for a page that would cover them.
func (f view) Holding() bool { return f.full != nil }

// Return puts a text into the input, before typed text.
func (f view) Return(text string) {
	sender(f).putBack([]*edit.Draft{{Pieces: []edit.Piece{{Text: text}}}})
}

// Keep remembers entered text.
func (f view) Keep(text string) { f.keyboard.keep(text, true) }

// Drop discards typed keys.
func (f view) Drop() bool {
	typed := len(f.keyboard.ahead) > 0
	f.keyboard.ahead = nil
	return typed
}

// Replay handles the keys pressed before the conversation was open.
func (f view) Replay(ctx context.Context) {
	pressed := f.keyboard.ahead
	f.keyboard.ahead = nil
	f.take(ctx, pressed)
}

// Ready does nothing: the prompt is always visible.
func (f view) Ready() {}

// Resume does nothing; see Ready.
func (f view) Resume() {}

// Tick does nothing: the next frame shows the time.
func (f view) Tick() {}

// Yield completes the output and moves the cursor below it, for another program.
func (f view) Yield() {
	f.screen.ClosePage()
	f.script.Settle()
	f.screen.Frame(f.cfg.Palette.Lines(append(f.script.Final(f.cfg.Width()), f.asked.take()...)), nil, noPoint)
	f.screen.Leave()
}

// maxCopied is the maximum size of text sent to the terminal for the clipboard, in bytes; many
// terminals drop more.
const maxCopied = 74_000

// Clipboard asks the terminal to copy text to the clipboard.
func (f view) Clipboard(text string) error {
	if len(text) > maxCopied {
		return errors.New("the answer is too long for the terminal's clipboard; /export writes the session to a file")
	}
	f.screen.Send("\x1b]52;c;" + base64.StdEncoding.EncodeToString([]byte(text)) + "\a")
	return nil
}
