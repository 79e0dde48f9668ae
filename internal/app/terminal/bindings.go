package terminal

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"adze/internal/commands"
	"adze/internal/platform/fs/fsys"
	"adze/internal/ui/keys"
)

// fileName is the name of the key bindings file.
const fileName = "keybindings.json"

// Bindings holds the current key bindings. It is safe for concurrent use.
type Bindings struct {
	own, other string // files of the user and the ecosystem; each may be empty
	now        func() time.Time

	mu       sync.Mutex
	looked   time.Time // time of the last check
	file     string    // current file; may be empty
	version  version   // version of file
	m        *keys.Map
	problems []string
}

// A version identifies a version of a file.
type version struct {
	size    int64
	changed time.Time
}

// Open returns the key bindings for a state home and the directory of the ecosystem's own
// settings, which is only read. Both may be empty.
func OpenBindings(home, other string, now func() time.Time) *Bindings {
	b := &Bindings{now: now}
	if home != "" {
		b.own = filepath.Join(home, fileName)
	}
	if other != "" {
		b.other = filepath.Join(other, fileName)
	}
	return b
}

const (
	// fresh is how long the bindings are used without checking the file again.
	fresh = time.Second
	// maxFile is the maximum file size, in bytes.
	maxFile = 1 << 20
)

// Map returns the current key bindings.
func (b *Bindings) Map() *keys.Map {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.look(false)
	return b.m
}

// File returns the current file, or "".
func (b *Bindings) File() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.look(true)
	return b.file
}

// Problems returns the problems of the current file.
func (b *Bindings) Problems() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.look(true)
	return b.problems
}

// look reads the file if it has changed. Unless forced, it checks only once per interval.
func (b *Bindings) look(force bool) {
	now := b.now()
	if b.m != nil && !force && now.Sub(b.looked) < fresh {
		return
	}
	b.looked = now
	file, v := b.find()
	if b.m != nil && file == b.file && v == b.version {
		return
	}
	b.file, b.version = file, v
	b.m, b.problems = keys.Defaults(), nil
	if file == "" {
		return
	}
	data, err := fsys.ReadSmall(file, maxFile)
	if err != nil {
		b.problems = []string{fmt.Sprintf("%s cannot be read: %v", file, err)}
		return
	}
	b.m, b.problems = keys.Load(data)
}

// find returns the first file that exists.
func (b *Bindings) find() (string, version) {
	for _, file := range []string{b.own, b.other} {
		if file == "" {
			continue
		}
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() {
			return file, version{info.Size(), info.ModTime()}
		}
	}
	return "", version{}
}

// Commands gives commands access to the key bindings.
func (b *Bindings) Commands() commands.Keys {
	return commands.Keys{Bound: b.terms, File: b.File, Problems: b.Problems, Create: b.create}
}

// terms returns the current keys and their actions.
func (b *Bindings) terms() (terms commands.Terms) {
	for _, line := range b.Map().Lines() {
		if line.Keys == "" {
			line.Keys = "(none)"
		}
		terms = append(terms, commands.Term{Name: line.Keys, Text: line.About + " (" + string(line.Action) + ")"})
	}
	return terms
}

// template is the content of a new file.
const template = `{
  "bindings": [
    {
      "context": "Chat",
      "bindings": {
      }
    }
  ]
}
`

// create returns the user's own file, creating it if necessary, with the content of the
// ecosystem's file if that exists.
func (b *Bindings) create() (string, error) {
	if b.own == "" {
		return "", errors.New("no home directory is known: set ADZE_HOME to a folder for adze's files")
	}
	content := []byte(template)
	if b.File() == b.other && b.other != "" {
		data, err := fsys.ReadSmall(b.other, maxFile)
		if err != nil {
			return "", fmt.Errorf("reading %s: %w", b.other, err)
		}
		content = data
	}
	if err := fsys.MkdirPrivate(filepath.Dir(b.own)); err != nil {
		return "", err
	}
	file, err := os.OpenFile(b.own, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return b.own, nil
	}
	if err != nil {
		return "", err
	}
	_, err = file.Write(content)
	return b.own, errors.Join(err, file.Close())
}

// Check reports problems with the file, for /doctor. They are never more than notes, because
// adze works without it.
func (b *Bindings) Check(context.Context) commands.Check {
	check := commands.Check{Name: "keys", Fine: "default"}
	if file := b.File(); file != "" {
		check.Fine = "as " + file + " says"
	}
	for _, problem := range b.Problems() {
		check.Notes = append(check.Notes, strings.TrimSuffix(problem, "."))
	}
	return check
}
