package brief

import (
	_ "embed"
	"fmt"
	"strings"
	"sync"
)

// A Language is one the prompt is written in. It is not the language of the answers.
type Language string

// The languages of the prompt.
const (
	English Language = "eng"
	Chinese Language = "chn"
)

//go:embed eng.md
var englishTexts string

//go:embed chn.md
var chineseTexts string

// catalogues returns the texts of each language by name. They are read when the first is needed.
var catalogues = sync.OnceValue(func() map[Language]map[string]string {
	return map[Language]map[string]string{
		English: parseTexts(englishTexts),
		Chinese: parseTexts(chineseTexts),
	}
})

// parseTexts reads texts that each follow a line with their name: "-- name --". What comes before the
// first is a comment.
func parseTexts(file string) map[string]string {
	texts := map[string]string{}
	name := ""
	var text strings.Builder
	keep := func() {
		if name != "" {
			texts[name] = strings.TrimSpace(text.String())
		}
		text.Reset()
	}
	for line := range strings.Lines(file) {
		inner, ok := strings.CutPrefix(strings.TrimSpace(line), "-- ")
		if next, closed := strings.CutSuffix(inner, " --"); ok && closed {
			keep()
			name = next
			continue
		}
		text.WriteString(line)
	}
	keep()
	return texts
}

// say returns a text with its gaps filled in order. One that a language lacks is English. A name that
// nobody wrote a text for is a mistake of the program.
func (l Language) say(name string, values ...string) string {
	text, ok := catalogues()[l][name]
	if !ok {
		text, ok = catalogues()[English][name]
	}
	if !ok {
		panic(fmt.Sprintf("prompt: there is no text %q", name))
	}
	return fill(text, values)
}

// fill puts values into the gaps of a text. What is in a value is never a gap.
func fill(text string, values []string) string {
	if len(values) == 0 {
		return text
	}
	var b strings.Builder
	for _, v := range values {
		before, after, ok := strings.Cut(text, "{}")
		if !ok {
			break
		}
		b.WriteString(before)
		b.WriteString(v)
		text = after
	}
	return b.String() + text
}
