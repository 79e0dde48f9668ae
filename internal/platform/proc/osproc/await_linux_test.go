package osproc

import (
	"io"
	"os"
	"path/filepath"
	"testing"
)

// TestProgramsKeepNoThreads checks that running programs don't block a thread each.
func TestProgramsKeepNoThreads(t *testing.T) {
	threads := func() int {
		list, err := filepath.Glob("/proc/self/task/*")
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	r := &Runner{}
	defer r.Close()
	before := threads()
	for range 40 {
		if _, err := r.Start(Cmd{Path: "/bin/sleep", Name: "sleep", Args: []string{"1000"}, Env: os.Environ(), Output: io.Discard}); err != nil {
			t.Fatal(err)
		}
	}
	if now := threads(); now > before+20 {
		t.Errorf("%d threads, and %d before", now, before)
	}
}
