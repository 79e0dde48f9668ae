package transcript

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"adze/internal/commands"
	"adze/internal/msg"
	"adze/internal/ui/draw"
)

// Prompt shows the user's message. Brief is the same text with placeholders for pasted text.
func (r *record) Prompt(text, brief string) {
	if strings.TrimSpace(text) != "" {
		r.put(&prompt{text: strings.Trim(text, "\n"), brief: strings.Trim(brief, "\n")})
	}
}

// Command records a command entered by the user. It is shown with its first output.
func (r *record) Command(line string) { r.command = strings.TrimSpace(line) }

// Dismiss drops a command without output.
func (r *record) Dismiss() { r.command = "" }

// Say shows a message from the program.
func (r *record) Say(text string) {
	if text != "" {
		r.put(&note{text: text})
	}
}

// Fail shows an error, as a sentence.
func (r *record) Fail(err error) { r.bad(sentence(err.Error())) }

// failed shows the error that ended a turn.
func (r *record) failed(err error) {
	if r.cfg.Explain == nil {
		r.Fail(err)
		return
	}
	r.bad(r.cfg.Explain(err))
}

func (r *record) bad(text string) {
	r.put(&note{role: draw.Bad, mark: r.cfg.Glyphs.Failed, text: text})
}

// sentence returns a message with a leading capital letter and a final period.
func sentence(text string) string {
	first, n := utf8.DecodeRuneInString(text)
	last, _ := utf8.DecodeLastRuneInString(text)
	if (unicode.IsLetter(last) || unicode.IsDigit(last) || last == '"') && !strings.HasPrefix(text, "usage:") {
		text += "."
	}
	return string(unicode.ToUpper(first)) + text[n:]
}

// Page shows a command page.
func (r *record) Page(p commands.Page) {
	if len(p.Blocks) > 0 {
		r.put(&sheet{page: p, max: maxShown})
	}
}

// Begin shows the first rows of a page that is read elsewhere.
func (r *record) Begin(p commands.Page, rows int) { r.put(&sheet{page: p, max: maxShown, head: rows}) }

// Recall shows messages of an earlier conversation.
func (r *record) Recall(entries []msg.Entry) {
	for _, e := range entries {
		text := commands.MessageText(e.Message)
		switch {
		case e.Hidden:
			continue
		case text == "":
		case e.Message.Role == msg.User:
			r.put(&prompt{text: text, brief: text})
		default:
			r.put(&answer{text: text})
		}
		for _, line := range commands.CallLines(e.Message) {
			r.faint(r.cfg.Glyphs.Dot + " " + line)
		}
	}
}

// Whole shows a page without omitting anything.
func (r *record) Whole(p commands.Page) {
	if len(p.Blocks) > 0 {
		r.put(&sheet{page: p})
	}
}
