package usage

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) time() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

const day = 24 * time.Hour

func near(a, b float64) bool { return math.Abs(a-b) < 1e-6 }

// Proves SKILL-32.
func TestScore(t *testing.T) {
	c := &clock{now: time.Unix(1_800_000_000, 0)}
	file := filepath.Join(t.TempDir(), "state", "usage.json")
	u := Open(file, c.time)
	if u.Score("x") != 0 {
		t.Error("a score without a use")
	}
	steps := []struct {
		after time.Duration
		used  bool
		want  float64
	}{
		{0, true, 1},
		{59 * time.Second, true, math.Pow(0.5, 59.0/604800)}, // counts as the same use
		{time.Second, true, 2},
		{7 * day, false, 1},
		{7 * day, false, 0.5},
		{70 * day, false, 0.2}, // never below a tenth
		{0, true, 3},
		{-time.Hour, false, 3}, // clock set back
		{0, true, 4},
	}
	for i, step := range steps {
		c.add(step.after)
		if step.used {
			u.Used("x")
		}
		if got := u.Score("x"); !near(got, step.want) {
			t.Errorf("step %d: %v, want %v", i, got, step.want)
		}
		if got := Open(file, c.time).Score("x"); !near(got, step.want) {
			t.Errorf("step %d, in another process: %v, want %v", i, got, step.want)
		}
	}
	u.Used("")
	u.Used(string(make([]byte, maxName+1)))
	if len(u.records) != 1 {
		t.Errorf("%d records", len(u.records))
	}
	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

// TestCorrupt checks that a damaged file counts as empty and is rewritten, and that invalid
// entries are ignored.
//
// Proves SKILL-32.
func TestCorrupt(t *testing.T) {
	c := &clock{now: time.Unix(1_800_000_000, 0)}
	for _, text := range []string{
		"", "{", "[]", "null", `{"x":3}`, `{"x":{"uses":-1,"last":1}}`, `{"x":{"uses":1e99,"last":1}}`, `{"x":{"uses":5,"last":-1}}`, `{"x":{"uses":5000000,"last":1800000000}}`, "\x00\xff",
		`{"x":{"uses":5,"last":1` + string(make([]byte, maxFile)),
	} {
		file := filepath.Join(t.TempDir(), "usage.json")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		u := Open(file, c.time)
		if u.Score("x") != 0 {
			t.Errorf("%.30q: %v", text, u.Score("x"))
		}
		u.Used("x")
		if got := Open(file, c.time).Score("x"); got != 1 {
			t.Errorf("%.30q: not written again: %v", text, got)
		}
	}
}

// TestMerge checks that processes see each other's uses and do not lose them.
func TestMerge(t *testing.T) {
	c := &clock{now: time.Unix(1_800_000_000, 0)}
	file := filepath.Join(t.TempDir(), "usage.json")
	reader := Open(file, c.time)
	reader.Score("shared")
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			u := Open(file, c.time)
			u.Used("shared")
			u.Used(fmt.Sprint("own-", i))
		})
	}
	group.Wait()
	c.add(fresh)
	if got := reader.Score("shared"); !near(got, math.Pow(0.5, 2.0/604800)) {
		t.Errorf("shared: %v", got)
	}
	for i := range 8 {
		if reader.Score(fmt.Sprint("own-", i)) == 0 {
			t.Errorf("own-%d is lost", i)
		}
	}
}

// TestWithoutFile checks that uses count within the process if they can't be written.
func TestWithoutFile(t *testing.T) {
	c := &clock{now: time.Unix(1_800_000_000, 0)}
	blocked := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(blocked, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"", filepath.Join(blocked, "usage.json")} {
		u := Open(file, c.time)
		u.Used("x")
		u.Used("x")
		if got := u.Score("x"); got != 1 {
			t.Errorf("%q: %v", file, got)
		}
	}
}

func TestPrune(t *testing.T) {
	c := &clock{now: time.Unix(1_800_000_000, 0)}
	file := filepath.Join(t.TempDir(), "usage.json")
	u := Open(file, c.time)
	u.records = map[string]record{"often": {10, c.now.Unix()}, "never": {1, 1}}
	for i := range maxSkills - 1 {
		u.records[fmt.Sprint(i)] = record{2, c.now.Unix()}
	}
	u.prune()
	if _, ok := u.records["never"]; ok || len(u.records) != maxSkills || u.records["often"].Uses != 10 {
		t.Errorf("%d records", len(u.records))
	}
}
