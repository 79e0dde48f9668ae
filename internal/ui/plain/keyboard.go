package plain

import (
	"context"
	"io"
	"strings"

	"adze/internal/platform/lineedit"
)

// A keyboard is where the user types: it reads keys or lines, edits the line, and knows what was entered before.
type keyboard struct {
	lineedit.Editor
	in       io.Reader
	keys     bool // in delivers every key at once
	typed    chan typed
	taken    chan struct{} // what was typed is dealt with, and more can be read
	partial  string        // lines that go on, where in delivers lines
	remember func(string)  // keeps what was entered; it may be nil
}

// typed is what the user entered: keys, a line, or the end.
type typed struct {
	keys []lineedit.Key
	line string
	end  bool
}

func newKeyboard(cfg Config) *keyboard {
	return &keyboard{
		Editor: lineedit.Editor{Prompt: "> ", More: ". ", Width: cfg.Width, History: cfg.History},
		in:     cfg.In, keys: cfg.Keys, remember: cfg.Remember, typed: make(chan typed), taken: make(chan struct{}, 1),
	}
}

// read hands on what is typed, and reads on when that is dealt with: what a command starts may want to read
// too. Nothing can wake it from reading an input that stays open, so it is not waited for.
func (k *keyboard) read(ctx context.Context) {
	var decoder lineedit.Decoder
	var rest string
	buf := make([]byte, 64<<10)
	for {
		n, err := k.in.Read(buf)
		if k.keys && n > 0 {
			if keys := decoder.Decode(buf[:n]); len(keys) > 0 && !k.send(ctx, typed{keys: keys}) {
				return
			}
		} else {
			rest += string(buf[:n])
			for {
				line, after, ok := strings.Cut(rest, "\n")
				if !ok {
					break
				}
				if rest = after; !k.send(ctx, typed{line: line}) {
					return
				}
			}
		}
		if err != nil {
			if rest != "" {
				k.send(ctx, typed{line: rest})
			}
			k.send(ctx, typed{end: true})
			return
		}
	}
}

// send hands on what was typed and waits until it is dealt with.
func (k *keyboard) send(ctx context.Context, t typed) bool {
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

// line takes a line that the terminal edited. It returns what was entered, unless the line goes on.
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
