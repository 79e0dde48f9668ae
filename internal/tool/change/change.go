// Package change applies a change to a file for the writing tools: it locates the file, backs
// it up, checks that the model has seen its current content, writes it, and notifies listeners.
// The tools compute the new content.
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

	"adze/internal/platform/fs/filehistory"
	"adze/internal/platform/fs/filestate"
	"adze/internal/platform/fs/paths"
	"adze/internal/platform/fs/replace"
)

// MaxBytes is the maximum size of a file to change.
const MaxBytes = 1 << 30

// maxKept is the maximum size of new content kept in memory with its hash.
const maxKept = 256 << 10

// A History keeps previous file versions, so that changes can be undone.
type History interface {
	// Backup saves the content of the file at path, or its absence, before an author changes
	// it, and returns a number for the change. If it fails, the file is not changed.
	Backup(ctx context.Context, path string, by filehistory.Author) (change int64, err error)
	// Flush makes the backup durable. No file is changed before that.
	Flush() error
	// Writing announces the content about to be written to path, unless it is large.
	Writing(change int64, path string, hash [sha256.Size]byte)
	// Wrote records the content written to path. It is called again if a hook changed the file
	// after the call.
	Wrote(change int64, path string, hash [sha256.Size]byte)
}

// A Listener is notified of changed files, such as a language server or an editor. It gets
// little time; its error is logged.
type Listener interface {
	Changed(ctx context.Context, path string) error
}

// An Editor is the user's editor, which may hold unsaved content of files.
type Editor interface {
	Listener
	// Unsaved returns the content of a file in the editor if it differs from the given one on
	// disk, or nil. The path is absolute.
	Unsaved(path string, disk []byte) ([]byte, error)
}

// Files is the state shared by a session's writing tools. State and Replacer are required.
type Files struct {
	// Dir returns the working directory, absolute. It is called once per call, when the call is
	// bound.
	Dir func() string
	// Home returns the home directory, or empty; nil means the user's.
	Home     func() string
	State    *filestate.Store
	Replacer *replace.Replacer
	// History keeps previous versions; nil means none are kept.
	History History
	// Author is the agent that changes files here. Writers is shared by all agents of the
	// process; nil means a single agent.
	Author    filehistory.Author
	Writers   *Writers
	Listeners []Listener
	// Editor may be nil. Its unsaved content counts as the content of a file, up to 1 MB.
	Editor Editor
	// Hidden reports whether a rule denies reading a path, so that it is not suggested either.
	// Nil means that no path is hidden.
	Hidden func(path string) bool
	// Named returns a few files below dir with the given name; may be nil. It is called for a
	// missing file, and takes little time.
	Named func(ctx context.Context, dir, name string) []string
	Log   *slog.Logger // nil discards

	hashing jobQueue
	freeing sync.WaitGroup
}

// Wait waits for deferred work. Calls to History are complete only after that.
func (f *Files) Wait() {
	f.hashing.wait()
	f.freeing.Wait()
}

// An OldContent is a file before it is changed.
type OldContent struct {
	Data   []byte // valid only while computing the new content
	Exists bool
	// Entry is the conversation's record of the content, if it is still current. Otherwise,
	// Entry is empty for a blind change and for a file that was never read.
	Entry filestate.Entry
}

// A NewContent is a file's new content.
type NewContent struct {
	// Pieces holds the content in consecutive parts, which may share memory with the old
	// content. If empty, the file is not touched.
	Pieces [][]byte
	Origin filestate.Origin
	// Seen and Total describe the lines the model knows, if not all.
	Seen  []filestate.Span
	Total int
	// Unseen means that the model knows no lines of it.
	Unseen bool
}

// Outcome describes the result of a change.
type Outcome struct {
	Created bool
	// Hash is the new content's hash in hexadecimal; empty if nothing was written or the file
	// is large.
	Hash string
	// Notes holds sentences for the model about side effects.
	Notes []string
}

// Apply changes the file at set. It creates missing directories, and calls edit with the
// current content; no other adze process changes the file in the meantime. An error from edit
// is returned unchanged, and nothing is written.
func (t *Target) Apply(ctx context.Context, set paths.ResolvedPath, edit func(OldContent) (NewContent, error)) (Outcome, error) {
	dir, err := set.MakeParent(0o755)
	if err != nil {
		return Outcome{}, t.explain(err)
	}
	defer dir.Close()
	backup := t.keep(ctx, set)
	file, err := t.files.Replacer.Lock(ctx, dir, filepath.Base(set.Real))
	if err != nil {
		<-backup
		return Outcome{}, t.explain(err)
	}
	w, err := t.write(ctx, set, file, backup, edit)
	file.Unlock()
	<-backup
	if err != nil {
		return Outcome{}, t.explain(err)
	}
	if !w.touched {
		return Outcome{}, nil
	}
	t.settle(set, w)
	t.notify(ctx)
	done := Outcome{Created: w.version == nil, Notes: notes(w.out)}
	if !w.large() {
		done.Hash = hex.EncodeToString(w.hash[:])
	}
	return done, nil
}

