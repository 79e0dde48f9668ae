// Package scripttest finds out what scripts of sed and programs of awk do, by running them, for the tests of those
// that read them.
package scripttest

import (
	"context"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// A Program is what runs scripts, and what they may be made of.
type Program struct {
	Prints func(script string) error // what is tested: nil if the script only prints
	Runs   []string                  // commands that take a script
	Writes string                    // a script that writes a file
	Starts []string                  // of scripts
	Pieces []string                  // of the rest of them
}

// OnlyPrints tests that scripts of random pieces which are taken to only print have no other effect in any of the
// programs that are installed.
func OnlyPrints(t *testing.T, p Program) {
	programs := installed(t, p.Runs)
	e := newEffects(t)
	if made := e.of(t, append(slices.Clone(programs[0]), p.Writes, "in")...); len(made) == 0 {
		t.Error("a write is not noticed")
	}
	random := rand.New(rand.NewPCG(7, 11))
	for admitted := 0; admitted < 400; {
		script := randomScript(random, p)
		if p.Prints(script) != nil {
			continue
		}
		admitted++
		for _, program := range programs {
			if made := e.of(t, append(slices.Clone(program), script, "in")...); len(made) > 0 {
				t.Errorf("%s %q made %q", program, script, made)
			}
		}
	}
}

// Fuzz does the same for what a fuzzer makes of some scripts.
func Fuzz(f *testing.F, p Program, seeds ...string) {
	for _, seed := range seeds {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, script string) {
		if strings.ContainsRune(script, 0) || p.Prints(script) != nil {
			return
		}
		for _, program := range installed(t, p.Runs) {
			if made := newEffects(t).of(t, append(program, script, "in")...); len(made) > 0 {
				t.Errorf("%s %q made %q", program, script, made)
			}
		}
	})
}

// An effects directory tells whether a program did more than print: everything that the pieces of the
// scripts could write, run or create leaves something in it.
type effects struct{ dir string }

func newEffects(t testing.TB) *effects {
	dir := t.TempDir()
	for _, name := range []string{"in", "x.sh"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("touch M\nprint 1 > M\na/b w M\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return &effects{dir}
}

// of runs a program on the input and returns what appeared.
func (e *effects) of(t testing.TB, args ...string) []string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir = e.dir
	cmd.WaitDelay = time.Second
	cmd.Run() // ok: many are no valid programs
	entries, err := os.ReadDir(e.dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, entry := range entries {
		if name := entry.Name(); name != "in" && name != "x.sh" {
			names = append(names, name)
			os.RemoveAll(filepath.Join(e.dir, name)) // ok: the next run would find it
		}
	}
	return names
}

// installed returns those of the commands whose programs are installed.
func installed(t testing.TB, lines []string) [][]string {
	var found [][]string
	for _, line := range lines {
		words := strings.Fields(line)
		if _, err := exec.LookPath(words[0]); err == nil {
			found = append(found, words)
		}
	}
	if len(found) == 0 {
		t.Fatal("none of the programs is installed")
	}
	return found
}

// randomScript makes a script of random pieces, most of which make sense.
func randomScript(random *rand.Rand, p Program) string {
	var b strings.Builder
	b.WriteString(p.Starts[random.IntN(len(p.Starts))])
	for range 1 + random.IntN(8) {
		b.WriteString(p.Pieces[random.IntN(len(p.Pieces))])
		if random.IntN(4) == 0 {
			b.WriteByte(' ')
		}
	}
	for _, pair := range []string{"{}", "()", "[]"} {
		if n := strings.Count(b.String(), pair[:1]) - strings.Count(b.String(), pair[1:]); n > 0 && random.IntN(2) == 0 {
			b.WriteString(strings.Repeat(pair[1:], n))
		}
	}
	return b.String()
}
