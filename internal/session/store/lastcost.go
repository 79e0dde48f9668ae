package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"adze/internal/model/cost"
	"adze/internal/platform/fs/fsys"
)

// lastCostName is the file in a project's folder with the cost of its last session.
const lastCostName = ".last-cost.json"

// SaveCost saves the cost of the last session of the project in dir. Resuming uses the log's
// own record; this file is for queries about the project.
func SaveCost(home, dir, session string, t cost.Totals) error {
	project := projectDir(home, dir)
	data, err := json.Marshal(map[string]any{"sessionId": session, "cost": json.RawMessage(t.AppendRecord(nil))})
	if err != nil {
		return fmt.Errorf("saving the cost: %w", err)
	}
	if _, err := os.Stat(project); errors.Is(err, fs.ErrNotExist) {
		return nil // the project has no session with a message yet
	}
	return replaceFile(filepath.Join(project, lastCostName), data)
}

// replaceFile atomically replaces a file without syncing: data lost in a power loss is also in
// the log.
func replaceFile(path string, data []byte) error {
	tmp, err := fsys.CreateTemp(filepath.Dir(path), lastCostName+"-")
	if err != nil {
		return fmt.Errorf("saving the cost: %w", err)
	}
	_, err = tmp.Write(data)
	if err = errors.Join(err, tmp.Close()); err == nil {
		err = fsys.Rename(tmp.Name(), path)
	}
	if err != nil {
		os.Remove(tmp.Name()) // ok: the write error is returned
		return fmt.Errorf("saving the cost: %w", err)
	}
	return nil
}

// LastCost returns the saved cost of the given session in the project dir. It returns nil if
// the saved cost is missing or belongs to another session.
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
