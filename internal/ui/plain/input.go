package plain

import (
	"context"
	"strings"

	"adze/internal/desk"
	"adze/internal/platform/lineedit"
	"adze/internal/session"
)

// take handles what was typed.
func (f *Front) take(ctx context.Context, t input) {
	if t.end {
		f.unfollow()
	}
	if f.decides(ctx, t) {
		return
	}
	switch {
	case t.end && len(f.asked) == 0 && f.busy():
		f.ended, f.offer = true, nil
	case t.end:
		f.quit()
	case t.keys == nil:
		f.lineTyped(ctx, t.line)
	}
	for _, k := range t.keys {
		if f.gone(ctx) || f.next != nil {
			return
		}
		f.press(ctx, k)
	}
}

// lineTyped handles a line that the terminal edited.
func (f *Front) lineTyped(ctx context.Context, line string) {
	f.leave = false
	f.out.entered() // the terminal has moved to the next line
	text, whole := f.keyboard.line(line)
	if !whole {
		f.out.edit(f.keyboard.More)
		return
	}
	f.enter(ctx, text)
}

// press handles one key.
func (f *Front) press(ctx context.Context, k lineedit.Key) {
	if f.detaches(ctx, k) {
		return
	}
	if !f.out.prompted && k.Code != lineedit.Interrupt && k.Code != lineedit.Suspend {
		f.prompt()
	}
	out, ev := f.keyboard.Press(k)
	f.out.edit(out)
	if ev == lineedit.None {
		if f.keyboard.Empty() && f.working && len(f.asked) == 0 { // the user has deleted what was typed
			f.out.fresh()
		}
		return
	}
	switch ev {
	case lineedit.Submit:
		text := f.keyboard.Text()
		f.keyboard.Clear()
		f.leave = false
		f.out.entered()
		f.enter(ctx, text)
	case lineedit.Cancel:
		f.interrupt(ctx)
	case lineedit.Leave:
		f.out.fresh()
		f.quit()
	case lineedit.Stop:
		if f.cfg.Suspend != nil {
			f.out.fresh()
			f.cfg.Suspend()
			if !f.working || len(f.asked) > 0 || !f.keyboard.Empty() {
				f.prompt()
			}
		}
	}
}

// enter handles what the user entered.
func (f *Front) enter(ctx context.Context, text string) {
	trimmed := strings.TrimSpace(text)
	offer := f.offer
	f.offer = nil
	f.unfollow()
	switch {
	case len(f.asked) > 0:
		f.reply(ctx, trimmed)
	case trimmed == "":
		if !f.working {
			f.prompt()
		}
		return
	case offer.pick(trimmed) != nil:
		f.carryOut(ctx, func() (desk.Answer, error) { return offer.Choose(ctx, *offer.pick(trimmed)) })
		if !f.gone(ctx) && f.next == nil && !f.busy() {
			f.prompt()
		}
		return
	case isCommand(trimmed):
		name, arg, _ := desk.Parse(trimmed)
		f.carryOut(ctx, func() (desk.Answer, error) { return f.talk.Run(ctx, name, arg) })
	case strings.HasPrefix(trimmed, "!"):
		f.carryOut(ctx, func() (desk.Answer, error) { return f.talk.Shell(ctx, strings.TrimSpace(trimmed[1:]), nil) })
	case strings.HasPrefix(text, "#") && !strings.Contains(trimmed, "\n"):
		f.carryOut(ctx, func() (desk.Answer, error) { return f.talk.Note(strings.TrimSpace(trimmed[1:])) })
	default:
		f.say(ctx, text)
	}
	if len(f.asked) == 0 {
		f.keyboard.keep(text)
	}
	if !f.gone(ctx) && f.next == nil && !f.out.prompted && !f.busy() {
		f.prompt()
	}
}

// detaches handles the key that moves the running command to the background, and reports whether k is that key. While
// the user types, the same key moves the cursor.
func (f *Front) detaches(ctx context.Context, k lineedit.Key) bool {
	if k.Code != lineedit.Back || !f.working || len(f.asked) > 0 || !f.keyboard.Empty() {
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
