package bash

import (
	"os"
	"slices"
	"sync"
)

// knownPrograms are programs that commands which only read may run. A decision needs no more than that they
// are the same files still; when a command runs they are looked for again. A nil one knows none.
type knownPrograms struct {
	mu    sync.Mutex
	path  string // the search path in which they were found
	files map[string]knownFile
}

// A knownFile is the file of a program as it was.
type knownFile struct {
	path string
	info os.FileInfo
}

// hold reports whether all programs are known.
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

// keep takes down programs that were found in a search path, by their names; those of another are forgotten.
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
