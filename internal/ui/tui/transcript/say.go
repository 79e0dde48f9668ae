package transcript

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"adze/internal/agent"
	"adze/internal/commands"
	"adze/internal/msg"
	"adze/internal/tool"
	"adze/internal/ui/draw"
	"adze/internal/ui/edit"
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

// Recall shows the last turns of an earlier conversation.
func (t *Transcript) Recall(events []agent.Event) {
	for _, ev := range events {
		if a, ok := ev.(agent.Appended); ok && a.Entry.Message.Role == msg.User {
			t.recallPrompt(a.Entry)
			continue
		}
		t.event(ev)
	}
	t.Settle()
	t.activity, t.calls, t.checklist = activity{}, nil, nil
}

// recallPrompt shows a user message of an earlier conversation, or a command that the user ran.
func (t *Transcript) recallPrompt(e msg.Entry) {
	t.settle()
	text := commands.MessageText(e.Message)
	if command, output, ok := msg.RanCommand(text); ok {
		t.Command("!" + command)
		t.Page(commands.Page{Blocks: []commands.Block{commands.Output{Display: tool.Output{Text: output, Lines: strings.Count(output, "\n") + 1}}}})
		return
	}
	brief := text
	if len(e.Pasted) > 0 {
		brief = strings.TrimSpace(edit.DraftOf(msg.TypedTexts(e.Message)[0], e.Pasted).Brief())
	}
	t.Prompt(text, brief)
}

// Whole shows a page without omitting anything.
func (r *record) Whole(p commands.Page) {
	if len(p.Blocks) > 0 {
		r.put(&sheet{page: p})
	}
}
