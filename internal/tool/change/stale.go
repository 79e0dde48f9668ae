package change

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"strings"
	"unicode/utf8"

	"adze/internal/platform/fs/filestate"
	"adze/internal/platform/fs/paths"
	"adze/internal/platform/fs/replace"
	"adze/internal/platform/text/edit"
	"adze/internal/tool"
)

const (
	// maxStale is the maximum number of lines shown of an external change, and staleWidth the
	// maximum length of a line.
	maxStale   = 40
	staleWidth = 500
)

// stale returns the error for a file whose content differs from the known one, with the
// difference if the known content is available. If the difference is shown completely, the file
// is then known in its current version. A file changed by another agent, which may still be
// changing it, must be read again.
func (t *Target) stale(known filestate.Entry, now *replace.Version) error {
	if by := changedBy(t, now.Info, sha256.Sum256(now.Data)); by != "" {
		return &tool.Error{Code: CodeChanged, Text: fmt.Sprintf("%s was changed by %s since you read it. %s", t.Path, by, again)}
	}
	patch, hunks, whole := staleDiff(known, now.Data)
	text := fmt.Sprintf("%s was modified since it was read.", t.Path)
	switch {
	case patch == "":
		text += " " + again
	case !whole:
		text += fmt.Sprintf(" %s The change begins so:\n%s", again, patch)
	default:
		t.files.State.Record(renewed(known, now.Data, filestate.StampOf(now.Info), hunks))
		text += fmt.Sprintf(" This is the change:\n%s\nNothing was written. The file counts as read now: if your change still fits, send it again.", patch)
	}
	return &tool.Error{Code: CodeChanged, Text: text}
}

// staleDiff returns the difference between a file's known and current content, and whether it
// is complete. It is empty if it cannot be determined.
func staleDiff(known filestate.Entry, now []byte) (patch string, hunks []edit.Hunk, whole bool) {
	if known.Content == nil || len(now) > maxKept || len(known.Content) > maxKept || !utf8.Valid(now) || !utf8.Valid(known.Content) {
		return "", nil, false
	}
	hunks, whole = edit.Diff(known.Content, now)
	var b strings.Builder
	shown := 0
	for _, h := range hunks {
		if shown++; shown < maxStale {
			fmt.Fprintf(&b, "@@ -%d,%d +%d,%d @@\n", h.OldStart, h.OldLines, h.NewStart, h.NewLines)
		}
		for _, line := range h.Lines {
			if shown++; shown > maxStale {
				return strings.TrimSuffix(b.String(), "\n"), hunks, false
			}
			if r := []rune(line); len(r) > staleWidth {
				line, whole = string(r[:staleWidth])+"…", false
			}
			b.WriteString(line + "\n")
		}
	}
	return strings.TrimSuffix(b.String(), "\n"), hunks, whole
}

// again advises the model after an external change.
const again = "Read it again before you change it."

// renewed returns a file's record after the conversation has seen its changes.
func renewed(known filestate.Entry, now []byte, stamp filestate.Stamp, hunks []edit.Hunk) filestate.Entry {
	e := filestate.Entry{
		Path: known.Path, Real: known.Real, Hash: sha256.Sum256(now), Stamp: stamp, Origin: filestate.Edit,
		Complete: known.Complete, Content: now,
	}
	if known.Complete {
		return e
	}
	e.Total = known.Total
	var changes []filestate.Change
	for _, h := range hunks {
		line := h.OldStart
		var c filestate.Change
		flush := func() {
			if c.Old+c.New > 0 {
				changes = append(changes, c)
				e.Total += c.New - c.Old
			}
			c = filestate.Change{}
		}
		for _, text := range h.Lines {
			switch {
			case text[0] == ' ':
				flush()
				line++
				continue
			case c == filestate.Change{}:
				c.First = line
			}
			if text[0] == '-' {
				c.Old++
				line++
			} else {
				c.New++
			}
		}
		flush()
	}
	e.Seen = filestate.Shift(known.Seen, changes)
	return e
}

const (
	// newsFiles is the number of recently used files checked for changes, and newsShown the
	// number whose difference is shown.
	newsFiles = 100
	newsShown = 5
)

// News returns texts for the model describing external changes to the files it knows. Files of
// which a search or a command printed only a part are omitted, since a search may print many. A
// file whose change is shown counts as read. News is fast if nothing changed.
func (f *Files) News(ctx context.Context) []string {
	if f == nil {
		return nil
	}
	f.hashing.wait()
	var shown, names, ofAgents []string
	for i, known := range f.State.Recent() {
		if i == newsFiles || ctx.Err() != nil {
			break
		}
		if !known.Shown || known.Origin == filestate.Injected || known.Origin == filestate.Printed && !known.Complete || known.Hash == ([sha256.Size]byte{}) || paths.IsUNC(known.Path) || f.Hidden != nil && f.Hidden(known.Path) {
			continue
		}
		info, err := os.Stat(known.Path)
		if err == nil && filestate.StampOf(info) == known.Stamp {
			continue
		}
		by := ""
		if t, err := f.Target(known.Path); err == nil {
			by = changedBy(t, info, [sha256.Size]byte{})
		}
		switch patch, changed := f.news(known); {
		case !changed:
		case patch != "" && len(shown) < newsShown:
			shown = append(shown, fmt.Sprintf("%s was changed since you last saw it, by %s. Take the change into account, and do not undo it unless the user requests it; the file counts as read. The change:\n%s", known.Path, cmp.Or(by, "the user or by a command"), patch))
		case by != "":
			ofAgents = append(ofAgents, known.Path+", by "+by)
		default:
			names = append(names, known.Path)
		}
	}
	if len(ofAgents) > 0 {
		shown = append(shown, "Since you last saw them, these files were changed; read them again before you rely on them:\n"+strings.Join(ofAgents, "\n"))
	}
	if len(names) > 0 {
		shown = append(shown, "Since you last saw them, these files were changed or removed, by the user or by a command; read them again before you rely on them:\n"+strings.Join(names, "\n"))
	}
	return shown
}

// news returns how a file differs from its record, if the difference is short. Such a file is
// then known in its current version; for any other, the next call detects the change.
func (f *Files) news(known filestate.Entry) (patch string, changed bool) {
	t, err := f.Target(known.Path)
	if err != nil {
		return "", false
	}
	set, err := t.base.Resolve(t.typed)
	switch {
	case err != nil:
		return "", false
	case set.Info == nil, !known.At(set.Real): // the model may read one file, not any target of a link at its path
		f.State.Forget(known.Path)
		return "", true
	case !set.Info.Mode().IsRegular() || set.Info.Size() > maxKept:
		changed = filestate.StampOf(set.Info) != known.Stamp
		if changed {
			f.State.Forget(known.Path)
		}
		return "", changed
	}
	data, stamp, err := content(set)
	if err != nil {
		return "", false
	}
	if sha256.Sum256(data) == known.Hash { // only touched
		known.Stamp = stamp
		f.State.Record(known)
		return "", false
	}
	patch, hunks, whole := staleDiff(known, data)
	if !whole {
		known.Stamp = stamp // report it once; an edit is refused because of the hash
		f.State.Record(known)
		return "", true
	}
	f.State.Record(renewed(known, data, stamp, hunks))
	return patch, true
}
