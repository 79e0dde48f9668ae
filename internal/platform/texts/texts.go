// Package texts holds what the model is told, in more than one language. The texts of a package are data in
// Markdown files beside it, one for each language, which it embeds; a [Catalogue] finds them by name. Which
// language is used, and when, is left to others.
package texts

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// A Language is one that the model is told things in. It is not the language of its answers.
type Language string

// The languages.
const (
	English Language = "eng"
	Chinese Language = "chn"
)

// A Catalogue holds the texts of a package by name, in each language. It is safe for concurrent use.
type Catalogue struct {
	english, chinese func() map[string]string
}

// New returns a catalogue of two files; see [Parse]. A file is parsed when a text of it is needed.
func New(english, chinese string) *Catalogue {
	return &Catalogue{
		sync.OnceValue(func() map[string]string { return Parse(english) }),
		sync.OnceValue(func() map[string]string { return Parse(chinese) }),
	}
}

// Parse returns the texts of a file by name. Each follows a line with its name, "-- name --", and has no white
// space around it; what comes before the first is a comment. A text may have gaps, written {}; see [Fill].
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

// Text returns a text with its gaps filled in order. A text that is not in the language is English. It panics
// if there is no text of that name.
func (c *Catalogue) Text(l Language, name string, values ...string) string {
	text, ok := "", false
	if l == Chinese {
		text, ok = c.chinese()[name]
	}
	if !ok {
		text, ok = c.english()[name]
	}
	if !ok {
		panic(fmt.Sprintf("texts: there is no text %q", name))
	}
	return Fill(text, values...)
}

// Check returns how the languages differ in what they should have in common: the names of the texts, and the
// gaps of each.
func (c *Catalogue) Check() []string {
	var problems []string
	english, chinese := c.english(), c.chinese()
	for _, name := range slices.Sorted(maps.Keys(english)) {
		switch text, ok := chinese[name]; {
		case !ok:
			problems = append(problems, name+" is missing in Chinese")
		case strings.Count(text, gap) != strings.Count(english[name], gap):
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

// Fill puts values into the gaps of a text, in order. What is in a value is never a gap.
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
