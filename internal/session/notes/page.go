package notes

import (
	_ "embed"
	"errors"
	"slices"
	"strconv"
	"strings"

	"adze/internal/model/tokens"
	"adze/internal/platform/text/texts"
)

// Limits of the notes, in tokens.
const (
	maxSection = 2_000
	maxNotes   = 12_000
)

var (
	//go:embed texts.en.md
	english string
	//go:embed texts.zh.md
	chinese string

	catalogue = texts.New(english, chinese)
)

// template returns the built-in structure of the notes.
func template(l texts.Language) string { return catalogue.Text(l, "template") + "\n" }

// A section is a heading, its description and its content.
type section struct{ heading, about, content string }

// parse splits a page into sections. A page without headings is a single section.
func parse(page string) []section {
	var all []section
	for line := range strings.Lines(page) {
		text := strings.TrimRight(line, "\r\n")
		if strings.HasPrefix(text, "# ") {
			all = append(all, section{heading: text})
			continue
		}
		if len(all) == 0 {
			if strings.TrimSpace(text) == "" {
				continue
			}
			all = append(all, section{})
		}
		s := &all[len(all)-1]
		if s.about == "" && s.content == "" && strings.HasPrefix(text, "_") && strings.HasSuffix(text, "_") {
			s.about = text
			continue
		}
		s.content += line
	}
	for i := range all {
		all[i].content = strings.Trim(all[i].content, "\r\n")
	}
	return all
}

// errForm reports that an answer does not match the page's structure.
var errForm = errors.New("the update does not keep the form of the notes, and was dropped")

// revise returns page with the answer's sections replacing its own. The answer may enclose its
// sections in tags and omit descriptions. It returns errForm for headings or descriptions that
// the page does not have.
func revise(page, answer string) (string, error) {
	if _, inner, ok := strings.Cut(answer, "<notes>"); ok {
		answer, _, ok = strings.Cut(inner, "</notes>")
		if !ok {
			return "", errForm
		}
	}
	all := parse(page)
	revised := make([]bool, len(all))
	for _, s := range parse(answer) {
		at := slices.IndexFunc(all, func(own section) bool { return own.heading == s.heading })
		if at < 0 || revised[at] || s.heading == "" || s.about != "" && s.about != all[at].about {
			return "", errForm
		}
		all[at].content, revised[at] = s.content, true
	}
	var b strings.Builder
	for i, s := range all {
		if i > 0 {
			b.WriteString("\n")
		}
		for _, text := range []string{s.heading, s.about, s.content} {
			if text != "" {
				b.WriteString(text + "\n")
			}
		}
	}
	return b.String(), nil
}

// sameShape reports whether a page has exactly the headings and descriptions of the template.
func sameShape(page, template string) bool {
	return slices.EqualFunc(parse(page), parse(template), func(a, b section) bool { return a.heading == b.heading && a.about == b.about })
}

// blank reports whether a page has no content beyond its template.
func blank(page string) bool {
	return !slices.ContainsFunc(parse(page), func(s section) bool { return strings.TrimSpace(s.content) != "" })
}

// reminders returns text about sections that are too long.
func reminders(l texts.Language, page string, g *tokens.Estimator) string {
	var lines []string
	if n := g.Text(page); n > maxNotes {
		lines = append(lines, catalogue.Text(l, "total", strconv.Itoa(n), strconv.Itoa(maxNotes)))
	}
	for _, s := range parse(page) {
		if n := g.Text(s.content); n > maxSection {
			lines = append(lines, catalogue.Text(l, "section", strings.TrimPrefix(s.heading, "# "), strconv.Itoa(n), strconv.Itoa(maxSection)))
		}
	}
	return strings.Join(lines, "\n")
}

// summary returns a page as a summary of the conversation: each section is cut at a line end to
// fit its limit, and empty sections are omitted.
func summary(l texts.Language, page string, g *tokens.Estimator) string {
	var b strings.Builder
	for _, s := range parse(page) {
		if strings.TrimSpace(s.content) == "" {
			continue
		}
		if s.heading != "" {
			b.WriteString(s.heading + "\n")
		}
		size := 0
		for line := range strings.Lines(s.content) {
			if size += g.Text(line); size > maxSection {
				b.WriteString(catalogue.Text(l, "cut"))
				break
			}
			b.WriteString(line)
		}
		b.WriteString("\n\n")
	}
	return strings.TrimSpace(b.String())
}
