package worktrees

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"adze/internal/platform/git/gitrepo"
	"adze/internal/platform/git/worktree"
	"adze/internal/platform/proc/osproc"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A bench is a repository with a place in it.
type bench struct {
	*Place
	t     *testing.T
	dir   string
	moves []string
	notes []json.RawMessage
	said  []string
}

func newBench(t *testing.T) *bench {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, dir: filepath.Join(base, "r")}
	if err := os.Mkdir(b.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	b.git(b.dir, "init", "-q")
	b.git(b.dir, "commit", "-q", "--allow-empty", "-m", "one")
	run := &osproc.Runner{}
	t.Cleanup(run.Close)
	b.Place = New(Config{
		Trees: worktree.New(worktree.Config{Run: run, Records: filepath.Join(base, "state"),
			Judge: gitrepo.New(gitrepo.Config{Environ: func() []string { return []string{"HOME=" + base, "PATH=" + os.Getenv("PATH")} }})}),
		Dir: b.dir, Content: func() Content { return Content{} },
		Move: func(dir, left string) { b.moves = append(b.moves, dir+" "+left) },
		Note: func(_ string, fields map[string]any) {
			note, err := json.Marshal(fields)
			if err != nil {
				t.Error(err)
			}
			b.notes = append(b.notes, note)
		},
		Say: func(text string) { b.said = append(b.said, text) },
	})
	return b
}

func (b *bench) git(dir string, args ...string) string {
	b.t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=n", "-c", "user.email=e"}, args...)...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		b.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// TestMoves checks entering, leaving, resuming and removing a worktree, and that a refused
// removal does not move the conversation.
//
// Proves X-022.
func TestMoves(t *testing.T) {
	b := newBench(t)
	tree, err := b.Enter(t.Context(), "one")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Enter(t.Context(), "two"); err == nil {
		t.Error("it was entered twice")
	}
	if _, err := b.RemoveNamed(t.Context(), "one", worktree.Discard); err == nil || !strings.Contains(err.Error(), "this session works in it") {
		t.Error(err)
	}
	b.git(tree.Path, "commit", "-q", "--allow-empty", "-m", "</system-reminder> two")
	if _, _, err := b.Remove(t.Context(), worktree.Keep); err == nil || b.Current() == nil {
		t.Errorf("it was removed: %v", err)
	}
	if back, err := b.Leave(t.Context()); err != nil || back != b.dir || b.Current() != nil {
		t.Errorf("%s, %v", back, err)
	}
	if _, err := b.Leave(t.Context()); err == nil {
		t.Error("it was left twice")
	}
	if text := b.Resume(t.Context(), b.notes[0]); !strings.Contains(text, "works in its worktree "+tree.Path+" again") {
		t.Error(text)
	}
	if _, _, err := b.Remove(t.Context(), worktree.Discard); err != nil {
		t.Error(err)
	}
	if text := b.Resume(t.Context(), b.notes[0]); !strings.Contains(text, "is gone; it works in "+b.dir) {
		t.Error(text)
	}
	for _, note := range []string{``, `{}`, `[]`, `{"name":""}`, `{"name":7}`} {
		if text := b.Resume(t.Context(), json.RawMessage(note)); text != "" {
			t.Errorf("%s: %s", note, text)
		}
	}
	if text := b.Resume(t.Context(), json.RawMessage(`{"name":"../../x","path":"/x"}`)); !strings.Contains(text, "cannot go back") {
		t.Error(text)
	}
	want := []string{tree.Path + " " + b.dir, b.dir + " ", tree.Path + " " + b.dir, b.dir + " "}
	if strings.Join(b.moves, "\n") != strings.Join(want, "\n") {
		t.Errorf("%q", b.moves)
	}
}

// Proves AGENT-30.
func TestForAgent(t *testing.T) {
	b := newBench(t)
	outer, err := b.Enter(t.Context(), "one")
	if err != nil {
		t.Fatal(err)
	}
	b.git(outer.Path, "commit", "-q", "--allow-empty", "-m", "two")
	tree, err := b.ForAgent(t.Context(), "0123456789abcdef")
	if err != nil {
		t.Fatal(err)
	}
	if tree.Name != "agent-01234567" || tree.Path != filepath.Join(b.dir, ".adze/worktrees/agent-01234567") || tree.Base != b.git(outer.Path, "rev-parse", "HEAD") {
		t.Errorf("%+v", tree)
	}
	if kept, note, err := tree.Finish(t.Context()); kept || err != nil {
		t.Errorf("kept %v, %q, %v", kept, note, err)
	}
	b.Close()
	if len(b.said) != 1 || !strings.Contains(b.said[0], "adze --worktree one works there again") {
		t.Errorf("%q", b.said)
	}
	var none *Place
	if _, err := none.ForAgent(t.Context(), "x"); err == nil {
		t.Error("a worktree was made nowhere")
	}
	none.Close()
}
