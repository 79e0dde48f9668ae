package ignore

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"adze/internal/platform/search/glob"
	"adze/internal/platform/search/regextest"
)

// A reference gets the ignored paths from git.
type reference struct {
	t   testing.TB
	dir string
}

func newReference(t testing.TB, fold bool) *reference {
	t.Helper()
	r := &reference{t, t.TempDir()}
	r.run("", "init", "-q")
	r.run("", "config", "core.ignoreCase", fmt.Sprint(fold))
	return r
}

func (r *reference) run(stdin string, args ...string) string {
	r.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = r.dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull, "HOME="+r.dir)
	cmd.Stdin = strings.NewReader(stdin)
	out, err := cmd.Output()
	if exit, ok := err.(*exec.ExitError); err != nil && !(ok && exit.ExitCode() == 1 && args[0] == "check-ignore") {
		r.t.Fatalf("git %q: %v", args, err)
	}
	return string(out)
}

// ignored returns the paths that git ignores.
func (r *reference) ignored(paths []string) map[string]bool {
	r.t.Helper()
	out := r.run(strings.Join(paths, "\x00")+"\x00", "check-ignore", "--no-index", "--stdin", "-z", "-v", "-n")
	fields := strings.Split(strings.TrimSuffix(out, "\x00"), "\x00")
	if len(fields) != 4*len(paths) {
		r.t.Fatalf("git answered %d fields for %d paths", len(fields), len(paths))
	}
	answer := map[string]bool{}
	for i := 0; i < len(fields); i += 4 {
		source, pattern, path := fields[i], fields[i+2], fields[i+3]
		answer[path] = source != "" && !strings.HasPrefix(pattern, "!")
	}
	return answer
}

// ignores applies one file to a path and its parent directories.
func ignores(f *File, path string) bool {
	for i := range len(path) {
		if path[i] == '/' && f.match(path[:i], path[strings.LastIndexByte(path[:i], '/')+1:i], entryDir) == ignored {
			return true
		}
	}
	return f.match(path, path[strings.LastIndexByte(path, '/')+1:], entryFile) == ignored
}

// versionsDiffer finds the one construct with two meanings. Until 2.52 git removed fixed text
// from the front of a pattern before it looked for **, so that foo**/bar meant foo followed by
// any directories, contrary to its documentation.
func versionsDiffer(line string) bool {
	line = strings.TrimPrefix(strings.TrimPrefix(line, "!"), "/")
	i := strings.IndexAny(line, special)
	return i > 0 && strings.HasPrefix(line[i:], "**") && line[i-1] != '/'
}

// random returns text made of the pieces.
func random(r *rand.Rand, n int, pieces ...string) string {
	var b strings.Builder
	for range 1 + r.IntN(n) {
		b.WriteString(pieces[r.IntN(len(pieces))])
	}
	return b.String()
}

