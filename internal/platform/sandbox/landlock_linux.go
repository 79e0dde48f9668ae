package sandbox

import (
	"errors"
	"os"
	"path/filepath"
	"slices"

	"adze/internal/platform/sandbox/landlock"
)

// rules are the file access rights that Landlock grants.
type rules struct {
	Write []string `json:"write"` // writable directory trees
	// Read are the readable files and directory trees. If Refuse is true, no others can be
	// read.
	Read   []string `json:"read,omitempty"`
	Refuse bool     `json:"refuse,omitempty"`
	// Alone is true if namespaces are not available: Landlock must then restrict the network
	// and signals as well.
	Alone bool `json:"alone,omitempty"`
}

// Groups of rights.
const (
	readRights  = landlock.Read | landlock.Execute
	writeRights = landlock.File | landlock.Dir
)

// apply applies the rules to the calling thread and the programs it executes. Inside
// namespaces, it does nothing if the kernel lacks Landlock.
func (r *rules) apply() error {
	if !r.Alone && landlock.Version() < landlock.MinVersion {
		return nil
	}
	handled := writeRights
	if r.Refuse {
		handled |= readRights
	}
	set, err := landlock.New(landlock.Options{Handled: handled, NoTCP: r.Alone, Scoped: true})
	if err != nil {
		return err
	}
	defer set.Close()
	for _, path := range r.Write {
		if err := set.Allow(path, writeRights); err != nil {
			return err
		}
	}
	for _, path := range r.Read {
		if err := set.Allow(path, readRights); err != nil {
			return err
		}
	}
	return set.Restrict()
}

// without returns paths that together contain everything except the hidden ones: Landlock can
// only allow, and a rule covers everything below its path.
func without(hidden []string) ([]string, error) {
	if len(hidden) == 0 {
		return []string{"/"}, nil
	}
	var paths []string
	var descend func(dir string) error
	descend = func(dir string) error {
		entries, err := os.ReadDir(dir)
		if errors.Is(err, os.ErrPermission) {
			return nil
		}
		if err != nil {
			return err
		}
		for _, e := range entries {
			path := filepath.Join(dir, e.Name())
			switch {
			case slices.Contains(hidden, path) || e.Type()&os.ModeSymlink != 0:
			case slices.ContainsFunc(hidden, func(h string) bool { return below(path, h) }):
				if err := descend(path); err != nil {
					return err
				}
			default:
				paths = append(paths, path)
			}
		}
		return nil
	}
	return paths, descend("/")
}
