// Package editor finds the editor that the user works with in a directory: editors leave lock files that say on which
// port they listen, and for which folders. A lock file is nothing but a hint of the user's own programs: it is used only
// if it is the user's, names a process that lives, and then for this machine alone. Connecting is left to mcp.
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
	"adze/internal/platform/fsys"
	"adze/internal/platform/osproc"
	"adze/internal/platform/paths"
)

const (
	// Name is what the editor is called as a server.
	Name = "ide"
	// tokenHeader is the header that editors expect.
	tokenHeader = "X-Claude-Code-Ide-Authorization"

	maxFiles = 200
	maxSize  = 64 << 10
)

// A Config says where to look.
type Config struct {
	// Home is the directory of the lock files.
	Home string
	// Dir is the working directory.
	Dir string
	// Port is the port that the editor's own terminal names; 0 if there is none.
	Port int
	// Alive reports whether a process lives; nil asks the system.
	Alive func(pid int) bool
}

// A lock is what an editor says of itself.
type lock struct {
	PID       int      `json:"pid"`
	Name      string   `json:"ideName"`
	Folders   []string `json:"workspaceFolders"`
	Transport string   `json:"transport"`
	Token     string   `json:"authToken"`

	file  string // the name of the lock file
	unfit error  // why it cannot be used; nil if it can
	port  int
	depth int // of the folder that holds the working directory
	noted time.Time
}

// Find returns the editor whose folder the working directory is in, as a server. If there are several, it is the one whose
// terminal we are in, or else the one with the nearest folder that began last. The error says why there is none.
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

// An Editor is one that has left a lock file.
type Editor struct {
	Name    string // as it calls itself; may be empty
	File    string // the name of its lock file
	Folders []string
	// Unfit is why it cannot be connected to; nil if it can.
	Unfit error
}

// All returns the editors that have left lock files, by the names of these.
func All(c Config) []Editor {
	var all []Editor
	for _, l := range locks(c) {
		all = append(all, Editor{l.Name, l.file, l.Folders, l.unfit})
	}
	return all
}

// locks reads the lock files, and says which of them lead to no editor that can be used.
func locks(c Config) []lock {
	if c.Alive == nil {
		c.Alive = osproc.Alive
	}
	entries, err := os.ReadDir(c.Home)
	if err != nil { // as it is where no editor leaves any
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

// portOf returns the port that the name of a lock file is made of.
func portOf(name string) (int, bool) {
	digits, ok := strings.CutSuffix(name, ".lock")
	port, err := strconv.Atoi(digits)
	return port, ok && err == nil && port > 0 && port < 1<<16 && strconv.Itoa(port) == digits
}

// read reads a lock file, if it is a file of the user that no one else can write.
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
		return l, errors.New("it was replaced meanwhile")
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

// fits reports why the editor is not the one to connect to, or nil.
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

// resolved returns a path without links, as far as it exists.
func resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return filepath.Clean(path)
}

// compare puts editors in order, the better one last.
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

// entry returns the editor as a server. It is on this machine, whatever the lock file says.
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
