package plain

import (
	"context"
	"fmt"
	"strings"
	"time"

	"adze/internal/desk"
	"adze/internal/permission"
	"adze/internal/platform/amount"
	"adze/internal/session"
	"adze/internal/ui/draw"
	"adze/internal/ui/keys"
)

// take handles what was typed.
func (f *Front) take(ctx context.Context, t input) {
	if t.end {
		f.unfollow()
	}
	if len(t.events) == 0 && t.data != nil {
		return // part of a key
	}
	if f.decides(ctx, t) {
		return
	}
	switch {
	case t.end && !f.asking() && f.busy():
		f.ended, f.offer = true, nil
	case t.end:
		f.quit()
	case t.events == nil:
		f.lineTyped(ctx, t.line)
	}
	for i, k := range t.events {
		if f.gone(ctx) || f.next != nil {
			f.keyboard.ahead = append(f.keyboard.ahead, t.events[i:]...)
			return
		}
		presses{f}.press(ctx, k, len(t.events) == 1)
	}
}

// catchUp handles what was typed or entered before the conversation was open.
func (f view) catchUp(ctx context.Context) {
	lines, pressed := f.keyboard.entered, f.keyboard.ahead
	f.keyboard.entered, f.keyboard.ahead = nil, nil
	for i, line := range lines {
		if f.gone(ctx) || f.next != nil {
			f.keyboard.entered, f.keyboard.ahead = lines[i:], pressed
			return
		}
		f.enter(ctx, line)
	}
	if len(pressed) > 0 {
		f.take(ctx, input{events: pressed})
	}
}

// lineTyped handles a line that the terminal edited.
func (f *Front) lineTyped(ctx context.Context, line string) {
	f.leave = false
	f.out.entered() // the terminal has moved to the next line
	text, whole := f.keyboard.line(line)
	if !whole {
		f.out.prompt(more)
		return
	}
	f.enter(ctx, text)
}

// Presses handle the keys that are pressed.
type presses struct{ *Front }

// press handles one key. Alone says that no other came with it.
func (f presses) press(ctx context.Context, ev keys.Event, alone bool) {
	if alone && f.explains(ctx, ev) {
		return
	}
	if ev.Key.Name != "escape" {
		f.escaped = time.Time{}
	}
	var contexts []keys.Context
	if (f.working || f.typed != nil) && !f.asking() && f.keyboard.Empty() {
		contexts = []keys.Context{keys.Task}
	}
	f.act(ctx, f.keyboard.press(ev, f.cfg.Width(), contexts...))
}

// act carries out what a key is bound to, if that is not about the text.
func (f presses) act(ctx context.Context, action keys.Action) {
	if name, ok := strings.CutPrefix(string(action), keys.CommandPrefix); ok {
		runner(f).command(ctx, "/"+name)
		return
	}
	switch action {
	case keys.Submit:
		text := f.keyboard.Text()
		view(f).echo()
		f.keyboard.Clear()
		f.leave = false
		f.enter(ctx, text)
	case keys.Interrupt:
		exit(f).interrupt(ctx)
	case keys.Cancel:
		f.escape(ctx)
	case keys.Exit:
		exit(f).ask()
	case keys.Suspend:
		f.suspend()
	case keys.Redraw:
		f.out.terminal.Clear()
	case keys.ShowOutput:
		f.out.wholeOutput()
	case keys.CycleMode:
		f.submit(ctx, session.SetMode{Mode: string(permission.Mode(f.talk.Permission.Mode()).Next(func(permission.Mode) bool { return false }))})
	case keys.Background:
		f.submit(ctx, session.Detach{})
	case keys.ShowTasks:
		runner(f).command(ctx, desk.ShowTasks)
	case keys.PickModel:
		runner(f).command(ctx, desk.PickModel)
	case keys.OpenEditor:
		f.openEditor()
	case keys.Stash:
		if f.keyboard.Stashed() != "" {
			f.out.say("Put aside. " + f.keyboard.typing.Bindings().Keys(keys.Stash) + " takes it back.")
		}
	}
}

