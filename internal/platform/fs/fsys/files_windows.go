package fsys

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// MkdirPrivate creates a directory and its parents, accessible to the user only. The access
// control list is inherited by everything in the directory. An existing directory is unchanged.
func MkdirPrivate(path string) error {
	if IsDir(path) {
		return nil
	}
	if parent := filepath.Dir(path); parent != path {
		if err := MkdirPrivate(parent); err != nil {
			return err
		}
	}
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return &fs.PathError{Op: "mkdir", Path: path, Err: err}
	}
	only, err := ownerOnly()
	if err != nil {
		return &fs.PathError{Op: "mkdir", Path: path, Err: err}
	}
	if err := windows.CreateDirectory(name, only.dir); err != nil && !IsDir(path) { // another process may have created it
		return &fs.PathError{Op: "mkdir", Path: path, Err: err}
	}
	return nil
}

// OpenFile is like [os.OpenFile], with two differences. Other programs may rename, replace and
// remove the file while it is open. A new file whose mode gives access to the user only gets an
// access control list that does the same.
func OpenFile(path string, flag int, perm fs.FileMode) (*os.File, error) {
	var h windows.Handle
	err := retry(func() (err error) {
		h, err = create(path, flag, perm)
		return err
	}, windows.ERROR_SHARING_VIOLATION)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	f := os.NewFile(uintptr(h), path)
	if flag&os.O_TRUNC != 0 {
		if err := f.Truncate(0); err != nil {
			f.Close()
			return nil, err
		}
	}
	return f, nil
}

func create(path string, flag int, perm fs.FileMode) (windows.Handle, error) {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return 0, err
	}
	access, attributes := uint32(windows.GENERIC_READ), uint32(windows.FILE_ATTRIBUTE_NORMAL)
	switch flag & (os.O_RDONLY | os.O_WRONLY | os.O_RDWR) {
	case os.O_WRONLY:
		access = windows.GENERIC_WRITE
	case os.O_RDWR:
		access |= windows.GENERIC_WRITE
	default:
		attributes |= windows.FILE_FLAG_BACKUP_SEMANTICS // opens directories too
	}
	if flag&os.O_APPEND != 0 && flag&os.O_TRUNC == 0 { // every write appends without FILE_WRITE_DATA
		access = access&^windows.GENERIC_WRITE |
			windows.FILE_APPEND_DATA | windows.FILE_WRITE_ATTRIBUTES | windows.FILE_WRITE_EA | windows.STANDARD_RIGHTS_WRITE | windows.SYNCHRONIZE
	}
	disposition := uint32(windows.OPEN_EXISTING)
	switch {
	case flag&(os.O_CREATE|os.O_EXCL) == os.O_CREATE|os.O_EXCL:
		disposition = windows.CREATE_NEW
		attributes |= windows.FILE_FLAG_OPEN_REPARSE_POINT // follows no link
	case flag&os.O_CREATE != 0:
		disposition = windows.OPEN_ALWAYS
	}
	var sa *windows.SecurityAttributes
	if flag&os.O_CREATE != 0 && perm&0o077 == 0 {
		only, err := ownerOnly()
		if err != nil {
			return 0, err
		}
		sa = only.file
	}
	const share = windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE
	return windows.CreateFile(name, access, share, sa, disposition, attributes, 0)
}

// Rename is like [os.Rename]. It also replaces a file that another program has open, if that
// program allows it, and waits for a moment if not.
func Rename(from, to string) error {
	dir, err := os.OpenRoot(filepath.Dir(to))
	if err != nil {
		return err
	}
	defer dir.Close()
	return retry(func() error {
		if filepath.Dir(from) != filepath.Dir(to) {
			return os.Rename(from, to)
		}
		return dir.Rename(filepath.Base(from), filepath.Base(to)) // unlike os.Rename with POSIX semantics
	}, windows.ERROR_SHARING_VIOLATION, windows.ERROR_ACCESS_DENIED)
}

// Truncate changes the size of an open file. A file open for appending cannot do that itself.
func Truncate(f *os.File, size int64) error { return os.Truncate(f.Name(), size) }

// retry calls f until it no longer returns an error of busy, for about a second. Virus scanners and
// indexers open files for moments without sharing them.
func retry(f func() error, busy ...syscall.Errno) error {
	for pause := time.Millisecond; ; pause *= 2 {
		err := f()
		var no syscall.Errno
		if err == nil || pause > 512*time.Millisecond || !errors.As(err, &no) {
			return err
		}
		wait := false
		for _, b := range busy {
			wait = wait || no == b
		}
		if !wait {
			return err
		}
		time.Sleep(pause)
	}
}

// private holds security attributes that give access to the user only.
type private struct{ dir, file *windows.SecurityAttributes }

var ownerOnly = sync.OnceValues(func() (private, error) {
	user, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return private{}, err
	}
	var p private
	for _, kind := range []struct {
		flags string
		sa    **windows.SecurityAttributes
	}{{"OICI", &p.dir}, {"", &p.file}} {
		// P keeps entries of the parent directory out, FA is full access.
		sd, err := windows.SecurityDescriptorFromString("D:P(A;" + kind.flags + ";FA;;;" + user.User.Sid.String() + ")")
		if err != nil {
			return private{}, err
		}
		*kind.sa = &windows.SecurityAttributes{SecurityDescriptor: sd}
		(*kind.sa).Length = uint32(unsafe.Sizeof(**kind.sa))
	}
	return p, nil
})
