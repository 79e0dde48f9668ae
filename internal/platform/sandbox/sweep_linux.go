package sandbox

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// pidFile, in the sandbox's own directory, holds the owner's process ID.
const pidFile = "pid"

// claim records the directory's owner, so that another process can clean up if this one is
// killed.
func claim(own string) error {
	return os.WriteFile(filepath.Join(own, pidFile), []byte(strconv.Itoa(os.Getpid())), 0o600)
}

// sweep removes the directories in base left by sandboxes whose processes were killed.
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
		if err == nil && numeric == nil && errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			os.RemoveAll(dir) // ok: temporary directory
		}
	}
}

// escapeGlob returns a pattern that matches only path.
func escapeGlob(path string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}
