// Package sight keeps the file tools' record of the files that the model has seen consistent
// across compactions: it restores the latest files, the plan and the background tasks, and
// forgets the rest.
package sight

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"unicode/utf8"

	"adze/internal/agent/compact"
	"adze/internal/platform/fs/filestate"
	"adze/internal/platform/fs/paths"
	"adze/internal/platform/proc/task"
	"adze/internal/tool"
)

// Files restores file contents after a compaction. It is not safe for concurrent use.
type Files struct {
	State *filestate.Store
	// Hidden reports whether the model may not see a file.
	Hidden func(path string) bool
	Plan   string      // path of the plan; empty if none
	Tasks  *task.Table // nil without background tasks

	read map[string]filestate.Entry
}

// maxRestored is the maximum size of a restored file, in bytes.
const maxRestored = 1 << 20

// Sources returns the current content that may be restored.
func (f *Files) Sources(context.Context) compact.Sources {
	f.read = map[string]filestate.Entry{}
	s := compact.Sources{Plan: compact.Source{Name: f.Plan, Text: func() (string, bool) { return f.text(filestate.Entry{Path: f.Plan}) }}}
	if f.Tasks != nil {
		for _, t := range f.Tasks.List() {
			if t.Status() == task.Running {
				s.Running = append(s.Running, fmt.Sprintf("- %s: %s; output in %s", t.ID, tool.OneLine(t.Title, 200), t.Output.Path()))
			}
		}
	}
	for _, e := range f.State.Recent() {
		if e.Origin == filestate.Injected || e.Origin == filestate.Printed || e.Path == f.Plan { // instruction files, and lines from search or command output
			continue
		}
		s.Files = append(s.Files, compact.Source{Name: e.Path, Text: func() (string, bool) { return f.text(e) }})
	}
	return s
}

// text returns the current text of a file, unless the path now has a different file.
func (f *Files) text(seen filestate.Entry) (string, bool) {
	path := seen.Path
	set, err := paths.Base{}.Resolve(path)
	if err != nil || path != f.Plan && !seen.At(set.Real) || f.Hidden(path) {
		return "", false
	}
	file, err := set.Open()
	if err != nil {
		return "", false
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxRestored {
		return "", false
	}
	data, err := io.ReadAll(io.LimitReader(file, maxRestored))
	if err != nil || !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0 {
		return "", false
	}
	f.read[path] = filestate.Entry{
		Path: path, Real: set.Real, Hash: sha256.Sum256(data), Stamp: filestate.StampOf(info), Origin: filestate.Read,
		Offset: 1, Complete: true, Content: data,
	}
	return string(data), true
}

// Forget makes the file tools forget all files except the restored ones.
func (f *Files) Forget(restored []string) {
	f.State.Clear()
	for _, path := range restored {
		if e, ok := f.read[path]; ok {
			f.State.Record(e)
		}
	}
	f.read = nil
}
