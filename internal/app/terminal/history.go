package terminal

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"adze/internal/platform/fs/fsys"
)

// A History holds the prompts of all projects in one append-only file of JSON lines.
type History struct {
	dir  string // project directory
	now  func() time.Time
	say  func(string)
	path string // empty without a state home
}

// A promptLine is one line of the file.
type promptLine struct {
	Text    string    `json:"display"`
	Time    time.Time `json:"timestamp"`
	Project string    `json:"project"`
	// Unsent is true if the user typed it but did not send it.
	Unsent bool `json:"unsent,omitempty"`
}

// OpenHistory returns the history for the project in dir, kept in the state home, which may be
// empty. say notifies the user, once, if it cannot be
// written.
func OpenHistory(home, dir string, now func() time.Time, say func(string)) *History {
	h := &History{dir: dir, now: now, say: say}
	if home != "" {
		h.path = filepath.Join(home, "history.jsonl")
	}
	return h
}

// promptTail is the number of bytes read from the end of the file, and maxPrompts the maximum
// number of prompts offered.
const (
	promptTail = 1 << 20
	maxPrompts = 1000
)

// Recent returns this project's prompts, oldest first. Unreadable lines are skipped.
func (h *History) Recent() []string {
	f, err := os.Open(h.path)
	if err != nil {
		return nil
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Size() > promptTail {
		f.Seek(-promptTail, 2) // ok: at worst the whole file is read
	}
	var texts []string
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, promptTail)
	for lines.Scan() {
		var line promptLine
		if json.Unmarshal(lines.Bytes(), &line) == nil && line.Project == h.dir && line.Text != "" {
			texts = append(texts, line.Text)
		}
	}
	return texts[max(0, len(texts)-maxPrompts):]
}

// Add appends a prompt, or an unsent text.
func (h *History) Add(text string, sent bool) {
	if h.path == "" {
		return
	}
	if err := h.append(text, sent); err != nil {
		h.say(fmt.Sprintf("the prompt history cannot be saved: %v", err))
		h.path = ""
	}
}

func (h *History) append(text string, sent bool) error {
	line, err := json.Marshal(promptLine{text, h.now().UTC(), h.dir, !sent})
	if err != nil {
		return err
	}
	if err := fsys.MkdirPrivate(filepath.Dir(h.path)); err != nil {
		return err
	}
	f, err := os.OpenFile(h.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(append(line, '\n'))
	if closing := f.Close(); err == nil {
		err = closing
	}
	return err
}
