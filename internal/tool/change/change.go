// Package change carries out one change to one file, for the tools that write: it finds the file,
// keeps what it was, makes sure that the model has seen it and that it has not changed since, writes it, and
// tells the listeners. What the new content is, is left to the tools; what may be changed, to
// the permission rules.
package change

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"log/slog"
	"path/filepath"
	"sync"

	"adze/internal/platform/filehistory"
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
	// Backup keeps the content of the file at path, or that there is none, before an author changes it, and returns a
	// number for the change. Without it the file is not changed.
	Backup(ctx context.Context, path string, by filehistory.Author) (change int64, err error)
	// Flush makes what was kept survive a loss of power. Before that no file is changed.
	Flush() error
	// Writing says which content the file at path is about to get, unless that is large.
	Writing(change int64, path string, hash [sha256.Size]byte)
	// Wrote says which content the file at path was given. It is called again if a hook changed that after the call.
	Wrote(change int64, path string, hash [sha256.Size]byte)
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
	History History
	// Author is the agent that changes files here, and Writers are what all agents of the process share; nil if there is
	// one alone.
	Author    filehistory.Author
	Writers   *Writers
	Listeners []Listener
	// Hidden reports whether a rule keeps a path from being read, so that it is not suggested either. Nil
	// means that none does.
	Hidden func(path string) bool
	// Named returns the files below dir that have a name, a few; may be nil. It is asked about a file that is
	// missing, and takes little time.
	Named func(ctx context.Context, dir, name string) []string
	Log   *slog.Logger // nil discards

	hashing later
	freeing sync.WaitGroup
}

// Wait waits for what calls have put off. What a History was told is complete only then.
func (f *Files) Wait() {
	f.hashing.wait()
	f.freeing.Wait()
}

// An Old is a file before it is changed.
type Old struct {
	Data   []byte // valid only while the new content is made
	Exists bool
	// Entry is what the conversation knows of the content, which is still the same. If it is not, Entry is empty
	// for a blind change and for a file that was never read.
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
	// Unseen says that it knows none of them.
	Unseen bool
}

// Done is what became of the file.
type Done struct {
	Created bool
	// Hash is that of the new content, in hexadecimal; empty if nothing was written, or too much to tell.
	Hash string
	// Notes are sentences for the model about what else happened.
	Notes []string
}

// Apply changes the file at set. It makes missing directories, and calls edit with the content there
// is; no other adze changes the file meanwhile. An error of edit is returned as it is, and
// nothing is written.
func (t *Target) Apply(ctx context.Context, set paths.Set, edit func(Old) (New, error)) (Done, error) {
	dir, err := set.MakeParent(0o755)
	if err != nil {
		return Done{}, t.explain(err)
	}
	defer dir.Close()
	backup := t.keep(ctx, set)
	file, err := t.files.Replacer.Lock(ctx, dir, filepath.Base(set.Real))
	if err != nil {
		<-backup
		return Done{}, t.explain(err)
	}
	w, err := t.write(ctx, set, file, backup, edit)
	file.Unlock()
	<-backup
	if err != nil {
		return Done{}, t.explain(err)
	}
	if !w.touched {
		return Done{}, nil
	}
	t.settle(set, w)
	t.notify(ctx)
	done := Done{Created: w.version == nil, Notes: notes(w.out)}
	if !w.large() {
		done.Hash = hex.EncodeToString(w.hash[:])
	}
	return done, nil
}

// A backup is what became of keeping a file.
type backup struct {
	change int64
	err    error
}

// keep keeps the content, that of a large file while the rest of the work is done, and makes it survive a loss of
// power meanwhile. The channel yields the outcome, and then nothing more.
func (t *Target) keep(ctx context.Context, set paths.Set) <-chan backup {
	outcome := make(chan backup, 1)
	history := t.files.History
	if history == nil {
		close(outcome)
		return outcome
	}
	flush := func(change int64, err error) {
		if err == nil {
			err = history.Flush()
		}
		outcome <- backup{change, err}
		close(outcome)
	}
	if set.Info != nil && set.Info.Size() > smallFile {
		go func() { flush(history.Backup(ctx, set.Real, t.files.Author)) }()
		return outcome
	}
	change, err := history.Backup(ctx, set.Real, t.files.Author)
	go flush(change, err)
	return outcome
}

// A written is a file that was changed.
type written struct {
	touched bool
	version *replace.Version // before, or nil; still open
	out     replace.Outcome
	stamp   filestate.Stamp
	hash    [sha256.Size]byte // not of a large file
}

// large reports whether hashing the file takes longer than a call should.
func (w written) large() bool { return w.out.Info != nil && w.out.Info.Size() > smallFile }

