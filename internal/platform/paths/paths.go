// Package paths turns a path as a model writes it into the file a tool opens: it expands the path,
// follows its links by hand, and opens what it found only while that is still what is there. It knows
// the paths that are never opened. What may be touched is left to the permission rules, which judge
// the same [Set].
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

// A Base is what a path is relative to.
type Base struct {
	Dir  string // the working directory of the call, absolute
	Home string // the user's home directory, or empty if there is none
}

// UserHome returns the user's home directory, or nothing if none is known.
func UserHome() string {
	home, _ := os.UserHomeDir() // ok: without a home there is no ~
	return home
}

// Expand returns path as an absolute, clean path in NFC, the form in which paths are compared and
// shown: outer white space removed, ~ replaced by the home directory, relative paths resolved against
// Dir. It touches no file; its error is for the model.
func (b Base) Expand(path string) (string, error) {
	path, err := b.absolute(path)
	return norm.NFC.String(path), err
}

// absolute is like Expand, but leaves the characters as they were typed.
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
	case path == "~" || strings.HasPrefix(path, "~/"):
		if b.Home == "" {
			return "", fmt.Errorf("cannot expand %s: the home directory is unknown, because HOME is not set; give an absolute path", path)
		}
		path = filepath.Join(b.Home, path[1:])
	}
	if runtime.GOOS == "windows" {
		path = driveForm(path)
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(b.Dir, path)
	}
	return filepath.Clean(path), nil
}

// driveForm turns /c/dir into C:\dir, as shells on Windows write it.
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

// IsUNC reports whether path, as the model wrote it, may name a share of another machine: merely
// touching one can start network authentication.
func IsUNC(path string) bool {
	path = strings.TrimSpace(path)
	return strings.HasPrefix(path, `\\`) || strings.HasPrefix(path, "//")
}

// Relative returns path relative to dir if it is inside, and else path itself, for display.
func Relative(dir, path string) string {
	rel, err := filepath.Rel(dir, path)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return path
	}
	return rel
}

// IsBlocked reports whether the absolute path names something that must never be read: a device that
// never ends or waits for input, or the memory, the environment and the open files of a process.
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
