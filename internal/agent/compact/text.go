package compact

import (
	_ "embed"
	"strings"

	"adze/internal/platform/text/texts"
)

// A summary is a single element, so that the next compaction recognizes it.
const (
	openTag  = "<conversation-summary>"
	closeTag = "\n</conversation-summary>"
	// These enclose the user's messages.
	openSaid, closeSaid = "\n<said>\n", "\n</said>"
)

// Cleared replaces the content of an old result. It is the same in all languages, so that the
// request prefix does not change when a session is resumed in another language.
const Cleared = "[Old tool output was cleared to save room.]"

var (
	//go:embed texts.en.md
	english string
	//go:embed texts.zh.md
	chinese string

	catalogue = texts.New(english, chinese)
)

// phrases provides the catalog's texts in one language.
type phrases struct{ language texts.Language }

func (p phrases) say(name string, values ...string) string {
	return catalogue.Text(p.language, name, values...)
}

// cut returns the suffix for truncated text.
func (p phrases) cut() string { return "\n" + p.say("cut") }

// ask returns the instructions for a summary.
func (p phrases) ask(focus, keep string) string {
	lines := []string{p.say("instruction")}
	if focus != "" {
		lines = append(lines, p.say("focus", focus))
	}
	if keep != "" {
		lines = append(lines, p.say("keep", keep))
	}
	return strings.Join(lines, "\n\n")
}

// summary returns a summary as presented to the model from then on.
func (p phrases) summary(text string, said []string, path string, j Job) string {
	var b strings.Builder
	intro := "intro"
	if j.Side == Back {
		intro = "intro.back"
	}
	b.WriteString(openTag + "\n" + p.say(intro) + "\n\n" + text)
	p.coda(&b, said, path)
	if j.Trigger == Auto {
		b.WriteString("\n\n" + p.say("continue"))
	}
	b.WriteString(closeTag)
	return b.String()
}

// dropped returns the text that replaces messages dropped without a summary, following an
// earlier summary.
func (p phrases) dropped(prior string, said []string, path string) string {
	var b strings.Builder
	b.WriteString(openTag + "\n" + p.say("intro.drop"))
	if prior != "" {
		b.WriteString("\n\n" + p.say("intro.prior") + "\n\n" + prior)
	}
	p.coda(&b, said, path)
	b.WriteString(closeTag)
	return b.String()
}

func (p phrases) coda(b *strings.Builder, said []string, path string) {
	if len(said) > 0 {
		b.WriteString("\n\n" + p.say("said"))
		for _, s := range said {
			b.WriteString(openSaid + s + closeSaid)
		}
	}
	if path != "" {
		b.WriteString("\n\n" + p.say("transcript", path))
	}
}

// readOnly parses a summary from an earlier compaction, in any language, into its text and the
// user's own words.
func read(text string) (told string, said []string) {
	text = strings.TrimSuffix(strings.TrimPrefix(text, openTag+"\n"), closeTag)
	for _, language := range []texts.Language{texts.English, texts.Chinese} {
		p := phrases{language}
		for _, intro := range []string{"intro.drop", "intro.prior", "intro", "intro.back"} {
			text = strings.TrimPrefix(strings.TrimPrefix(text, p.say(intro)), "\n\n")
		}
		path, _, _ := strings.Cut(p.say("transcript"), "{}")
		for _, end := range []string{"\n\n" + p.say("continue"), "\n\n" + path} {
			if at := strings.LastIndex(text, end); at >= 0 {
				text = text[:at]
			} else if strings.HasPrefix(text, end[2:]) {
				text = ""
			}
		}
		before, words, ok := strings.Cut(text, p.say("said")+openSaid)
		if !ok {
			continue
		}
		return strings.TrimSpace(before), strings.Split(strings.TrimSuffix(words, closeSaid), closeSaid+openSaid)
	}
	return strings.TrimSpace(text), nil
}
