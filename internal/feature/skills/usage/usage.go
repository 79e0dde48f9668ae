// Package usage counts how often skills are used and ranks them by frequency and recency.
package usage

import (
	"context"
	"encoding/json"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"adze/internal/platform/fs/fsys"
	"adze/internal/platform/fs/replace"
	"adze/internal/platform/fs/statefile"
)

const (
	// halfLife is the time after which a use counts half, and least the minimum weight.
	halfLife = 7 * 24 * time.Hour
	least    = 0.1
	// once is the interval within which uses of the same skill count as one.
	once = time.Minute

	maxFile   = 1 << 20
	maxSkills = 2000
	maxName   = 200
	maxUses   = 1_000_000

	// fresh is how long the file's content is used without checking for changes, and lockWait
	// how long a use waits for other processes.
	fresh    = 2 * time.Second
	lockWait = time.Second
)

// Usage counts skill uses by all of the user's processes. It is safe for concurrent use.
type Usage struct {
	file  string
	now   func() time.Time
	locks *replace.Replacer

	mu      sync.Mutex
	records map[string]record
	looked  time.Time
	seen    state
}

// A record holds a skill's use count.
type record struct {
	Uses int   `json:"uses"`
	Last int64 `json:"last"` // last use, in Unix seconds
}

// A state is the file's state when it was read.
type state struct {
	size     int64
	modified time.Time
}

// Open returns the usage stored in a file. The file is read on demand; an unreadable file
// counts as empty. If file is empty, nothing outlives the process.
func Open(file string, now func() time.Time) *Usage {
	return &Usage{file: file, now: now, locks: replace.New(filepath.Join(filepath.Dir(file), "locks"))}
}

// Used records a use of a skill. Uses within a minute count as one. A use that can't be written
// counts only in this process.
func (u *Usage) Used(name string) {
	if name == "" || len(name) > maxName {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.file == "" || u.update(name) != nil {
		u.look()
		u.add(name)
	}
}

// update adds a use to the file's current content.
func (u *Usage) update(name string) error {
	ctx, cancel := context.WithTimeout(context.Background(), lockWait)
	defer cancel()
	return statefile.File{Path: u.file, Locks: u.locks}.Hold(ctx, func(*replace.File) error {
		u.read()
		if !u.add(name) {
			return nil
		}
		u.prune()
		data, err := json.Marshal(u.records)
		if err != nil {
			return err
		}
		err = replace.WriteFile(u.file, append(data, '\n'), 0o600)
		u.seen = u.stat()
		return err
	})
}

// add counts a use, and reports whether it is separate from the previous one.
func (u *Usage) add(name string) bool {
	now, r := u.now(), u.records[name]
	if since := now.Sub(time.Unix(r.Last, 0)); r.Uses > 0 && since >= 0 && since < once {
		return false
	}
	if u.records == nil {
		u.records = map[string]record{}
	}
	u.records[name] = record{min(r.Uses+1, maxUses), now.Unix()}
	return true
}

// prune drops the least used skills if there are too many.
func (u *Usage) prune() {
	if len(u.records) <= maxSkills {
		return
	}
	now := u.now()
	names := slices.SortedFunc(maps.Keys(u.records), func(a, b string) int {
		if x, y := u.records[a].score(now), u.records[b].score(now); x != y {
			if x > y {
				return -1
			}
			return 1
		}
		return int(u.records[b].Last - u.records[a].Last)
	})
	for _, name := range names[maxSkills:] {
		delete(u.records, name)
	}
}

// Score returns a skill's usage score; 0 if it was never used.
func (u *Usage) Score(name string) float64 {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.look()
	return u.records[name].score(u.now())
}

func (r record) score(now time.Time) float64 {
	age := max(0, now.Sub(time.Unix(r.Last, 0)))
	return float64(r.Uses) * max(math.Pow(0.5, float64(age)/float64(halfLife)), least)
}

// look reads the file again if it may have changed.
func (u *Usage) look() {
	now := u.now()
	if since := now.Sub(u.looked); u.file == "" || since >= 0 && since < fresh && !u.looked.IsZero() {
		return
	}
	u.looked = now
	if u.stat() != u.seen {
		u.read()
	}
}

func (u *Usage) stat() state {
	info, err := os.Stat(u.file)
	if err != nil {
		return state{}
	}
	return state{info.Size(), info.ModTime()}
}

// read loads the file. Invalid entries are ignored.
func (u *Usage) read() {
	u.seen = u.stat()
	u.records = map[string]record{}
	data, err := fsys.ReadSmall(u.file, maxFile)
	if err != nil {
		return // ok: the next use rewrites it
	}
	var records map[string]record
	if json.Unmarshal(data, &records) != nil {
		return // ok: the same
	}
	for name, r := range records {
		if r.Uses > 0 && r.Uses <= maxUses && r.Last > 0 && name != "" && len(name) <= maxName {
			u.records[name] = r
		}
	}
}
