package filehistory

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// copied returns a copy of the history for the same files.
func (p *project) copied(name string) *project {
	p.t.Helper()
	c := &project{t: p.t, root: p.root, dir: filepath.Join(p.t.TempDir(), name)}
	if err := Copy(p.t.Context(), p.dir, c.dir); err != nil {
		p.t.Fatal(err)
	}
	c.reopen()
	p.t.Cleanup(func() { c.Close() })
	return c
}

// TestCopy checks that a copy can rewind as far as the original, even if the original is gone.
func TestCopy(t *testing.T) {
	large := strings.Repeat("0123456789abcdef", small/16+1) // stored in a separate file, initially without a hash
	for _, gone := range []bool{false, true} {
		p := newProject(t)
		p.outside("f", "f0")
		p.outside("large", large)
		before := p.files()
		p.Begin("m1")
		p.edit("f", "f1")
		p.edit("large", "short")
		p.Begin("m2")
		p.edit("f", "f2")

		c := p.copied("copy")
		if gone {
			p.Close() // Windows removes no directory with open files
			if err := os.RemoveAll(p.dir); err != nil {
				t.Fatal(err)
			}
		}
		c.Begin("m3")
		c.edit("f", "f3")
		if _, err := c.Rewind(t.Context(), "m1", Options{}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(before, p.files()); diff != "" {
			t.Errorf("the original is gone: %v; (-want +got):\n%s", gone, diff)
		}
		if gone {
			continue
		}
		var ids []string
		for _, s := range p.snapshots {
			ids = append(ids, s.id)
		}
		if diff := cmp.Diff([]string{"m1", "m2"}, ids); diff != "" {
			t.Errorf("the original (-want +got):\n%s", diff)
		}
		if err := Copy(t.Context(), p.dir, c.dir); err == nil || !strings.Contains(err.Error(), "exists already") {
			t.Errorf("copied over another: %v", err)
		}
	}
}

func TestCopyNothing(t *testing.T) {
	p := newProject(t)
	to := filepath.Join(t.TempDir(), "copy")
	if err := Copy(t.Context(), p.dir, to); err != nil {
		t.Error(err)
	}
	if left, _ := filepath.Glob(to + "*"); len(left) > 0 {
		t.Errorf("made %v", left)
	}
}

// TestCopyOfOneInUse checks that every copy is consistent while the original is written to,
// pruned and repacked.
func TestCopyOfOneInUse(t *testing.T) {
	p := newProject(t)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range 3 * maxSnapshots {
			p.Begin(fmt.Sprint("m", i))
			p.edit("f", fmt.Sprint(i))
			size := packed // a large content is named by its hash, a very large one not at first
			if i%10 == 0 {
				size = small
			}
			p.edit("large", strings.Repeat(fmt.Sprint(i, " "), size))
		}
	}()
	for copies := 0; ; {
		select {
		case <-done:
			if copies == 0 {
				t.Error("nothing was copied")
			}
			return
		default:
		}
		to := filepath.Join(t.TempDir(), "copy")
		if err := Copy(t.Context(), p.dir, to); err != nil {
			continue // Copy reported the failure
		}
		copies++
		h, err := Open(to, 0, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range h.snapshots {
			for path, versions := range s.files {
				for _, v := range versions {
					if v.absent() {
						continue
					}
					if _, err := h.store.content(v.version); err != nil {
						t.Errorf("%s of %s: %v", path, s.id, err)
					}
				}
			}
		}
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	}
}
