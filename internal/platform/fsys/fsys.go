// Package fsys keeps the program's own files: where they are, how a folder is named after a project,
// and how a file is replaced without ever being half written. The files of the workspace, and what
// may be done to them, are the business of the tools.
package fsys

import (
	"bytes"
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

// MkdirPrivate creates a folder and its parents for the user alone. One that exists stays as it is.
func MkdirPrivate(path string) error { return os.MkdirAll(path, 0o700) }

// IsDir reports whether a path leads to a directory.
func IsDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// WriteAtomic replaces the file at path by one with the given content and permissions. Whatever
// happens, path holds either the old or the new content, and after a return without error the new
// one survives a loss of power. A symbolic link stays one; the file it points to is replaced.
func WriteAtomic(path string, data []byte, perm fs.FileMode) error {
	path, err := write(path, data, perm, (*os.File).Sync)
	if err != nil {
		return err
	}
	return SyncDir(filepath.Dir(path))
}

// WriteUnsynced replaces a file in the same way, but leaves it to the caller to sync the file and its folder: until then
// it survives the end of the program, and a loss of power may take it.
func WriteUnsynced(path string, data []byte, perm fs.FileMode) error {
	_, err := write(path, data, perm, func(*os.File) error { return nil })
	return err
}

// write replaces a file, and returns its path without a link.
func write(path string, data []byte, perm fs.FileMode, sync func(*os.File) error) (_ string, err error) {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return "", fmt.Errorf("writing %s: %w", path, err)
	}
	defer func() {
		if err != nil {
			tmp.Close()           // ok: the error that counts is known
			os.Remove(tmp.Name()) // ok: at worst a stray file stays
			err = fmt.Errorf("writing %s: %w", path, err)
		}
	}()
	if _, err := tmp.Write(data); err != nil {
		return "", err
	}
	if err := tmp.Chmod(perm); err != nil { // past the umask
		return "", err
	}
	if err := sync(tmp); err != nil {
		return "", err
	}
	if err := tmp.Close(); err != nil {
		return "", err
	}
	return path, os.Rename(tmp.Name(), path)
}

// StateHome returns the folder of adze's own files: ADZE_HOME, or .adze in the home directory.
func StateHome(getenv func(string) string) (string, error) {
	home := UserHome(getenv)
	dir := getenv("ADZE_HOME")
	switch {
	case dir == "" && home == "":
		return "", errors.New("no home directory is known: set ADZE_HOME to a folder for adze's files")
	case dir == "":
		return filepath.Join(home, ".adze"), nil
	}
	if rest, ok := strings.CutPrefix(dir, "~"); ok && home != "" && (rest == "" || os.IsPathSeparator(rest[0])) {
		dir = home + rest
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("finding ADZE_HOME %s: %w; set it to an absolute path", dir, err)
	}
	return abs, nil
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

// maxKey bounds a project key, so that the names of files below its folder stay legal.
const maxKey = 200

// ProjectKey returns the name of the folder for a project at an absolute path. Different paths can
// have the same key, except when they are long; see [HashedKey].
func ProjectKey(path string) string {
	key := sanitised(path)
	if len(key) > maxKey {
		return key[:maxKey] + "-" + shortHash(path)
	}
	return key
}

// HashedKey returns the key to use for path when another path has its [ProjectKey] already.
func HashedKey(path string) string {
	key := sanitised(path)
	return key[:min(len(key), maxKey)] + "-" + shortHash(path)
}

// sanitised returns path with everything but letters and digits of ASCII turned into dashes.
func sanitised(path string) string {
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

// ReadSmall reads a regular file of at most max bytes. It opens no device and waits for no pipe.
func ReadSmall(path string, max int64) ([]byte, error) {
	info, err := os.Stat(path) // opening a device can have effects
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("it is not a regular file")
	}
	if err != nil {
		return nil, err
	}
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
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
	data := bytes.NewBuffer(make([]byte, 0, info.Size()+bytes.MinRead)) // one piece, unless the file grows
	_, err = data.ReadFrom(io.LimitReader(file, max))
	return data.Bytes(), err
}
