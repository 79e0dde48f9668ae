package term

import (
	"strings"
	"unicode"
)

// A Channel is a way to notify the user through the terminal.
type Channel string

// Channels. All except the bell show a text.
const (
	Bell   Channel = "bell"
	OSC9   Channel = "osc9"
	OSC99  Channel = "osc99"
	OSC777 Channel = "osc777"
)

// maxNotice limits the length of a notice, in characters. Notification areas don't show more.
const maxNotice = 120

// Notice returns the sequence that makes the terminal notify the user. title and text may
// contain anything. In tmux and screen, texts are passed to the outer terminal if the
// configuration allows it.
func Notice(c Channel, title, text string, getenv func(string) string) string {
	title, text = noticeText(title), noticeText(text)
	seq := ""
	switch c {
	case OSC9:
		seq = "\x1b]9;" + title + ": " + text + "\a"
	case OSC99:
		seq = "\x1b]99;i=adze:d=0;" + title + "\x1b\\\x1b]99;i=adze:p=body;" + text + "\x1b\\"
	case OSC777:
		seq = "\x1b]777;notify;" + title + ";" + text + "\a"
	default:
		return "\a"
	}
	switch {
	case getenv("TMUX") != "":
		return "\x1bPtmux;" + strings.ReplaceAll(seq, "\x1b", "\x1b\x1b") + "\x1b\\"
	case getenv("STY") != "" && !strings.Contains(seq, "\x1b\\"): // would end screen's own sequence
		return "\x1bP" + seq + "\x1b\\"
	}
	return seq
}

// noticeText returns a text on one line, without characters that could end a sequence or start
// a field.
func noticeText(text string) string {
	var b strings.Builder
	n := 0
	for _, r := range Sanitize(text) {
		switch {
		case n == maxNotice:
			return b.String() + "..."
		case r == ';':
			r = ','
		case unicode.IsSpace(r) || !unicode.IsPrint(r):
			r = ' '
		}
		b.WriteRune(r)
		n++
	}
	return strings.TrimSpace(b.String())
}
