package sandbox

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// Files among what is ours: whose it is, and which stand-ins there are.
const (
	pidFile  = "pid"
	maskFile = "masks"
)

// claim says whose the directory is, so that somebody can clean up if we are killed.
func claim(own string) error {
	return os.WriteFile(filepath.Join(own, pidFile), []byte(strconv.Itoa(os.Getpid())), 0o600)
}

// note remembers which stand-ins there are.
func note(own string, paths []string) error {
	return os.WriteFile(filepath.Join(own, maskFile), []byte(strings.Join(paths, "\x00")), 0o600)
}

// sweep takes away what sandboxes have left in base whose processes were killed.
func sweep(base string) {
	dirs, _ := filepath.Glob(filepath.Join(escapeGlob(base), "adze-*")) // ok: the pattern is well formed
	for _, dir := range dirs {
		own := filepath.Join(dir, ownName)
		info, err := os.Lstat(own)
		if err != nil || !info.IsDir() || info.Sys().(*syscall.Stat_t).Uid != uint32(os.Geteuid()) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(own, pidFile))
		pid, numeric := strconv.Atoi(string(text))
		if err != nil || numeric != nil || !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			continue
		}
		list, _ := os.ReadFile(filepath.Join(own, maskFile)) // ok: there may have been none
		for path := range strings.SplitSeq(string(list), "\x00") {
			removeStandIn(path)
		}
		os.RemoveAll(dir) // ok: it is a temporary directory
	}
}

// removeStandIn takes away what nobody has changed since.
func removeStandIn(path string) {
	info, err := os.Lstat(path)
	switch {
	case err != nil || !filepath.IsAbs(path):
	case info.IsDir():
		syscall.Rmdir(path) // ok: what is not empty is somebody's
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
