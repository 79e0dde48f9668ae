package replace

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
	"unsafe"

	"adze/internal/platform/fs/lockfile"
)

// A temp is a new file in the same directory as the file it will become. Where the system
// supports it, it has no name until it is complete, so that a killed process leaves nothing
// behind.
type temp struct {
	f        *File
	file     *os.File
	name     string
	named    bool        // has its temporary name
	info     fs.FileInfo // state when complete
	unsynced error
}

// temp creates a new file with the concatenated pieces, which may be parts of the old file.
func (f *File) temp(old *Version, pieces [][]byte, perm fs.FileMode) (_ *temp, err error) {
	f.r.sweep(f.dir)
	t := &temp{f: f, name: tempName()}
	if err := f.r.step("temp"); err != nil {
		return nil, err
	}
	if t.file, err = f.dir.openUnnamed(f.name, perm); errors.Is(err, errors.ErrUnsupported) {
		t.named = true
		t.file, err = f.dir.open(t.name, os.O_RDWR|os.O_CREATE|os.O_EXCL, perm)
	}
	if err != nil {
		return nil, err
	}
	lockfile.Lock(t.file) // ok: the lock only matters for cleaning up leftovers
	if err := t.write(old, pieces); err != nil {
		t.discard()
		return nil, err
	}
	return t, nil
}

// chunk is how much is written before beginSync is called.
const chunk = 8 << 20

func (t *temp) write(old *Version, pieces [][]byte) error {
	var offset int64
	for _, p := range pieces {
		for len(p) > 0 {
			if err := t.f.r.step("write"); err != nil {
				return err
			}
			n := min(len(p), chunk)
			if err := t.add(old, p[:n]); errors.Is(err, syscall.EFAULT) { // the mapped file was truncated
				return ErrChanged
			} else if err != nil {
				return err
			}
			if n == chunk {
				beginSync(t.file, offset, chunk)
			}
			offset += int64(n)
			p = p[n:]
		}
	}
	return nil
}

// add writes the next bytes. Large parts of the old file are copied by the kernel, which on
// some file systems shares the blocks. If the old file has changed, that is detected before the
// new file is renamed.
func (t *temp) add(old *Version, p []byte) error {
	if at, ok := within(old, p); ok && len(p) >= smallFile {
		if _, err := old.file.Seek(at, io.SeekStart); err != nil {
			return err
		}
		n, err := t.file.ReadFrom(io.LimitReader(old.file, int64(len(p))))
		if err == nil && n < int64(len(p)) {
			err = ErrChanged
		}
		return err
	}
	_, err := t.file.Write(p)
	return err
}

// within returns the offset of p in the old file if p is part of its memory.
func within(old *Version, p []byte) (int64, bool) {
	if old == nil || len(p) == 0 {
		return 0, false
	}
	begin, at := address(old.Data), address(p)
	return int64(at - begin), begin <= at && at+uintptr(len(p)) <= begin+uintptr(len(old.Data))
}

func address(b []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(b))) }

// publish gives the new file the attributes of the old one and then its name.
func (t *temp) publish(old *Version) error {
	if err := t.f.r.step("attributes"); err != nil {
		return err
	}
	if err := t.inherit(old); err != nil {
		return err
	}
	if err := t.sync(); err != nil {
		return err
	}
	if err := t.f.before(); err != nil {
		return err
	}
	if err := t.f.unchanged(old); err != nil {
		return err
	}
	if err := t.link(); err != nil {
		return err
	}
	if closeFirst {
		old.file.Close() // ok: opened read-only, and all of it was read
	}
	return t.rename(t.f.dir.rename)
}

// link gives the file its temporary name if it has none.
func (t *temp) link() error {
	if t.named {
		return nil
	}
	err := t.f.dir.linkUnnamed(t.file, t.name)
	t.named = err == nil
	return err
}

// rename gives the file its final name by calling way.
func (t *temp) rename(way func(from, to string) error) error {
	err := t.f.r.step("rename")
	if err == nil && closeFirst {
		err = t.file.Close()
	}
	if err == nil {
		err = way(t.name, t.f.name)
	}
	if err != nil {
		return &renameError{err}
	}
	t.named = false
	if t.unsynced = t.f.r.step("sync directory"); t.unsynced == nil {
		t.unsynced = t.f.dir.sync(t.f.r.fsync)
	}
	return nil
}

// inherit copies owner, mode and extended attributes from the old file. If this user may not
// set the owner, that is not an error, but permissions are reduced so that no other user gains
// access.
func (t *temp) inherit(old *Version) error {
	mode := old.Info.Mode()
	keepsOwner, keepsGroup := chown(t.file, old.Info)
	if !keepsOwner {
		mode &^= fs.ModeSetuid
	}
	if !keepsGroup {
		mode = mode&^(fs.ModeSetgid|0o070) | mode&0o007<<3
	}
	if info, err := t.file.Stat(); err != nil || info.Mode() != mode {
		if err := t.file.Chmod(mode); err != nil {
			return err
		}
	}
	return copyAttributes(old.file, t.file)
}

// appear gives the new file its final name, unless the name is taken.
func (t *temp) appear() error {
	if err := t.sync(); err != nil {
		return err
	}
	if err := t.f.before(); err != nil {
		return err
	}
	way := t.f.dir.renameNew
	if !t.named {
		way = func(_, to string) error { return t.f.dir.linkUnnamed(t.file, to) }
	}
	err := t.rename(way)
	if errors.Is(err, fs.ErrExist) {
		return ErrExists
	}
	return err
}

func (t *temp) sync() (err error) {
	if err = t.f.r.step("sync"); err != nil {
		return err
	}
	if err = t.f.r.fsync(t.file); err != nil {
		return err
	}
	t.info, err = t.file.Stat()
	return err
}

// outcome describes the new file, which has its final name.
func (t *temp) outcome(old *Version) Outcome {
	o := Outcome{Unsynced: t.unsynced}
	if old != nil {
		o.Links = otherLinks(old.Info)
	}
	info, err := t.f.dir.stat(t.file, t.f.name)
	if err == nil && info.Size() == t.info.Size() && info.ModTime().Equal(t.info.ModTime()) {
		o.Info = info
	}
	return o
}

// discard closes the file and removes it unless it has its final name.
func (t *temp) discard() {
	t.file.Close() // ok: it was synced or is discarded
	if t.named {
		t.f.dir.remove(t.name) // ok: the relevant error has been reported
	}
}

// A renameError means that the file system refused a rename.
type renameError struct{ err error }

func (e *renameError) Error() string { return fmt.Sprintf("renaming: %v", e.err) }
func (e *renameError) Unwrap() error { return e.err }

// rewritable reports whether a file that could not be replaced because of err may be rewritten
// in place: its directory is not writable, or it is a mount point.
func rewritable(err error) bool {
	var stop *beforeError
	if errors.Is(err, ErrChanged) || errors.As(err, &stop) {
		return false
	}
	var rename *renameError
	if errors.As(err, &rename) {
		return errors.Is(err, syscall.EBUSY) || errors.Is(err, syscall.EXDEV) || errors.Is(err, fs.ErrPermission)
	}
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS)
}
