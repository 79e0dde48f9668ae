package search

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"adze/internal/platform/search/regextest"
)

// age waits until written files count as old. Programs cannot set the change time, and the file
// system uses the real clock.
func age(t testing.TB) {
	t.Helper()
	probe := filepath.Join(t.TempDir(), "probe")
	for began := time.Now(); ; {
		write(t, probe, "")
		if info, err := os.Stat(probe); err != nil || info.ModTime().Sub(began) > dirty {
			return
		}
	}
}

func words(r *rand.Rand) string {
	var b strings.Builder
	for range 5 + r.IntN(200) {
		fmt.Fprintf(&b, "%s%d%c", []string{"alpha", "beta", "Gamma", "delta", "needle", "éclair"}[r.IntN(6)], r.IntN(30), " \n"[r.IntN(2)])
	}
	return b.String()
}

// TestWarmIsCold changes a tree at random, and compares the results of engines with and without
// a cache.
func TestWarmIsCold(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	files := map[string]string{".git/HEAD": "ref: refs/heads/main\n", ".git/objects/x": "", ".git/refs/x": "", ".gitignore": "*.log\n"}
	for i := range 60 {
		files[fmt.Sprintf("d%d/f%d.%s", i%5, i, []string{"go", "log", "txt"}[i%3])] = words(r)
	}
	files["bin"] = "needle1\n\x00"
	files["utf16"] = "\xff\xfen\x00e\x00e\x00d\x00l\x00e\x001\x00\n\x00"
	files["big"] = strings.Repeat(words(r), 500)
	dir := fixture(t, files)
	warm, cold := engine(t, Config{}), engine(t, Config{Cold: true})

	query := func() GrepOptions {
		return GrepOptions{
			Root:    dir,
			Pattern: []string{"needle1", "alpha2[0-9]", "gamma7|beta8", "éclair5", "delta.*needle", "NEEDLE3", "zzzz", "beta\\d"}[r.IntN(8)],
			Mode:    Mode(r.IntN(3)), IgnoreCase: r.IntN(3) == 0, Multiline: r.IntN(5) == 0,
		}
	}
	ruledOut, steps := 0, 150
	if regextest.Race {
		steps = 40
	}
	for step := range steps {
		o := query()
		got, err := warm.Grep(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		want, err := cold.Grep(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		if whole(got, o.Mode) != whole(want, o.Mode) {
			t.Fatalf("step %d: %+v (-cold +warm):\n%s", step, o, cmp.Diff(whole(want, o.Mode), whole(got, o.Mode)))
		}
		warm.Settle()
		ruledOut = max(ruledOut, warm.cache.known.len())
		for range r.IntN(4) {
			change(t, r, dir)
		}
		if step%10 == 0 {
			age(t)
			warm.cache.mu.Lock()
			clear(warm.cache.searches) // so that changes are learned again
			warm.cache.mu.Unlock()
		}
	}
	if ruledOut < 30 {
		t.Errorf("at most %d files were known", ruledOut)
	}
}

// whole formats a complete result.
func whole(r *GrepResult, m Mode) string {
	return text(r, m) + fmt.Sprint(r.Entries, r.Matched, r.Matches, r.Cut, r.Binary)
}

// change makes a random change to a tree.
func change(t testing.TB, r *rand.Rand, dir string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "d*", "*"))
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	file, other := files[r.IntN(len(files))], files[r.IntN(len(files))]
	switch r.IntN(7) {
	case 0:
		write(t, file, words(r))
	case 1: // same size and old modification time
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		text := strings.Repeat(words(r), 1+int(info.Size())/20)[:info.Size()]
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(file, info.ModTime(), info.ModTime()); err != nil {
			t.Fatal(err)
		}
	case 2:
		if err := os.Rename(file, other); err != nil {
			t.Fatal(err)
		}
	case 3:
		if len(files) > 20 {
			os.Remove(file) // ok: checked through the results
		}
	case 4:
		write(t, filepath.Join(filepath.Dir(file), fmt.Sprintf("new%d.go", r.IntN(100))), words(r))
	case 5:
		write(t, filepath.Join(dir, ".gitignore"), []string{"*.log\n", "*.txt\n", "d1\n", ""}[r.IntN(4)])
	case 6:
		f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(f, "needle%d\n", r.IntN(30))
		f.Close()
	}
}

