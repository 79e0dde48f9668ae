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

// A Journal keeps what the steps of a run returned, so that a run that was cut continues with the step that was cut.
type Journal struct {
	mu   sync.Mutex
	file *os.File
	done map[string]entry
	made int // calls of agents, also by earlier processes
}

// An entry is a line of a journal: the head, a call that begins, or a step that has ended.
type entry struct {
	Run     string  `json:"run,omitempty"` // identifies the workflow and its inputs, in the head
	Call    string  `json:"call,omitempty"`
	Step    string  `json:"step,omitempty"`
	Skipped bool    `json:"skipped,omitempty"`
	Result  *Result `json:"result,omitempty"`
}

// OpenJournal opens the journal of a run of w with these inputs, or begins it. A last line that was cut is dropped. The
// journal of another run is an error: it is not touched.
func OpenJournal(path string, w *Workflow, inputs map[string]string) (*Journal, error) {
	id, err := identify(w, inputs)
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
		err = j.add(entry{Run: id})
	}
	if err != nil {
		j.file.Close() // ok: the error says more
		return nil, fmt.Errorf("writing the journal: %w", err)
	}
	return j, nil
}

// identify returns what tells a workflow with its inputs from others.
func identify(w *Workflow, inputs map[string]string) (string, error) {
	data, err := json.Marshal([]any{w, inputs})
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:]), nil
}

// read takes in the lines that are whole and returns how many bytes they have.
func (j *Journal) read(data []byte, id string) (kept int, err error) {
	for kept < len(data) {
		line, _, whole := bytes.Cut(data[kept:], []byte("\n"))
		var e entry
		broken := json.Unmarshal(line, &e) != nil
		if !whole || broken && kept > 0 {
			return kept, nil
		}
		if kept == 0 && e.Run != id { // or no journal at all
			return 0, errors.New("the journal is of another run: the workflow or its inputs have changed since")
		}
		if e.Call != "" {
			j.made++
		}
		if e.Step != "" {
			j.done[e.Step] = e
		}
		kept += len(line) + 1
	}
	return kept, nil
}

// add writes a line, which is on disk when it returns.
func (j *Journal) add(e entry) error {
	line, err := json.Marshal(e)
	if err != nil {
		return err
	}
	if _, err := j.file.Write(append(line, '\n')); err != nil {
		return err
	}
	return j.file.Sync()
}

// begin notes that an agent is asked, unless there were too many calls.
func (j *Journal) begin(step string) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.made >= MaxCalls {
		return fmt.Errorf("step %q: the run has asked agents %d times, which is the limit", step, MaxCalls)
	}
	j.made++
	return j.add(entry{Call: step})
}

// end keeps how a step ended.
func (j *Journal) end(e entry) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.done[e.Step] = e
	return j.add(e)
}

// ended returns how a step ended, if it has.
func (j *Journal) ended(step string) (entry, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	e, ok := j.done[step]
	return e, ok
}

// Close closes the file.
func (j *Journal) Close() error { return j.file.Close() }