// suspend stops the program until the user resumes it.
func (f presses) suspend() {
	if f.cfg.Suspend == nil {
		return
	}
	f.keyboard.saveDraft(f.talk)
	f.out.leave()
	f.cfg.Suspend()
	select { // the signal that has resumed it is no news
	case <-f.cfg.Changes:
	case <-time.After(50 * time.Millisecond):
	}
}

// maxEcho is how many rows of an entry are written when it is sent.
const maxEcho = 40

// echo writes the entry that is sent, after its prompt.
func (f view) echo() {
	head := f.promptRows()
	lines, _, _ := f.keyboard.Rows(f.cfg.Width(), 0)
	var rows []draw.Row
	for _, line := range lines {
		rows = append(rows, draw.Line(draw.Text, line))
	}
	if len(rows) > maxEcho {
		left := len(rows) - maxEcho + 1
		rows = append(append(rows[:maxEcho/2:maxEcho/2], draw.Line(draw.Faint, "… "+amount.Of(left, "more line", "more lines"))), rows[len(rows)-maxEcho/2+1:]...)
	}
	f.out.fresh()
	f.out.lines(append(head, rows...))
}

// explains handles the key that shows the keys and commands, and reports whether it is that key. While the user types it
// is a character.
func (f presses) explains(ctx context.Context, ev keys.Event) bool {
	if ev.Kind != keys.Press || ev.Text != "?" || !f.keyboard.Empty() || f.asking() || f.offer != nil {
		return false
	}
	runner(f).command(ctx, desk.ExplainKeys)
	return true
}

// again is the time in which a key counts as pressed twice.
const again = time.Second

// escape interrupts what runs. Pressed twice, it drops what is typed, or goes back in the conversation.
func (f presses) escape(ctx context.Context) {
	twice := time.Since(f.escaped) < again
	f.escaped = time.Now()
	switch {
	case f.offer != nil || f.followed != nil:
		f.offer = nil
		f.unfollow()
	case f.slash.cancel(), f.typed.cancel():
	case f.working:
		f.out.say("Interrupting.")
		f.submit(ctx, session.Interrupt{Queued: true})
	case !twice:
		return
	case !f.keyboard.Empty():
		f.keyboard.forget(f.asking())
	default:
		f.enter(ctx, desk.GoBack)
	}
	f.escaped = time.Time{}
}

// enter handles what the user entered.
func (f *Front) enter(ctx context.Context, text string) {
	trimmed := strings.TrimSpace(text)
	if !f.asking() && f.slash.hold(text) {
		return
	}
	offer := f.offer
	f.offer = nil
	f.unfollow()
	switch {
	case f.asking():
		f.reply(ctx, trimmed)
	case trimmed == "":
		if !f.working {
			f.prompt()
		}
		return
	case offer.pick(trimmed) != nil:
		runner{f}.run(ctx, offer.pick(trimmed).Title, func(ctx context.Context) (desk.Answer, error) { return offer.Choose(ctx, *offer.pick(trimmed)) })
		if !f.gone(ctx) && f.next == nil && !f.busy() {
			f.prompt()
		}
		return
	case offer.answers(trimmed):
		if wordOf(trimmed) != saysNo {
			f.offer = offer
			f.out.say(fmt.Sprintf("Enter a number from 1 to %d, or n to choose nothing.", len(offer.Choices)))
		}
	case isCommand(trimmed):
		runner{f}.command(ctx, trimmed)
	case strings.HasPrefix(trimmed, "!"):
		if err := f.typed.start(ctx, f, strings.TrimSpace(trimmed[1:])); err != nil {
			f.out.fail(err)
		}
	case strings.HasPrefix(text, "#") && !strings.Contains(trimmed, "\n"):
		answer, err := f.talk.Note(strings.TrimSpace(trimmed[1:]))
		f.carryOut(ctx, ending{answer, err})
	default:
		f.say(ctx, desk.Prompt{Text: text}.Said())
	}
	if !f.asking() {
		f.keyboard.keep(text, true)
	}
	if !f.gone(ctx) && f.next == nil && !f.out.prompted && !f.busy() {
		f.prompt()
	}
}

func firstOf(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}
