package tui

import (
	"bytes"
	"context"
	"strings"
	"time"

	"adze/internal/ui/controller"
	"adze/internal/ui/edit"
	"adze/internal/ui/keys"
	"adze/internal/ui/tui/compose"
)

// A keyboard decodes input into keys, and holds the typed message.
type keyboard struct {
	*compose.Composer
	typing  controller.InputConfig
	decoder keys.Decoder
	late    *controller.Timer // fires when the rest of a key is overdue
	due     *controller.Timer // fires when the draft is to be saved
	typed   time.Time         // time of the first unsaved key, or zero
	saved   []byte            // last saved draft
}

func newKeyboard(cfg Config) *keyboard {
	typing := cfg.Typing
	k := &keyboard{Composer: compose.New(cfg.Glyphs, typing.History), typing: typing, decoder: keys.Decoder{Remote: typing.Remote, Reply: cfg.Reply}}
	k.Placeholder = "Message" + cfg.Glyphs.Ellipsis
	if k.typing.Bindings == nil {
		usual := keys.Defaults()
		k.typing.Bindings = func() *keys.Map { return usual }
	}
	return k
}

// read handles input and continues reading only when it has been handled, because a program
// started by a command may read the same input. A read from an input that stays open cannot be
// interrupted, so nothing waits for this goroutine.
func (f *Front) read(ctx context.Context) {
	buf := make([]byte, 64<<10)
	for first := true; ; first = false {
		n, err := f.cfg.In.Read(buf)
		at := time.Now()
		if first {
			f.peek(buf[:n], at)
		}
		if n > 0 && !f.hand(ctx, func(ctx context.Context) { f.typed(ctx, buf[:n], at) }) {
			return
		}
		if err != nil {
			f.hand(ctx, func(context.Context) { f.End() })
			return
		}
	}
}

// peek looks for replies of the terminal in the first input, which is handled only when the
// conversation has been opened and shown.
func (f *Front) peek(data []byte, at time.Time) {
	d := keys.Decoder{Reply: func(text string) { f.early.Store(&text) }}
	d.Decode(data, at)
}

// hand runs do in the conversation's goroutine and waits for it.
func (f *Front) hand(ctx context.Context, do func(context.Context)) bool {
	done := make(chan struct{})
	if !f.Post(ctx, func(ctx context.Context) { defer close(done); do(ctx) }) {
		return false
	}
	select {
	case <-done:
		return true
	case <-ctx.Done():
		return false
	}
}

// typed handles input. The rest of an incomplete key may arrive later.
func (f *Front) typed(ctx context.Context, data []byte, at time.Time) {
	k := f.keyboard
	k.late.Stop()
	events := k.decoder.Decode(data, at)
	if wait := k.decoder.Wait(); wait > 0 {
		k.late = f.After(wait, func(ctx context.Context) { f.take(ctx, k.decoder.Flush(time.Now())) })
	}
	f.take(ctx, events)
}

// Mode returns the current vi mode; see [edit.Field.Mode]. The setting may have changed.
func (k *keyboard) Mode() string {
	if k.typing.Vim != nil {
		k.SetVim(k.typing.Vim())
	}
	return k.Composer.Mode()
}

// press handles an event, and returns an action that does not edit the text, or "".
func (k *keyboard) press(ev keys.Event, width int, contexts ...keys.Context) keys.Action {
	k.Mode() // applies the current setting
	return k.Press(ev, k.typing.Bindings(), width, contexts...)
}

// forget drops the typed message, and reports whether there was any. It stays in the history,
// marked as unsent.
func (k *keyboard) forget() bool {
	typing := !k.Empty()
	if text := k.Text(); strings.TrimSpace(text) != "" {
		k.keep(text, false)
	}
	k.Clear()
	return typing
}

// Clear drops the text. Text covered by a history entry is kept in the history, marked as
// unsent.
func (k *keyboard) Clear() {
	if covered := k.Covered(); covered != nil {
		k.keep(covered.Text(), false)
	}
	k.Composer.Clear()
}

// keep remembers text that was sent, or typed and not sent.
func (k *keyboard) keep(text string, sent bool) {
	if strings.TrimSpace(text) == "" {
		return
	}
	k.Remember(text)
	if k.typing.Remember != nil {
		k.typing.Remember(text, sent)
	}
}

// save saves a session's queued messages and typed message.
func (k *keyboard) save(c *controller.Conversation, waiting []*edit.Draft) {
	k.due.Stop()
	k.typed = time.Time{}
	if k.typing.SaveDraft == nil || c == nil {
		return
	}
	if data := k.Save(waiting...); !bytes.Equal(data, k.saved) {
		k.saved = data
		k.typing.SaveDraft(c.ID(), data)
	}
}

// load restores a session's unsent input, unless the user is already typing.
func (k *keyboard) load(c *controller.Conversation) {
	k.saved = nil
	if k.typing.LoadDraft == nil {
		return
	}
	if data := k.typing.LoadDraft(c.ID()); data != nil && k.Empty() && k.Load(data) == nil {
		k.saved = data
	}
}
