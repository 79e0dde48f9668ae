// Package paths resolves paths written by a model to files. It expands a path, follows its
// symlinks explicitly, and opens the result only if it has not been replaced since. It also
// knows paths that are never opened. The permission rules judge the same [ResolvedPath].
package paths

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// A Base is the context in which paths are expanded.
type Base struct {
	Dir  string // working directory, absolute
	Home string // user's home directory, or empty
}

// UserHome returns the user's home directory, or "" if it is unknown.
func UserHome() string {
	home, _ := os.UserHomeDir() // ok: without a home, ~ is not expanded
	return home
}

// Expand returns path as an absolute, clean path in NFC, the form in which paths are compared
// and displayed. It trims whitespace, expands ~ and resolves relative paths against Dir. It
// does not access the file system. The error is for the model.
func (b Base) Expand(path string) (string, error) {
	path, err := b.absolute(path)
	return norm.NFC.String(path), err
}

// absolute is like Expand, but does not normalize Unicode.
func (b Base) absolute(path string) (string, error) {
	switch {
	case strings.ContainsRune(path, 0) || strings.ContainsRune(b.Dir, 0):
		return "", errors.New("path contains a null byte")
	case !utf8.ValidString(path):
		return "", fmt.Errorf("path %s is not valid UTF-8", strconv.QuoteToASCII(path))
	}
	path = strings.TrimSpace(path)
	switch {
	case path == "":
		return "", errors.New("the path is empty: give the path of a file")
	case path == "~" || strings.HasPrefix(path, "~") && os.IsPathSeparator(path[1]):
		if b.Home == "" {
			return "", fmt.Errorf("cannot expand %s: the home directory is unknown, because HOME is not set; give an absolute path", path)
		}
		path = filepath.Join(b.Home, path[1:])
	}
	if runtime.GOOS == "windows" {
		if path = driveForm(path); isRooted(path) {
			path = filepath.VolumeName(b.Dir) + path
		} else if drive := filepath.VolumeName(path); drive != "" && !filepath.IsAbs(path) {
			return "", fmt.Errorf(`path %s depends on the current directory of its drive: give an absolute path, such as %s\%s`, path, drive, path[len(drive):])
		}
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(b.Dir, path)
	}
	return filepath.Clean(path), nil
}

// isRooted reports whether path begins at the root of the current drive, such as \dir.
func isRooted(path string) bool {
	return path != "" && os.IsPathSeparator(path[0]) && filepath.VolumeName(path) == ""
}

// driveForm converts /c/dir, as written by shells on Windows, to C:\dir.
func driveForm(path string) string {
	if len(path) < 3 || path[0] != '/' || path[2] != '/' {
		return path
	}
	letter := path[1] &^ 0x20
	if letter < 'A' || letter > 'Z' {
		return path
	}
	return string(letter) + ":" + strings.ReplaceAll(path[2:], "/", `\`)
}

// IsUNC reports whether path, as written by the model, may name a network share. Merely
// accessing one can start network authentication.
func IsUNC(path string) bool {
	path = strings.TrimSpace(path)
	return strings.HasPrefix(path, `\\`) || strings.HasPrefix(path, "//")
}

// Relative returns path relative to dir if it is inside dir, otherwise path itself, for
// display.
func Relative(dir, path string) string {
	rel, err := filepath.Rel(dir, path)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return path
	}
	return rel
}

// IsBlocked reports whether an absolute path must never be read: an endless or blocking device,
// or the memory, environment or open files of a process.
func IsBlocked(path string) bool {
	path = filepath.ToSlash(path)
	if rest, ok := strings.CutPrefix(path, "/proc/"); ok {
		return rest == "kcore" || rest == "kmsg" || slices.ContainsFunc(strings.Split(rest, "/")[1:], func(name string) bool {
			return name == "fd" || name == "environ" || name == "mem"
		})
	}
	switch strings.TrimPrefix(path, "/dev/") {
	case "zero", "random", "urandom", "full",
		"stdin", "tty", "console",
		"stdout", "stderr", "fd/0", "fd/1", "fd/2":
		return strings.HasPrefix(path, "/dev/")
	}
	return false
}

// Short returns path with the home directory, which may be empty, written as ~.
func Short(home, path string) string {
	if rest := Relative(home, path); home != "" && rest != path {
		return filepath.Join("~", rest)
	}
	return path
}
