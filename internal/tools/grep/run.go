package grep

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"adze/internal/msg"
	"adze/internal/platform/search"
	"adze/internal/tool"
)

// Output is the structured result, in a format that hooks and clients know.
type Output struct {
	Mode          string   `json:"mode"`
	Filenames     []string `json:"filenames"`
	NumFiles      int      `json:"numFiles"`
	Content       string   `json:"content,omitempty"` // truncated to fit
	NumLines      int      `json:"numLines,omitempty"`
	NumMatches    int64    `json:"numMatches,omitempty"`
	AppliedLimit  int      `json:"appliedLimit,omitempty"`
	AppliedOffset int      `json:"appliedOffset,omitempty"`
	Truncated     bool     `json:"truncated"`
	Partial       bool     `json:"partial"`
	DurationMs    int64    `json:"durationMs"`
}

// Run searches.
func (c *call) Run(ctx context.Context, _ func(tool.Progress)) (tool.Result, error) {
	denied := c.Denied()
	root, real, err := c.Root(ctx, denied)
	if err != nil {
		return tool.Result{}, err
	}
	began := time.Now()
	o := c.options(root, denied)
	o.Real = real
	found, err := c.finder.Engine.Grep(ctx, o)
	if err != nil {
		return tool.Result{}, err
	}
	if found.Stopped == search.TimedOut && found.Entries == 0 {
		return tool.Result{}, fmt.Errorf("the search timed out without a match. Matches may still exist: search a narrower path, or use glob, type or a more specific pattern.")
	}
	res, list := c.result(o, found, time.Since(began))
	if o.Mode == search.Content {
		mark(ctx, &list, o)
		c.remember(o, found)
	}
	res.Display = list
	return res, nil
}

func (c *call) options(root string, denied func(string) string) search.GrepOptions {
	in := &c.in
	o := search.GrepOptions{
		Root: root, Pattern: in.Pattern, Glob: in.Glob, Type: in.Type,
		IgnoreCase: in.IgnoreCase, Multiline: in.Multiline,
		Limit: defaultLimit, Offset: in.Offset,
		Show: c.shown,
	}
	if in.HeadLimit != nil {
		o.Limit = *in.HeadLimit
	}
	if denied != nil {
		o.Skip = func(path string, _ bool) bool {
			hidden := denied(path) != ""
			if hidden {
				c.hidden.Store(true)
			}
			return hidden
		}
	}
	switch in.OutputMode {
	case modeContent:
		o.Mode = search.Content
		o.Before, o.After = max(in.Before, in.Context), max(in.After, in.Context)
		o.Numbers = in.Numbers == nil || *in.Numbers
		o.Only = in.Only
	case modeCount:
		o.Mode = search.Count
	}
	return o
}

// shown returns the path of a file as shown to the model.
func (c *call) shown(rel string) string { return search.Shown(c.Dir, search.Join(c.Path, rel)) }

// result formats the matches for the model, and as a list for the user.
func (c *call) result(o search.GrepOptions, found *search.GrepResult, took time.Duration) (tool.Result, tool.List) {
	out := Output{
		Mode: c.in.OutputMode, Filenames: []string{}, NumFiles: found.Matched,
		AppliedLimit: o.Limit, AppliedOffset: o.Offset,
		Truncated: found.More, Partial: found.Stopped != search.Complete, DurationMs: took.Milliseconds(),
	}
	display := tool.List{Total: found.Matched, Unit: "files"}
	lines := found.Lines
	switch o.Mode {
	case search.Content:
		out.NumLines = found.Entries
		display = tool.List{Total: found.Entries, Unit: "lines"}
	case search.Count:
		out.NumMatches = found.Matches
	}
	for _, h := range found.Files {
		name := c.shown(h.Path)
		out.Filenames = append(out.Filenames, name)
		if o.Mode == search.Count {
			name = fmt.Sprintf("%s:%d", name, h.Lines)
		}
		lines = append(lines, []byte(name+"\n"))
	}
	text := pieces(lines)
	display.Items = strings.Split(strings.TrimSuffix(text.head(maxShown), "\n"), "\n")
	if found.Entries == 0 {
		display.Items = nil
	}
	if o.Mode == search.Content {
		out.Content = text.head(tool.DefaultMaxChars)
	}
	res := tool.Result{Structured: out}
	if o.Mode == search.Content {
		text = c.grouped(found)
	}
	notes := strings.Join(c.notes(o, found), "\n")
	switch {
	case text.Size() > maxText:
		res.Body = text
		if notes != "" {
			res.Parts = []msg.Part{&msg.Text{Text: notes + "\n\n"}}
		}
	case found.Entries == 0:
		res.Parts = tool.Text(notes).Parts
	default:
		body := text.head(maxText)
		if notes != "" {
			body += "\n" + notes
		}
		res.Parts = tool.Text(strings.TrimSuffix(body, "\n")).Parts
	}
	return res, display
}

// grouped returns the lines with each file name once, above its lines.
func (c *call) grouped(found *search.GrepResult) pieces {
	all := make(pieces, 0, len(found.Lines))
	last, name := "", ""
	for i, piece := range found.Lines {
		path := found.Paths[i]
		if path == "" {
			continue
		}
		if path != last {
			name = c.shown(path)
		}
		lines := make([]byte, 0, len(name)+2+len(piece))
		if path != last {
			if last != "" {
				lines = append(lines, '\n')
			}
			lines = append(append(lines, name...), '\n')
			last = path
		}
		for line := range bytes.Lines(piece) {
			if rest, ok := bytes.CutPrefix(line, []byte(name)); ok { // otherwise a separator
				line = rest[1:]
			}
			lines = append(lines, line...)
		}
		all = append(all, lines)
	}
	return all
}

const (
	maxText  = 1 << 20 // limit for a result held as a single text
	maxShown = 4 << 10 // limit for the user's view
)

// A pieces is a text in pieces of whole lines. It is a [tool.Body].
type pieces [][]byte

// Size returns the size in bytes.
func (j pieces) Size() int64 {
	n := int64(0)
	for _, piece := range j {
		n += int64(len(piece))
	}
	return n
}

// Open returns the whole text.
func (j pieces) Open() (io.ReadCloser, error) {
	readers := make([]io.Reader, len(j))
	for i, piece := range j {
		readers[i] = bytes.NewReader(piece)
	}
	return io.NopCloser(io.MultiReader(readers...)), nil
}

// head returns the first lines, up to max bytes.
func (j pieces) head(max int) string {
	var b strings.Builder
	for _, piece := range j {
		if room := max - b.Len(); len(piece) > room {
			b.Write(piece[:bytes.LastIndexByte(piece[:room], '\n')+1])
			break
		}
		b.Write(piece)
	}
	return b.String()
}

// redisplay returns the list of an earlier call from its structured result.
func redisplay(structured json.RawMessage) tool.Display {
	var out Output
	if json.Unmarshal(structured, &out) != nil || out.Filenames == nil {
		return nil
	}
	list := tool.List{Items: out.Filenames, Total: out.NumFiles, Unit: "files"}
	if out.Mode == modeContent {
		list = tool.List{Total: out.NumLines, Unit: "lines"}
		if out.Content != "" {
			list.Items = strings.Split(strings.TrimSuffix(out.Content, "\n"), "\n")
		}
		list.Items = list.Items[:min(len(list.Items), maxShown)]
		for _, item := range list.Items {
			name, from := located(item, true)
			if from == 0 {
				name, from = located(item, false)
			}
			if from > 0 && !slices.Contains(list.Files, name) {
				list.Files = append(list.Files, name)
			}
		}
	}
	return list
}
