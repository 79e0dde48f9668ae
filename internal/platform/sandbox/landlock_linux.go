package sandbox

import (
	"errors"
	"os"
	"path/filepath"
	"slices"

	"adze/internal/platform/landlock"
)

// rules are what Landlock lets a program do with files.
type rules struct {
	Write []string `json:"write"` // and everything below
	// Read are the files that can be read, with everything below, and Refuse says that no others can.
	Read   []string `json:"read,omitempty"`
	Refuse bool     `json:"refuse,omitempty"`
	// Alone says that there are no namespaces: the network and signals are to be refused here as well.
	Alone bool `json:"alone,omitempty"`
}

// Rights by what they let a program do.
const (
	readRights  = landlock.Read | landlock.Execute
	writeRights = landlock.File | landlock.Dir
)

// apply puts the calling thread, and what it will execute, under the rules. In namespaces, a kernel without
// Landlock does without them.
func (r *rules) apply() error {
	if !r.Alone && landlock.Version() < landlock.Least {
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

// without returns paths that together hold everything except what is hidden: Landlock can only allow, and
// what it allows it allows below as well.
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