// write is the critical section.
func (t *Target) write(ctx context.Context, set paths.Set, file *replace.File, kept <-chan backup, edit func(Old) (New, error)) (w written, err error) {
	old, version, err := t.read(file)
	if err != nil {
		return written{}, err
	}
	defer func() {
		if version != nil && !w.touched {
			version.Close()
		}
	}()
	if version != nil && set.Info == nil {
		return written{}, replace.ErrExists
	}
	var fresh New
	err = replace.Guard(func() (err error) {
		fresh, err = edit(old)
		return err
	})
	if err != nil || fresh.Pieces == nil {
		return written{}, err
	}
	var hash [sha256.Size]byte // zero if it is not known yet
	file.Before = sync.OnceValue(func() error {
		b := <-kept
		if b.err != nil {
			return b.err
		}
		t.change = b.change
		hash = t.announce(set, fresh)
		return ctx.Err()
	})
	var out replace.Outcome
	if version != nil {
		out, err = file.Replace(version, fresh.Pieces)
	} else {
		out, err = file.Create(fresh.Pieces, 0o644)
	}
	if err != nil {
		return written{}, err
	}
	w = written{touched: true, version: version, out: out}
	if w.hash = hash; hash == ([sha256.Size]byte{}) && !w.large() {
		w.hash, _ = out.Hash() // ok: it is in memory
	}
	w.stamp = t.record(set, fresh, w)
	t.files.Writers.wrote(set.Real, t.files.Author, w.stamp, w.hash)
	return w, nil
}

// announce tells the history what is about to be written: if the process is killed before it can tell that it was,
// the file is still known as its own. It returns the hash, if there is a history and the content is not large.
func (t *Target) announce(set paths.Set, fresh New) (hash [sha256.Size]byte) {
	size := 0
	for _, p := range fresh.Pieces {
		size += len(p)
	}
	if t.files.History == nil || size > smallFile {
		return hash
	}
	h := sha256.New()
	err := replace.Guard(func() error { // the pieces may be memory of a file
		for _, p := range fresh.Pieces {
			h.Write(p)
		}
		return nil
	})
	if err != nil {
		return hash
	}
	hash = [sha256.Size]byte(h.Sum(nil))
	t.files.History.Writing(t.change, set.Real, hash)
	return hash
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
	old, err := t.known(version)
	if err != nil {
		version.Close()
		return Old{}, nil, err
	}
	return old, version, nil
}

// known returns a version with what the conversation knows of it. It is an error if that is something else, unless the
// change is blind.
func (t *Target) known(version *replace.Version) (Old, error) {
	entry, known := t.files.State.Get(t.Path)
	if known && !t.same(&entry, version) {
		if !t.Blind && entry.Origin != filestate.Printed {
			return Old{}, t.stale(entry, version)
		}
		entry = filestate.Entry{}
	}
	return Old{Data: version.Data, Exists: true, Entry: entry}, nil
}

// smallFile is the size up to which content is compared whatever the stamps say.
const smallFile = 1 << 20

// same reports whether the content is the one that is known. Equal times do not prove it where they
// can be set back; different ones do not disprove it, since scanners and synchronisers touch files.
func (t *Target) same(known *filestate.Entry, now *replace.Version) bool {
	stamp := filestate.StampOf(now.Info)
	equal := known.Stamp == stamp
	if equal && stamp.CTime != 0 && len(now.Data) > smallFile {
		return true
	}
	if known.Hash == ([sha256.Size]byte{}) && !equal { // it may not be known yet
		t.files.hashing.wait()
		*known, _ = t.files.State.Get(t.Path)
	}
	if known.Hash != ([sha256.Size]byte{}) {
		equal = known.Hash == sha256.Sum256(now.Data)
	}
	return equal
}

// record remembers the new content.
func (t *Target) record(set paths.Set, fresh New, w written) (stamp filestate.Stamp) {
	e := filestate.Entry{
		Path: t.Path, Real: set.Real, Hash: w.hash, Origin: fresh.Origin,
		Complete: fresh.Seen == nil, Seen: fresh.Seen, Total: fresh.Total,
	}
	if info := w.out.Info; info != nil {
		e.Stamp = filestate.StampOf(info)
		if info.Size() <= maxKept {
			e.Content = bytes.Join(fresh.Pieces, nil)
		}
	}
	if fresh.Unseen {
		t.files.State.Forget(t.Path)
	} else {
		t.files.State.Record(e)
	}
	return e.Stamp
}

// settle closes the version before, and tells those who compare contents by their hash what was written.
// The call waits neither for the system to give back what the old file held, nor for the hash of a large
// file: each takes longer than all the rest.
func (t *Target) settle(set paths.Set, w written) {
	free := func() {
		if w.version != nil {
			w.version.Close()
		}
	}
	change := t.change
	wrote := func(hash [sha256.Size]byte) {
		if t.files.History != nil {
			t.files.History.Wrote(change, set.Real, hash)
		}
	}
	if !w.large() {
		t.files.hashing.wait() // for what is older
		wrote(w.hash)
		t.files.freeing.Go(free)
		return
	}
	t.files.hashing.add(func() {
		defer free()
		hash, err := w.out.Hash()
		if err == nil { // else the file counts as changed by others, which is the safe side
			t.files.State.Learn(t.Path, w.stamp, hash)
		}
		wrote(hash)
	})
}
