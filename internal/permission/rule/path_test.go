package rule

import (
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestPathIndexMisses checks that the index finds a rule exactly when trying all of them would.
func TestPathIndexMisses(t *testing.T) {
	names := rapid.SampledFrom([]string{"a", "b", "src", ".env", "x.pem", "y.tar.pem", "[id]", "*.pem", "**", "*", "?", "x*", "{a,b}", "*.{pem,key}", ".env*", "[a-c]"})
	plainNames := rapid.SampledFrom([]string{"a", "b", "src", ".env", ".env.local", "x.pem", "y.tar.pem", "[id]", "z.key", "c", "xy"})
	rapid.Check(t, func(t *rapid.T) {
		var rules []*pathRule
		x := new(PathIndex)
		a := &Anchors{Start: "/w/p", Dir: "/w/p", Home: "/w", resolve: func(s string) (string, error) { return s, nil }}
		for range rapid.IntRange(1, 8).Draw(t, "rules") {
			prefix := rapid.SampledFrom([]string{"", "./", "//", "~/", "/", "../"}).Draw(t, "anchor")
			content := prefix + strings.Join(rapid.SliceOfN(names, 1, 3).Draw(t, "names"), "/")
			r, err := Parse(Rule{Tool: "Read", Content: content}.String())
			if err != nil {
				continue
			}
			r.Behavior = rapid.SampledFrom([]Behavior{Allow, Deny}).Draw(t, "behaviour")
			pr := placePath(&r, a)
			rules = append(rules, pr)
			x.add(pr)
		}
		x.build(nil)
		path := rapid.SampledFrom([]string{"/w/p/", "/w/", "/", "/w/p/src/"}).Draw(t, "base") + strings.Join(rapid.SliceOfN(plainNames, 1, 4).Draw(t, "path"), "/")
		want := false
		for _, r := range rules {
			want = want || r.matches(path)
		}
		if got := x.Match(path, nil) != nil; got != want {
			t.Fatalf("%s: found %v, want %v", path, got, want)
		}
		wantBelow, wantSure := false, false
		for _, r := range rules {
			may, sure := r.reaches(path)
			wantBelow, wantSure = wantBelow || may, wantSure || sure
		}
		r, sure := x.Below(path)
		if (r != nil) != wantBelow || sure != wantSure {
			t.Fatalf("below %s: found %v %v, want %v %v", path, r != nil, sure, wantBelow, wantSure)
		}
		// reaches must announce every match below a directory.
		for _, r := range rules {
			if r.matches(path + "/deep/er") {
				if may, _ := r.reaches(path); !may && !r.matches(path) {
					t.Fatalf("%s matches %s/deep/er, but does not reach below %s", r, path, path)
				}
			}
		}
	})
}

func FuzzPathMatch(f *testing.F) {
	f.Add("src/**/*.go", "/w/p/src/a/b.go")
	f.Add("//etc/[a-z]*", "/etc/x")
	f.Add("~/{a,b}/", "/w/a/c")
	f.Fuzz(func(t *testing.T, content, path string) {
		r, err := Parse(Rule{Tool: "Read", Content: content}.String())
		if err != nil || r.Content == "" || !filepath.IsAbs(path) {
			return
		}
		a := &Anchors{Start: "/w/p", Dir: "/w/p", Home: "/w", resolve: func(s string) (string, error) { return s, nil }}
		path = a.Form(filepath.Clean(path))
		r.Behavior = Allow
		allows := placePath(&r, a).matches(path)
		r.Behavior = Deny
		if denies := placePath(&r, a).matches(path); allows && !denies {
			t.Fatalf("%q allows %q, but as a deny rule does not match it", content, path)
		}
		x := new(PathIndex)
		x.add(placePath(&r, a))
		x.build(nil)
		if (x.Match(path, nil) != nil) != placePath(&r, a).matches(path) {
			t.Fatalf("the index finds %q for %q differently", content, path)
		}
	})
}
