package bash

import (
	"os"
	"slices"
	"sync"
)

// knownPrograms caches programs that read-only commands may run. A decision only needs to know
// that the files are unchanged; when a command runs, programs are looked up again. A nil
// knownPrograms is empty.
type knownPrograms struct {
	mu    sync.Mutex
	path  string // the search path used for the lookup
	files map[string]knownFile
}

// A knownFile is a program's file when it was looked up.
type knownFile struct {
	path string
	info os.FileInfo
}

// hold reports whether all programs are known and unchanged.
func (k *knownPrograms) hold(names []string) bool {
	if k == nil {
		return false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(names) > 0 && !slices.ContainsFunc(names, func(name string) bool {
		f, ok := k.files[name]
		if !ok {
			return true
		}
		info, err := os.Stat(f.path)
		return err != nil || !os.SameFile(info, f.info) || !info.ModTime().Equal(f.info.ModTime())
	})
}

// keep records programs found in a search path, by name; programs of another search path are
// dropped.
func (k *knownPrograms) keep(path string, found map[string]string) {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.path != path || k.files == nil {
		k.path, k.files = path, make(map[string]knownFile)
	}
	for name, file := range found {
		if info, err := os.Stat(file); err == nil {
			k.files[name] = knownFile{file, info}
		}
	}
}
