package ignore

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"adze/internal/platform/search/glob"
)

func TestPatterns(t *testing.T) {
	tests := []struct {
		text   string
		yes    []string // a trailing slash marks a directory
		no     []string
		folded bool
	}{
		{text: "a", yes: []string{"a", "a/", "x/a", "x/a/"}, no: []string{"ab", "x/ab"}},
		{text: "a/", yes: []string{"a/", "x/a/"}, no: []string{"a", "x/a"}},
		{text: "/a", yes: []string{"a", "a/"}, no: []string{"x/a"}},
		{text: "x/a", yes: []string{"x/a"}, no: []string{"y/x/a", "a"}},
		{text: "**/x/a", yes: []string{"x/a", "y/x/a", "z/y/x/a"}, no: []string{"a"}},
		{text: "x/**", yes: []string{"x/a", "x/a/b"}, no: []string{"x", "x/", "y/x/a"}},
		{text: "x/**/a", yes: []string{"x/a", "x/y/a", "x/y/z/a"}, no: []string{"xa", "a"}},
		{text: "x**/a", yes: []string{"x/a", "xy/a"}, no: []string{"xa", "xy/z/a"}},
		{text: "*.o\n!keep.o", yes: []string{"a.o", "x/a.o"}, no: []string{"keep.o", "x/keep.o"}},
		{text: "!keep.o\n*.o", yes: []string{"keep.o"}},
		{text: "*.tar.gz", yes: []string{"a.tar.gz", ".tar.gz"}, no: []string{"a.gz"}},
		{text: "#a\n\\#b\n\\!c", yes: []string{"#b", "!c"}, no: []string{"#a", "a", "c"}},
		{text: "a \nb\\ \nc\t", yes: []string{"a", "b ", "c\t"}, no: []string{"a ", "b", "c"}},
		{text: "a\r\nb\r", yes: []string{"a", "b"}},
		{text: "[\n[a\n[[:no:]]\na\\\nb", yes: []string{"b"}, no: []string{"[", "a", "a\\", "[a"}},
		{text: "\xef\xbb\xbfa", yes: []string{"a"}},
		{text: "a\x00b", yes: []string{"a"}, no: []string{"a\x00b", "b"}},
		{text: "{a,b}", yes: []string{"{a,b}"}, no: []string{"a", "b"}},
		{text: "?", yes: []string{"a"}, no: []string{"é", "ab"}},
		{text: "Foo*\n*.TXT\nBAR", yes: []string{"foobar", "a.txt", "FOO", "bar"}, no: []string{"fo"}, folded: true},
		{text: "Foo*\n*.TXT\nBAR", yes: []string{"Foobar", "a.TXT", "BAR"}, no: []string{"foo", "a.txt", "bar"}},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			f := Parse([]byte(tt.text), glob.Options{Fold: tt.folded})
			check := func(path string, want bool) {
				kind := entryFile
				path, isDir := strings.CutSuffix(path, "/")
				if isDir {
					kind = entryDir
				}
				if got := f.match(path, filepath.Base(path), kind) == ignored; got != want {
					t.Errorf("ignores %q: %t, want %t", path, got, want)
				}
			}
			for _, path := range tt.yes {
				check(path, true)
			}
			for _, path := range tt.no {
				check(path, false)
			}
		})
	}
}

func TestParseNothing(t *testing.T) {
	for _, text := range []string{"", "\n\n", "# a\n#b", "   ", "/", "!", "\r\n"} {
		if f := Parse([]byte(text), glob.Options{}); f != nil {
			t.Errorf("Parse(%q) has %d patterns", text, len(f.patterns))
		}
	}
	var none *Dir
	if none.IgnoresFile("/a") || none.IgnoresDir("/a") {
		t.Error("no rules ignore something")
	}
}

