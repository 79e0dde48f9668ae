package lockfile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTry checks that a lock is exclusive, that others can read who holds it, and that closing the
// file releases it.
func TestTry(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	for range 2 {
		f, err := Try(path)
		if err != nil {
			t.Fatal(err)
		}
		if other, err := Try(path); !errors.Is(err, ErrLocked) {
			if err == nil {
				other.Close()
			}
			t.Errorf("locked twice: %v", err)
		}
		if got := Holder(path); !strings.HasPrefix(got, fmt.Sprintf("process %d of ", os.Getpid())) {
			t.Errorf("held by %q", got)
		}
		f.Close()
	}
}
