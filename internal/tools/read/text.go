package read

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"adze/internal/msg"
	"adze/internal/platform/textfile"
	"adze/internal/tool"
)

// An Output is the structured result, in the shape hooks and clients know.
type Output struct {
	Type string     `json:"type"`
	File OutputFile `json:"file"`
}

// An OutputFile is the part of a file that was read.
type OutputFile struct {
	FilePath   string `json:"filePath"`
	Content    string `json:"content"`
	NumLines   int    `json:"numLines"`
	StartLine  int    `json:"startLine"`
	TotalLines int    `json:"totalLines"`
}

func (c *call) readText(ctx context.Context, f *os.File) (tool.Result, error) {
	first, count := 1, 0
	if c.in.Offset != nil {
		first = *c.in.Offset
	}
	if c.in.Limit != nil {
		count = *c.in.Limit
	}
	perToken := bytesPerToken(c.path)
	text, err := textfile.Read(ctx, f, textfile.Range{First: first, Count: count, MaxBytes: c.config.MaxTokens * perToken})
	switch {
	case errors.Is(err, textfile.ErrBinary):
		return tool.Result{}, binary("it contains null bytes, so it is not text", "Inspect it with a shell command such as file or xxd.")
	case err != nil:
		return tool.Result{}, fmt.Errorf("reading %s: %w", c.path, err)
	}
	if tokens := text.Bytes / perToken; tokens > c.config.MaxTokens {
		return tool.Result{}, fmt.Errorf("this would be about %d tokens, and at most %d are returned. %s", tokens, c.config.MaxTokens, readLess)
	}
	return tool.Result{
		Parts:   []msg.Part{&msg.Text{Text: render(text, first)}},
		Display: tool.File{Path: c.path, First: first, Count: len(text.Lines), Len: text.Total},
		Structured: Output{Type: "text", File: OutputFile{
			FilePath:   c.path,
			Content:    strings.Join(text.Lines, "\n"),
			NumLines:   len(text.Lines),
			StartLine:  first,
			TotalLines: text.Total,
		}},
	}, nil
}

// bytesPerToken is what a token of the file is worth at least: data has more of them than prose.
func bytesPerToken(path string) int {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".json", ".jsonl", ".jsonc", ".ipynb":
		return 2
	}
	return 4
}

// render returns what the model reads.
func render(text textfile.Text, first int) string {
	total := fmt.Sprint(text.Total)
	if text.AtLeast {
		total = "at least " + total
	}
	switch {
	case text.Total == 0:
		return "The file exists and is empty."
	case len(text.Lines) == 0:
		return fmt.Sprintf("The file has %s lines: there is nothing at line %d. Read it with a smaller offset.", total, first)
	}
	var b strings.Builder
	b.Grow(text.Bytes + 8*len(text.Lines))
	for i, line := range text.Lines {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "%6d\t%s", first+i, strings.ReplaceAll(line, "\r", `\r`))
	}
	if last := first + len(text.Lines) - 1; first > 1 || last < text.Total {
		fmt.Fprintf(&b, "\n\n(Lines %d to %d of %s.)", first, last, total)
	}
	if text.Invalid {
		b.WriteString("\n\n(The file is not valid UTF-8. Damaged characters are shown as \uFFFD.)")
	}
	return b.String()
}
