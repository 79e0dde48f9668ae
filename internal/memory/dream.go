package memory

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"adze/internal/platform/fsys"
)

// When memories are put in order again without being asked, and from when on nobody is believed to be at
// it any more.
const (
	dreamPause    = 24 * time.Hour
	dreamSessions = 5
	dreamStale    = time.Hour
)

// ErrDreaming says that the memories are being put in order already.
var ErrDreaming = errors.New("the memories are being put in order already")

// A Dream is when the memories were last put in order.
type Dream struct {
	Last time.Time `json:"last"`
}

// Due reports whether it is time again, after so many sessions since.
func (d Dream) Due(now time.Time, sessions int) bool {
	return now.Sub(d.Last) >= dreamPause && sessions >= dreamSessions
}

func (f Folder) dreamPath() string { return filepath.Join(f.Dir, ".dream.json") }
func (f Folder) dreamLock() string { return filepath.Join(f.Dir, ".dream.lock") }

// Dream returns when the memories were last put in order; what cannot be read was never.
func (f Folder) Dream() Dream {
	var d Dream
	data, err := os.ReadFile(f.dreamPath())
	if err != nil || json.Unmarshal(data, &d) != nil {
		return Dream{}
	}
	return d
}

// BeginDream makes the caller the only one who puts the memories in order, until it calls end; done says
// that it has. Somebody who began an hour ago is not waited for.
func (f Folder) BeginDream(now time.Time) (end func(done bool) error, err error) {
	if err := fsys.MkdirPrivate(f.Dir); err != nil {
		return nil, err
	}
	mine := fmt.Sprintf("%d %s", os.Getpid(), now.UTC().Format(time.RFC3339Nano))
	if err := f.takeLock(mine, now); err != nil {
		return nil, err
	}
	return func(done bool) error {
		var err error
		if done {
			data, _ := json.Marshal(Dream{Last: now.UTC()}) // ok: a time can always be written
			err = fsys.WriteAtomic(f.dreamPath(), data, 0o600)
		}
		if held, readErr := os.ReadFile(f.dreamLock()); readErr == nil && string(held) == mine {
			err = errors.Join(err, os.Remove(f.dreamLock()))
		}
		return err
	}, nil
}

func (f Folder) takeLock(mine string, now time.Time) error {
	for range 2 {
		file, err := os.OpenFile(f.dreamLock(), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err == nil {
			_, err = file.WriteString(mine)
			return errors.Join(err, file.Close(), os.Chtimes(f.dreamLock(), now, now))
		}
		if !errors.Is(err, fs.ErrExist) {
			return err
		}
		info, err := os.Lstat(f.dreamLock())
		if err == nil && now.Sub(info.ModTime()) <= dreamStale {
			return ErrDreaming
		}
		if err := os.Remove(f.dreamLock()); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return ErrDreaming
}
