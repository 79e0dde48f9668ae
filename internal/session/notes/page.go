package notes

import (
	_ "embed"
	"errors"
	"slices"
	"strconv"
	"strings"

	"adze/internal/model/tokens"
	"adze/internal/platform/texts"
)

// What notes may have, in tokens.
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

// template returns the form of the notes.
func template(l texts.Language) string { return catalogue.Text(l, "template") + "\n" }

// A section is a heading, the line that describes it, and what it holds.
type section struct{ heading, about, content string }

// parse returns the sections of a page. A page without headings is one section.
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

// errForm says that an answer cannot be put into the page.
var errForm = errors.New("the update does not keep the form of the notes, and was dropped")

// revise returns page with the sections of an answer in place of its own. The answer may have its sections
// between tags, and leave out the lines that describe them; other headings and descriptions than those of the
// page are errForm.
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

// blank reports whether a page says nothing beyond its template.
func blank(page string) bool {
	return !slices.ContainsFunc(parse(page), func(s section) bool { return strings.TrimSpace(s.content) != "" })
}

// reminders says what is too long.
func reminders(l texts.Language, page string, g *tokens.Gauge) string {
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

// summary returns a page as it stands for a conversation: each section within its limit, cut at the end
// of a line, and without those that are empty.
func summary(l texts.Language, page string, g *tokens.Gauge) string {
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
