// Package replace safely replaces whole files: with one writer at a time, atomically, and
// without overwriting changes by other programs. It works inside a directory that the caller
// has opened.
package replace

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// ErrChanged means that another program changed the file since it was read. The file was not
// modified.
var ErrChanged = errors.New("the file was changed by another program just now")

// ErrExists means that another program created the file first. The file was not modified.
var ErrExists error = existsError{}

// existsError wraps [fs.ErrExist] with another message. It is a type because formatting an
// error at startup costs time.
type existsError struct{}

func (existsError) Error() string {
	return "another program made the file just now: " + fs.ErrExist.Error()
}

func (existsError) Unwrap() error { return fs.ErrExist }

// ErrSpecial means that a file is not a regular file.
var ErrSpecial = errors.New("it is not a regular file")

// TooLarge is returned when reading a file that exceeds the maximum size.
type TooLarge struct{ Size, Max int64 }

// Error includes both sizes.
func (e *TooLarge) Error() string {
	return fmt.Sprintf("the file has %d bytes, which is more than %d", e.Size, e.Max)
}

// A Replacer replaces files. Use one per process and lock directory. It is safe for concurrent
// use.
type Replacer struct {
	locks     locks
	leftovers leftovers
	// fault, if not nil, is called before each step and can make it fail.
	fault func(step string) error
	fsync func(*os.File) error
}

// New returns a Replacer that shares the lock directory with other processes. The directory is
// created when first needed.
func New(lockDir string) *Replacer {
	return &Replacer{locks: locks{dir: lockDir, wait: lockWait, held: map[string]*queue{}, files: map[string]*lockFile{}}, leftovers: leftovers{swept: map[string]bool{}}, fsync: (*os.File).Sync}
}

func (r *Replacer) step(name string) error {
	if r.fault == nil {
		return nil
	}
	return r.fault(name)
}

// Lock locks the file called name in dir against other calls and processes. If one of them keeps
// the lock for 10 seconds, Lock returns an error that names it. The caller must keep dir open
// until Unlock.
func (r *Replacer) Lock(ctx context.Context, dir *os.File, name string) (*File, error) {
	d, err := newDirectory(dir)
	if err != nil {
		return nil, err
	}
	unlock, err := r.locks.acquire(ctx, d.key(name))
	if err != nil {
		return nil, err
	}
	return &File{r: r, dir: d, name: name, unlock: unlock}, nil
}

// A File is a locked name in a directory. It is not safe for concurrent use.
type File struct {
	// Before, if not nil, is called when the new content is complete, just before it takes
	// effect. An error aborts the change.
	Before func() error

	r      *Replacer
	dir    directory
	name   string
	unlock func()
}

// Unlock releases the lock.
func (f *File) Unlock() { f.unlock() }

// An Outcome describes a written file.
type Outcome struct {
	// Hash returns the SHA-256 of the content, which takes a while for large files. It reads
	// the pieces again, so the old version must not be closed before.
	Hash func() ([sha256.Size]byte, error)
	// Info describes the new file, or is nil if the file was changed again in the meantime.
	Info fs.FileInfo
	// InPlace is the reason why the file was rewritten in place instead of replaced, or nil.
	InPlace error
	// Links is the number of other hard links to the old file, which keep the old content.
	Links int
	// Unsynced is the reason why the new content may not survive a power failure, or nil.
	Unsynced error
}

// Replace replaces the file's content with the concatenated pieces, unless the file has changed
// since old or this user may not write to it. Mode, owner and extended attributes are preserved
// as far as this user may set them. On error the old content is in place. The caller must have
// a copy of the old content, in case the file has to be rewritten in place and the machine
// stops while that happens.
func (f *File) Replace(old *Version, pieces [][]byte) (out Outcome, err error) {
	err = Guard(func() error {
		out, err = f.replace(old, pieces)
		return err
	})
	return out, err
}

