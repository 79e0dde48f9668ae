package sandbox

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Files among what is ours: whose it is, and which stand-ins there are.
const (
	pidFile  = "pid"
	maskFile = "masks"
)

// claim records who owns the directory, so that another process can clean up if this one is killed.
func claim(own string) error {
	return os.WriteFile(filepath.Join(own, pidFile), []byte(strconv.Itoa(os.Getpid())), 0o600)
}

// note remembers which stand-ins there are.
func note(own string, paths []string) error {
	return os.WriteFile(filepath.Join(own, maskFile), []byte(strings.Join(paths, "\x00")), 0o600)
}

// A neighbour is a sandbox of ours: of this process, another one, or one that was killed.
type neighbour struct {
	dir   string
	pid   int
	masks []string
}

func (n neighbour) alive() bool { return !errors.Is(syscall.Kill(n.pid, 0), syscall.ESRCH) }

// neighbours returns the sandboxes that have their directories in base.
func neighbours(base string) []neighbour {
	var all []neighbour
	dirs, _ := filepath.Glob(filepath.Join(escapeGlob(base), "adze-*")) // ok: the pattern is well formed
	for _, dir := range dirs {
		own := filepath.Join(dir, ownName)
		info, err := os.Lstat(own)
		if err != nil || !info.IsDir() || info.Sys().(*syscall.Stat_t).Uid != uint32(os.Geteuid()) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(own, pidFile))
		pid, numeric := strconv.Atoi(string(text))
		if err != nil || numeric != nil {
			continue
		}
		list, _ := os.ReadFile(filepath.Join(own, maskFile)) // ok: there may have been none
		all = append(all, neighbour{dir, pid, strings.FieldsFunc(string(list), func(r rune) bool { return r == 0 })})
	}
	return all
}

// relied returns the stand-ins that other sandboxes than the one in dir need now.
func relied(dir string) map[string]bool {
	paths := map[string]bool{}
	for _, n := range neighbours(filepath.Dir(dir)) {
		if n.dir != dir && n.alive() {
			for _, path := range n.masks {
				paths[path] = true
			}
		}
	}
	return paths
}

// sweep takes away what sandboxes have left in base whose processes were killed.
func sweep(base string) {
	for _, n := range neighbours(base) {
		if n.alive() {
			continue
		}
		for _, path := range n.masks {
			unlock := lock(filepath.Dir(path))
			if !relied(n.dir)[path] {
				removeStandIn(path)
			}
			unlock()
		}
		os.RemoveAll(n.dir) // ok: it is a temporary directory
	}
}

// lockPatience is how long others may hold a directory.
const lockPatience = time.Second

// lock keeps other sandboxes from making and removing stand-ins in dirs until unlock is called. A process that
// holds one for too long is not one of them, and is not waited for.
func lock(dirs ...string) (unlock func()) {
	var held []*os.File
	end := time.Now().Add(lockPatience)
	for _, dir := range dirs {
		f, err := os.Open(dir)
		if err != nil {
			continue // there is nothing to make or remove
		}
		held = append(held, f)
		for syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil && time.Now().Before(end) {
			time.Sleep(time.Millisecond)
		}
	}
	return func() {
		for _, f := range held {
			f.Close() // ok: that is what gives it back
		}
	}
}

// removeStandIn removes a stand-in that is unchanged.
func removeStandIn(path string) {
	info, err := os.Lstat(path)
	switch {
	case err != nil || !filepath.IsAbs(path):
	case info.IsDir():
		syscall.Rmdir(path) // ok: what is not empty is no stand-in
	case info.Mode().IsRegular() && info.Size() <= int64(len(emptyJSON)):
		if text, err := os.ReadFile(path); err == nil && (len(text) == 0 || string(text) == emptyJSON) {
			os.Remove(path) // ok: nothing depends on it
		}
	}
}

// escapeGlob returns the pattern that matches path alone.
func escapeGlob(path string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}
