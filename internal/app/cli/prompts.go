package cli

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"adze/internal/platform/fsys"
)

// prompts is the history of prompts in all projects: one file of JSON lines, which is only appended to.
type prompts struct {
	env  *Env
	path string // empty without a state home
}

// A promptLine is one line of the file.
type promptLine struct {
	Text    string    `json:"display"`
	Time    time.Time `json:"timestamp"`
	Project string    `json:"project"`
}

func openPrompts(env *Env) *prompts {
	p := &prompts{env: env}
	if home, err := fsys.StateHome(env.Getenv); err == nil {
		p.path = filepath.Join(home, "history.jsonl")
	}
	return p
}

// How much of the end of the file is read, and how many prompts are offered.
const (
	promptTail = 1 << 20
	maxPrompts = 1000
)

// recent returns the prompts of this project, oldest first. Lines that cannot be read are skipped.
func (p *prompts) recent() []string {
	f, err := os.Open(p.path)
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
		if json.Unmarshal(lines.Bytes(), &line) == nil && line.Project == p.env.Dir && line.Text != "" {
			texts = append(texts, line.Text)
		}
	}
	return texts[max(0, len(texts)-maxPrompts):]
}

// add appends a prompt.
func (p *prompts) add(text string) {
	if p.path == "" {
		return
	}
	if err := p.append(text); err != nil {
		p.env.Say(fmt.Sprintf("the prompt history cannot be saved: %v", err))
		p.path = ""
	}
}

func (p *prompts) append(text string) error {
	line, err := json.Marshal(promptLine{text, p.env.Now().UTC(), p.env.Dir})
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(p.path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(p.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(append(line, '\n'))
	if closing := f.Close(); err == nil {
		err = closing
	}
	return err
}
