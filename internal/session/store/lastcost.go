package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"adze/internal/model/cost"
)

// lastCostName is the file in a project's folder that says what its last session cost.
const lastCostName = ".last-cost.json"

// SaveCost keeps, with the project in dir, what its last session has cost. The log's own note is what
// counts when a session is resumed; this is for those who ask about the project.
func SaveCost(home, dir, session string, t cost.Totals) error {
	project := projectDir(home, dir)
	data, err := json.Marshal(map[string]any{"sessionId": session, "cost": json.RawMessage(t.AppendRecord(nil))})
	if err != nil {
		return fmt.Errorf("saving the cost: %w", err)
	}
	if _, err := os.Stat(project); errors.Is(err, fs.ErrNotExist) {
		return nil // no session of the project has a message yet
	}
	return replaceFile(filepath.Join(project, lastCostName), data)
}

// replaceFile replaces a file at once, but does not wait until the disk has it: what is lost with the
// power is in the log too.
func replaceFile(path string, data []byte) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), lastCostName+"-*") // of mode 0600
	if err != nil {
		return fmt.Errorf("saving the cost: %w", err)
	}
	_, err = tmp.Write(data)
	if err = errors.Join(err, tmp.Close()); err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		os.Remove(tmp.Name()) // ok: the error that counts is known
		return fmt.Errorf("saving the cost: %w", err)
	}
	return nil
}

// LastCost returns what was saved for a session of the project in dir; nil if the last cost is that of
// another one, or none is known.
func LastCost(home, dir, session string) (*cost.Totals, error) {
	path := filepath.Join(projectDir(home, dir), lastCostName)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the last cost: %w", err)
	}
	var r struct {
		Session string          `json:"sessionId"`
		Cost    json.RawMessage `json:"cost"`
	}
	if err := json.Unmarshal(data, &r); err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	if r.Session != session {
		return nil, nil
	}
	t, err := cost.ParseRecord(r.Cost)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	return &t, nil
}
