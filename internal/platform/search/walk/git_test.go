package walk_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"adze/internal/platform/search/regextest"
	"adze/internal/platform/search/walk"
)

// A sandbox runs git isolated from the user's configuration.
type sandbox struct {
	t    *testing.T
	home string
	env  map[string]string

	skipGit map[string][]string // expected files in repositories that git refuses to list
}

func newSandbox(t *testing.T) *sandbox {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return &sandbox{t: t, home: home, env: map[string]string{"HOME": home, "GIT_CONFIG_NOSYSTEM": "1"}}
}

func (s *sandbox) getenv(name string) string { return s.env[name] }

func (s *sandbox) git(dir string, args ...string) string {
	s.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
	cmd.Env = slices.DeleteFunc(cmd.Env, func(v string) bool {
		return strings.HasPrefix(v, "GIT_CONFIG") || strings.HasPrefix(v, "XDG_CONFIG_HOME=") || strings.HasPrefix(v, "GIT_DIR=")
	})
	for name, value := range s.env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		s.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return string(out)
}

// untracked returns the files that git lists.
func (s *sandbox) untracked(dir string, args ...string) []string {
	s.t.Helper()
	out := s.git(dir, append([]string{"ls-files", "-o", "-z"}, args...)...)
	list := strings.Split(strings.TrimSuffix(out, "\x00"), "\x00")
	slices.Sort(list)
	return slices.DeleteFunc(list, func(p string) bool { return p == "" || strings.HasSuffix(p, "/") })
}

// listed returns the files that the walk lists.
func (s *sandbox) listed(dir string) []string {
	s.t.Helper()
	return list(s.t, walk.Options{Root: dir, Ignore: true, Hidden: true, Getenv: s.getenv})
}

