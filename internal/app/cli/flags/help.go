package flags

import (
	"fmt"
	"strings"
)

// A Command describes a command.
type Command struct {
	Name, Args, Doc string
	Explain         string // text for its help; may be empty. Indented lines are examples
	Actions         []Action
	Flags           []Flag
	// Offers completes the argument after args; may be nil.
	Offers func(args []string) []Offer
}

// An Action is the first argument of a command with several actions, such as list in adze
// sessions list.
type Action struct{ Name, Args, Doc string }

// Usage returns the action's usage line.
func (a *Action) Usage() string { return strings.TrimSpace(a.Name + " " + a.Args) }

// Usage returns the command's usage line.
func (c *Command) Usage() string { return strings.TrimSpace("adze " + c.Name + " " + c.Args) }

// Help returns the command's help, wrapped at width columns.
func (c *Command) Help(width int) string {
	var b strings.Builder
	b.WriteString(Fold(fmt.Sprintf("adze %s: %s\n\nUsage:\n  %s\n", c.Name, c.Doc, c.Usage()), width))
	if c.Explain != "" {
		b.WriteString("\n" + Fold(strings.Join(paragraphs(c.Explain), "\n\n")+"\n", width))
	}
	if len(c.Actions) > 0 {
		b.WriteString("\nActions:\n")
		var rows [][2]string
		for _, a := range c.Actions {
			rows = append(rows, [2]string{a.Usage(), a.Doc})
		}
		WriteRows(&b, rows, width)
	}
	b.WriteString("\nFlags:\n")
	WriteFlags(&b, c.Flags, width)
	return b.String()
}

// WriteFlags writes a flag table with descriptions.
func WriteFlags(b *strings.Builder, flags []Flag, width int) {
	var rows [][2]string
	for _, f := range flags {
		rows = append(rows, [2]string{f.Usage(), f.Doc})
	}
	WriteRows(b, rows, width)
}

// WriteGroups writes flags under their group headings, in order of first appearance.
func WriteGroups(b *strings.Builder, flags []Flag, width int) {
	var order []string
	groups := map[string][]Flag{}
	for _, f := range flags {
		if groups[f.Group] == nil {
			order = append(order, f.Group)
		}
		groups[f.Group] = append(groups[f.Group], f)
	}
	for _, name := range order {
		b.WriteString("\n" + name + ":\n")
		WriteFlags(b, groups[name], width)
	}
}

// paragraphs returns the paragraphs of a text, each on one line. Examples, which are indented, keep
// their lines.
func paragraphs(text string) []string {
	list := strings.Split(strings.TrimRight(text, "\n"), "\n\n")
	for i, p := range list {
		if !strings.HasPrefix(p, " ") {
			list[i] = strings.Join(strings.Fields(p), " ")
		}
	}
	return list
}

// Fold wraps lines longer than width between words, keeping their indentation.
func Fold(text string, width int) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		body := strings.TrimRight(line, "\n")
		indent := body[:len(body)-len(strings.TrimLeft(body, " "))]
		column := 0
		if len(body) <= width {
			b.WriteString(line)
			continue
		}
		for i, word := range strings.Fields(body) {
			switch {
			case i == 0:
				b.WriteString(indent)
				column = len(indent)
			case column+1+len(word) > width:
				b.WriteString("\n" + indent)
				column = len(indent)
			default:
				b.WriteByte(' ')
				column++
			}
			b.WriteString(word)
			column += len(word)
		}
		b.WriteString(line[len(body):])
	}
	return b.String()
}

// Usage returns the flag's usage.
func (f *Flag) Usage() string {
	s := "--" + f.Name
	if f.Short != "" {
		s = "-" + f.Short + ", " + s
	}
	switch {
	case f.Optional:
		s += "[=" + f.Value + "]"
	case f.Value != "":
		s += " " + f.Value
	}
	return s
}

const (
	helpIndent = 28
	// Width is the width of help if that of the terminal is unknown, in columns.
	Width = 100
	// leastWidth is the minimum width of help.
	leastWidth = 40
)

// WriteRows writes one term and its description per row, aligned and wrapped.
func WriteRows(b *strings.Builder, rows [][2]string, width int) {
	width = max(width, leastWidth)
	for _, r := range rows {
		fmt.Fprintf(b, "  %-*s", helpIndent-2, r[0])
		column := max(helpIndent, len(r[0])+2)
		if column >= helpIndent && len(r[0])+2 >= helpIndent {
			b.WriteString("\n" + strings.Repeat(" ", helpIndent))
			column = helpIndent
		}
		for i, word := range strings.Fields(r[1]) {
			switch {
			case i > 0 && column+1+len(word) > width:
				b.WriteString("\n" + strings.Repeat(" ", helpIndent))
				column = helpIndent
			case i > 0:
				b.WriteByte(' ')
				column++
			}
			b.WriteString(word)
			column += len(word)
		}
		b.WriteByte('\n')
	}
}