func TestParseConfig(t *testing.T) {
	text := `
; a comment
[core]
	bare
	excludesFile = "~/my ignore" # comment
	pager = less \
-R  ;
[Core "Sub \"x\""] key = a\tb"  c "
[a.B]
	K-1=
[includeIf "gitdir:~/work/"] path = w
broken line =
[never]
`
	want := []setting{
		{section: "core", key: "bare"},
		{section: "core", key: "excludesfile", value: "~/my ignore", assigned: true},
		{section: "core", key: "pager", value: "less -R", assigned: true},
		{section: "core", subsection: `Sub "x"`, key: "key", value: "a\tb  c ", assigned: true},
		{section: "a", subsection: "b", key: "k-1", assigned: true},
		{section: "includeif", subsection: "gitdir:~/work/", key: "path", value: "w", assigned: true},
	}
	if diff := cmp.Diff(want, parseConfig(text), cmp.AllowUnexported(setting{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func FuzzParseConfig(f *testing.F) {
	f.Add("[a \"b\"]\nc = \"d\\n\" # e\n")
	f.Fuzz(func(t *testing.T, text string) {
		for _, s := range parseConfig(text) {
			if s.key == "" || strings.ToLower(s.key) != s.key {
				t.Errorf("key %q in %q", s.key, text)
			}
		}
	})
}

func files(t *testing.T, root string, texts map[string]string) {
	t.Helper()
	for name, text := range texts {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// Proves ENG-05.
func TestPrecedence(t *testing.T) {
	repo := map[string]string{".git/HEAD": "ref: refs/heads/main\n", ".git/objects/x": ""}
	tests := []struct {
		name  string
		repo  bool
		files map[string]string
		path  string
		want  bool
	}{
		{"outside a repository .gitignore does not count", false, map[string]string{".gitignore": "a"}, "a", false},
		{"outside a repository .ignore counts", false, map[string]string{".ignore": "a"}, "a", true},
		{"outside a repository .rgignore counts", false, map[string]string{".rgignore": "a"}, "a", true},
		{"global excludes count in a repository", true, map[string]string{"home/.config/git/ignore": "a"}, "a", true},
		{"and not outside", false, map[string]string{"home/.config/git/ignore": "a"}, "a", false},
		{"info/exclude over global", true, map[string]string{"home/.config/git/ignore": "a", ".git/info/exclude": "!a"}, "a", false},
		{".gitignore over info/exclude", true, map[string]string{".gitignore": "!a", ".git/info/exclude": "a"}, "a", false},
		{".ignore over .gitignore", true, map[string]string{".gitignore": "a", ".ignore": "!a"}, "a", false},
		{".rgignore over .ignore", true, map[string]string{".ignore": "!a", ".rgignore": "a"}, "a", true},
		{"nearer over farther", true, map[string]string{".gitignore": "a", "d/.gitignore": "!a"}, "d/a", false},
		{"but not over another kind", true, map[string]string{".ignore": "a", "d/.gitignore": "!a"}, "d/a", true},
		{"an anchor is where the file is", true, map[string]string{"d/.gitignore": "/a"}, "d/a", true},
		{"and not below", true, map[string]string{".gitignore": "/a"}, "d/a", false},
		{"a repository in a repository does not see .gitignore above", true, map[string]string{".gitignore": "a", "d/.git/HEAD": "", "d/.git/objects/x": ""}, "d/a", false},
		{"but .ignore", true, map[string]string{".ignore": "a", "d/.git/HEAD": "", "d/.git/objects/x": ""}, "d/a", true},
		{"a .git file that points nowhere makes a repository", false, map[string]string{".git": "gitdir: nowhere\n", ".gitignore": "a"}, "a", true},
		{"but not in another one", true, map[string]string{".gitignore": "/d/a", "d/.git": "gitdir: nowhere\n"}, "d/a", true},
		{"a .git file that points nothing out makes none", false, map[string]string{".git": "nothing\n", ".gitignore": "a"}, "a", false},
		{"an invalid .git changes nothing", true, map[string]string{".gitignore": "a", "d/.git/x": ""}, "d/a", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			root, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			if tt.repo {
				files(t, root, repo)
			}
			files(t, root, tt.files)
			env := map[string]string{"HOME": filepath.Join(root, "home"), "GIT_CONFIG_NOSYSTEM": "true"}
			l := NewLoader(Options{Getenv: func(name string) string { return env[name] }})
			path := filepath.Join(root, filepath.FromSlash(tt.path))
			if got := l.Above(path).IgnoresFile(filepath.ToSlash(path)); got != tt.want {
				t.Errorf("ignores %s: %t, want %t", tt.path, got, tt.want)
			}
		})
	}
}

// BenchmarkMatch matches one path against a typical project's file.
func BenchmarkMatch(b *testing.B) {
	f := Parse([]byte(strings.Join([]string{
		"# build", "/build/", "/dist", "target/", "*.o", "*.a", "*.so", "*.exe", "*.test", "*.out", "*.prof", "*.log", "*.tmp", "*.swp",
		"*~", ".DS_Store", "Thumbs.db", ".idea/", ".vscode/", "*.iml", "node_modules/", "bower_components", ".cache", ".venv", "venv/",
		"__pycache__/", "*.py[cod]", "*.egg-info/", ".tox/", ".coverage", "coverage/", "htmlcov/", "/vendor/bin/", "/docs/_build/", "*.min.js",
		"*.map", "npm-debug.log*", "yarn-error.log*", ".env", ".env.*", "!.env.example", "/tmp/*", "!/tmp/.keep", "/log/**/*.txt", "cmake-build-*/",
		"CMakeCache.txt", "*.pyc", "*.class", "*.jar", "local.properties", ".gradle/", "*.bak", "*.orig", "*.rej", "/bin/*", "!/bin/run", "*.pdf", "*.zip",
	}, "\n")), glob.Options{})
	b.Logf("%d patterns, %d of them tried on each path", len(f.patterns), len(f.others))
	paths := []string{"internal/platform/search/ignore/file.go", "README.md", "docs/architecture.md", "web/src/components/Button.tsx", "testdata/script/glob_case.txtar"}
	b.ReportAllocs()
	for b.Loop() {
		for _, p := range paths {
			f.match(p, p[strings.LastIndexByte(p, '/')+1:], entryFile)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(paths)), "ns/path")
}
