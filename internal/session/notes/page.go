package notes

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"adze/internal/model/tokens"
)

// What notes may have, in tokens.
const (
	maxSection = 2_000
	maxNotes   = 12_000
)

var (
	//go:embed template.en.md
	templateEnglish string
	//go:embed template.zh.md
	templateChinese string
	//go:embed update.en.md
	updateEnglish string
	//go:embed update.zh.md
	updateChinese string
)

// texts are what the model reads in one language.
type texts struct {
	template, update string
	total            string // with the size, when all of it is too long
	section          string // with a heading and its size
	cut              string
}

func textsIn(language string) texts {
	switch language {
	case "zh", "chn":
		return texts{
			template: templateChinese, update: updateChinese,
			total:   "笔记现有约 %d 个 token，上限为 %d。请压缩内容，优先保留“当前状态”和“错误与更正”。",
			section: "“%s”部分约有 %d 个 token，上限为 %d；请压缩。",
			cut:     "[此处截断]",
		}
	}
	return texts{
		template: templateEnglish, update: updateEnglish,
		total:   "The notes have about %d tokens, and may have %d. Condense them; what matters most is the current state and the errors.",
		section: "The section %q has about %d tokens, and may have %d; condense it.",
		cut:     "[cut off here]",
	}
}

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

// sameShape reports whether a page has exactly the headings and descriptions of the template.
func sameShape(page, template string) bool {
	return slices.EqualFunc(parse(page), parse(template), func(a, b section) bool { return a.heading == b.heading && a.about == b.about })
}

// blank reports whether a page says nothing beyond its template.
func blank(page string) bool {
	return !slices.ContainsFunc(parse(page), func(s section) bool { return strings.TrimSpace(s.content) != "" })
}

// reminders says what is too long.
func (t texts) reminders(page string, g *tokens.Gauge) string {
	var lines []string
	if n := g.Text(page); n > maxNotes {
		lines = append(lines, fmt.Sprintf(t.total, n, maxNotes))
	}
	for _, s := range parse(page) {
		if n := g.Text(s.content); n > maxSection {
			lines = append(lines, fmt.Sprintf(t.section, strings.TrimPrefix(s.heading, "# "), n, maxSection))
		}
	}
	return strings.Join(lines, "\n")
}

// summary returns a page as it stands for a conversation: each section within its limit, cut at the end
// of a line, and without those that are empty.
func (t texts) summary(page string, g *tokens.Gauge) string {
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
				b.WriteString(t.cut)
				break
			}
			b.WriteString(line)
		}
		b.WriteString("\n\n")
	}
	return strings.TrimSpace(b.String())
}
