package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// swapCalls is the number of calls per tool that race with a process that swaps a directory for
// a symlink.
const swapCalls = 300

// TestSwappedDirectoriesAreNotFollowed swaps a workspace directory and a symlink to an outside
// one continuously, and checks that the tools read the directory or refuse, but never read
// outside.
//
// Proves FPRM-07.
func TestSwappedDirectoriesAreNotFollowed(t *testing.T) {
	calls := map[string]map[string]any{
		"Read": {"file_path": "top/dir/f.txt"},
		"Grep": {"pattern": "text|key", "path": "top/dir", "output_mode": "content"},
		"Glob": {"pattern": "**", "path": "top/dir"},
		// The directory is encountered during traversal.
		"Grep below": {"pattern": "text|key", "path": "top", "output_mode": "content"},
		"Glob below": {"pattern": "**", "path": "top"},
	}
	for _, engine := range []string{"builtin", "system"} {
		for name, input := range calls {
			tool, _, _ := strings.Cut(name, " ")
			if engine == "system" && tool != "Grep" {
				continue
			}
			t.Run(engine+" "+name, func(t *testing.T) {
				work, outside := t.TempDir(), t.TempDir()
				for path, text := range map[string]string{
					filepath.Join(work, "top/dir/f.txt"): "a text\n", filepath.Join(outside, "f.txt"): "private key\n",
					filepath.Join(outside, "foreign-name"): "private key\n",
				} {
					if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
						t.Fatal(err)
					}
					if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
						t.Fatal(err)
					}
				}
				dir, link := filepath.Join(work, "top/dir"), filepath.Join(work, "link")
				if err := os.Symlink(outside, link); err != nil {
					t.Fatal(err)
				}
				b := newBench(t, func(cmd *exec.Cmd) {
					cmd.Dir = work
					cmd.Args = append(cmd.Args, "--as-model", "--settings", `{"search":{"engine":"`+engine+`"}}`)
				})
				stop := make(chan struct{})
				var racer sync.WaitGroup
				racer.Go(func() {
					for {
						select {
						case <-stop:
							return
						default:
							unix.Renameat2(unix.AT_FDCWD, dir, unix.AT_FDCWD, link, unix.RENAME_EXCHANGE) // ok: the count below shows whether it works
						}
					}
				})
				own := 0
				for range swapCalls {
					got := b.call(tool, input)
					if strings.Contains(got.Text, "private key") || strings.Contains(got.Text, "foreign-name") {
						t.Errorf("%s returned outside content: %q", name, got.Text)
					}
					if strings.Contains(got.Text, "f.txt") || strings.Contains(got.Text, "a text") {
						own++
					}
				}
				close(stop)
				racer.Wait()
				t.Logf("%d of %d calls read the directory", own, swapCalls)
				b.end()
			})
		}
	}
}
