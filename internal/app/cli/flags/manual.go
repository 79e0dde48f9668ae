package flags

import (
	"fmt"
	"strings"
)

// A Manual builds a man page.
type Manual struct{ strings.Builder }

// Section starts a section.
func (m *Manual) Section(title string) { m.WriteString(".SH " + title + "\n") }

// Text writes a text.
func (m *Manual) Text(s string) { m.WriteString(Roff(s) + "\n") }

// Entry writes a term and its description.
func (m *Manual) Entry(term, doc string) { fmt.Fprintf(m, ".TP\n.B %s\n%s\n", Roff(term), Roff(doc)) }

// Flags writes a flag table.
func (m *Manual) Flags(table []Flag) {
	for _, f := range table {
		m.Entry(f.Usage(), f.Doc)
	}
}

// Command writes a command's description.
func (m *Manual) Command(c Command) {
	m.Entry(c.Usage(), c.Doc)
	m.WriteString(".RS\n")
	if c.Explain != "" {
		for _, p := range paragraphs(c.Explain) {
			m.WriteString(".PP\n")
			for i, line := range strings.Split(p, "\n") {
				if i > 0 {
					m.WriteString(".br\n")
				}
				m.Text(strings.TrimSpace(line))
			}
		}
	}
	for _, a := range c.Actions {
		m.Entry(a.Usage(), a.Doc)
	}
	m.Flags(c.Flags)
	m.WriteString(".RE\n")
}

// Roff escapes a line of text for roff.
func Roff(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`, "\n", " ").Replace(s)
	if strings.HasPrefix(s, ".") {
		s = `\&` + s
	}
	return s
}
