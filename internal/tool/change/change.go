// Package change carries out one change to one file, for the tools that write: it finds the file,
// keeps what it was, makes sure that the model has seen it and nobody else changed it, writes it, and
// tells those who want to know. What the new content is, is left to the tools; what may be changed, to
// the permission rules.
package change

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io/fs"
	"log/slog"
	"path/filepath"

	"adze/internal/platform/filestate"
	"adze/internal/platform/paths"
	"adze/internal/platform/replace"
)

// MaxBytes is the size of the largest file that is changed.
const MaxBytes = 1 << 30

// maxKept is the size up to which new content is kept in memory beside its hash.
const maxKept = 256 << 10

// A History keeps what files were, so that the session can go back.
type History interface {
	// Backup keeps the content of the file at path, or that there is none. Without it the file is not
	// changed.
	Backup(ctx context.Context, path string) error
	// Wrote says which content the file at path was given.
	Wrote(path string, hash [sha256.Size]byte)
}

// A Listener wants to know which files were changed, such as a language server or an editor. It gets
// little time; its error is logged.
type Listener interface {
	Changed(ctx context.Context, path string) error
}

// Files is what the writing tools of a session share. State and Replacer are required.
type Files struct {
	// Dir returns the working directory, absolute. It is asked once per call, when the call is bound.
	Dir func() string
	// Home returns the home directory, or empty; nil means the user's.
	Home     func() string
	State    *filestate.Store
	Replacer *replace.Replacer
	// History is nil if none is kept.
	History   History
	Listeners []Listener
	Log       *slog.Logger // nil discards
}

// An Old is a file before it is changed.
type Old struct {
	Data   []byte // valid only while the new content is made
	Exists bool
	// Entry is what the conversation knows of the content, which is still the same.
	Entry filestate.Entry
}

// A New is the content a file is to get.
type New struct {
	// Pieces are its parts, one after the other. They may share memory with the old content. If there
	// are none the file is not touched.
	Pieces [][]byte
	Origin filestate.Origin
	// Seen and Total say which lines of it the model knows, if not all.
	Seen  []filestate.Span
	Total int
}

// Done is what became of the file.
type Done struct {
	Created bool
	// Notes are sentences for the model about what else happened.
	Notes []string
}

// Apply changes the file at set. It makes missing directories, and calls edit with the content there
// is; nobody else who uses adze changes the file meanwhile. An error of edit is returned as it is, and
// nothing is written.
func (t *Target) Apply(ctx context.Context, set paths.Set, edit func(Old) (New, error)) (Done, error) {
	dir, err := set.MakeParent(0o755)
	if err != nil {
		return Done{}, t.explain(err)
	}
	defer dir.Close()
	backup := t.backup(ctx, set)
	file, err := t.files.Replacer.Lock(ctx, dir, filepath.Base(set.Real))
	if err != nil {
		<-backup
		return Done{}, t.explain(err)
	}
	done, hash, err := t.write(ctx, set, file, backup, edit)
	file.Unlock()
	<-backup
	if err != nil {
		return Done{}, t.explain(err)
	}
	if hash != nil {
		if t.files.History != nil {
			t.files.History.Wrote(set.Real, *hash)
		}
		t.notify(ctx)
	}
	return done, nil
}

// backup keeps the content: that of a large file while it is read and searched. The channel yields the
// outcome, and then nothing more.
func (t *Target) backup(ctx context.Context, set paths.Set) <-chan error {
	outcome := make(chan error, 1)
	keep := func() {
		defer close(outcome)
		if t.files.History != nil {
			outcome <- t.files.History.Backup(ctx, set.Real)
		}
	}
	if set.Info != nil && set.Info.Size() > smallFile {
		go keep()
	} else {
		keep()
	}
	return outcome
}

// write is the critical section. It returns the hash of what was written, or nil if nothing was.
func (t *Target) write(ctx context.Context, set paths.Set, file *replace.File, backup <-chan error, edit func(Old) (New, error)) (Done, *[sha256.Size]byte, error) {
	old, version, err := t.read(file)
	if err != nil {
		return Done{}, nil, err
	}
	if version != nil {
		defer version.Close()
		if set.Info == nil {
			return Done{}, nil, replace.ErrExists
		}
	}
	var fresh New
	err = replace.Guard(func() (err error) {
		fresh, err = edit(old)
		return err
	})
	if err != nil {
		return Done{}, nil, err
	}
	if fresh.Pieces == nil {
		return Done{}, nil, nil
	}
	if err := <-backup; err != nil {
		return Done{}, nil, err
	}
	if err := ctx.Err(); err != nil {
		return Done{}, nil, err
	}
	var out replace.Outcome
	if version != nil {
		out, err = file.Replace(version, fresh.Pieces)
	} else {
		out, err = file.Create(fresh.Pieces, 0o644)
	}
	if err != nil {
		return Done{}, nil, err
	}
	t.record(fresh, out)
	return Done{Created: version == nil, Notes: notes(out)}, &out.Hash, nil
}

// read returns the content of the file, if it is what the conversation knows.
func (t *Target) read(file *replace.File) (Old, *replace.Version, error) {
	version, err := file.Read(MaxBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return Old{}, nil, nil
	}
	if err != nil {
		return Old{}, nil, err
	}
	entry, known := t.files.State.Get(t.Path)
	if known {
		if err := t.same(&entry, version); err != nil {
			version.Close()
			return Old{}, nil, err
		}
	}
	return Old{Data: version.Data, Exists: true, Entry: entry}, version, nil
}

// smallFile is the size up to which content is compared whatever the stamps say.
const smallFile = 1 << 20

// same reports whether the content is the one that is known. Equal times do not prove it where they
// can be set back; different ones do not disprove it, since scanners and synchronisers touch files.
func (t *Target) same(known *filestate.Entry, now *replace.Version) error {
	stamp := filestate.StampOf(now.Info)
	equal := known.Stamp == stamp
	if equal && stamp.CTime != 0 && len(now.Data) > smallFile {
		return nil
	}
	if known.Hash != ([sha256.Size]byte{}) {
		equal = known.Hash == sha256.Sum256(now.Data)
	}
	if !equal {
		return t.Changed()
	}
	return nil
}

// record remembers the new content.
func (t *Target) record(fresh New, out replace.Outcome) {
	e := filestate.Entry{
		Path: t.Path, Hash: out.Hash, Origin: fresh.Origin,
		Complete: fresh.Seen == nil, Seen: fresh.Seen, Total: fresh.Total,
	}
	if out.Info != nil {
		e.Stamp = filestate.StampOf(out.Info)
		if out.Info.Size() <= maxKept {
			e.Content = bytes.Join(fresh.Pieces, nil)
		}
	}
	t.files.State.Record(e)
}
