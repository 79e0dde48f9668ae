package replace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/windows"

	"adze/internal/platform/fs/fsys"
)

// A directory is the directory in which a file is replaced. While the caller has it open, nobody
// can rename it or a parent, so its path is as good as a handle.
type directory struct{ name, id string }

func newDirectory(file *os.File) (directory, error) {
	abs, err := filepath.Abs(file.Name())
	return directory{abs, strings.ToLower(abs)}, err
}

func (d directory) key(name string) string {
	return keyOf(d.id, strings.ToLower(name))
}

func (d directory) path(name string) string { return filepath.Join(d.name, name) }

func (d directory) open(name string, flags int, perm fs.FileMode) (*os.File, error) {
	if info, err := os.Lstat(d.path(name)); err == nil && info.Mode().Type() == fs.ModeSymlink {
		return nil, ErrChanged
	}
	return fsys.OpenFile(d.path(name), flags, perm)
}

// writable returns an error if the file has the read-only attribute.
func (d directory) writable(_ string, info fs.FileInfo) error {
	if info.Mode()&0o200 == 0 {
		return fmt.Errorf("it is read-only: %w", fs.ErrPermission)
	}
	return nil
}

// names returns the directory's entries.
func (d directory) names() ([]string, error) {
	dir, err := os.Open(d.name)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return dir.Readdirnames(-1)
}

func (d directory) rename(from, to string) error { return fsys.Rename(d.path(from), d.path(to)) }
func (d directory) remove(name string) error     { return os.Remove(d.path(name)) }

// renameNew renames a file. It fails if the name is taken.
func (d directory) renameNew(from, to string) error {
	old, err := windows.UTF16PtrFromString(d.path(from))
	if err != nil {
		return err
	}
	new, err := windows.UTF16PtrFromString(d.path(to))
	if err != nil {
		return err
	}
	return windows.MoveFileEx(old, new, 0)
}

func (d directory) stat(_ *os.File, name string) (fs.FileInfo, error) { return os.Lstat(d.path(name)) }

// sync does nothing: on this system, syncing the file also persists its name.
func (d directory) sync(func(*os.File) error) error { return nil }

// closeFirst reports whether files must be closed before they are renamed, and the file that is
// replaced too. Not every version of Windows and not every file system needs it.
const closeFirst = true

// copyAttributes copies the access control list.
func copyAttributes(from, to *os.File) error {
	const list = windows.DACL_SECURITY_INFORMATION
	sd, err := windows.GetSecurityInfo(windows.Handle(from.Fd()), windows.SE_FILE_OBJECT, list)
	if err != nil {
		return ignoreUnsupported(err)
	}
	control, _, err := sd.Control()
	if err == nil && control&windows.SE_DACL_AUTO_INHERITED != 0 { // the system clears it otherwise
		err = sd.SetControl(windows.SE_DACL_AUTO_INHERIT_REQ, windows.SE_DACL_AUTO_INHERIT_REQ)
	}
	if err != nil {
		return fmt.Errorf("copying the access control list: %w", err)
	}
	name, err := windows.UTF16PtrFromString(to.Name())
	if err != nil {
		return err
	}
	const share = windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE
	h, err := windows.CreateFile(name, windows.WRITE_DAC, share, nil, windows.OPEN_EXISTING, windows.FILE_ATTRIBUTE_NORMAL, 0)
	if err != nil {
		return fmt.Errorf("copying the access control list: %w", err)
	}
	defer windows.CloseHandle(h)
	return ignoreUnsupported(windows.SetKernelObjectSecurity(h, list, sd)) // inherited entries included
}

// ignoreUnsupported returns nil if err means that the file system has no access control lists.
func ignoreUnsupported(err error) error {
	if err == nil || errors.Is(err, windows.ERROR_NOT_SUPPORTED) || errors.Is(err, windows.ERROR_INVALID_FUNCTION) {
		return nil
	}
	return fmt.Errorf("copying the access control list: %w", err)
}

func chown(*os.File, fs.FileInfo) (keepsOwner, keepsGroup bool) { return true, true }

func otherLinks(fs.FileInfo) int { return 0 }
