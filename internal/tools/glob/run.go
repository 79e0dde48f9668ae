package glob

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"adze/internal/platform/search"
	"adze/internal/tool"
)

// Output is the structured result, in a format that hooks and clients know.
type Output struct {
	Filenames  []string `json:"filenames"`
	NumFiles   int      `json:"numFiles"`
	TotalFiles int      `json:"totalFiles"` // number of matches
	Truncated  bool     `json:"truncated"`
	Partial    bool     `json:"partial"`
	DurationMs int64    `json:"durationMs"`
}

// Run finds files.
func (c *call) Run(ctx context.Context, _ func(tool.Progress)) (tool.Result, error) {
	denied := c.Denied()
	root, real, err := c.Root(ctx, denied)
	if err != nil {
		return tool.Result{}, err
	}
	if info, err := os.Lstat(real); err == nil && !info.IsDir() {
		return tool.Result{}, fmt.Errorf("%s is a file, not a directory. Read it, or look in its directory.", c.Path)
	}
	began := time.Now()
	o := search.GlobOptions{Root: root, Real: real, Pattern: c.pattern, Limit: limit}
	if denied != nil {
		o.Skip = func(path string, _ bool) bool { return denied(path) != "" }
	}
	found, err := c.finder.Engine.Glob(ctx, o)
	if err != nil {
		return tool.Result{}, err
	}
	if found.Stopped == search.TimedOut && len(found.Files) == 0 {
		return tool.Result{}, errors.New("the search timed out without a match. Matching files may still exist: use a narrower path or pattern.")
	}
	return c.result(root, found, time.Since(began)), nil
}

// result formats the files found.
func (c *call) result(root string, found *search.GlobResult, took time.Duration) tool.Result {
	out := Output{
		Filenames: make([]string, len(found.Files)), NumFiles: len(found.Files), TotalFiles: found.Total,
		Truncated: found.Total > len(found.Files), Partial: found.Stopped != search.Complete, DurationMs: took.Milliseconds(),
	}
	for i, f := range found.Files {
		out.Filenames[i] = search.Shown(c.Dir, search.Join(c.Path, f.Path))
	}
	text := strings.Join(out.Filenames, "\n")
	if notes := notes(found); text == "" {
		text = "No files found." + c.instead(root)
		if notes != "" {
			text += "\n" + notes
		}
	} else if notes != "" {
		text += "\n\n" + notes
	}
	res := tool.Text(text)
	res.Structured = out
	res.Display = tool.List{Items: out.Filenames[:min(len(out.Filenames), maxShown)], Total: found.Total, Unit: "files"}
	return res
}

// instead returns advice for a pattern without wildcards that names an existing directory or an
// ignored file.
func (c *call) instead(root string) string {
	if strings.ContainsAny(c.pattern, `*?[]{}\`) {
		return ""
	}
	name := filepath.FromSlash(c.pattern)
	at := filepath.Join(root, name)
	info, err := os.Stat(at)
	switch denied := c.Denied(); {
	case err != nil || !filepath.IsLocal(name) || denied != nil && denied(at) != "":
		return ""
	case info.IsDir():
		return fmt.Sprintf(" %s is a directory: use %s/** for the files in it.", c.pattern, strings.TrimSuffix(c.pattern, "/"))
	}
	return fmt.Sprintf(" %s is there, but ignore files leave it out.", c.pattern)
}

// redisplay returns the list of an earlier call from its structured result.
func redisplay(structured json.RawMessage) tool.Display {
	var out Output
	if json.Unmarshal(structured, &out) != nil || out.Filenames == nil {
		return nil
	}
	return tool.List{Items: out.Filenames[:min(len(out.Filenames), maxShown)], Total: max(out.TotalFiles, out.NumFiles), Unit: "files"}
}

// maxShown is the maximum number of paths shown to the user.
const maxShown = 50

// notes returns remarks for the model after the paths.
func notes(found *search.GlobResult) string {
	var notes []string
	note := func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
	if n := len(found.Files); found.Total > n && n > 0 {
		note("(These are the %d most recently modified of %d files. Use a narrower pattern or path to see others.)", n, found.Total)
	}
	switch found.Stopped {
	case search.TimedOut:
		note("(The result is partial: the search took too long and was stopped. Use a narrower path or pattern.)")
	case search.Interrupted:
		note("(The result is partial: the search was interrupted.)")
	case search.Short:
		note("(The result is partial: the system has no free file descriptors.)")
	}
	if n := found.Unreadable; n == 1 {
		note("(1 directory could not be read.)")
	} else if n > 1 {
		note("(%d directories could not be read.)", n)
	}
	return strings.Join(notes, "\n")
}
