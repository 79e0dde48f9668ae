package library

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// TestChangesWhileLooking checks that after concurrent changes and scans the set matches the
// disk.
func TestChangesWhileLooking(t *testing.T) {
	dir := t.TempDir()
	roots := Places(Layout{Own: filepath.Join(dir, "home"), Dir: filepath.Join(dir, "w"), Top: filepath.Join(dir, "w")})
	cfg := Config{Roots: fixed(roots...), Dir: filepath.Join(dir, "w"), Index: filepath.Join(dir, "index")}
	places := []string{"home/skills/%d/SKILL.md", "home/commands/%d.md", "w/.claude/skills/%d/SKILL.md", "w/.claude/commands/sub/%d.md", "w/a/b/.adze/skills/%d/SKILL.md"}
	l := open(t, cfg)
	var group sync.WaitGroup
	for n := range 4 {
		group.Go(func() {
			random := rand.New(rand.NewPCG(uint64(n), 1))
			for i := range 60 {
				path := filepath.Join(dir, fmt.Sprintf(places[random.IntN(len(places))], n))
				switch random.IntN(4) {
				case 0:
					os.RemoveAll(filepath.Dir(path)) // ok: the others make it again, or fail to write
				case 1:
					os.Remove(path) // ok: it may not be there
				default:
					os.MkdirAll(filepath.Dir(path), 0o755)                                       // ok: the same
					os.WriteFile(path, fmt.Appendf(nil, "---\nname: n%d\n---\n%d", i, n), 0o644) // ok: the same
				}
			}
		})
		group.Go(func() {
			stop := l.Watch(func() { l.Set(t.Context()) })
			defer stop()
			for range 40 {
				for _, s := range l.Refresh(t.Context()).Skills {
					s.Text(t.Context()) // ok: it may be gone
				}
				l.Touched(filepath.Join(dir, "w", "a", "b", "file"))
				l.Find(t.Context(), "1")
			}
		})
	}
	group.Wait()
	fresh := open(t, Config{Roots: cfg.Roots, Dir: cfg.Dir})
	l.Touched(filepath.Join(dir, "w", "a", "b", "file"))
	fresh.Touched(filepath.Join(dir, "w", "a", "b", "file"))
	got := l.Refresh(t.Context())
	want := fresh.Refresh(t.Context())
	if names(got) != names(want) || len(got.Problems) != len(want.Problems) || len(got.Shadowed) != len(want.Shadowed) {
		t.Errorf("%s, %v\nwant %s, %v", names(got), got.Problems, names(want), want.Problems)
	}
	for i, s := range got.Skills {
		if s.Title != want.Skills[i].Title || s.File != want.Skills[i].File {
			t.Errorf("%s: %q of %s, want %q of %s", s.Name, s.Title, s.File, want.Skills[i].Title, want.Skills[i].File)
		}
	}
}
