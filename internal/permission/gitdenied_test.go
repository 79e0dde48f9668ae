//go:build !race

package permission

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"adze/internal/platform/git/gitrepo"
)

// TestGitShowsNothingDenied runs the git commands that pass and checks that none shows or
// copies a file that a rule of any form denies reading.
//
// Proves PERM-38.
func TestGitShowsNothingDenied(t *testing.T) {
	w, names := gitWorld(t)
	data, err := os.ReadFile(filepath.Join("testdata", "git.txt"))
	if err != nil {
		t.Fatal(err)
	}
	rules := []struct{ rule, secret string }{
		{"Read(./.env)", envSecret}, {"Read(.env)", envSecret}, {"Read(**/.env)", envSecret}, {"Read(/.env)", envSecret},
		{"Read(/" + w.project + "/.env)", envSecret}, {"Read(./secrets)", dirSecret}, {"Read(/" + w.project + "/secrets/**)", dirSecret},
	}
	policies := map[string]*Policy{}
	for _, r := range rules {
		policies["deny "+r.rule] = Compile(w.config(Default, "deny "+r.rule))
		policies["deny "+r.rule+", allow Bash"] = Compile(w.config(Default, "deny "+r.rule, "allow Bash"))
		policies["ask "+r.rule+", allow Bash"] = Compile(w.config(Default, "ask "+r.rule, "allow Bash"))
	}
	forms, passed, leaks := 0, 0, 0
	repository := remembering(testRepository)
	for line := range strings.Lines(string(data)) {
		line = names.Replace(strings.TrimSuffix(line, "\n"))
		if line == "" || line[0] == '#' {
			continue
		}
		forms++
		var out []byte
		var shown []string
		u := newUse(t, fake{name: "Bash"}, runs(line))
		for _, r := range rules {
			for _, name := range []string{"deny " + r.rule, "deny " + r.rule + ", allow Bash", "ask " + r.rule + ", allow Bash"} {
				p := policies[name]
				f := FactsOf(p, u.Tool, u.Call)
				f.Command.repository = repository
				if Decide(p, f).Behavior != Allow {
					continue
				}
				passed++
				if out == nil {
					out = append(w.runCopy(t, line), '\n')
				}
				if bytes.Contains(out, []byte(r.secret)) {
					leaks++
					shown = append(shown, name)
				}
			}
		}
		if len(shown) > 0 {
			t.Errorf("%s shows the secret, with %q", line, shown)
		}
	}
	t.Logf("%d forms, %d decisions, %d passed, %d leaks", forms, forms*len(policies), passed, leaks)
	if forms < 250 {
		t.Errorf("there are only %d forms", forms)
	}
}

// remembering caches readers and their answers. The repositories must not change.
func remembering(repository func(string) (*gitrepo.Reader, error)) func(string) (*gitrepo.Reader, error) {
	type answer struct {
		r   *gitrepo.Reader
		err error
	}
	known := map[string]answer{}
	return func(dir string) (*gitrepo.Reader, error) {
		a, ok := known[dir]
		if !ok {
			a.r, a.err = repository(dir)
			known[dir] = a
		}
		return a.r, a.err
	}
}
