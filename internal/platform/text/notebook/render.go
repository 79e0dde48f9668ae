package notebook

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// maxOutput limits the output shown per cell, in characters.
const maxOutput = 10_000

// Render returns the notebook as texts and images in order, merging adjacent texts. path is the
// file's path, for hints.
func (n *Notebook) Render(path string) []Output {
	var out []Output
	write := func(s string) {
		if len(out) == 0 || out[len(out)-1].Data != nil {
			out = append(out, Output{})
		}
		out[len(out)-1].Text += s
	}
	if len(n.Cells) == 0 {
		write("The notebook has no cells.")
	}
	for i, c := range n.Cells {
		if i > 0 {
			write("\n")
		}
		write(n.head(c) + "\n")
		if c.Source != "" {
			write(strings.TrimSuffix(c.Source, "\n") + "\n")
		}
		write("</cell>\n")
		chars := 0
		for _, o := range c.Outputs {
			chars += utf8.RuneCountInString(o.Text)
		}
		if chars > maxOutput {
			write(fmt.Sprintf("<output>%d characters are left out. See them with: jq '.cells[%d].outputs' %s</output>\n", chars, i, quoted(path)))
		}
		for _, o := range c.Outputs {
			switch {
			case o.Data != nil:
				out = append(out, o)
			case chars <= maxOutput:
				write("<output>\n" + strings.TrimSuffix(o.Text, "\n") + "\n</output>\n")
			}
		}
	}
	return out
}

// head returns the first line of a cell.
func (n *Notebook) head(c Cell) string {
	head := fmt.Sprintf("<cell id=%q type=%q", c.ID, c.Type)
	if c.Type == "code" && n.Language != "python" {
		head += fmt.Sprintf(" language=%q", n.Language)
	}
	return head + ">"
}

// quoted quotes path for the shell.
func quoted(path string) string { return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'" }
