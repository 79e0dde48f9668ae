package plain

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"adze/internal/commands"
	"adze/internal/domain/memdir"
)

// TestMemoryCommand checks that a program started by a command, such as an editor, receives the
// input typed while it runs.
//
// Proves MEM-42.
func TestMemoryCommand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		off := false
		c := newConsole(t, "say ok", func(cfg *setup) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "a.md"), []byte("# A\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			cfg.Commands.Memory = &commands.Memory{
				Folder: memdir.Folder{Dir: dir},
				Off:    func() bool { return off },
				Set:    func(to bool) error { off = to; return nil },
			}
			in := cfg.In
			cfg.Programs.Edit = func(path string) error {
				typed := make([]byte, 3)
				if _, err := io.ReadFull(in, typed); err != nil {
					return err
				}
				return os.WriteFile(path, typed, 0o600)
			}
		})
		c.Enter("/memory off\n")
		c.Enter("/memory edit a\n")
		c.Enter("xyz")
		c.Enter("/memory edit b\n")
		c.Enter("/exit\n")
		if err := <-c.Done; err != nil {
			t.Error(err)
		}
		for _, s := range c.Sessions {
			s.Close()
		}
		for _, want := range []string{"Memory is off for the rest", "Edited ", "No memory b;"} {
			if !strings.Contains(c.Text(), want) {
				t.Errorf("%q is not in %s", want, c.Text())
			}
		}
		if !off || strings.Contains(c.Text(), "xyz") {
			t.Errorf("off: %t; %s", off, c.Text())
		}
		c.Keys.Close()
	})
}
