package plain

import (
	"context"
	"strings"

	"adze/internal/desk"
	"adze/internal/permission"
	"adze/internal/platform/lineedit"
	"adze/internal/session"
)

// take takes what was typed.
func (f *Front) take(ctx context.Context, t typed) {
	switch {
	case t.end && f.working && len(f.asked) == 0:
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

// lineTyped takes a line that the terminal edited.
func (f *Front) lineTyped(ctx context.Context, line string) {
	f.leave = false
	f.out.entered() // the terminal went to the next line
	if more, ok := strings.CutSuffix(line, "\\"); ok {
		f.partial += more + "\n"
		f.out.edit(f.editor.More)
		return
	}
	text := f.partial + line
	f.partial = ""
	f.enter(ctx, text)
}

// press takes one key.
func (f *Front) press(ctx context.Context, k lineedit.Key) {
	if f.detaches(ctx, k) {
		return
	}
	if !f.out.prompted && k.Code != lineedit.Interrupt && k.Code != lineedit.Suspend {
		f.prompt()
	}
	out, ev := f.editor.Press(k)
	f.out.edit(out)
	if ev == lineedit.None {
		if f.editor.Empty() && f.working && len(f.asked) == 0 { // what was begun is given up
			f.out.fresh()
		}
		return
	}
	switch ev {
	case lineedit.Submit:
		text := f.editor.Text()
		f.editor.Clear()
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
			if !f.working || len(f.asked) > 0 || !f.editor.Empty() {
				f.prompt()
			}
		}
	}
}

// enter takes what the person entered.
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
		if !f.gone(ctx) && f.next == nil && !f.working && !f.awaited {
			f.prompt()
		}
		return
	case isCommand(trimmed):
		name, arg, _ := desk.Parse(trimmed)
		f.carryOut(ctx, func() (desk.Answer, error) { return f.talk.Run(ctx, name, arg) })
	case strings.HasPrefix(trimmed, "!"):
		f.carryOut(ctx, func() (desk.Answer, error) { return f.talk.Shell(ctx, strings.TrimSpace(trimmed[1:])) })
	case strings.HasPrefix(text, "#") && !strings.Contains(trimmed, "\n"):
		f.carryOut(ctx, func() (desk.Answer, error) { return f.talk.Note(strings.TrimSpace(trimmed[1:])) })
	default:
		f.say(ctx, text)
	}
	if len(f.asked) == 0 {
		f.remember(text)
	}
	if !f.gone(ctx) && f.next == nil && !f.out.prompted && !f.working && !f.awaited {
		f.prompt()
	}
}

func (f *Front) remember(text string) {
	if strings.TrimSpace(text) == "" {
		return
	}
	if n := len(f.editor.History); n == 0 || f.editor.History[n-1] != text {
		f.editor.History = append(f.editor.History, text)
	}
	if f.cfg.Remember != nil {
		f.cfg.Remember(text)
	}
}

// ask puts the first question.
func (f *Front) ask() {
	q := f.asked[0]
	f.out.fresh()
	if title := firstOf(q.Title, q.Tool); strings.HasSuffix(title, q.Command) {
		f.out.say("\n" + title)
	} else {
		f.out.say("\n" + firstOf(q.DisplayName, q.Tool) + ":")
		f.out.whole(q.Command)
	}
	if q.Preview != nil {
		f.out.display(q.Preview)
		f.out.shown[q.Question.ID] = true
	}
	if q.Warning != "" {
		f.out.say(q.Warning)
	}
	if q.Reason.Text != "" {
		f.out.say(q.Reason.Text)
	}
	if rules := proposed(q.Suggestions); rules != "" {
		f.out.say("[a]lways also allows " + rules + ".")
	}
}

// proposed names what the suggestions would allow.
func proposed(updates []permission.Update) string {
	var texts []string
	for _, u := range updates {
		for _, r := range u.Rules {
			texts = append(texts, r.String())
		}
		if u.Mode != "" {
			texts = append(texts, "the mode "+string(u.Mode))
		}
		texts = append(texts, u.Directories...)
	}
	return strings.Join(texts, ", ")
}

// reply answers the first question.
func (f *Front) reply(ctx context.Context, text string) {
	q := f.asked[0]
	a := permission.Answer{Behavior: permission.Deny}
	switch strings.ToLower(text) {
	case "y", "yes", "1":
		a.Behavior = permission.Allow
	case "a", "always", "2":
		a.Behavior, a.Updates = permission.Allow, q.Suggestions
	case "n", "no", "3":
	case "":
		f.prompt()
		return
	default:
		a.Message = text
	}
	f.asked = f.asked[1:]
	if err := f.talk.Submit(ctx, session.Answer{ID: q.ID, Answer: a}); err != nil {
		f.out.say("Somebody else has answered already.")
	}
	if len(f.asked) > 0 {
		f.ask()
		f.prompt()
	}
}

// settled forgets a question that was answered elsewhere or withdrawn.
func (f *Front) settled(ev session.Settled) {
	for i, q := range f.asked {
		if q.ID != ev.ID {
			continue
		}
		f.asked = append(f.asked[:i], f.asked[i+1:]...)
		if !f.leave {
			f.out.say("The question is settled.")
		}
		if i == 0 && len(f.asked) > 0 {
			f.ask()
		}
		return
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
