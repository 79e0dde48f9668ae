package memory

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"adze/internal/domain/memdir"
	"adze/internal/platform/fs/fsys"
	"adze/internal/platform/fs/replace"
	"adze/internal/platform/fs/statefile"
)

// stale is how long after its last heartbeat a run no longer blocks others.
const stale = time.Hour

// maxDiary is the maximum file size, in bytes.
const maxDiary = 4096

// A runLock is the lock file for the memories in a directory: it records the run that is
// consolidating them and the time of the last consolidation. It is stored in the state home,
// where agents cannot write.
type runLock struct {
	file statefile.File
	now  func() time.Time
}

// A lockState is the content of the file.
type lockState struct {
	// Running is the ID of the run that holds the lock, and Heard the time of its last
	// heartbeat.
	Running string    `json:"running,omitempty"`
	Heard   time.Time `json:"heard,omitzero"`
	Last    time.Time `json:"last,omitzero"` // time of the last consolidation
}

func openLock(home string, f memdir.Folder, now func() time.Time) runLock {
	path := filepath.Join(home, "dreams", fsys.HashedKey(memdir.Real(f.Dir))+".json")
	return runLock{now: now, file: statefile.File{Path: path, Max: maxDiary, Locks: replace.New(filepath.Join(home, "locks")), Doing: "looking whether memory is being consolidated"}}
}

// errBusy reports that the memories are being consolidated.
var errBusy = errors.New("the memories of this project are being consolidated already; try again when that is done")

// begin acquires the lock for a run. A run whose last heartbeat is more than an hour old, or in
// the future, has crashed.
func (d runLock) begin(ctx context.Context, id string) error {
	return d.change(ctx, func(p *lockState) error {
		if age := d.now().Sub(p.Heard); p.Running != "" && age >= 0 && age < stale {
			return errBusy
		}
		p.Running, p.Heard = id, d.now()
		return nil
	})
}

// tell updates a run's heartbeat.
func (d runLock) tell(ctx context.Context, id string) error {
	return d.change(ctx, func(p *lockState) error {
		if p.Running == id {
			p.Heard = d.now()
		}
		return nil
	})
}

// end releases a run's lock. done reports whether it completed.
func (d runLock) end(ctx context.Context, id string, done bool) error {
	return d.change(ctx, func(p *lockState) error {
		if done {
			p.Last = d.now()
		}
		if p.Running == id {
			p.Running, p.Heard = "", time.Time{}
		}
		return nil
	})
}

// last returns the time of the last consolidation; zero if unknown.
func (d runLock) last() time.Time {
	data, err := os.ReadFile(d.file.Path)
	if err != nil || len(data) > maxDiary {
		return time.Time{}
	}
	p, _ := d.read(data) // ok: a run reports the error
	return p.Last
}

func (d runLock) change(ctx context.Context, edit func(*lockState) error) error {
	return d.file.Change(ctx, func(old *replace.Version) ([]byte, error) {
		var p lockState
		if old != nil {
			var err error
			if p, err = d.read(old.Data); err != nil {
				return nil, err
			}
		}
		if err := edit(&p); err != nil {
			return nil, err
		}
		return statefile.Encode(p)
	})
}

func (d runLock) read(data []byte) (p lockState, err error) {
	if err := json.Unmarshal(data, &p); err != nil {
		return lockState{}, fmt.Errorf("%s is damaged; remove it if no other adze works on this project: %w", d.file.Path, err)
	}
	return p, nil
}
