// Package editor finds the user's editor for a directory. Editors leave lock files with their
// port and folders. A lock file is only a hint from the user's own programs: it is used only if
// the user owns it and it names a running process, and only to connect to the local machine.
package editor

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"adze/internal/mcp/roster"
	"adze/internal/platform/fs/fsys"
	"adze/internal/platform/fs/paths"
	"adze/internal/platform/proc/osproc"
)

const (
	// Name is the editor's server name.
	Name = "ide"
	// tokenHeader is the header that editors expect.
	tokenHeader = "X-Claude-Code-Ide-Authorization"

	maxFiles = 200
	maxSize  = 64 << 10
)

// Config configures the search for editors.
type Config struct {
	// Home is the directory of the lock files.
	Home string
	// Dir is the working directory.
	Dir string
	// Port is the port given by the editor's integrated terminal; 0 if unknown.
	Port int
	// Alive reports whether a process is running; nil means to ask the system.
	Alive func(pid int) bool
}

// A lock is the content of an editor's lock file.
type lock struct {
	PID       int      `json:"pid"`
	Name      string   `json:"ideName"`
	Folders   []string `json:"workspaceFolders"`
	Transport string   `json:"transport"`
	Token     string   `json:"authToken"`

	file  string // name of the lock file
	unfit error  // why it cannot be used; nil if it can
	port  int
	depth int // depth of the folder containing the working directory
	noted time.Time
}

// Find returns the editor whose folder contains the working directory, as a server. If several
// match, it prefers the editor whose terminal adze runs in, then the nearest folder, then the
// latest start. The error is the reason none was found.
func Find(c Config) (*roster.Entry, error) {
	all := locks(c)
	if len(all) == 0 {
		return nil, errors.New("no editor has left a lock file in " + c.Home)
	}
	var found []lock
	why := ""
	for _, l := range all {
		if l.unfit != nil {
			why = fmt.Sprintf("; %s: %v", l.file, l.unfit)
			continue
		}
		found = append(found, l)
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("no editor has %s open%s", c.Dir, why)
	}
	best := slices.MaxFunc(found, func(a, b lock) int { return a.compare(&b, c.Port) })
	return best.entry(), nil
}

// An Editor is an editor with a lock file.
type Editor struct {
	Name    string // name it reports; may be empty
	File    string // name of its lock file
	Folders []string
	// Unfit is the reason it cannot be connected to; nil if it can.
	Unfit error
}

// All returns the editors with lock files, ordered by file name.
func All(c Config) []Editor {
	var all []Editor
	for _, l := range locks(c) {
		all = append(all, Editor{l.Name, l.file, l.Folders, l.unfit})
	}
	return all
}

// locks reads the lock files and marks the unusable ones.
func locks(c Config) []lock {
	if c.Alive == nil {
		c.Alive = osproc.Alive
	}
	entries, err := os.ReadDir(c.Home)
	if err != nil { // usually the directory does not exist
		return nil
	}
	var all []lock
	for i, e := range entries {
		port, isLock := portOf(e.Name())
		if !isLock || i >= maxFiles {
			continue
		}
		l, err := read(filepath.Join(c.Home, e.Name()))
		if err == nil {
			l.port = port
			err = l.fits(&c)
		}
		l.file, l.unfit = e.Name(), err
		all = append(all, l)
	}
	return all
}

// portOf returns the port in a lock file's name.
func portOf(name string) (int, bool) {
	digits, ok := strings.CutSuffix(name, ".lock")
	port, err := strconv.Atoi(digits)
	return port, ok && err == nil && port > 0 && port < 1<<16 && strconv.Itoa(port) == digits
}

// read reads a lock file if it belongs to the user and no one else can write it.
func read(path string) (l lock, err error) {
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return l, errors.New("it cannot be read")
	case !info.Mode().IsRegular():
		return l, errors.New("it is not a file")
	case !fsys.Own(info):
		return l, errors.New("it is not yours alone to write")
	}
	f, err := os.Open(path)
	if err != nil {
		return l, errors.New("it cannot be read")
	}
	defer f.Close()
	if opened, err := f.Stat(); err != nil || !os.SameFile(info, opened) {
		return l, errors.New("it has been replaced")
	}
	data, err := io.ReadAll(io.LimitReader(f, maxSize+1))
	switch {
	case err != nil:
		return l, errors.New("it cannot be read")
	case len(data) > maxSize:
		return l, errors.New("it is too long")
	}
	if err := json.NewDecoder(bytes.NewReader(data)).Decode(&l); err != nil {
		return l, errors.New("it is not JSON of an editor")
	}
	l.noted = info.ModTime()
	return l, nil
}

// fits returns the reason not to connect to the editor, or nil.
func (l *lock) fits(c *Config) error {
	switch {
	case l.PID <= 0 || !c.Alive(l.PID):
		return errors.New("the editor is gone")
	case l.Transport != "" && l.Transport != "ws" && l.Transport != "sse":
		return errors.New("its transport is not known")
	case strings.ContainsFunc(l.Token, func(r rune) bool { return r <= ' ' || r >= 0x7f }):
		return errors.New("its token cannot be sent")
	}
	dir := resolved(c.Dir)
	for _, folder := range l.Folders {
		if !filepath.IsAbs(folder) {
			continue
		}
		if folder = resolved(folder); dir == folder || paths.Relative(folder, dir) != dir {
			l.depth = max(l.depth, len(folder))
		}
	}
	if l.depth == 0 {
		return errors.New("the directory is in none of its folders")
	}
	return nil
}

// resolved returns a path with symlinks resolved, as far as it exists.
func resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return filepath.Clean(path)
}

// compare orders editors, the better one last.
func (l *lock) compare(other *lock, port int) int {
	if mine, its := l.port == port, other.port == port; mine != its {
		if mine {
			return 1
		}
		return -1
	}
	if l.depth != other.depth {
		return l.depth - other.depth
	}
	return l.noted.Compare(other.noted)
}

// entry returns the editor as a server. It is always on the local machine, even if the lock
// file names another host.
func (l *lock) entry() *roster.Entry {
	e := &roster.Entry{
		Name: Name, Given: Name, Scope: roster.Flag, Type: roster.SSEIDE, URL: fmt.Sprintf("http://127.0.0.1:%d/sse", l.port),
	}
	if l.Transport == "ws" {
		e.Type, e.URL = roster.WSIDE, fmt.Sprintf("ws://127.0.0.1:%d", l.port)
	}
	if l.Token != "" {
		e.Headers = map[string]string{tokenHeader: l.Token}
	}
	return e
}
