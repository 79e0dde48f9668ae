package term

import "io"

// Modes are what the program asks of a terminal while it reads keys: pastes that are marked, so that line ends in them do
// not submit them, and keys that are told apart by codes. Terminals without these features ignore the request.
type Modes struct {
	w   io.Writer
	on  string
	off string
}

const (
	marksPastes, endsPastes = "\x1b[?2004h", "\x1b[?2004l"
	pushesKeys, popsKeys    = "\x1b[>1u", "\x1b[<u"
)

// KeyModes returns the modes for the terminal that w writes to. The console of Linux would show what it does not know.
func KeyModes(w io.Writer, getenv func(string) string) *Modes {
	if getenv("TERM") == "linux" {
		return &Modes{w, marksPastes, endsPastes}
	}
	return &Modes{w, marksPastes + pushesKeys, popsKeys + endsPastes}
}

// On asks for the modes, and Off leaves them, for another program or the shell. The user's shell may have changed them
// while the program was stopped.
func (m *Modes) On() { io.WriteString(m.w, m.on) } // ok: the screen will show whether it works

// Off leaves the modes.
func (m *Modes) Off() { io.WriteString(m.w, m.off) } // ok: the screen will show whether it works
