package walk

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestNewestUnknown checks that files whose time cannot be read come last, even if there are
// too many to keep.
//
// Proves GLOB-02.
func TestNewestUnknown(t *testing.T) {
	var k newest
	for _, path := range []string{"z", "y", "b", "x", "a"} {
		modified := time.Time{}
		if path < "c" {
			modified = time.Unix(-1e9, 0)
		}
		k.add(path, modified, 3)
	}
	var got []string
	for _, f := range k.best(3) {
		got = append(got, f.Path)
	}
	if diff := cmp.Diff([]string{"a", "b", "x"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
