package walk_test

import (
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestRipgrepTrees compares trees with all kinds of ignore files with ripgrep's listing, if it
// is installed. It uses only patterns that ripgrep and git read alike.
func TestRipgrepTrees(t *testing.T) {
	rg, err := exec.LookPath("rg")
	if err != nil {
		t.Logf("only git was compared with: %v", err)
		return
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	g := generator{rand.New(rand.NewPCG(seed, 0))}
	s := newSandbox(t)
	repo := s.at("repo")
	write(t, filepath.Join(repo, ".keep"), "")
	s.git(repo, "init", "-q")
	for i := range 600 {
		g.mixedTree(t, filepath.Join(repo, fmt.Sprintf("c%d", i)))
	}
	cmd := exec.Command(rg, "--files", "--hidden", "--null", "--no-config", "-g", "!.git")
	cmd.Dir = repo
	cmd.Env = []string{"HOME=" + s.home}
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	slices.Sort(want)
	explain(t, repo, want, s.listed(repo))
}

// mixedTree creates files below dir, and ignore files of each kind.
func (g generator) mixedTree(t *testing.T, dir string) {
	simple := []string{"a", "b", "ab", "foo", "foo.txt", "a.o", "b.o", ".h", "build"}
	wild := append([]string{"*", "a*", "*.o", "?", "*b", "f?o", "**"}, simple...)
	for range 6 + g.IntN(8) {
		path := dir
		for range g.IntN(3) {
			path = filepath.Join(path, "d"+g.pick(simple...))
		}
		write(t, filepath.Join(path, g.pick(simple...)), "")
		if g.one(3) {
			line := g.pick("", "", "!") + g.pick("", "", "/") + g.pick("", "", "d"+g.pick(simple...)+"/", "**/") + g.pick(wild...) + g.pick("", "", "/")
			write(t, filepath.Join(path, g.pick(".gitignore", ".ignore", ".rgignore")), line+"\n"+g.pick("!", "")+g.pick(wild...)+"\n")
		}
	}
}
