package market

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"adze/internal/domain/plugin"
	"adze/internal/platform/proc/osproc"
)

// TestOnlyGitRuns checks with strace that fetching a plugin from a hostile repository runs only
// git, and the shell with which git starts the other end of a local repository, and that
// installed files are synced to disk before they get their final name.
//
// Proves X-071.
func TestOnlyGitRuns(t *testing.T) {
	if home := os.Getenv("MARKET_TEST_WITNESS"); home != "" {
		run := &osproc.Runner{}
		defer run.Close()
		m := New(Config{Store: plugin.OpenStore(home), Run: run, Environ: os.Environ})
		if _, err := m.Add(t.Context(), plugin.Source{Kind: plugin.Git, At: os.Getenv("MARKET_TEST_REPO")}); err != nil {
			t.Fatal(err)
		}
		c, err := m.Fetch(t.Context(), plugin.ID{Name: "bad", Market: "team"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Install(t.Context()); err != nil {
			t.Fatal(err)
		}
		return
	}
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Fatalf("strace is the witness: %v", err)
	}
	program, _ := trap(t)
	repo := hostile(t, program)
	trace := filepath.Join(t.TempDir(), "trace")
	cmd := exec.Command(strace, "-f", "-qq", "-s", "1000", "-e", "signal=none", "-y", "-e", "trace=execve,execveat,fsync", "-o", trace, os.Args[0], "-test.run=^TestOnlyGitRuns$")
	cmd.Env = append(environ(t, program), "MARKET_TEST_WITNESS="+t.TempDir(), "MARKET_TEST_REPO="+repo)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	text, err := os.ReadFile(trace)
	if err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`fsync\(\d+<[^>]*/plugins/tmp/[^>]*/marketplace\.json>`).Match(text) {
		t.Error("the files are not synced")
	}
	runs := 0
	for line := range strings.Lines(string(text)) {
		_, call, ok := strings.Cut(line, "execve(")
		if !ok || !strings.Contains(line, " = 0") && !strings.Contains(line, "<unfinished") {
			continue
		}
		path, args, _ := strings.Cut(call, ", ")
		switch path = strings.Trim(path, `"`); {
		case path == os.Args[0]:
		case filepath.Base(path) == "git" || strings.HasPrefix(filepath.Base(path), "git-") && strings.Contains(path, "git-core"):
			runs++
		case path == "/bin/sh" && strings.HasPrefix(args, `["/bin/sh", "-c", "git-upload-pack '`+repo+`'"`):
		default:
			t.Errorf("something else was run: %s", line)
		}
	}
	if runs < 5 {
		t.Errorf("git was run %d times:\n%s", runs, text)
	}
}
