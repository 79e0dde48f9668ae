package prompts

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"adze/internal/platform/fsys"
	"adze/internal/platform/osproc"
	"adze/internal/platform/replace"
	"adze/internal/platform/statefile"
)

// Drafts keeps what users typed and did not send: a file for each session.
type Drafts struct {
	dir     string // of the files
	project string
	locks   *replace.Replacer
	say     func(string)
	exists  func(session string) bool
	failed  bool // the user knows
}

// A kept draft is what a file holds.
type kept struct {
	Project string `json:"project"`
	// Process is the one that wrote it: what is typed in it is not for others while it runs.
	Process int             `json:"pid"`
	Field   json.RawMessage `json:"field"`
}

// maxDraft is the most bytes that a file may have.
const maxDraft = 64 << 20

// OpenDrafts returns the drafts in a state home as they are offered in the project. Say tells the user, once, when one
// cannot be stored. Exists reports whether a session can be continued.
func OpenDrafts(home, project string, say func(string), exists func(session string) bool) *Drafts {
	return &Drafts{dir: filepath.Join(home, "drafts"), project: project, locks: replace.New(filepath.Join(home, "locks")), say: say, exists: exists}
}

// path returns the file of a session, or "" if the name is none of a file.
func (d *Drafts) path(session string) string {
	if session == "" || session[0] == '.' || filepath.Base(session) != session || !filepath.IsLocal(session) {
		return ""
	}
	return filepath.Join(d.dir, session)
}

// Save stores what is typed in a session, or removes it if there is nothing.
func (d *Drafts) Save(session string, data []byte) {
	path := d.path(session)
	if path == "" {
		return
	}
	if err := d.store(path, data); err != nil && !d.failed {
		d.failed = true
		d.say(fmt.Sprintf("what you type cannot be saved: %v", err))
	}
}

func (d *Drafts) store(path string, data []byte) error {
	if data == nil {
		if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
			return err
		}
		return nil
	}
	content, err := json.Marshal(kept{d.project, os.Getpid(), data})
	if err != nil {
		return err
	}
	file := statefile.File{Path: path, Max: maxDraft, Locks: d.locks}
	return file.Change(context.Background(), func(*replace.Version) ([]byte, error) { return content, nil })
}

// Load returns what was typed in a session and not sent, or nil. A new session takes over what was typed in one that was
// never begun, if the process is gone.
func (d *Drafts) Load(session string) []byte {
	path := d.path(session)
	if path == "" {
		return nil
	}
	if k := d.read(path); k != nil {
		return k.Field
	}
	if d.exists(session) {
		return nil
	}
	left, k := d.abandoned()
	if k == nil || os.Rename(left, path) != nil {
		return nil
	}
	return k.Field
}

// read returns what a file holds, or nil.
func (d *Drafts) read(path string) *kept {
	data, err := fsys.ReadSmall(path, maxDraft)
	if err != nil {
		return nil
	}
	var k kept
	if json.Unmarshal(data, &k) != nil {
		return nil
	}
	return &k
}

// abandoned returns the last draft of the project whose session cannot be continued, or nil.
func (d *Drafts) abandoned() (path string, k *kept) {
	entries, err := os.ReadDir(d.dir)
	if err != nil {
		return "", nil
	}
	var last time.Time
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !info.ModTime().After(last) || d.path(e.Name()) == "" {
			continue
		}
		one := d.read(d.path(e.Name()))
		if one == nil || one.Project != d.project || one.Process != os.Getpid() && osproc.Alive(one.Process) || d.exists(e.Name()) {
			continue
		}
		path, k, last = d.path(e.Name()), one, info.ModTime()
	}
	return path, k
}
