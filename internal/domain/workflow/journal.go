package workflow

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
)

// A Journal records the results of a run's steps, so that an interrupted run continues with the
// interrupted step.
type Journal struct {
	mu   sync.Mutex
	file *os.File
	done map[string]entry
	made int  // agent calls, including earlier processes
	over bool // the run has ended
}

// An entry is a line of a journal: the head, a call that begins, a step that has ended, or the
// end of the run.
type entry struct {
	Run string `json:"run,omitempty"` // identifies the workflow and its inputs; set in the head
	Head
	Ended   bool    `json:"ended,omitempty"`
	Call    string  `json:"call,omitempty"`
	Step    string  `json:"step,omitempty"`
	Skipped bool    `json:"skipped,omitempty"`
	Result  *Result `json:"result,omitempty"`
}

// A Head identifies a journal's workflow and inputs.
type Head struct {
	Name   string            `json:"workflow,omitempty"`
	Inputs map[string]string `json:"inputs,omitempty"`
}

// ReadHead returns a journal's head, and whether its run has ended.
func ReadHead(path string) (h Head, ended bool, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return h, false, err
	}
	first, _, whole := bytes.Cut(data, []byte("\n"))
	var e entry
	if !whole || json.Unmarshal(first, &e) != nil || e.Run == "" {
		return h, false, errors.New("it is not a journal")
	}
	j := &Journal{done: map[string]entry{}}
	_, err = j.read(data, e.Run)
	return e.Head, j.over, err
}

// OpenJournal opens or creates the journal of a run of w with these inputs. A truncated last
// line is dropped. A journal of another run is an error and is not touched. If path is empty,
// nothing is written.
func OpenJournal(path string, w *Workflow, inputs map[string]string) (*Journal, error) {
	if path == "" {
		return &Journal{done: map[string]entry{}}, nil
	}
	id, err := Identify(w, inputs)
	if err != nil {
		return nil, err
	}
	data, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("reading the journal: %w", err)
	}
	j := &Journal{done: map[string]entry{}}
	kept, err := j.read(data, id)
	if err != nil {
		return nil, err
	}
	if j.file, err = os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o600); err != nil {
		return nil, fmt.Errorf("opening the journal: %w", err)
	}
	if err = j.file.Truncate(int64(kept)); err == nil {
		_, err = j.file.Seek(int64(kept), 0)
	}
	if err == nil && kept == 0 {
		err = j.add(entry{Run: id, Head: Head{Name: w.Name, Inputs: inputs}})
	}
	if err != nil {
		j.file.Close() // ok: the other error matters more
		return nil, fmt.Errorf("writing the journal: %w", err)
	}
	return j, nil
}

// Identify returns a string that identifies a workflow with its inputs.
func Identify(w *Workflow, inputs map[string]string) (string, error) {
	if inputs == nil {
		inputs = map[string]string{}
	}
	data, err := json.Marshal([]any{w, inputs})
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:]), nil
}

// read loads the complete lines and returns their size in bytes.
func (j *Journal) read(data []byte, id string) (kept int, err error) {
	for kept < len(data) {
		line, _, whole := bytes.Cut(data[kept:], []byte("\n"))
		var e entry
		broken := json.Unmarshal(line, &e) != nil
		if !whole || broken && kept > 0 {
			return kept, nil
		}
		if kept == 0 && e.Run != id { // another run, or not a journal at all
			return 0, errors.New("the journal is of another run: the workflow or its inputs have changed since")
		}
		if e.Call != "" {
			j.made++
		}
		if e.Step != "" {
			j.done[e.Step] = e
		}
		j.over = j.over || e.Ended
		kept += len(line) + 1
	}
	return kept, nil
}

// add writes a line and syncs it to disk.
func (j *Journal) add(e entry) error {
	if j.file == nil {
		return nil
	}
	line, err := json.Marshal(e)
	if err != nil {
		return err
	}
	if _, err := j.file.Write(append(line, '\n')); err != nil {
		return err
	}
	return j.file.Sync()
}

// begin records an agent call, unless the limit is reached.
func (j *Journal) begin(step string) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.made >= MaxCalls {
		return fmt.Errorf("step %q: the run has asked agents %d times, which is the limit", step, MaxCalls)
	}
	j.made++
	return j.add(entry{Call: step})
}

// end records the end of a step.
func (j *Journal) end(e entry) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.done[e.Step] = e
	return j.add(e)
}

// ended returns the end of a step, if it has ended.
func (j *Journal) ended(step string) (entry, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	e, ok := j.done[step]
	return e, ok
}

// Finish records that the run has ended, so that it is not continued.
func (j *Journal) Finish() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.over = true
	return j.add(entry{Ended: true})
}

// Close closes the file.
func (j *Journal) Close() error {
	if j.file == nil {
		return nil
	}
	return j.file.Close()
}
