package search

import (
	"bytes"
	"errors"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"adze/internal/platform/search/regextest"
)

// conformanceCases is the number of random searches compared between the engines.
const conformanceCases = 300

// TestEnginesAgree checks that both engines give the same results.
//
// Proves ENG-03.
func TestEnginesAgree(t *testing.T) {
	m := regextest.New(11)
	files := source()
	for i := range 40 {
		text := m.Text(400)
		if i%8 == 0 {
			text = m.Spoiled(400)
		}
		files[filepath.Join([]string{"p", "q/r", "q"}[i%3], string(rune('a'+i%26))+[]string{".go", ".txt", ".py"}[i%3])] = text
	}
	dir := fixture(t, files)
	both := engines(t)
	for i := range conformanceCases {
		o := GrepOptions{
			Root: dir, Pattern: m.Pattern(), Mode: Mode(m.IntN(3)), IgnoreCase: m.IntN(3) == 0, Multiline: m.IntN(4) == 0,
			Before: m.IntN(3), After: m.IntN(3), Numbers: m.IntN(4) > 0, Only: m.IntN(5) == 0, Limit: []int{0, 7, 250}[m.IntN(3)], Offset: []int{0, 0, 5}[m.IntN(3)],
			Glob: []string{"", "*.go", "!*.txt", "q/**"}[m.IntN(4)], Type: []string{"", "", "py"}[m.IntN(3)],
		}
		if o.Only {
			o.Before, o.After = 0, 0
		}
		builtin, system := grepText(t, both["builtin"], o), grepText(t, both["system"], o)
		if diff := cmp.Diff(strings.Split(system, "\n"), strings.Split(builtin, "\n")); diff != "" {
			t.Fatalf("case %d: %+v: - ripgrep, + builtin:\n%s", i, o, diff)
		}
	}
}

// treeCases is the number of random searches of real files to compare.
const treeCases = 250

// TestRealTree compares searches of real source with ripgrep's, with and without a cache.
//
// Proves ENG-03.
func TestRealTree(t *testing.T) {
	compareTree(t, filepath.Join(regextest.SourceRoot(t), "encoding", "json"), rand.New(rand.NewPCG(31, 1)), regextest.Times(treeCases))
}

func compareTree(t *testing.T, root string, r *rand.Rand, cases int) {
	t.Helper()
	cold, warm := engine(t, Config{Cold: true}), engine(t, Config{})
	found, lines := 0, int64(0)
	for i := range cases {
		o := drawSourceSearch(r)
		o.Root = root
		want := ripgrepCounts(t, o)
		count := func(e *Engine, m Mode) map[string]int64 {
			o.Mode = m
			res, err := e.Grep(t.Context(), o)
			if err != nil {
				t.Fatalf("case %d: %q: %v", i, o.Pattern, err)
			}
			counts := map[string]int64{}
			for _, h := range res.Files {
				counts[h.Path] = h.Lines
			}
			return counts
		}
		if diff := cmp.Diff(want, count(cold, Count)); diff != "" {
			t.Fatalf("case %d: %q, ignoring case %t: - ripgrep, + cold:\n%s", i, o.Pattern, o.IgnoreCase, diff)
		}
		if diff := cmp.Diff(want, count(warm, Count)); diff != "" {
			t.Fatalf("case %d: %q, ignoring case %t: - ripgrep, + warm:\n%s", i, o.Pattern, o.IgnoreCase, diff)
		}
		names, got := slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(count(warm, Files)))
		if diff := cmp.Diff(names, got); diff != "" {
			t.Fatalf("case %d: %q, ignoring case %t: - ripgrep, + files:\n%s", i, o.Pattern, o.IgnoreCase, diff)
		}
		if len(want) > 0 {
			found++
		}
		for _, n := range want {
			lines += n
		}
	}
	if found < cases/3 {
		t.Errorf("only %d of %d patterns match anything", found, cases)
	}
	t.Logf("%d patterns, %d of them match, %d lines", cases, found, lines)
}

