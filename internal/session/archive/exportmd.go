package archive

import (
	"fmt"
	"strings"

	"adze/internal/msg"
)

// markdown writes a session as Markdown that is also readable as plain text.
type markdown struct{ page }

func (m *markdown) begin(info *Info) {
	m.print("# ", inline(m.text(info.Name())), "\n\n")
	for _, f := range facts(info) {
		m.print("- ", f[0], ": ", inline(m.text(f[1])), "\n")
	}
}

func (m *markdown) said(e *msg.Entry) {
	m.print("\n## You\n\n*", clock(e.Time), "*\n")
	m.parts(e.Message.Parts, nil)
}

func (m *markdown) answered(e *msg.Entry, results map[string]*msg.ToolResult) {
	m.print("\n## Assistant\n\n*", clock(e.Time))
	if e.Model != "" {
		m.print(", ", inline(m.text(e.Model)))
	}
	if e.Aborted {
		m.print(", interrupted")
	}
	m.print("*\n")
	m.parts(e.Message.Parts, results)
}

func (m *markdown) compacted() { m.print("\n---\n\n*The conversation was compacted here.*\n") }

func (m *markdown) end(unreadable int) {
	if unreadable > 0 {
		m.print("\n---\n\n*", unreadableText(unreadable), "*\n")
	}
}

func (m *markdown) parts(parts []msg.Part, results map[string]*msg.ToolResult) {
	for _, p := range parts {
		switch p := p.(type) {
		case *msg.Text:
			m.print("\n", strings.TrimSpace(m.text(p.Text)), "\n")
		case *msg.Thinking:
			if text := strings.TrimSpace(m.text(p.Text)); text != "" {
				m.print("\n> ", strings.ReplaceAll(text, "\n", "\n> "), "\n")
			}
		case *msg.ToolUse:
			m.call(p, results[p.ID])
		case *msg.ToolResult:
			m.result(p)
		case *msg.Image:
			m.print("\n*[picture, ", inline(m.text(p.MediaType)), ", ", fmt.Sprint(len(p.Data)), " bytes]*\n")
		case *msg.Document:
			m.print("\n*[document ", inline(m.text(p.Title)), ", ", fmt.Sprint(len(p.Data)), " bytes]*\n")
		}
	}
}

func (m *markdown) call(u *msg.ToolUse, result *msg.ToolResult) {
	m.print("\n### ", inline(m.text(u.Name)), "\n")
	for _, f := range inputFields(u) {
		value := m.value(f.name, f.value)
		if strings.ContainsAny(value, "\n`") || len(value) > 80 {
			m.print("\n", inline(f.name), ":\n")
			m.fence(value)
		} else {
			m.print("\n", inline(f.name), ": `", value, "`\n")
		}
	}
	if result != nil {
		m.result(result)
	}
}

func (m *markdown) result(r *msg.ToolResult) {
	name := "Result"
	if r.IsError {
		name = "Error"
	}
	m.print("\n", name, ":\n")
	m.fence(m.text(msg.PlainText(r.Parts)))
	for _, p := range r.Parts {
		if _, ok := p.(*msg.Text); !ok {
			m.parts([]msg.Part{p}, nil)
		}
	}
}

// fence writes s in a fence longer than any in s.
func (m *markdown) fence(s string) {
	fence := "```"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	m.print("\n", fence, "\n", s)
	if !strings.HasSuffix(s, "\n") {
		m.print("\n")
	}
	m.print(fence, "\n")
}

// inline returns s for use within a line.
func inline(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	return strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "<", `\<`, "[", `\[`, "#", `\#`).Replace(s)
}