// TestLearning checks when facts are learned.
func TestLearning(t *testing.T) {
	dir := fixture(t, map[string]string{"a": "needle\n", "b": "hay\n", "c": "hay\n"})
	age(t)
	e := engine(t, Config{})
	o := GrepOptions{Root: dir, Pattern: "needle"}
	known := []int{}
	for range 3 {
		if got := grepText(t, e, o); got != "a\n" {
			t.Errorf("found %q", got)
		}
		e.Settle()
		known = append(known, e.cache.known.len())
	}
	if diff := cmp.Diff([]int{0, 3, 3}, known); diff != "" {
		t.Errorf("known after each search (-want +got):\n%s", diff)
	}
	opened := failing(e, nil, 0)
	if got := grepText(t, e, o); got != "a\n" || opened.Load() != 1 {
		t.Errorf("found %q and opened %d files", got, opened.Load())
	}
	write(t, filepath.Join(dir, "b"), "needle\n")
	opened.Store(0)
	if got := grepText(t, e, o); got != "b\na\n" || opened.Load() != 2 {
		t.Errorf("after a change: found %q and opened %d files", got, opened.Load())
	}
	e.Changed(filepath.Join(dir, "c"))
	if n := e.cache.known.len(); n != 2 {
		t.Errorf("%d files are known after one was written", n)
	}
	// A query without a literal text cannot use the cache.
	if grepText(t, e, GrepOptions{Root: dir, Pattern: "[a-z]"}); e.cache.searches[dir] != 5 {
		t.Errorf("%d searches were counted", e.cache.searches[dir])
	}
}

// TestRecentFilesAreNotKnown checks that recently changed files are not cached.
func TestRecentFilesAreNotKnown(t *testing.T) {
	dir := fixture(t, map[string]string{"a": "needle\n"})
	age(t)
	e := engine(t, Config{})
	o := GrepOptions{Root: dir, Pattern: "needle"}
	for i := range 20 {
		write(t, filepath.Join(dir, "b"), []string{"needle\n", "noodle\n"}[i%2])
		e.cache.build(must(e.newTree(dir, "", nil, false)))
		want := []string{"b\na\n", "a\n"}[i%2]
		if got := grepText(t, e, o); got != want {
			t.Fatalf("round %d: %q, want %q", i, got, want)
		}
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func TestKnowledgeIsBounded(t *testing.T) {
	k := newKnowledge()
	for i := range uint64(5000) {
		if k.full() {
			break
		}
		k.add(i, &fact{grams: gramSet{bits: make([]uint64, 2048)}})
	}
	if !k.full() || k.bytes > maxKnown+20_000 {
		t.Errorf("%d bytes are known", k.bytes)
	}
	for i := range uint64(5000) {
		k.add(i, &fact{}) // replaces the previous fact
	}
	if k.bytes != 5000*factSize {
		t.Errorf("%d bytes are known", k.bytes)
	}
}

func TestIdle(t *testing.T) {
	dir := fixture(t, map[string]string{"a": "needle\n"})
	age(t)
	synctest.Test(t, func(t *testing.T) {
		e := engine(t, Config{})
		e.cache.known.add(1, &fact{})
		touch := func() { must(e.plan(GrepOptions{Root: dir, Pattern: "needle"})).recall() }
		touch()
		time.Sleep(maxIdle - time.Second)
		touch()
		time.Sleep(maxIdle - time.Second)
		if e.cache.known.len() == 0 {
			t.Error("knowledge in use was dropped")
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if e.cache.known.len() > 0 {
			t.Error("knowledge that nobody asks for is kept")
		}
	})
}

// TestGrams compares gram sets with the texts they were built from.
func TestGrams(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	l := newLearner()
	learn := func(text string) gramSet {
		t.Helper()
		if _, err := l.read(context.Background(), strings.NewReader(text)); err != nil {
			t.Fatal(err)
		}
		return l.set()
	}
	needs := func(pattern string) []hashedNeed {
		t.Helper()
		return hashNeeds(must(New(Config{Cold: true}).plan(GrepOptions{Root: t.TempDir(), Pattern: pattern})).query.Needs())
	}
	for range 200 {
		text := words(r)
		l.long = r.IntN(2) == 0
		set := learn(text)
		at := r.IntN(len(text) - 12)
		part := text[at : at+4+r.IntN(8)]
		if strings.Contains(part, "\n") || !utf8.ValidString(part) {
			continue
		}
		if !set.meets(needs("(?i)" + part)) {
			t.Fatalf("%q is ruled out in %q", part, text)
		}
	}
	set := learn("some text")
	if set.meets(needs("other")) {
		t.Error("a text that is not there is not ruled out")
	}
	for l.long = range map[bool]bool{false: true, true: true} {
		if set := learn("handle, controller"); set.meets(needs("handler")) == l.long {
			t.Errorf("with long grams %t, a text of which only the short ones are there is ruled out: %t", l.long, !l.long)
		}
	}
}
