package plain

import (
	"context"
	"io"
	"strings"

	"adze/internal/platform/lineedit"
)

// A keyboard reads keys or lines, edits the line and keeps the history of what was entered.
type keyboard struct {
	lineedit.Editor
	in       io.Reader
	keys     bool // in delivers single keys
	typed    chan input
	taken    chan struct{} // what was typed has been handled
	partial  string        // the lines so far of an entry with several, if in delivers lines
	remember func(string)  // may be nil
}

// An input is what the user entered: keys, a line, or the end.
type input struct {
	keys []lineedit.Key
	line string
	end  bool
}

func newKeyboard(cfg Config) *keyboard {
	return &keyboard{
		Editor: lineedit.Editor{Prompt: "> ", More: ". ", Width: cfg.Width, History: cfg.History},
		in:     cfg.In, keys: cfg.Keys, remember: cfg.Remember, typed: make(chan input), taken: make(chan struct{}, 1),
	}
}

// read sends what is typed, and reads more only when that has been handled: a program that a command starts may read
// the same input. Nothing can interrupt a read of an input that stays open, so the goroutine is not waited for.
func (k *keyboard) read(ctx context.Context) {
	var decoder lineedit.Decoder
	var rest string
	buf := make([]byte, 64<<10)
	for {
		n, err := k.in.Read(buf)
		if k.keys && n > 0 {
			if keys := decoder.Decode(buf[:n]); len(keys) > 0 && !k.send(ctx, input{keys: keys}) {
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

// forget drops what is being typed, and reports whether there was anything.
func (k *keyboard) forget() bool {
	typing := !k.Empty()
	k.Clear()
	k.partial = ""
	return typing
}

// keep remembers what was entered.
func (k *keyboard) keep(text string) {
	if strings.TrimSpace(text) == "" {
		return
	}
	if n := len(k.History); n == 0 || k.History[n-1] != text {
		k.History = append(k.History, text)
	}
	if k.remember != nil {
		k.remember(text)
	}
}
