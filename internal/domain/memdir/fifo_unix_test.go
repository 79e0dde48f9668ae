//go:build unix

package memdir

import (
	"syscall"
	"testing"
)

// TestPipesAreNotOpened checks that named pipes are not opened, because a pipe without a writer
// would block.
func TestPipesAreNotOpened(t *testing.T) {
	f := folder(t, "a.md", "x")
	for _, name := range []string{"pipe.md", IndexName} {
		if err := syscall.Mkfifo(f.Path(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	all, err := f.List()
	if err != nil || len(all) != 2 || all[0].Broken == all[1].Broken {
		t.Errorf("%+v, %v", all, err)
	}
	if _, err := f.Index(); err == nil {
		t.Error("the index was read from a pipe")
	}
}