func (f *File) replace(old *Version, pieces [][]byte) (Outcome, error) {
	if err := f.dir.writable(f.name, old.Info); err != nil {
		return Outcome{}, err
	}
	t, err := f.temp(old, pieces, old.Info.Mode().Perm())
	if err == nil {
		defer t.discard()
		err = t.publish(old)
	}
	if err == nil {
		out := t.outcome(old)
		out.Hash = hashOf(pieces)
		return out, nil
	}
	if !rewritable(err) {
		return Outcome{}, err
	}
	return f.rewrite(old, pieces, err)
}

// Create creates a file with the concatenated pieces and the permissions perm (before umask).
// It fails with [ErrExists] if the file exists.
func (f *File) Create(pieces [][]byte, perm fs.FileMode) (Outcome, error) {
	t, err := f.temp(nil, pieces, perm)
	if err != nil {
		return Outcome{}, err
	}
	defer t.discard()
	if err := t.appear(); err != nil {
		return Outcome{}, err
	}
	out := t.outcome(nil)
	out.Hash = hashOf(pieces)
	return out, nil
}

// WriteFile atomically writes data to the file at path with the given mode, overwriting any
// existing file. Where the system supports it, a killed process leaves nothing behind. Callers
// that must not overwrite other changes use [Replacer.Lock].
func WriteFile(path string, data []byte, mode fs.FileMode) error {
	return New("").WriteFile(path, data, mode)
}

// WriteUnsynced is like [WriteFile], but does not wait for the disk. After a power failure the
// file may be empty or damaged, so its reader must be able to tell and do without it.
func WriteUnsynced(path string, data []byte, mode fs.FileMode) error {
	r := New("")
	r.fsync = func(*os.File) error { return nil }
	return r.WriteFile(path, data, mode)
}

// WriteFile is like the function [WriteFile], but looks for leftovers of killed processes only
// once per directory.
func (r *Replacer) WriteFile(path string, data []byte, mode fs.FileMode) error {
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer dir.Close()
	d, err := newDirectory(dir)
	if err != nil {
		return err
	}
	t, err := (&File{r: r, dir: d, name: filepath.Base(path)}).temp(nil, [][]byte{data}, mode)
	if err != nil {
		return err
	}
	defer t.discard()
	if err := t.file.Chmod(mode); err != nil {
		return err
	}
	if err := t.sync(); err != nil {
		return err
	}
	if err := t.link(); err != nil {
		return err
	}
	return t.rename(d.rename)
}

// hashOf returns a function that hashes pieces.
func hashOf(pieces [][]byte) func() ([sha256.Size]byte, error) {
	return func() (sum [sha256.Size]byte, err error) {
		h := sha256.New()
		err = Guard(func() error {
			for _, p := range pieces {
				h.Write(p)
			}
			return nil
		})
		h.Sum(sum[:0])
		return sum, err
	}
}

func (f *File) before() error {
	if f.Before == nil {
		return nil
	}
	if err := f.Before(); err != nil {
		return &beforeError{err}
	}
	return nil
}

// A beforeError is an error from Before. It is final: the file is not rewritten in place.
type beforeError struct{ error }

func (e *beforeError) Unwrap() error { return e.error }

// unchanged returns an error if the file has changed since old.
func (f *File) unchanged(old *Version) error {
	if err := f.r.step("check"); err != nil {
		return err
	}
	file, err := f.dir.open(f.name, os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: it was removed", ErrChanged)
	}
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	switch {
	case err != nil:
		return err
	case !old.id.same(info):
		return ErrChanged
	case old.id.certain && len(old.Data) > smallFile:
		return nil
	}
	return compare(file, old.Data)
}

// smallFile is the size up to which content is always compared, regardless of the timestamps.
const smallFile = 1 << 20

// compare reads file and compares it with want.
func compare(file io.Reader, want []byte) error {
	buf := make([]byte, min(len(want)+1, smallFile))
	for {
		n, err := io.ReadFull(file, buf)
		if n > len(want) || !bytes.Equal(buf[:n], want[:n]) {
			return ErrChanged
		}
		want = want[n:]
		switch {
		case err == io.EOF || err == io.ErrUnexpectedEOF:
			if len(want) > 0 {
				return ErrChanged
			}
			return nil
		case err != nil:
			return err
		}
	}
}
