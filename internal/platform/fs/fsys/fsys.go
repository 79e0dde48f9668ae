// Package fsys manages adze's own files: their location, project folder names and atomic
// replacement.
package fsys

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// IsDir reports whether path is a directory or a link to one.
func IsDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// WriteAtomic replaces the file at path with the given content and permissions. At any time
// path holds either the old or the new content, and after a nil error the new content survives
// a power failure. If path is a symbolic link, its target is replaced.
func WriteAtomic(path string, data []byte, perm fs.FileMode) error {
	path, err := write(path, data, perm, (*os.File).Sync)
	if err != nil {
		return err
	}
	return SyncDir(filepath.Dir(path))
}

// WriteUnsynced is like WriteAtomic, but the caller must sync the file and its directory. Until
// then the file survives a crash of the program, but perhaps not a power failure.
func WriteUnsynced(path string, data []byte, perm fs.FileMode) error {
	_, err := write(path, data, perm, func(*os.File) error { return nil })
	return err
}

// write replaces a file and returns its path with links resolved.
func write(path string, data []byte, perm fs.FileMode, sync func(*os.File) error) (_ string, err error) {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	tmp, err := OpenFile(filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+"."+rand.Text()), os.O_RDWR|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return "", fmt.Errorf("writing %s: %w", path, err)
	}
	defer func() {
		if err != nil {
			tmp.Close()           // ok: the original error matters more
			os.Remove(tmp.Name()) // ok: at worst a stray file remains
			err = fmt.Errorf("writing %s: %w", path, err)
		}
	}()
	if _, err := tmp.Write(data); err != nil {
		return "", err
	}
	if err := tmp.Chmod(perm); err != nil { // regardless of the umask
		return "", err
	}
	if err := sync(tmp); err != nil {
		return "", err
	}
	if err := tmp.Close(); err != nil {
		return "", err
	}
	return path, Rename(tmp.Name(), path)
}

// CreateTemp creates a file with a random name that begins with prefix, accessible to the user
// only.
func CreateTemp(dir, prefix string) (*os.File, error) {
	return OpenFile(filepath.Join(dir, prefix+rand.Text()), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
}

// UserHome returns the user's home directory, or "" if it is unknown.
func UserHome(getenv func(string) string) string {
	for _, name := range []string{"HOME", "USERPROFILE"} {
		if dir := getenv(name); filepath.IsAbs(dir) {
			return dir
		}
	}
	return ""
}

// maxKey is the maximum length of a project key, so that file names below its directory stay
// legal.
const maxKey = 200

// ProjectKey returns the directory name for a project at an absolute path. Different paths can
// have the same key unless they are long; see [HashedKey].
func ProjectKey(path string) string {
	key := sanitized(path)
	if len(key) > maxKey {
		return key[:maxKey] + "-" + shortHash(path)
	}
	return key
}

// HashedKey returns the key for path when its [ProjectKey] is taken by another path.
func HashedKey(path string) string {
	key := sanitized(path)
	return key[:min(len(key), maxKey)] + "-" + shortHash(path)
}

// sanitized returns path with everything but ASCII letters and digits replaced by dashes.
func sanitized(path string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
			return r
		}
		return '-'
	}, path)
}

func shortHash(path string) string {
	sum := sha256.Sum256([]byte(path))
	return hex.EncodeToString(sum[:4])
}

// ReadSmall reads a regular file of at most max bytes. It does not open devices or block on
// pipes.
func ReadSmall(path string, max int64) ([]byte, error) {
	info, err := os.Stat(path) // opening a device can have effects
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("it is not a regular file")
	}
	if err != nil {
		return nil, err
	}
	file, err := OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err = file.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errors.New("it is not a regular file")
	case info.Size() > max:
		return nil, fmt.Errorf("it is larger than %d bytes", max)
	}
	data := bytes.NewBuffer(make([]byte, 0, info.Size()+bytes.MinRead)) // single allocation unless the file grows
	_, err = data.ReadFrom(io.LimitReader(file, max))
	return data.Bytes(), err
}