// drawSourceSearch returns a random search for text that occurs in source code, with conditions
// of one kind: with two adjacent ones, ripgrep 13 honors the second only in non-ASCII lines.
func drawSourceSearch(r *rand.Rand) GrepOptions {
	e := regextest.NewEdges(r, false)
	e.Looks = [][]string{{"^"}, {"^"}, {"$"}, {`\b`}, {`\B`}}[r.IntN(5)]
	e.Plain = []string{
		"test", "func", "id", "name", "Err", "err", "ing", "String", "return", "a", "s", "T", "x", "_", ",", `\.`, `\(`, `\)`, ` `, `\t`,
		`\{`, "//", "=", ":=", `"`, "0", "é", "日", `\*`, "-",
	}
	e.Classes = []string{".", `\w`, `\W`, `\s`, `\d`, "[a-z]", "[A-Z]", "[^a]", "[[:^alpha:]]", "[[:^ascii:]]", "[[:^upper:]]", "[(,]"}
	e.Flags = []string{"", "?:", "?i:", "?-i:"}
	return GrepOptions{Pattern: e.Pattern(), NoIgnore: true, IgnoreCase: r.IntN(4) == 0}
}

// ripgrepCounts returns the number of lines that ripgrep finds in each file.
func ripgrepCounts(t *testing.T, o GrepOptions) map[string]int64 {
	t.Helper()
	args := []string{"--no-config", "--no-ignore", "--hidden", "--count", "--null", "--regexp", o.Pattern}
	if o.IgnoreCase {
		args = append(args, "--ignore-case")
	}
	cmd := exec.CommandContext(t.Context(), "rg", append(args, "--", ".")...)
	cmd.Dir = o.Root
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && !(errors.As(err, &exit) && exit.ExitCode() == 1) {
		t.Fatalf("rg %q: %v: %s", args, err, complaint.String())
	}
	counts := map[string]int64{}
	for line := range strings.Lines(string(out)) {
		name, n, _ := strings.Cut(strings.TrimSpace(line), "\x00")
		counts[filepath.ToSlash(strings.TrimPrefix(name, "."+string(filepath.Separator)))] = must(strconv.ParseInt(n, 10, 64))
	}
	return counts
}

