package memory

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"adze/internal/domain/memdir"
)

// at returns a diary whose clock reads t.
func at(home string, t *time.Time) runLock {
	return openLock(home, memdir.Folder{Dir: filepath.Join(home, "memory")}, func() time.Time { return *t })
}

// Proves MEM-51.
func TestOneRunAtATime(t *testing.T) {
	now := time.Date(2026, 5, 1, 3, 0, 0, 0, time.UTC)
	d := at(t.TempDir(), &now)
	begin := func(id string, want error) {
		t.Helper()
		if err := d.begin(t.Context(), id); !errors.Is(err, want) {
			t.Fatalf("beginning %s at %v: %v, want %v", id, now, err, want)
		}
	}
	begin("d1", nil)
	now = now.Add(59 * time.Minute)
	begin("d2", errBusy)
	if err := d.tell(t.Context(), "d1"); err != nil {
		t.Fatal(err)
	}
	now = now.Add(59 * time.Minute)
	begin("d2", errBusy)
	now = now.Add(time.Minute)
	begin("d2", nil) // d1 is stale

	// Updates from d1 no longer have any effect.
	if err := errors.Join(d.tell(t.Context(), "d1"), d.end(t.Context(), "d1", false)); err != nil {
		t.Fatal(err)
	}
	begin("d3", errBusy)
	if err := d.end(t.Context(), "d2", true); err != nil {
		t.Fatal(err)
	}
	if last := d.last(); !last.Equal(now) {
		t.Errorf("last consolidated at %v, want %v", last, now)
	}
	begin("d3", nil)
	now = now.Add(-48 * time.Hour) // the clock was wrong
	begin("d4", nil)
}

func TestOnlyOneOfManyBegins(t *testing.T) {
	home, now := t.TempDir(), time.Now()
	var begun atomic.Int32
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			if at(home, &now).begin(t.Context(), "d") == nil {
				begun.Add(1)
			}
		})
	}
	wg.Wait()
	if n := begun.Load(); n != 1 {
		t.Errorf("%d runs have begun", n)
	}
}

func TestDamagedDiary(t *testing.T) {
	now := time.Now()
	for name, text := range map[string]string{"no JSON": "x", "cut": `{"running":"d1","hea`, "wrong": `{"heard":5}`, "large": strings.Repeat(" ", maxDiary+1)} {
		t.Run(name, func(t *testing.T) {
			d := at(t.TempDir(), &now)
			if err := os.MkdirAll(filepath.Dir(d.file.Path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(d.file.Path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := d.begin(t.Context(), "d1"); err == nil {
				t.Error("a run has begun")
			}
			if last := d.last(); !last.IsZero() {
				t.Errorf("last consolidated at %v", last)
			}
		})
	}
}
