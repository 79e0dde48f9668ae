package term

import "io"

// BracketPastes asks the terminal to mark pasted text, so that line ends in it do not submit it. Terminals without this
// feature ignore the request.
func BracketPastes(w io.Writer) (end func()) {
	io.WriteString(w, "\x1b[?2004h")                   // ok: the screen will show whether it works
	return func() { io.WriteString(w, "\x1b[?2004l") } // ok: the program ends
}
