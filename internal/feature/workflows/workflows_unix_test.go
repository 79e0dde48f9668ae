//go:build unix

package workflows

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"adze/internal/domain/workflow"
	"adze/internal/platform/fs/scope"
	"adze/internal/settings"
)

// TestShownCommandIsTheRun checks that the command shown by /workflows for a run starts the
// same run when typed.
//
// Proves X-130.
func TestShownCommandIsTheRun(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := workflow.Head{
			Name:   rapid.StringMatching(`[A-Za-z0-9_][A-Za-z0-9_-]{0,9}`).Draw(t, "name"),
			Inputs: rapid.MapOf(rapid.StringMatching(`[A-Za-z0-9_-]{1,5}`), rapid.StringMatching(`[a-z '"\\=\n\t]{0,8}`)).Draw(t, "inputs"),
		}
		in, err := parse(strings.TrimPrefix(typedAs(h), "/workflow "))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(h, workflow.Head{Name: in.Name, Inputs: in.Inputs}); diff != "" {
			t.Fatal(diff)
		}
	})
}

// TestHostileFiles checks that invalid files are reported and harmless: a pipe does not block,
// a symlink does not lead out of the project, a large file is not read.
//
// Proves X-130.
func TestHostileFiles(t *testing.T) {
	root, out := t.TempDir(), t.TempDir()
	folder := filepath.Join(root, "workflows")
	write := func(path, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	good := "steps: [{name: a, prompt: b}]"
	write(filepath.Join(folder, "good.yaml"), good)
	write(filepath.Join(folder, "large.yaml"), strings.Repeat("#", maxFile+1))
	write(filepath.Join(folder, "notes.txt"), good)
	write(filepath.Join(folder, "evil.json"), `{"name":"../../x","steps":[{"name":"a","prompt":"b"}]}`)
	write(filepath.Join(out, "away.yaml"), good)
	if err := os.Symlink(filepath.Join(out, "away.yaml"), filepath.Join(folder, "away.yaml")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(folder, "dir.yaml"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(folder, "pipe.yaml"), 0o600); err != nil {
		t.Fatal(err)
	}
	var s Set
	s.read(settings.Folder{Path: folder, Scope: scope.Project}, root)
	if len(s.All) != 1 || s.All[0].Name != "good" {
		t.Errorf("found %v", s.All)
	}
	for _, want := range []string{
		"large.yaml: it is larger than", "evil.json: the name", "away.yaml: it is a link that leads out of the project",
		"dir.yaml: it is not a regular file", "pipe.yaml: it is not a regular file",
	} {
		if !strings.Contains(strings.Join(s.Problems, "\n"), want) {
			t.Errorf("no problem says %q in %q", want, s.Problems)
		}
	}
}

// TestSchemasAreCompiledOnce checks that a schema is compiled once, no matter how often steps
// use it.
//
// Proves X-130.
func TestSchemasAreCompiledOnce(t *testing.T) {
	ws := New(Config{})
	source := json.RawMessage(`{"type":"object"}`)
	first, err := ws.compile(source)
	if err != nil {
		t.Fatal(err)
	}
	for range 80 {
		if again, err := ws.compile(source); err != nil || again != first {
			t.Fatalf("compiled again: %v", err)
		}
	}
}
