package compact

import (
	_ "embed"
	"strings"

	"adze/internal/platform/texts"
)

// What a compaction leaves is one element, so that the next one knows it again.
const (
	openTag  = "<conversation-summary>"
	closeTag = "\n</conversation-summary>"
	// What the user said stands between these.
	openSaid, closeSaid = "\n<said>\n", "\n</said>"
)

// Cleared stands for the content of an old result. It is the same for all, and in all languages, so
// that nothing before it changes when a session goes on elsewhere.
const Cleared = "[Old tool output was cleared to save room. Run the tool again if it is needed.]"

var (
	//go:embed texts.en.md
	english string
	//go:embed texts.zh.md
	chinese string

	catalogue = texts.New(english, chinese)
)

// phrases are the texts of the catalogue in one language.
type phrases struct{ language texts.Language }

func (p phrases) say(name string, values ...string) string {
	return catalogue.Text(p.language, name, values...)
}

// cut ends a text that was cut.
func (p phrases) cut() string { return "\n" + p.say("cut") }

// ask returns what the model is told to do.
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

// summary returns a summary as the model reads it from then on.
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

// dropped returns what stands for messages that are gone without a summary, after what an earlier
// summary told.
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

// read takes apart what a compaction has left, in whatever language: what was told, and the user's
// words.
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
