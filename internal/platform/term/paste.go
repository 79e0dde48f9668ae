package term

import (
	"io"
	"strings"
	"time"
)

// Modes are the terminal modes used while reading keys: bracketed paste, so that line breaks in
// pasted text do not submit it, unambiguous key codes, and focus reporting. Terminals that lack
// these features ignore the request.
type Modes struct {
	w   io.Writer
	on  string
	off string
}

const (
	marksPastes, endsPastes = "\x1b[?2004h", "\x1b[?2004l"
	pushesKeys, popsKeys    = "\x1b[>1u", "\x1b[<u"
	tellsFocus, hidesFocus  = "\x1b[?1004h", "\x1b[?1004l"
)

// KeyModes returns the modes for the terminal that w writes to. The Linux console would display
// sequences that it does not know.
func KeyModes(w io.Writer, getenv func(string) string) *Modes {
	if getenv("TERM") == "linux" {
		return &Modes{w, marksPastes, endsPastes}
	}
	return &Modes{w, marksPastes + tellsFocus + pushesKeys, popsKeys + hidesFocus + endsPastes}
}

// On enables the modes. It must be called again after the program was stopped, because the
// user's shell may have changed them.
func (m *Modes) On() { m.write(m.on) }

// Off disables the modes, for another program or the shell.
func (m *Modes) Off() { m.write(m.off) }

// asksBackground queries the background color.
const asksBackground = "\x1b]11;?\x1b\\"

// AskBackground queries the background color. Terminals that support it reply in their input;
// see [Replies].
func (m *Modes) AskBackground() { m.write(asksBackground) }

// Replies reports whether the terminal may reply to queries and shows none it does not know.
func Replies(getenv func(string) string) bool {
	t := Detect(getenv)
	kind := getenv("TERM")
	return t.Colours > 16 && t.Inside != "screen" && kind != "dumb" && kind != "unknown" && (t.Inside != "" || !strings.HasPrefix(kind, "screen"))
}

// patience limits how long to wait for a stuck terminal.
const patience = 2 * time.Second

// write writes a text. It does not wait for a stuck terminal, because the program must be able
// to exit.
func (m *Modes) write(text string) {
	written := make(chan struct{})
	go func() {
		defer close(written)
		io.WriteString(m.w, text) // ok: problems are visible on the screen
	}()
	select {
	case <-written:
	case <-time.After(patience):
	}
}
