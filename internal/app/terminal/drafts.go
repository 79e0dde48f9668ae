package terminal

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"adze/internal/platform/fs/fsys"
	"adze/internal/platform/fs/replace"
	"adze/internal/platform/fs/statefile"
	"adze/internal/platform/proc/osproc"
)

// Drafts stores unsent input, one file per session.
type Drafts struct {
	dir     string // directory of the files
	project string
	locks   *replace.Replacer
	say     func(string)
	exists  func(session string) bool
	failed  bool // the user has been notified
}

// A draftFile draft is the content of a file.
type draftFile struct {
	Project string `json:"project"`
	// Process is the ID of the process that wrote it. While it runs, other processes do not use
	// the draft.
	Process int             `json:"pid"`
	Field   json.RawMessage `json:"field"`
}

// maxDraft is the maximum file size, in bytes.
const maxDraft = 64 << 20

// OpenDrafts returns a state home's drafts for the project. say notifies the user, once, if a
// draft cannot be stored. exists reports whether a session can be continued.
func OpenDrafts(home, project string, say func(string), exists func(session string) bool) *Drafts {
	return &Drafts{dir: filepath.Join(home, "drafts"), project: project, locks: replace.New(filepath.Join(home, "locks")), say: say, exists: exists}
}

// path returns a session's file, or "" if the ID is not a valid file name.
func (d *Drafts) path(session string) string {
	if session == "" || session[0] == '.' || filepath.Base(session) != session || !filepath.IsLocal(session) {
		return ""
	}
	return filepath.Join(d.dir, session)
}

// Save stores a session's unsent input, or removes the file if it is empty.
func (d *Drafts) Save(session string, data []byte) {
	path := d.path(session)
	if path == "" {
		return
	}
	if err := d.store(path, data); err != nil && !d.failed {
		d.failed = true
		d.say(fmt.Sprintf("saving your draft failed: %v", err))
	}
}

func (d *Drafts) store(path string, data []byte) error {
	if data == nil {
		if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
			return err
		}
		return nil
	}
	content, err := json.Marshal(draftFile{d.project, os.Getpid(), data})
	if err != nil {
		return err
	}
	file := statefile.File{Path: path, Max: maxDraft, Locks: d.locks}
	return file.Change(context.Background(), func(*replace.Version) ([]byte, error) { return content, nil })
}

// Load returns a session's unsent input, or nil. A new session takes over the input of a
// session that was never started, if its process is gone.
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

// read returns a file's content, or nil.
func (d *Drafts) read(path string) *draftFile {
	data, err := fsys.ReadSmall(path, maxDraft)
	if err != nil {
		return nil
	}
	var k draftFile
	if json.Unmarshal(data, &k) != nil {
		return nil
	}
	return &k
}

// abandoned returns the project's latest draft whose session cannot be continued, or nil.
func (d *Drafts) abandoned() (path string, k *draftFile) {
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
