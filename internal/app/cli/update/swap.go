package update

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"syscall"

	"adze/internal/platform/fs/fsys"
)

// Names of files beside the program.
const (
	lockName    = ".adze-update.lock"
	stagePrefix = ".adze-new-"
)

// exeName is the name of the program in archives.
var exeName = map[bool]string{false: "adze", true: "adze.exe"}[runtime.GOOS == "windows"]

// previous returns the path of the program that the last update replaced.
func (u *Updater) previous() string {
	dir, name := filepath.Split(u.Program)
	ext := filepath.Ext(name)
	return filepath.Join(dir, "."+name[:len(name)-len(ext)]+"-previous"+ext)
}

// stage writes a new program beside the old one, with its permissions, and returns the path.
func (u *Updater) stage(program []byte) (path string, err error) {
	info, err := os.Stat(u.Program)
	if err != nil {
		return "", err
	}
	// A child started meanwhile would inherit the open file, and the system runs no program that
	// is open for writing.
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	f, err := os.CreateTemp(filepath.Dir(u.Program), stagePrefix+"*"+filepath.Ext(u.Program))
	if err != nil {
		return "", err
	}
	defer func() {
		f.Close() // ok: it was synced or is discarded
		if err != nil {
			os.Remove(f.Name()) // ok: the error is reported
		}
	}()
	if _, err := f.Write(program); err != nil {
		return "", fmt.Errorf("%w; nothing was changed", err)
	}
	if err := f.Chmod(info.Mode().Perm() | 0o500); err != nil {
		return "", err
	}
	return f.Name(), f.Sync()
}

// swap makes the staged program the program, and the program the previous one. At each moment
// there is a program: where a file can have two names, it is replaced in one step.
func (u *Updater) swap(stage string) error {
	if runtime.GOOS == "windows" { // a running program can be renamed, but not replaced
		os.Remove(u.previous()) // ok: renaming reports the error
		if err := os.Rename(u.Program, u.previous()); err != nil {
			return err
		}
		err := os.Rename(stage, u.Program)
		if err != nil {
			err = fmt.Errorf("%w; %w", err, os.Rename(u.previous(), u.Program))
		}
		return err
	}
	if err := u.keep(); err != nil {
		return fmt.Errorf("keeping the old version: %w; nothing was changed", err)
	}
	if err := os.Rename(stage, u.Program); err != nil {
		return err
	}
	return fsys.SyncDir(filepath.Dir(u.Program))
}

// keep gives the program a second name, from which it can be restored.
func (u *Updater) keep() error {
	temp := u.previous() + ".tmp"
	os.Remove(temp) // ok: Link reports the error
	if err := os.Link(u.Program, temp); err != nil {
		if err := copyFile(u.Program, temp); err != nil {
			return err
		}
	}
	return os.Rename(temp, u.previous())
}

// copyFile copies a program on file systems without hard links.
func copyFile(from, to string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o755)
}

// exchange swaps the program with the previous one.
func (u *Updater) exchange() error {
	if err := os.Rename(u.previous(), u.aside()); err != nil {
		return err
	}
	err := u.swap(u.aside())
	if err != nil {
		err = errors.Join(err, u.recover())
	}
	return err
}

// aside returns the path of the previous program during a rollback.
func (u *Updater) aside() string { return u.previous() + ".back" }

// recover ends a rollback that was killed: the previous program gets its name back.
func (u *Updater) recover() error {
	err := os.Rename(u.aside(), u.previous())
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}
