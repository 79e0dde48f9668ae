package plain

import (
	"context"
	"io"
	"strings"
	"time"

	"adze/internal/ui/edit"
	"adze/internal/ui/keys"
)

// A keyboard reads keys or lines, edits the line and keeps the history of what was entered.
type keyboard struct {
	*edit.Field
	typing  Typing
	in      io.Reader
	byKey   bool // in delivers single keys
	typed   chan input
	taken   chan struct{} // what was typed has been handled
	decoder keys.Decoder
	late    <-chan time.Time // when the rest of a key does not come any more; may be nil
	partial string           // the lines so far of an entry with several, if in delivers lines
	draft   draft
	// What was typed and entered while one conversation was left for another one, which gets it.
	ahead   []keys.Event
	entered []string
}

// Typing is what the user types with. Each function may be nil.
type Typing struct {
	// Bindings returns the keys that are in force, which may change; nil means the usual ones.
	Bindings func() *keys.Map
	// Vim reports whether text is edited as in vim, and which two characters end the insertion; both may change.
	Vim func() (on bool, escape string)
	// Remote says that the terminal is on another machine.
	Remote bool
	// History is what was entered in earlier sessions, oldest first. Remember stores an entry; one that was not sent is
	// kept, too.
	History  []string
	Remember func(text string, sent bool)
	// LoadDraft returns what was typed in a session and not sent, or nil, and SaveDraft stores it.
	LoadDraft func(session string) []byte
	SaveDraft func(session string, data []byte)
}

// An input is what the user entered: keys, a line, or the end.
type input struct {
	data   []byte // of keys, as it was read
	at     time.Time
	events []keys.Event
	line   string
	end    bool
}

// more stands before the second and further lines of an entry.
const more = ". "

func newKeyboard(cfg Config) *keyboard {
	k := &keyboard{
		Field: edit.New("> ", more), typing: cfg.Typing, in: cfg.In, byKey: cfg.Keys,
		typed: make(chan input), taken: make(chan struct{}, 1), decoder: keys.Decoder{Remote: cfg.Typing.Remote},
	}
	k.History = cfg.Typing.History
	if k.typing.Bindings == nil {
		usual := keys.Defaults()
		k.typing.Bindings = func() *keys.Map { return usual }
	}
	return k
}

// press takes an event, and returns the action that is not about the text, or "".
func (k *keyboard) press(ev keys.Event, width int, contexts ...keys.Context) keys.Action {
	if k.typing.Vim != nil {
		k.SetVim(k.typing.Vim())
	}
	defer k.draft.changed()
	return k.Press(ev, k.typing.Bindings(), width, contexts...)
}

// read sends what is typed, and reads more only when that has been handled: a program that a command starts may read
// the same input. Nothing can interrupt a read of an input that stays open, so the goroutine is not waited for.
func (k *keyboard) read(ctx context.Context) {
	var rest string
	buf := make([]byte, 64<<10)
	for {
		n, err := k.in.Read(buf)
		if k.byKey && n > 0 {
			if !k.send(ctx, input{data: buf[:n], at: time.Now()}) {
				return
			}
		} else {
			rest += string(buf[:n])
			for {
				line, after, ok := strings.Cut(rest, "\n")
				if !ok {
					break
				}
				if rest = after; !k.send(ctx, input{line: line}) {
					return
				}
			}
		}
		if err != nil {
			if rest != "" {
				k.send(ctx, input{line: rest})
			}
			k.send(ctx, input{end: true})
			return
		}
	}
}

// send sends what was typed and waits until it has been handled.
func (k *keyboard) send(ctx context.Context, t input) bool {
	select {
	case k.typed <- t:
	case <-ctx.Done():
		return false
	}
	select {
	case <-k.taken:
		return true
	case <-ctx.Done():
		return false
	}
}

// decode turns what was read into keys. The rest of a key that is not complete may come late.
func (k *keyboard) decode(t input) input {
	if t.data != nil {
		t.events = k.decoder.Decode(t.data, t.at)
		k.late = nil
		if wait := k.decoder.Wait(); wait > 0 {
			k.late = time.After(wait)
		}
	}
	return t
}

// flush returns the keys that are left when the rest of one does not come.
func (k *keyboard) flush() input {
	k.late = nil
	return input{data: []byte{}, events: k.decoder.Flush(time.Now())}
}

// line takes a line that the terminal edited. It returns the whole entry, unless the line ends in a backslash and
// another follows.
func (k *keyboard) line(text string) (entered string, whole bool) {
	if more, ok := strings.CutSuffix(text, "\\"); ok {
		k.partial += more + "\n"
		return "", false
	}
	entered, k.partial = k.partial+text, ""
	return entered, true
}

// forget drops what is being typed, and reports whether there was anything. It stays in the history, as not sent, unless it
// was meant to answer a question.
func (k *keyboard) forget(answer bool) bool {
	typing := !k.Empty()
	if text := k.Text(); strings.TrimSpace(text) != "" && !answer {
		k.keep(text, false)
	}
	k.Clear()
	k.partial = ""
	return typing
}

// drop drops what was typed for a conversation that cannot be opened, and reports whether there was anything.
func (k *keyboard) drop() bool {
	typed := len(k.ahead)+len(k.entered) > 0
	k.ahead, k.entered = nil, nil
	return typed
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
