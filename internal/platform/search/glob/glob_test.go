package glob

import (
	"errors"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// tree is the list of paths that the test patterns are matched against.
var tree = []string{
	"go.mod", "main.go", "main_test.go", "README.md", "Makefile", ".env", ".github/ci.yml",
	"cmd/adze/main.go", "cmd/x.go", "src/a.ts", "src/b.tsx", "src/c.js", "src/deep/er/d.ts", "src/deep/e.TS",
	"docs/a b.md", "docs/[x].md", "docs/{y}.md", "docs/é.md", "docs/1.md", "docs/10.md", "docs/a,b.md", "docs/caf\xe9.md",
	"test/src/a.ts", "vendor/lib/lib.go",
}

// Proves GLOB-01.
func TestMatch(t *testing.T) {
	tests := []struct {
		pattern string
		want    []string // matching paths of tree
		fold    bool
	}{
		{pattern: "go.mod", want: []string{"go.mod"}},
		{pattern: "main.go", want: []string{"main.go", "cmd/adze/main.go"}},
		{pattern: "/main.go", want: []string{"main.go"}},
		{pattern: "./main.go", want: []string{"main.go"}},
		{pattern: "*.go", want: []string{"main.go", "main_test.go", "cmd/adze/main.go", "cmd/x.go", "vendor/lib/lib.go"}},
		{pattern: "/*.go", want: []string{"main.go", "main_test.go"}},
		{pattern: "**/*.go", want: []string{"main.go", "main_test.go", "cmd/adze/main.go", "cmd/x.go", "vendor/lib/lib.go"}},
		{pattern: "cmd/*.go", want: []string{"cmd/x.go"}},
		{pattern: "cmd/**/*.go", want: []string{"cmd/adze/main.go", "cmd/x.go"}},
		{pattern: "cmd/**", want: []string{"cmd/adze/main.go", "cmd/x.go"}},
		{pattern: "cmd/", want: []string{"cmd/adze/main.go", "cmd/x.go"}},
		{pattern: "src/", want: []string{"src/a.ts", "src/b.tsx", "src/c.js", "src/deep/er/d.ts", "src/deep/e.TS", "test/src/a.ts"}},
		{pattern: "/src/", want: []string{"src/a.ts", "src/b.tsx", "src/c.js", "src/deep/er/d.ts", "src/deep/e.TS"}},
		{pattern: "**/src/*.ts", want: []string{"src/a.ts", "test/src/a.ts"}},
		{pattern: "src/*.{ts,tsx}", want: []string{"src/a.ts", "src/b.tsx"}},
		{pattern: "*.{ts,js}", want: []string{"src/a.ts", "src/c.js", "src/deep/er/d.ts", "test/src/a.ts"}},
		{pattern: "{src,test/src}/a.ts", want: []string{"src/a.ts", "test/src/a.ts"}},
		{pattern: "src/{a,{b,c}}.{t,j}s", want: []string{"src/a.ts", "src/c.js"}},
		{pattern: "src/{deep/**,.}/d.ts", want: []string{"src/deep/er/d.ts"}},
		{pattern: "{cmd/**,src}/*.{go,js}", want: []string{"cmd/adze/main.go", "cmd/x.go", "src/c.js"}},
		{pattern: "src/b.ts{,x}", want: []string{"src/b.tsx"}},
		{pattern: "docs/?.md", want: []string{"docs/é.md", "docs/1.md"}},
		{pattern: "docs/??.md", want: []string{"docs/10.md"}},
		{pattern: "docs/[0-9].md", want: []string{"docs/1.md"}},
		{pattern: "docs/[0-9]*.md", want: []string{"docs/1.md", "docs/10.md"}},
		{pattern: "docs/[!0-9].md", want: []string{"docs/é.md"}},
		{pattern: "docs/[^1é].md"},
		{pattern: "docs/[à-ü].md", want: []string{"docs/é.md"}},
		{pattern: "docs/[[:digit:]]?.md", want: []string{"docs/10.md"}},
		{pattern: "docs/caf\xe9.md", want: []string{"docs/caf\xe9.md"}},
		{pattern: `docs/\[x\].md`, want: []string{"docs/[x].md"}},
		{pattern: `docs/\{y\}.md`, want: []string{"docs/{y}.md"}},
		{pattern: `docs/{a\,b,1}.md`, want: []string{"docs/1.md", "docs/a,b.md"}},
		{pattern: "docs/a[, ]b.md", want: []string{"docs/a b.md", "docs/a,b.md"}},
		{pattern: "docs/[]x[]*", want: []string{"docs/[x].md"}},
		{pattern: ".*", want: []string{".env"}},
		{pattern: ".github/*", want: []string{".github/ci.yml"}},
		{pattern: "*", want: tree},
		{pattern: "**", want: tree},
		{pattern: "/*", want: []string{"go.mod", "main.go", "main_test.go", "README.md", "Makefile", ".env"}},
		{pattern: "*/*", want: []string{".github/ci.yml", "cmd/x.go", "src/a.ts", "src/b.tsx", "src/c.js", "docs/a b.md", "docs/[x].md", "docs/{y}.md", "docs/é.md", "docs/1.md", "docs/10.md", "docs/a,b.md", "docs/caf\xe9.md"}},
		{pattern: "s**/a.ts", want: []string{"src/a.ts"}},
		{pattern: "[ms]*/**/[ae].ts", want: []string{"src/a.ts"}},
		{pattern: "**/lib/**", want: []string{"vendor/lib/lib.go"}},
		{pattern: "*.TS", want: []string{"src/deep/e.TS"}},
		{pattern: "*.TS", want: []string{"src/a.ts", "src/deep/er/d.ts", "src/deep/e.TS", "test/src/a.ts"}, fold: true},
		{pattern: "readme.*", want: []string{"README.md"}, fold: true},
		{pattern: "DOCS/[À-Ü].md", want: []string{"docs/é.md"}, fold: true},
		{pattern: "DOCS/É.MD", want: []string{"docs/é.md"}, fold: true},
		{pattern: "nothing"},
	}
	for _, tt := range tests {
		t.Run(tt.pattern, func(t *testing.T) {
			p, err := Compile(tt.pattern, Options{Fold: tt.fold})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, name := range tree {
				if p.Match(name) {
					got = append(got, name)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// Proves GLOB-01.
func TestSyntaxErrors(t *testing.T) {
	tests := []struct {
		pattern string
		pos     int
		want    string // part of the message
	}{
		{"", 1, "empty"},
		{"src/[ab", 5, "[ is not closed"},
		{"é[", 2, "[ is not closed"},
		{"[a[:alpha:]", 1, "[ is not closed"},
		{"a{b,c", 2, "{ is not closed"},
		{"{a,{b,c}", 1, "{ is not closed"},
		{"a}b", 2, "} closes nothing"},
		{"{a}}", 4, "} closes nothing"},
		{"{a,[}", 4, "[ is not closed"},
		{`a\`, 2, "escapes nothing"},
		{"[z-a]", 4, "goes backwards"},
		{"x[[:word:]]", 3, "no class [:word:]"},
		{strings.Repeat("{a,b}", 11), 1, "more than 1024"},
		{strings.Repeat("{a,b}", 5000), 1, "more than 1024"},
	}
	for _, tt := range tests {
		t.Run(tt.pattern, func(t *testing.T) {
			_, err := Compile(tt.pattern, Options{})
			var syntax *SyntaxError
			if !errors.As(err, &syntax) {
				t.Fatalf("error %v", err)
			}
			if syntax.Pos != tt.pos || !strings.Contains(syntax.Error(), tt.want) {
				t.Errorf("position %d, %q; want position %d, %q", syntax.Pos, syntax.Msg, tt.pos, tt.want)
			}
		})
	}
}

func TestSplit(t *testing.T) {
	tests := []struct{ pattern, dir, rest string }{
		{"/usr/src/**/*.go", "/usr/src", "/**/*.go"},
		{"/usr/src/a.go", "/usr/src", "/a.go"},
		{"/*.go", "/", "/*.go"},
		{"/", "/", "/"},
		{"*.go", "", "*.go"},
		{"a/b*/c", "a", "/b*/c"},
		{`C:/x/{a,b}/c`, "C:/x", "/{a,b}/c"},
		{`/a/\*b/c`, "/a", `/\*b/c`},
	}
	for _, tt := range tests {
		dir, rest := Split(tt.pattern)
		if dir != tt.dir || rest != tt.rest {
			t.Errorf("Split(%q) = %q, %q; want %q, %q", tt.pattern, dir, rest, tt.dir, tt.rest)
		}
	}
}

func TestMayContain(t *testing.T) {
	tests := []struct {
		pattern string
		yes, no []string
	}{
		{"*.go", []string{"a", "a/b"}, nil},
		{"src/*.go", []string{"src"}, []string{"test", "src/deep", "sr", "srcs"}},
		{"src/**/x.go", []string{"src", "src/a", "src/a/b"}, []string{"a/src"}},
		{"{a,b}/*/c", []string{"a", "b", "a/x"}, []string{"c", "a/x/y", "a/x/c"}},
		{"a/b", []string{"a"}, []string{"a/b", "b"}},
	}
	for _, tt := range tests {
		p, err := Compile(tt.pattern, Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, dir := range tt.yes {
			if !p.MayContain(dir) {
				t.Errorf("%s may not match below %s", tt.pattern, dir)
			}
		}
		for _, dir := range tt.no {
			if p.MayContain(dir) {
				t.Errorf("%s may match below %s", tt.pattern, dir)
			}
		}
	}
}

// Proves GREP-03.
func TestFilter(t *testing.T) {
	tests := []struct {
		list   string
		want   []string
		pruned []string // directories
	}{
		{"", []string{"a.go", "a_test.go", "a.ts", "src/b.tsx", "src/c.go", "vendor/d.go"}, nil},
		{" , ", []string{"a.go", "a_test.go", "a.ts", "src/b.tsx", "src/c.go", "vendor/d.go"}, nil},
		{"*.{ts,tsx}", []string{"a.ts", "src/b.tsx"}, nil},
		{"*.go !*_test.go", []string{"a.go", "src/c.go", "vendor/d.go"}, nil},
		{"*.go,!*_test.go, !vendor", []string{"a.go", "src/c.go"}, []string{"vendor"}},
		{"!*_test.go *.go", []string{"a.go", "a_test.go", "src/c.go", "vendor/d.go"}, nil},
		{"!vendor/", []string{"a.go", "a_test.go", "a.ts", "src/b.tsx", "src/c.go"}, []string{"vendor"}},
		{"!a.go/", []string{"a.go", "a_test.go", "a.ts", "src/b.tsx", "src/c.go", "vendor/d.go"}, nil},
		{"!vendor vendor/d.go", nil, []string{"src", "vendor"}},
		{"src/*.{go, ts}", []string{"src/c.go"}, []string{"vendor"}},
		{"src/", []string{"src/b.tsx", "src/c.go"}, nil},
		{"[a, b].go", []string{"a.go"}, nil},
	}
	files := []string{"a.go", "a_test.go", "a.ts", "src/b.tsx", "src/c.go", "vendor/d.go"}
	for _, tt := range tests {
		t.Run(tt.list, func(t *testing.T) {
			f, err := ParseFilter(tt.list, Options{})
			if err != nil {
				t.Fatal(err)
			}
			var got, pruned []string
			for _, name := range files {
				if f.Match(name) {
					got = append(got, name)
				}
			}
			for _, dir := range []string{"src", "vendor"} {
				if f.Prune(dir) {
					pruned = append(pruned, dir)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("files (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.pruned, pruned); diff != "" {
				t.Errorf("pruned (-want +got):\n%s", diff)
			}
		})
	}
}

func TestFilterErrors(t *testing.T) {
	for list, pos := range map[string]int{"*.go, [a": 7, "*.go !{a": 7, "!": 2, "a, }": 4} {
		_, err := ParseFilter(list, Options{})
		var syntax *SyntaxError
		if !errors.As(err, &syntax) || syntax.Pos != pos || syntax.Pattern != list {
			t.Errorf("ParseFilter(%q): %v, want position %d", list, err, pos)
		}
	}
}

// TestLinear would never end if matching used backtracking.
func TestLinear(t *testing.T) {
	text := strings.Repeat("a", 20000) + "b"
	for _, pattern := range []string{
		strings.Repeat("*a", 60) + "c",
		strings.Repeat("**/*a*/", 30) + "c",
		strings.Repeat("[a-z]*?", 40) + "c",
		strings.Repeat("{*a,*aa}", 10) + "c",
	} {
		p, err := Compile(pattern, Options{})
		if err != nil {
			t.Fatal(err)
		}
		q := Git(pattern, Options{Fold: true})
		if p.Match(text) || q.Match(text) {
			t.Errorf("%.20s... matches", pattern)
		}
	}
}

// matchSlowly is the pattern language in its simplest form: without classes, and with
// backtracking.
func matchSlowly(pattern, text string) bool {
	switch {
	case pattern == "":
		return text == ""
	case pattern == "**":
		return true
	case strings.HasPrefix(pattern, "**/"):
		if matchSlowly(pattern[3:], text) {
			return true
		}
		_, rest, ok := strings.Cut(text, "/")
		return ok && matchSlowly(pattern, rest)
	case pattern[0] == '*':
		rest := strings.TrimLeft(pattern, "*")
		for i := 0; i <= len(text); i++ {
			if matchSlowly(rest, text[i:]) {
				return true
			}
			if i < len(text) && text[i] == '/' {
				return false
			}
		}
		return false
	case text == "":
		return false
	case pattern[0] == '?':
		return text[0] != '/' && matchSlowly(pattern[1:], text[1:])
	}
	if pattern[0] != text[0] {
		return false
	}
	if pattern[0] == '/' {
		return matchSlowly(pattern[1:], text[1:])
	}
	// After other text ** is equivalent to *.
	rest := pattern[1:]
	if stars := len(rest) - len(strings.TrimLeft(rest, "*")); stars > 1 {
		rest = rest[stars-1:]
	}
	return matchSlowly(rest, text[1:])
}

func TestAgainstSlowMatch(t *testing.T) {
	elements := rapid.SampledFrom([]string{"a", "b", "*", "**", "a*", "*b", "a*b*", "?", "?b", "*a*", "ab", "b**"})
	names := rapid.SampledFrom([]string{"a", "b", "ab", "aab", "abab", "c"})
	rapid.Check(t, func(t *rapid.T) {
		pattern := strings.Join(rapid.SliceOfN(elements, 1, 5).Draw(t, "pattern"), "/")
		text := strings.Join(rapid.SliceOfN(names, 1, 5).Draw(t, "path"), "/")
		want := matchSlowly(pattern, text)
		p, err := Compile("/"+pattern, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if p.Match(text) != want {
			t.Errorf("Compile(%q).Match(%q) = %t", pattern, text, !want)
		}
		if Git(pattern, Options{}).Match(text) != want || Git(pattern, Options{Fold: true}).Match(strings.ToUpper(text)) != want {
			t.Errorf("Git(%q).Match(%q) = %t", pattern, text, !want)
		}
	})
}

func FuzzCompile(f *testing.F) {
	f.Add("src/**/*.{go,[a-z]}", "src/a/b.go", false)
	f.Add("[[:alpha:]é-ü]", "é", true)
	f.Add(`\{{a,{b,c\,}}`, "{c,", false)
	f.Fuzz(func(t *testing.T, pattern, text string, fold bool) {
		p, err := Compile(pattern, Options{Fold: fold})
		var syntax *SyntaxError
		if errors.As(err, &syntax) {
			if syntax.Pos < 1 || syntax.Pos > len(pattern)+1 {
				t.Fatalf("position %d in %q", syntax.Pos, pattern)
			}
			return
		}
		if !p.Match(text) {
			return
		}
		for dir := path.Dir(text); text != "" && path.Clean(text) == text && dir != "." && dir != "/"; dir = path.Dir(dir) {
			if !p.MayContain(dir) {
				t.Errorf("%q matches %q, but nothing below %q", pattern, text, dir)
			}
		}
	})
}

func FuzzGit(f *testing.F) {
	f.Add("a/**/b[!c-]*", "a/x/bd", false)
	f.Fuzz(func(t *testing.T, pattern, text string, fold bool) {
		Git(pattern, Options{Fold: fold}).Match(text)
	})
}

func FuzzFilter(f *testing.F) {
	f.Add("*.go, !{a b,c} [ ]", "a/b.go")
	f.Fuzz(func(t *testing.T, list, text string) {
		filter, err := ParseFilter(list, Options{})
		if err != nil || text == "" || path.Clean(text) != text || strings.HasPrefix(text, "/") || !filter.Match(text) {
			return
		}
		for i := range len(text) {
			if text[i] == '/' && filter.Prune(text[:i]) {
				t.Errorf("%q chooses %q, but nothing below %q", list, text, text[:i])
			}
		}
	})
}

func TestFilterFields(t *testing.T) {
	chars := []rune("a,b {c, d}  [e f],g\\ h [i j")
	var got []string
	for _, s := range fields(chars) {
		got = append(got, string(chars[s.from:s.to]))
	}
	if want := []string{"a", "b", "{c, d}", "[e f]", `g\ h`, "[i", "j"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func BenchmarkMatch(b *testing.B) {
	for _, pattern := range []string{"*.go", "**/*.{ts,tsx}", "internal/**/*_test.go", "internal/*/search/**/[a-m]*.go"} {
		b.Run(pattern, func(b *testing.B) {
			p, err := Compile(pattern, Options{})
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				p.Match("internal/platform/search/glob/glob_test.go")
			}
		})
	}
}