func list(t *testing.T, o walk.Options) []string {
	t.Helper()
	var all []string
	_, err := walk.List(t.Context(), o, func(paths []string) error {
		all = append(all, paths...)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(all)
	return all
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// A generator makes trees and patterns that are closely related.
type generator struct{ *rand.Rand }

var names = []string{
	"a", "b", "ab", "abc", "a.o", "b.o", "a.c", "foo", "foo.txt", "Foo", "FOO.TXT", "bar", ".h", ".foo.o",
	"x y", "t ", "é", "[a]", "a*", `a\b`, "!a", "#a", "build", "dir", "a-b", "a1", "1", "~", "a~", "foo.tar.gz",
}

func (g generator) pick(list ...string) string { return list[g.IntN(len(list))] }
func (g generator) one(in int) bool            { return g.IntN(in) == 0 }

// path returns a path of up to n elements.
func (g generator) path(n int) string {
	path := g.pick(names...)
	for range g.IntN(n) {
		path += "/" + g.pick(names...)
	}
	return path
}

// element returns a pattern for one path element.
func (g generator) element() string {
	name := g.pick(names...)
	switch g.IntN(12) {
	case 0:
		return "*"
	case 1:
		return g.pick("**", "***", "?", "?*", "*?*", "??")
	case 2:
		return "*" + filepath.Ext(name)
	case 3:
		return name[:1] + "*"
	case 4:
		return "*" + name[len(name)-1:]
	case 5:
		return g.class() + name[1:]
	case 6:
		return name + g.class()
	case 7:
		i := g.IntN(len(name))
		return name[:i] + `\` + name[i:]
	case 8:
		i := g.IntN(len(name))
		return name[:i] + g.pick("?", "*") + name[i+1:]
	}
	return name
}

func (g generator) class() string {
	return g.pick("[a-c]", "[!a-c]", "[^b]", "[[:alpha:]]", "[[:digit:][:punct:]]", "[![:upper:]]", "[]a]", "[!]a]",
		"[a", "[[:bogus:]]", "[[:]", "[a-]", "[-a]", `[\]a]`, `[\a-c]`, "[z-a]", "[a-c-e]", "[A-Z]", "[A]", "[[:upper:]]", "[[:space:]]", "[a/b]", "[/]")
}

// line returns a line of an ignore file.
func (g generator) line() string {
	elements := []string{g.element()}
	for g.one(3) {
		elements = append(elements, g.element())
	}
	if g.one(8) {
		elements = slices.Insert(elements, g.IntN(len(elements)+1), "**")
	}
	line := strings.Join(elements, "/")
	if g.one(5) {
		line = "/" + line
	}
	if g.one(5) {
		line += "/"
	}
	if g.one(4) {
		line = "!" + line
	}
	if g.one(12) {
		line += g.pick(" ", "  ", `\ `, `\`, "\t", " #c", "\r", "/", "*")
	}
	if versionsDiffer(line) {
		return g.line()
	}
	return line
}

// versionsDiffer finds the one construct with two meanings. Until 2.52 git removed fixed text
// from the front of a pattern before it looked for **, so that foo**/bar meant foo followed by
// any directories, contrary to its documentation.
func versionsDiffer(line string) bool {
	line = strings.TrimPrefix(strings.TrimPrefix(line, "!"), "/")
	i := strings.IndexAny(line, `*?[\`)
	return i > 0 && strings.HasPrefix(line[i:], "**") && line[i-1] != '/'
}

func (g generator) file(lines int) string {
	var b strings.Builder
	if g.one(20) {
		b.WriteString("\xef\xbb\xbf")
	}
	for range 1 + g.IntN(lines) {
		b.WriteString(g.pick(g.line(), g.line(), g.line(), g.line(), "", "# a"))
		b.WriteString(g.pick("\n", "\n", "\n", "\r\n"))
	}
	if g.one(4) {
		b.WriteString(g.line())
	}
	return b.String()
}

// tree creates files below dir, including ignore files.
func (g generator) tree(t *testing.T, dir, ignoreFile string) {
	for range 4 + g.IntN(8) {
		path := filepath.Join(dir, g.path(4))
		// A name may already be taken by a file or a directory.
		if os.MkdirAll(filepath.Dir(path), 0o755) != nil {
			continue
		}
		if info, err := os.Lstat(path); err == nil && info.IsDir() {
			path = filepath.Join(path, ignoreFile)
			write(t, path, g.file(3))
			continue
		}
		os.WriteFile(path, nil, 0o644) // ok: a tree without it is equally good
	}
	write(t, filepath.Join(dir, ignoreFile), g.file(6))
}

const cases = 2400

// TestGitTrees compares whole trees, each with several ignore files, with git's listing. All
// trees of one configuration are in one repository, so that git runs once for many.
//
// Proves ENG-05.
func TestGitTrees(t *testing.T) {
	configs := []struct {
		name       string
		ignoreFile string
		args       []string // git arguments
		set        func(g generator, s *sandbox, repo string)
	}{
		{"plain", ".gitignore", []string{"--exclude-standard"}, func(generator, *sandbox, string) {}},
		{"fold", ".gitignore", []string{"--exclude-standard"}, func(_ generator, s *sandbox, repo string) {
			s.git(repo, "config", "core.ignoreCase", "true")
		}},
		{"excludes", ".gitignore", []string{"--exclude-standard"}, func(g generator, s *sandbox, repo string) {
			write(s.t, filepath.Join(repo, ".git/info/exclude"), g.specific(40))
			write(s.t, filepath.Join(s.home, "mine"), g.specific(40))
			write(s.t, filepath.Join(s.home, ".gitconfig"), "[core]\n\texcludesFile = ~/mine\n")
		}},
		{".ignore", ".ignore", []string{"--exclude-per-directory=.ignore"}, func(generator, *sandbox, string) {}},
	}
	for n, c := range configs {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			seed := regextest.Seed(t)
			g := generator{rand.New(rand.NewPCG(seed, uint64(n)))}
			s := newSandbox(t)
			repo := filepath.Join(s.home, "repo")
			write(t, filepath.Join(repo, ".keep"), "")
			s.git(repo, "init", "-q")
			c.set(g, s, repo)
			for i := range cases / len(configs) {
				g.tree(t, filepath.Join(repo, fmt.Sprintf("c%d", i)), c.ignoreFile)
			}
			want := s.untracked(repo, c.args...)
			got := s.listed(repo)
			if len(want) < cases/len(configs)/10 {
				t.Errorf("only %d files left of the trees: they test little", len(want))
			}
			explain(t, repo, want, got)
			s.fromBelow(g, repo, got)
		})
	}
}

// specific returns lines that each affect few of the trees.
func (g generator) specific(n int) string {
	var b strings.Builder
	for range n {
		not, line := "", strings.TrimPrefix(g.line(), "/")
		if strings.HasPrefix(line, "!") {
			not, line = "!", line[1:]
		}
		fmt.Fprintf(&b, "%s/c%d*/%s\n", not, 1+g.IntN(9), line)
	}
	return b.String()
}

// explain reports each tree that differs, with its ignore files.
func explain(t *testing.T, repo string, want, got []string) {
	t.Helper()
	byTree := func(paths []string) map[string][]string {
		m := map[string][]string{}
		for _, p := range paths {
			tree, _, _ := strings.Cut(p, "/")
			m[tree] = append(m[tree], p)
		}
		return m
	}
	wants, gots := byTree(want), byTree(got)
	shown := 0
	for tree := range wants {
		if diff := cmp.Diff(wants[tree], gots[tree]); diff != "" {
			if shown++; shown > 5 {
				t.Fatal("and more")
			}
			files, _ := filepath.Glob(filepath.Join(repo, tree, ".*ignore"))
			deeper, _ := filepath.Glob(filepath.Join(repo, tree, "*", ".*ignore"))
			for _, f := range append(files, deeper...) {
				text, _ := os.ReadFile(f)
				t.Logf("%s: %q", f, strings.Split(string(text), "\n"))
			}
			t.Errorf("(-git +walk):\n%s", diff)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" && shown == 0 {
		t.Errorf("(-git +walk):\n%s", diff)
	}
}

// fromBelow lists some non-empty directories on their own, which must not change the result.
func (s *sandbox) fromBelow(g generator, repo string, all []string) {
	for range 40 {
		dir := filepath.Dir(all[g.IntN(len(all))])
		var want []string
		for _, p := range all {
			if rest, ok := strings.CutPrefix(p, dir+"/"); ok {
				want = append(want, rest)
			}
		}
		if dir == "." {
			want = all
		}
		if diff := cmp.Diff(want, s.listed(filepath.Join(repo, dir))); diff != "" {
			s.t.Fatalf("from %s (-as part of the tree +by itself):\n%s", dir, diff)
		}
	}
}
