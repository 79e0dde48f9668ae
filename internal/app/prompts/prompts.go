// Package prompts keeps the prompts that the user typed, in all projects, so that they can be had again.
package prompts

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"adze/internal/platform/fsys"
)

// A History is the prompts of all projects: one file of JSON lines, which is only appended to.
type History struct {
	dir  string // of the project
	now  func() time.Time
	say  func(string)
	path string // empty without a state home
}

// A promptLine is one line of the file.
type promptLine struct {
	Text    string    `json:"display"`
	Time    time.Time `json:"timestamp"`
	Project string    `json:"project"`
	// Unsent says that the user typed it and did not send it.
	Unsent bool `json:"unsent,omitempty"`
}

// Open returns the history as it is offered in the project in dir. Say tells the user, once, when it cannot be written.
func Open(getenv func(string) string, dir string, now func() time.Time, say func(string)) *History {
	h := &History{dir: dir, now: now, say: say}
	if home, err := fsys.StateHome(getenv); err == nil {
		h.path = filepath.Join(home, "history.jsonl")
	}
	return h
}

// How much of the end of the file is read, and how many prompts are offered.
const (
	promptTail = 1 << 20
	maxPrompts = 1000
)

// Recent returns the prompts of this project, oldest first. Lines that cannot be read are skipped.
func (h *History) Recent() []string {
	f, err := os.Open(h.path)
	if err != nil {
		return nil
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Size() > promptTail {
		f.Seek(-promptTail, 2) // ok: at worst all of it is read
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

// Add appends a prompt, or a text that was not sent.
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
	if err := os.MkdirAll(filepath.Dir(h.path), 0o700); err != nil {
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
