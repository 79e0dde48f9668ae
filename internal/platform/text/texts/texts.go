// Package texts provides prompt texts for the model in several languages. A package embeds its
// texts as Markdown files, one per language; a [Catalogue] looks them up by name.
package texts

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// A Language is the language of prompts. It is not the language of the model's answers.
type Language string

// Languages.
const (
	English Language = "eng"
	Chinese Language = "chn"
)

// A Catalogue holds a package's texts by name, in each language. It is safe for concurrent use.
type Catalogue struct {
	english, chinese func() map[string]string
}

// New returns a catalogue of two files; see [Parse]. Files are parsed lazily.
func New(english, chinese string) *Catalogue {
	return &Catalogue{
		sync.OnceValue(func() map[string]string { return Parse(english) }),
		sync.OnceValue(func() map[string]string { return Parse(chinese) }),
	}
}

// Parse returns the texts in a file by name. Each text follows a line "-- name --" and is
// stripped of surrounding whitespace. Anything before the first name is a comment. A text may
// have placeholders, written {}; see [Fill].
func Parse(file string) map[string]string {
	all := map[string]string{}
	name, start, at := "", 0, 0
	keep := func() {
		if name != "" {
			all[name] = strings.TrimSpace(file[start:at])
		}
	}
	for line := range strings.Lines(file) {
		after := at + len(line)
		if inner, ok := strings.CutPrefix(strings.TrimLeft(line, " \t"), "-- "); ok {
			if next, closed := strings.CutSuffix(strings.TrimSpace(inner), " --"); closed {
				keep()
				name, start = next, after
			}
		}
		at = after
	}
	keep()
	return all
}

// Text returns a text with its placeholders filled in order. It falls back to English if the
// language lacks the text. It panics if the name is unknown.
func (c *Catalogue) Text(l Language, name string, values ...string) string {
	text, ok := "", false
	if l == Chinese {
		text, ok = c.chinese()[name]
	}
	if !ok {
		text, ok = c.english()[name]
	}
	if !ok {
		panic(fmt.Sprintf("texts: no text %q", name))
	}
	return Fill(text, values...)
}

// Check returns the texts that exist only in Chinese, and those whose placeholders differ.
func (c *Catalogue) Check() []string {
	var problems []string
	english, chinese := c.english(), c.chinese()
	for _, name := range slices.Sorted(maps.Keys(english)) {
		if text, ok := chinese[name]; ok && strings.Count(text, gap) != strings.Count(english[name], gap) {
			problems = append(problems, name+" has other gaps in Chinese")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(chinese)) {
		if _, ok := english[name]; !ok {
			problems = append(problems, name+" is missing in English")
		}
	}
	return problems
}

const gap = "{}"

// Fill replaces the placeholders in a text with values, in order. Placeholders inside values
// are not replaced.
func Fill(text string, values ...string) string {
	if len(values) == 0 {
		return text
	}
	var b strings.Builder
	for _, v := range values {
		before, after, ok := strings.Cut(text, gap)
		if !ok {
			break
		}
		b.WriteString(before)
		b.WriteString(v)
		text = after
	}
	return b.String() + text
}
