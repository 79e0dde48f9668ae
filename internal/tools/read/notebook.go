package read

import (
	"context"
	"fmt"
	"strings"

	"adze/internal/msg"
	"adze/internal/platform/text/notebook"
	"adze/internal/platform/text/picture"
	"adze/internal/tool"
)

func (r *fileRead) readNotebook(ctx context.Context) (tool.Result, error) {
	data, err := r.whole()
	if err != nil {
		return tool.Result{}, err
	}
	entry := r.entry(data)
	if r.repeats(entry) {
		return r.unchanged(), nil
	}
	n, err := notebook.Parse(data)
	if err != nil {
		return tool.Result{}, fmt.Errorf("%s is not a valid notebook: %w. Look at it as text with offset and limit.", r.path, err)
	}
	rendered := n.Render(r.path)
	parts, text := r.notebookParts(ctx, rendered)
	if err := r.budget().fits(ctx, text, len(text), "Read it as text with offset and limit, or look at single cells with a shell command such as jq."); err != nil {
		return tool.Result{}, err
	}
	r.record(entry)
	out := notebookOutput{FilePath: r.path, Cells: []cellOutput{}, ContentHash: entry.HashText()}
	for _, c := range n.Cells {
		out.Cells = append(out.Cells, cellOutput{c.ID, c.Type, c.Source})
	}
	return tool.Result{
		Parts:      parts,
		Display:    tool.Plain{Text: counted(len(n.Cells), "cell")},
		Structured: Output{"notebook", out},
		Reminders:  r.reminders(),
	}, nil
}

// notebookParts returns the parts of a notebook, and all of its text. Pictures share the budget
// of a single one; pictures that cannot be shown are replaced by a word.
func (r *fileRead) notebookParts(ctx context.Context, rendered []notebook.Output) (parts []msg.Part, text string) {
	pictures := 0
	for _, o := range rendered {
		if o.Data != nil {
			pictures++
		}
	}
	var all strings.Builder
	for _, o := range rendered {
		if o.Data == nil {
			all.WriteString(o.Text)
			parts = append(parts, &msg.Text{Text: o.Text})
			continue
		}
		if !enabled(r.Images) {
			parts = append(parts, &msg.Text{Text: "[picture]\n"})
			continue
		}
		p, err := picture.Fit(ctx, o.Data, r.MaxTokens/pictures)
		if err != nil {
			parts = append(parts, &msg.Text{Text: fmt.Sprintf("[picture: %v]\n", err)})
			continue
		}
		parts = append(parts, &msg.Image{MediaType: p.MediaType, Data: p.Data})
	}
	return parts, all.String()
}

// counted formats a number of things.
func counted(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}
