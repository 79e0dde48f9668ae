// Package sight keeps in step what the model sees of files and what the file tools take it to have seen, when a
// conversation is compacted: the files that were read last, the plan, and what runs in the background are put back,
// and all else is forgotten.
package sight

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"unicode/utf8"

	"adze/internal/agent/compact"
	"adze/internal/platform/filestate"
	"adze/internal/platform/paths"
	"adze/internal/platform/task"
	"adze/internal/tool"
)

// Files puts back what the model still has to see. It is for one goroutine at a time.
type Files struct {
	State *filestate.Store
	// Hidden reports whether the model may not see a file.
	Hidden func(path string) bool
	Plan   string      // the file of the plan; empty if there is none
	Tasks  *task.Table // nil if nothing runs in the background

	read map[string]filestate.Entry
}

// maxRestored bounds how much of a file is looked at, in bytes; more is never put back.
const maxRestored = 1 << 20

// Sources returns what may be put back, as it is now.
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
		if e.Origin == filestate.Injected || e.Origin == filestate.Printed || e.Path == f.Plan { // an instruction file, or what a host gave
			continue
		}
		s.Files = append(s.Files, compact.Source{Name: e.Path, Text: func() (string, bool) { return f.text(e) }})
	}
	return s
}

// text returns the text of a file as it is now, unless another file is at its path.
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

// Forget makes the file tools forget what the model no longer sees: all but the files that were put back.
func (f *Files) Forget(restored []string) {
	f.State.Clear()
	for _, path := range restored {
		if e, ok := f.read[path]; ok {
			f.State.Record(e)
		}
	}
	f.read = nil
}