var patternPieces = []string{
	"a", "b", "A", "Z", "m", "é", "\xff", "/", "/", "*", "*", "**", "**/", "?", "[", "]", "[a", "[!", "[^", "-", "-", `\`, "a-m", "A-Z]", ".",
	`**\/`, "[[:alpha:]]", "[[:upper:]]", "[:", ":]", "[b]", "[A]", "[a-m]", "[a/b]", "!", "#", " ", "ab", `\A`,
}

var pathPieces = []string{"a", "b", "A", "Z", "m", "é", "\xff", "]", "[", "-", `\`, "^", "!", ".", ":", " ", "ab", "z", "M", "*", "#"}

// TestGitPatterns compares random patterns on random paths with git.
//
// Proves ENG-05.
func TestGitPatterns(t *testing.T) {
	const files, pathsEach = 1500, 24
	for _, fold := range []bool{false, true} {
		t.Run(fmt.Sprintf("fold=%t", fold), func(t *testing.T) {
			t.Parallel()
			seed := regextest.Seed(t)
			r := rand.New(rand.NewPCG(seed, 0))
			ref := newReference(t, fold)
			compiled := make([]*File, files)
			texts := make([]string, files)
			var paths []string
			for i := range files {
				texts[i] = randomFile(r)
				compiled[i] = Parse([]byte(texts[i]), glob.Options{Fold: fold})
				dir := fmt.Sprintf("d%d", i)
				if err := os.Mkdir(filepath.Join(ref.dir, dir), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(ref.dir, dir, ".gitignore"), []byte(texts[i]), 0o644); err != nil {
					t.Fatal(err)
				}
				for range pathsEach {
					paths = append(paths, dir+"/"+randomPath(r, texts[i]))
				}
			}
			hits := 0
			for path, want := range ref.ignored(paths) {
				dir, rest, _ := strings.Cut(path, "/")
				var i int
				fmt.Sscanf(dir, "d%d", &i)
				if got := ignores(compiled[i], rest); got != want {
					t.Errorf("%q ignores %q: %t, but git says %t", texts[i], rest, got, want)
				}
				if want {
					hits++
				}
			}
			if hits < len(paths)/50 {
				t.Errorf("only %d of %d paths are ignored: the patterns test little", hits, len(paths))
			}
		})
	}
}

func randomFile(r *rand.Rand) string {
	var b strings.Builder
	for range 1 + r.IntN(3) {
		line := random(r, 6, patternPieces...)
		for versionsDiffer(line) {
			line = random(r, 6, patternPieces...)
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}

// randomPath returns a path that a pattern in text has some chance to match.
func randomPath(r *rand.Rand, text string) string {
	if r.IntN(2) == 0 {
		lines := strings.Split(text, "\n")
		line := lines[r.IntN(len(lines))]
		for _, piece := range []string{"**/", "**", "*", "?", "[", `\`, "!", "]"} {
			line = strings.ReplaceAll(line, piece, random(r, 1, "", "a", "b", "A", piece))
		}
		var elements []string
		for _, e := range strings.Split(line, "/") {
			if e != "" && e != "." && e != ".." {
				elements = append(elements, e)
			}
		}
		if len(elements) > 0 {
			return strings.Join(elements, "/")
		}
	}
	var elements []string
	for range 1 + r.IntN(3) {
		e := random(r, 3, pathPieces...)
		if strings.Trim(e, ".") == "" {
			e += "a"
		}
		elements = append(elements, e)
	}
	return strings.Join(elements, "/")
}

// FuzzGit searches for a line on which git disagrees. It runs git for each input, so it is
// slow.
func FuzzGit(f *testing.F) {
	f.Add("*.o", "a/b.o", false)
	f.Add("/a/**/b/", "a/x/y/b/c", false)
	f.Add("[[:alpha:]-]*", "A-", true)
	f.Add(`\!a\ `, "!a ", false)
	f.Add("a[/]b", "a/b", false)
	f.Fuzz(func(t *testing.T, line, path string, fold bool) {
		if !canAsk(path) || slices.ContainsFunc(strings.Split(strings.TrimPrefix(line, "\xef\xbb\xbf"), "\n"), versionsDiffer) {
			return
		}
		ref := newReference(t, fold)
		if err := os.WriteFile(filepath.Join(ref.dir, ".gitignore"), []byte(line), 0o644); err != nil {
			t.Fatal(err)
		}
		got := ignores(Parse([]byte(line), glob.Options{Fold: fold}), path)
		if want := ref.ignored([]string{path})[path]; got != want {
			t.Errorf("%q ignores %q: %t, but git says %t", line, path, got, want)
		}
	})
}

// canAsk reports whether git accepts the path as part of its tree.
func canAsk(path string) bool {
	isGit := func(name string) bool { return strings.EqualFold(name, ".git") }
	return path != "." && filepath.IsLocal(path) && filepath.Clean(path) == path && !strings.ContainsRune(path, 0) &&
		!strings.HasPrefix(path, ":") && !slices.ContainsFunc(strings.Split(path, "/"), isGit)
}

// FuzzParse checks that the parser and the matcher can handle any text.
func FuzzParse(f *testing.F) {
	f.Add([]byte("a\n!b/\n/c\n[\n\\\n**/d/**\n"), "a/b")
	f.Fuzz(func(t *testing.T, text []byte, path string) {
		for _, fold := range []bool{false, true} {
			file := Parse(text, glob.Options{Fold: fold})
			name := path[strings.LastIndexByte(path, '/')+1:]
			asFile, asDir := file.match(path, name, entryFile), file.match(path, name, entryDir)
			if asFile != undecided && asDir == undecided {
				t.Errorf("%q matches %q only as a file", text, path)
			}
		}
	})
}