func script(t testing.TB, dir, text string) string {
	t.Helper()
	path := filepath.Join(dir, "rg")
	write(t, path, "#!/bin/sh\n"+text)
	if err := os.Chmod(path, 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// searchWith searches with an engine of the kind and the given PATH, and returns the result and
// the warnings.
func searchWith(t *testing.T, kind Kind, path string, workDirs ...string) (result string, warnings []string) {
	t.Helper()
	e := engine(t, Config{
		Kind: kind, Cold: true,
		Getenv:   func(name string) string { return map[string]string{"PATH": path}[name] },
		WorkDirs: func() []string { return workDirs },
		Warn:     func(text string) { warnings = append(warnings, text) },
	})
	dir := fixture(t, map[string]string{"a": "foo\n"})
	for range 2 {
		result = grepText(t, e, GrepOptions{Root: dir, Pattern: "foo", Mode: Count})
	}
	return result, warnings
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// Proves ENG-02.
func TestPlantedRipgrep(t *testing.T) {
	project := fixture(t, nil)
	trace := filepath.Join(fixture(t, nil), "ran")
	// The planted script needs no other program, since this test's PATH has none.
	planted := ": >" + trace + "\necho ripgrep 99.0.0\n"
	script(t, project, planted)
	t.Chdir(project)
	elsewhere := fixture(t, nil)
	if err := os.Symlink(filepath.Join(project, "rg"), filepath.Join(elsewhere, "rg")); err != nil {
		t.Fatal(err)
	}
	list := func(dirs ...string) string { return strings.Join(dirs, string(os.PathListSeparator)) }
	for name, path := range map[string]string{
		"the current directory": project, "dot": ".", "empty": list("", ""), "relative": list(".", "bin"),
		"a link to it": elsewhere, "all": list(".", "", project, elsewhere),
	} {
		for _, kind := range []Kind{System, Auto} {
			result, warnings := searchWith(t, kind, path)
			if result != "a:1\n" || (kind == System) != (len(warnings) == 1) {
				t.Errorf("%s: %q, warnings %q", name, result, warnings)
			}
		}
	}
	// A working directory other than the current one.
	work := fixture(t, nil)
	script(t, work, planted)
	if result, _ := searchWith(t, Auto, work, work); result != "a:1\n" {
		t.Errorf("in a working directory: %q", result)
	}
	// A link in a working directory to a program elsewhere.
	linked, outside := fixture(t, nil), fixture(t, nil)
	script(t, outside, planted)
	if err := os.Symlink(filepath.Join(outside, "rg"), filepath.Join(linked, "rg")); err != nil {
		t.Fatal(err)
	}
	if result, _ := searchWith(t, Auto, linked, linked); result != "a:1\n" {
		t.Errorf("by a link in a working directory: %q", result)
	}
	if exists(trace) {
		t.Error("a planted program was run")
	}
	// The same program is used where it is not planted.
	if _, _ = searchWith(t, Auto, outside); !exists(trace) {
		t.Error("a program in PATH was not run")
	}
}

// Proves ENG-02.
func TestUnusableRipgrep(t *testing.T) {
	tests := []struct{ name, script, warning string }{
		{"none", "", "no ripgrep (rg) in PATH"},
		{"old", "echo ripgrep 12.1.1", "has version 12.1.1, older than 13"},
		{"another program", "echo hello", "is not ripgrep"},
		{"fails", "case $1 in --version) echo ripgrep 14.0.0;; *) echo 'regex parse error' >&2; exit 2;; esac", "ripgrep says: regex parse error"},
		{"says nonsense", "case $1 in --version) echo ripgrep 14.0.0;; *) echo '{\"type\":';; esac", "reading ripgrep's output"},
		{"dies", "case $1 in --version) echo ripgrep 14.0.0;; *) kill -9 $$;; esac", "ripgrep was ended by a signal"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := fixture(t, nil)
			if tt.script != "" {
				script(t, dir, tt.script+"\n")
			}
			result, warnings := searchWith(t, System, dir)
			if result != "a:1\n" || len(warnings) != 1 || !strings.Contains(warnings[0], tt.warning) || !strings.HasSuffix(warnings[0], ": the built-in search is used instead") {
				t.Errorf("%q, warnings %q", result, warnings)
			}
		})
	}
}

// Proves ENG-07.
func TestRipgrepIsRetriedWithOneThread(t *testing.T) {
	dir := fixture(t, nil)
	script(t, dir, `case "$*" in
--version) echo ripgrep 14.0.0;;
*--threads=1*) echo '{"type":"begin","data":{"path":{"text":"/dev/fd/3"}}}'
  printf '%s\n' '{"type":"match","data":{"path":{"text":"/dev/fd/3"},"lines":{"text":"foo\n"},"line_number":1,"submatches":[]}}'
  echo '{"type":"end","data":{"path":{"text":"/dev/fd/3"}}}';;
*) echo 'rg: Resource temporarily unavailable (os error 11)' >&2; exit 2;;
esac
`)
	result, warnings := searchWith(t, System, dir)
	if result != "a:1\n" || len(warnings) > 0 {
		t.Errorf("%q, warnings %q", result, warnings)
	}
}

// TestStubbornRipgrep runs a program that ignores termination requests.
//
// Proves ENG-07.
func TestStubbornRipgrep(t *testing.T) {
	dir := fixture(t, nil)
	pid := filepath.Join(dir, "pid")
	script(t, dir, "case $1 in --version) echo ripgrep 14.0.0; exit;; esac\ntrap '' TERM\necho $$ >"+pid+"\nwhile :; do /bin/sleep 0.05; done\n")
	tree := fixture(t, map[string]string{"a": "foo\n"})
	getenv := func(name string) string { return map[string]string{"PATH": dir}[name] }
	var id []byte
	// On a busy machine the program may take longer to report its process ID.
	for limit := 300 * time.Millisecond; len(id) == 0 && limit < time.Minute; limit *= 4 {
		e := New(Config{Kind: System, Cold: true, Timeout: limit, Getenv: getenv})
		e.runner.Grace = 50 * time.Millisecond // default is 5 s
		r, err := e.Grep(t.Context(), GrepOptions{Root: tree, Pattern: "foo"})
		if err != nil || r.Stopped != TimedOut {
			t.Errorf("%+v, %v", r, err)
		}
		e.Close()
		if id, err = os.ReadFile(pid); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
	}
	if len(id) == 0 {
		t.Fatal("the program was not started")
	}
	if _, err := os.Stat("/proc/" + strings.TrimSpace(string(id))); err == nil {
		t.Error("the program still runs")
	}
}

func TestParseKind(t *testing.T) {
	tests := []struct {
		setting string
		want    Kind
		bad     bool
	}{
		{"", Builtin, false},
		{"builtin", Builtin, false},
		{"system", System, false},
		{"auto", Auto, false},
		{"grep", Builtin, true},
	}
	for _, tt := range tests {
		if got, err := ParseKind(tt.setting); got != tt.want || (err != nil) != tt.bad {
			t.Errorf("ParseKind(%q) = %v, %v", tt.setting, got, err)
		}
	}
}
