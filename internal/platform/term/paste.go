package term

import (
	"io"
	"time"
)

// Modes are what the program asks of a terminal while it reads keys: pastes that are marked, so that line ends in them do
// not submit them, keys that are told apart by codes, and to be told when the user looks at another window. Terminals
// without these features ignore the request.
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

// KeyModes returns the modes for the terminal that w writes to. The console of Linux would show what it does not know.
func KeyModes(w io.Writer, getenv func(string) string) *Modes {
	if getenv("TERM") == "linux" {
		return &Modes{w, marksPastes, endsPastes}
	}
	return &Modes{w, marksPastes + tellsFocus + pushesKeys, popsKeys + hidesFocus + endsPastes}
}

// On asks for the modes, and Off leaves them, for another program or the shell. The user's shell may have changed them
// while the program was stopped.
func (m *Modes) On() { m.write(m.on) }

// Off leaves the modes.
func (m *Modes) Off() { m.write(m.off) }

// patience is how long a terminal that takes nothing is waited for.
const patience = 2 * time.Second

// write writes a text. A terminal that is stuck is not waited for: the program must be able to end.
func (m *Modes) write(text string) {
	written := make(chan struct{})
	go func() {
		defer close(written)
		io.WriteString(m.w, text) // ok: the screen will show whether it works
	}()
	select {
	case <-written:
	case <-time.After(patience):
	}
}