// A backup is the result of backing up a file.
type backup struct {
	change int64
	err    error
}

// keep backs up the content, in the background for a large file, and flushes the backup in the
// background. The channel yields the result once.
func (t *Target) keep(ctx context.Context, set paths.ResolvedPath) <-chan backup {
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

// A written is a changed file.
type written struct {
	touched bool
	version *replace.Version // previous version, still open, or nil
	out     replace.Outcome
	stamp   filestate.Stamp
	hash    [sha256.Size]byte // unset for a large file
}

// large reports whether hashing the file would take too long for a call.
func (w written) large() bool { return w.out.Info != nil && w.out.Info.Size() > smallFile }

// write is the critical section.
func (t *Target) write(ctx context.Context, set paths.ResolvedPath, file *replace.File, kept <-chan backup, edit func(OldContent) (NewContent, error)) (w written, err error) {
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
	var fresh NewContent
	err = replace.Guard(func() (err error) {
		fresh, err = edit(old)
		return err
	})
	if err != nil || fresh.Pieces == nil {
		return written{}, err
	}
	var hash [sha256.Size]byte // zero if not known yet
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

// announce tells the history which content is about to be written: if the process is killed
// before it can record the write, the file is still recognized as adze's own. It returns the
// hash, if a history is set and the content is not large.
func (t *Target) announce(set paths.ResolvedPath, fresh NewContent) (hash [sha256.Size]byte) {
	size := 0
	for _, p := range fresh.Pieces {
		size += len(p)
	}
	if t.files.History == nil || size > smallFile {
		return hash
	}
	h := sha256.New()
	err := replace.Guard(func() error { // the pieces may be mapped memory
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

// read returns the file's content, if it is the version the conversation knows.
func (t *Target) read(file *replace.File) (OldContent, *replace.Version, error) {
	version, err := file.Read(MaxBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return OldContent{}, nil, nil
	}
	if err != nil {
		return OldContent{}, nil, err
	}
	now, err := t.unsaved(version)
	if err != nil {
		version.Close()
		return OldContent{}, nil, err
	}
	old, err := t.known(now)
	if err != nil {
		version.Close()
		return OldContent{}, nil, err
	}
	return old, version, nil
}

// unsaved returns a version with the content in the user's editor, if that is not saved.
func (t *Target) unsaved(version *replace.Version) (*replace.Version, error) {
	if t.files.Editor == nil || len(version.Data) > smallFile {
		return version, nil
	}
	data, err := t.files.Editor.Unsaved(t.Path, version.Data)
	if err != nil || data == nil {
		return version, err
	}
	return &replace.Version{Data: data, Info: version.Info}, nil
}

// known returns a version with the conversation's record of it. It fails if the content
// differs, unless the change is blind.
func (t *Target) known(version *replace.Version) (OldContent, error) {
	entry, known := t.files.State.Get(t.Path)
	if known && !t.same(&entry, version) {
		if !t.Blind && entry.Origin != filestate.Printed {
			return OldContent{}, t.stale(entry, version)
		}
		entry = filestate.Entry{}
	}
	return OldContent{Data: version.Data, Exists: true, Entry: entry}, nil
}

// smallFile is the maximum size at which content is compared even if the timestamps are equal.
const smallFile = 1 << 20

// same reports whether the content is the known one. Equal timestamps do not prove it, since
// they can be set back; different ones do not disprove it, since scanners and sync tools touch
// files.
func (t *Target) same(known *filestate.Entry, now *replace.Version) bool {
	stamp := filestate.StampOf(now.Info)
	equal := known.Stamp == stamp
	if equal && stamp.CTime != 0 && len(now.Data) > smallFile {
		return true
	}
	if known.Hash == ([sha256.Size]byte{}) && !equal { // the hash may not be known yet
		t.files.hashing.wait()
		*known, _ = t.files.State.Get(t.Path)
	}
	if known.Hash != ([sha256.Size]byte{}) {
		equal = known.Hash == sha256.Sum256(now.Data)
	}
	return equal
}

// record stores the new content.
func (t *Target) record(set paths.ResolvedPath, fresh NewContent, w written) (stamp filestate.Stamp) {
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

// settle closes the previous version and passes on the new hash for comparing contents. The
// call waits neither for the system to free the old file nor for the hash of a large file: each
// takes longer than all the rest.
func (t *Target) settle(set paths.ResolvedPath, w written) {
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
		t.files.hashing.wait() // older jobs come first
		wrote(w.hash)
		t.files.freeing.Go(free)
		return
	}
	t.files.hashing.add(func() {
		defer free()
		hash, err := w.out.Hash()
		if err == nil { // otherwise the file counts as changed by others, which is safe
			t.files.State.Learn(t.Path, w.stamp, hash)
		}
		wrote(hash)
	})
}
