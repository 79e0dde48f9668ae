package plain

import (
	"context"
	"fmt"
	"strings"
	"time"

	"adze/internal/desk"
	"adze/internal/permission"
	"adze/internal/platform/amount"
	"adze/internal/platform/lineedit"
	"adze/internal/session"
	"adze/internal/ui/draw"
)

// take handles what was typed.
func (f *Front) take(ctx context.Context, t input) {
	if t.end {
		f.unfollow()
	}
	if len(t.keys) == 0 && t.data != nil {
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
	case t.keys == nil:
		f.lineTyped(ctx, t.line)
	}
	for i, k := range t.keys {
		if f.gone(ctx) || f.next != nil {
			f.keyboard.ahead = append(f.keyboard.ahead, t.keys[i:]...)
			return
		}
		keys{f}.press(ctx, k, len(t.keys) == 1)
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
		f.take(ctx, input{keys: pressed})
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

// Keys handle the keys that are pressed.
type keys struct{ *Front }

// press handles one key. Alone says that no other came with it.
func (f keys) press(ctx context.Context, k lineedit.Key, alone bool) {
	if f.detaches(ctx, k) || alone && f.explains(ctx, k) {
		return
	}
	if k.Code != lineedit.Escape {
		f.escaped = time.Time{}
	}
	switch f.keyboard.Press(k, f.cfg.Width()) {
	case lineedit.Submit:
		text := f.keyboard.Text()
		view(f).echo()
		f.keyboard.Clear()
		f.leave = false
		f.enter(ctx, text)
	case lineedit.Cancel:
		exit(f).interrupt(ctx)
	case lineedit.Escaped:
		f.escape(ctx)
	case lineedit.Leave:
		exit(f).ask()
	case lineedit.Stop:
		if f.cfg.Suspend != nil {
			f.out.leave()
			f.cfg.Suspend()
			select { // the signal that has resumed it is no news
			case <-f.cfg.Changes:
			case <-time.After(50 * time.Millisecond):
			}
		}
	case lineedit.Redraw:
		f.out.terminal.Clear()
	case lineedit.Show:
		f.out.wholeOutput()
	case lineedit.Cycle:
		f.submit(ctx, session.SetMode{Mode: string(permission.Mode(f.talk.Permission.Mode()).Next())})
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

// explains handles the key that shows the keys and commands, and reports whether k is that key. While the user types it is
// a character.
func (f keys) explains(ctx context.Context, k lineedit.Key) bool {
	if k.Code != lineedit.Rune || k.Text != "?" || !f.keyboard.Empty() || f.asking() || f.offer != nil {
		return false
	}
	runner(f).command(ctx, desk.ExplainKeys)
	return true
}

// again is the time in which a key counts as pressed twice.
const again = time.Second

// escape interrupts what runs. Pressed twice, it drops what is typed, or goes back in the conversation.
func (f keys) escape(ctx context.Context) {
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
		f.keyboard.forget()
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
		f.keyboard.keep(text)
	}
	if !f.gone(ctx) && f.next == nil && !f.out.prompted && !f.busy() {
		f.prompt()
	}
}

// detaches handles the key that moves the running command to the background, and reports whether k is that key. While
// the user types, the same key moves the cursor.
func (f keys) detaches(ctx context.Context, k lineedit.Key) bool {
	if k.Code != lineedit.Back || !f.working && f.typed == nil || f.asking() || !f.keyboard.Empty() {
		return false
	}
	f.submit(ctx, session.Detach{})
	return true
}

func firstOf(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}
