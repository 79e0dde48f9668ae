package plain

import (
	"context"
	"io"
	"strings"
	"time"

	"adze/internal/platform/lineedit"
)

// A keyboard reads keys or lines, edits the line and keeps the history of what was entered.
type keyboard struct {
	lineedit.Editor
	in       io.Reader
	keys     bool // in delivers single keys
	typed    chan input
	taken    chan struct{} // what was typed has been handled
	decoder  lineedit.Decoder
	late     <-chan time.Time // when the rest of a key does not come any more; may be nil
	partial  string           // the lines so far of an entry with several, if in delivers lines
	remember func(string)     // may be nil
	// What was typed and entered while one conversation was left for another one, which gets it.
	ahead   []lineedit.Key
	entered []string
}

// An input is what the user entered: keys, a line, or the end.
type input struct {
	data []byte // of keys, as it was read
	keys []lineedit.Key
	line string
	end  bool
}

// more stands before the second and further lines of an entry.
const more = ". "

func newKeyboard(cfg Config) *keyboard {
	return &keyboard{
		Editor: lineedit.Editor{Prompt: "> ", More: more, History: cfg.History},
		in:     cfg.In, keys: cfg.Keys, remember: cfg.Remember, typed: make(chan input), taken: make(chan struct{}, 1),
	}
}

// read sends what is typed, and reads more only when that has been handled: a program that a command starts may read
// the same input. Nothing can interrupt a read of an input that stays open, so the goroutine is not waited for.
func (k *keyboard) read(ctx context.Context) {
	var rest string
	buf := make([]byte, 64<<10)
	for {
		n, err := k.in.Read(buf)
		if k.keys && n > 0 {
			if !k.send(ctx, input{data: buf[:n]}) {
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
		t.keys = k.decoder.Decode(t.data)
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
	return input{data: []byte{}, keys: k.decoder.Flush()}
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

// forget drops what is being typed, and reports whether there was anything. It stays in the history.
func (k *keyboard) forget() bool {
	typing := !k.Empty()
	if text := k.Text(); strings.TrimSpace(text) != "" {
		k.recall(text)
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

// keep remembers what was entered.
func (k *keyboard) keep(text string) {
	if strings.TrimSpace(text) == "" {
		return
	}
	k.recall(text)
	if k.remember != nil {
		k.remember(text)
	}
}

// recall adds a text to the history of this conversation.
func (k *keyboard) recall(text string) {
	if n := len(k.History); n == 0 || k.History[n-1] != text {
		k.History = append(k.History, text)
	}
}
