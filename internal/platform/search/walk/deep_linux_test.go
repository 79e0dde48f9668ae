//go:build (amd64 || arm64) && !portable

package walk_test

import (
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"adze/internal/platform/search/walk"
)

// TestDeep walks far beyond the maximum path length.
func TestDeep(t *testing.T) {
	const depth = 400
	root := deep(t, depth, strings.Repeat("long", 10))
	before := openFiles(t)
	var most atomic.Int32
	stats, err := walk.Walk(t.Context(), walk.Options{Root: root, Workers: 1}, func(_ int, b *walk.Batch) error {
		if n := int32(openFiles(t)); n > most.Load() {
			most.Store(n)
		}
		for _, e := range b.Files {
			f, err := b.Open(e)
			if err != nil {
				return err
			}
			f.Close()
		}
		return nil
	})
	if diff := cmp.Diff(walk.Stats{Files: perLevel * depth, Dirs: perLevel*depth + 1}, stats); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if after := openFiles(t); after != before {
		t.Errorf("%d files are open, %d before", after, before)
	}
	if n := int(most.Load()) - before; n > 256+20 {
		t.Errorf("up to %d descriptors in use", n)
	}
}
