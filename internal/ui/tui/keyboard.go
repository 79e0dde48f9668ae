package tui

import (
	"bytes"
	"context"
	"strings"
	"time"

	"adze/internal/ui/draw"
	"adze/internal/ui/edit"
	"adze/internal/ui/keys"
	"adze/internal/ui/talk"
	"adze/internal/ui/tui/compose"
)

// A keyboard turns what is read into keys, and holds what is typed with them.
type keyboard struct {
	*compose.Composer
	typing  talk.Typing
	decoder keys.Decoder
	late    *talk.Timer  // when the rest of a key does not come any more
	ahead   []keys.Event // pressed while one conversation was left for another one, which gets it
	due     *talk.Timer  // when what is typed is stored
	typed   time.Time    // when the first key after that was; zero if there was none
	saved   []byte       // what was stored last
}

func newKeyboard(typing talk.Typing, glyphs draw.Glyphs) *keyboard {
	k := &keyboard{Composer: compose.New(glyphs, typing.History), typing: typing, decoder: keys.Decoder{Remote: typing.Remote}}
	if k.typing.Bindings == nil {
		usual := keys.Defaults()
		k.typing.Bindings = func() *keys.Map { return usual }
	}
	return k
}

// read handles what is typed, and reads more only when that has been done: a program that a command starts may read the
// same input. Nothing can interrupt a read of an input that stays open, so the goroutine is not waited for.
func (f *Front) read(ctx context.Context) {
	buf := make([]byte, 64<<10)
	for {
		n, err := f.cfg.In.Read(buf)
		at := time.Now()
		if n > 0 && !f.hand(ctx, func(ctx context.Context) { f.typed(ctx, buf[:n], at) }) {
			return
		}
		if err != nil {
			f.hand(ctx, func(context.Context) { f.End() })
			return
		}
	}
}

// hand has something done in the goroutine of the conversation, and waits until it is.
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

// typed handles what was read. The rest of a key that is not complete may come late.
func (f *Front) typed(ctx context.Context, data []byte, at time.Time) {
	k := f.keyboard
	k.late.Stop()
	events := k.decoder.Decode(data, at)
	if wait := k.decoder.Wait(); wait > 0 {
		k.late = f.After(wait, func(ctx context.Context) { f.take(ctx, k.decoder.Flush(time.Now())) })
	}
	f.take(ctx, events)
}

// Mode returns the mode of vi that is in force; see [edit.Field.Mode]. The setting may have changed.
func (k *keyboard) Mode() string {
	if k.typing.Vim != nil {
		k.SetVim(k.typing.Vim())
	}
	return k.Composer.Mode()
}

// press takes an event, and returns the action that is not about the text, or "".
func (k *keyboard) press(ev keys.Event, width int, contexts ...keys.Context) keys.Action {
	k.Mode() // has the setting take effect
	return k.Press(ev, k.typing.Bindings(), width, contexts...)
}

// forget drops what is being typed, and reports whether there was anything. It stays in the history, as not sent.
func (k *keyboard) forget() bool {
	typing := !k.Empty()
	if text := k.Text(); strings.TrimSpace(text) != "" {
		k.keep(text, false)
	}
	k.Clear()
	return typing
}

// Clear drops the text. What an earlier entry has covered stays in the history, as not sent.
func (k *keyboard) Clear() {
	if covered := k.Covered(); covered != nil {
		k.keep(covered.Text(), false)
	}
	k.Composer.Clear()
}

// keep remembers what was entered, or typed and not sent.
func (k *keyboard) keep(text string, sent bool) {
	if strings.TrimSpace(text) == "" {
		return
	}
	k.Remember(text)
	if k.typing.Remember != nil {
		k.typing.Remember(text, sent)
	}
}

// settled is how long after the last key what is typed is stored, and unsaved how long after the first one at the latest:
// who types without a pause loses no more.
const (
	settled = 500 * time.Millisecond
	unsaved = 2 * time.Second
)

// edited notes that what is typed may have changed: it is stored after a while.
func (f *Front) edited() {
	k := f.keyboard
	if k.typed.IsZero() {
		k.typed = time.Now()
	}
	k.due.Stop()
	k.due = f.After(min(settled, time.Until(k.typed.Add(unsaved))), func(context.Context) { sender{f}.store() })
}

// save stores what waits and what is typed in a session.
func (k *keyboard) save(c *talk.Conversation, waiting []*edit.Draft) {
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

// load brings back what was typed and not sent in a session, unless the user is typing already.
func (k *keyboard) load(c *talk.Conversation) {
	k.saved = nil
	if k.typing.LoadDraft == nil {
		return
	}
	if data := k.typing.LoadDraft(c.ID()); data != nil && k.Empty() && k.Load(data) == nil {
		k.saved = data
	}
}
