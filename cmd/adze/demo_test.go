//go:build unix

package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// newDemo starts adze demo in a terminal of the given size. check verifies that it has ended and
// left nothing behind.
func newDemo(t *testing.T, width, height int) (tm *terminal, check func()) {
	t.Helper()
	tm = newTerminal(t, width, height, "")
	tmp := filepath.Join(tm.dir, "tmp")
	if err := os.Mkdir(tmp, 0o755); err != nil {
		t.Fatal(err)
	}
	before := files(t, tm.home)
	tm.enter("clear; TMPDIR=" + tmp + " ANTHROPIC_BASE_URL=http://192.0.2.1 ADZE_MODEL=none adze demo --fast; echo code $?")
	return tm, func() {
		t.Helper()
		tm.waitFor(`^code 0$`)
		tm.waitFor(`own\s+code,\s+run`)
		if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
			t.Errorf("left in the temporary directory: %v, %v", left, err)
		}
		if after := files(t, tm.home); !slices.Equal(after, before) {
			t.Errorf("the state home has %q, before %q", after, before)
		}
	}
}

// files returns the names and sizes of all files in a directory.
func files(t *testing.T, dir string) (all []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		all = append(all, fmt.Sprintf("%s %d", path, info.Size()))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestDemo runs the demo in a terminal with a user who agrees to everything.
//
// Proves X-196.
func TestDemo(t *testing.T) {
	for _, size := range [][2]int{{40, 12}, {100, 30}} {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			tm, check := newDemo(t, size[0], size[1])
			tm.waitFor(`~/leap`)
			tm.answer(`Run +this +command\?`, "Enter")
			tm.waitFor(`FAIL +1900`)
			tm.answer(`Apply +this +edit +to +leap\.sh\?`, "Enter")
			tm.answer(`Run the test +again[\s\S]*Run +this +command\?`, "Enter")
			tm.waitFor(`The test passes\.`)
			check()
		})
	}
}

// TestDemoRejected runs the demo with a user who says no: it waits for instructions, goes on with
// whatever they are, and ends.
//
// Proves X-196.
func TestDemoRejected(t *testing.T) {
	t.Parallel()
	tm, check := newDemo(t, 100, 30)
	tm.answer(`Run this command\?`, "3")
	tm.waitFor(`After a No adze waits for you`)
	tm.enter("just read it")
	tm.waitFor(`Without running the test`)
	tm.answer(`Apply this edit to leap\.sh\?`, "Escape")
	tm.waitFor(`What next\?[\s\S]*What next\?`)
	tm.enter("why?")
	tm.waitFor(`I leave leap\.sh as it is`)
	check()
}

// TestDemoLeft leaves the demo at its first question.
//
// Proves X-196.
func TestDemoLeft(t *testing.T) {
	t.Parallel()
	tm, check := newDemo(t, 100, 30)
	tm.answer(`Run this command\?`, "Escape")
	tm.waitFor(`What next\?`)
	tm.key("C-d")
	check()
}
