// Package replace changes files as a whole and safely: one writer at a time, old or new content and
// never a mixture, and no change of another program overwritten. It works inside a directory that its
// caller has opened and so decided on; what to write, and what may be written, is left to others.
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

// ErrChanged says that another program changed the file since it was read. It was left alone.
var ErrChanged = errors.New("the file was changed by another program just now")

// ErrExists says that another program made the file meanwhile. It was left alone.
var ErrExists error = existsError{}

// existsError is [fs.ErrExist] in other words. It is a type because formatting at start-up costs time.
type existsError struct{}

func (existsError) Error() string {
	return "another program made the file just now: " + fs.ErrExist.Error()
}

func (existsError) Unwrap() error { return fs.ErrExist }

// ErrSpecial says that something is not a regular file.
var ErrSpecial = errors.New("it is not a regular file")

// TooLarge is the error of reading a file that is larger than asked for.
type TooLarge struct{ Size, Max int64 }

// Error gives both sizes.
func (e *TooLarge) Error() string {
	return fmt.Sprintf("the file has %d bytes, which is more than %d", e.Size, e.Max)
}

// A Replacer replaces files. One per process and lock directory; it may be used concurrently.
type Replacer struct {
	locks     locks
	leftovers leftovers
	// fault, if not nil, is asked before each step and can make it fail.
	fault func(step string) error
	fsync func(*os.File) error
}

// New returns a Replacer that shares the lock directory with other processes. The directory is made
// when it is first needed.
func New(lockDir string) *Replacer {
	return &Replacer{locks: locks{dir: lockDir, wait: lockWait, held: map[string]*queue{}, files: map[string]*lockFile{}}, leftovers: leftovers{swept: map[string]bool{}}, fsync: (*os.File).Sync}
}

func (r *Replacer) step(name string) error {
	if r.fault == nil {
		return nil
	}
	return r.fault(name)
}

// Lock waits until no other call and no other process works on the file called name in dir, for 10
// seconds at most. The error then names who does. The caller keeps dir open until Unlock.
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

// A File is a name in a directory that only its holder works on. It is not safe for concurrent use.
type File struct {
	// Before is called when the new content is complete, just before the file gets it. Its error stops
	// that. It may be nil.
	Before func() error

	r      *Replacer
	dir    directory
	name   string
	unlock func()
}

// Unlock lets others work on the file.
func (f *File) Unlock() { f.unlock() }

// An Outcome is what became of a file that was written.
type Outcome struct {
	// Hash returns the SHA-256 of the content, which takes a while if that is large. It looks at the
	// pieces once more, so that the old version must not be closed before.
	Hash func() ([sha256.Size]byte, error)
	// Info describes the new file, or is nil if it was changed again before that could be told.
	Info fs.FileInfo
	// InPlace is why the file was rewritten in place instead of replaced, or nil.
	InPlace error
	// Links is how many other names the old file has: they keep the old content.
	Links int
	// Unsynced is why the new content may not survive a loss of power, or nil.
	Unsynced error
}

// Replace makes pieces, one after the other, the content of the file, unless it is not old any more, or
// this user may not write to it.
// Mode, owner and extended attributes stay, as far as this user may set them. On an error the old
// content is in place. The caller has kept a copy of it for the case that the file must be rewritten
// in place and the machine stops meanwhile.
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

// Create makes a file with the content pieces and the permissions perm, less the umask's. It fails with
// [ErrExists] if there is one by now.
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

// WriteFile makes data the content of the file at path, with the permissions mode, whatever it was. It is the old or
// the new one at any time, and where the system can do that, a process that is killed leaves nothing else. Callers
// that must not overwrite what others do use [Replacer.Lock].
func WriteFile(path string, data []byte, mode fs.FileMode) error {
	return New("").WriteFile(path, data, mode)
}

// WriteFile is like the function of that name. It looks for what killed processes left behind only once in each directory.
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

// hashOf returns a func that hashes pieces.
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

// A beforeError is an error of Before. It is final: the file is not rewritten in place either.
type beforeError struct{ error }

func (e *beforeError) Unwrap() error { return e.error }

// unchanged reports whether the file is still the version old.
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

// smallFile is the size up to which content is always compared, whatever the times of the file say.
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
