package lsp

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"adze/internal/agent/exec"
	"adze/internal/lsp"
	"adze/internal/lsp/lsptest"
	"adze/internal/msg"
	"adze/internal/platform/fs/filestate"
	"adze/internal/platform/fs/replace"
	"adze/internal/platform/proc/osproc"
	"adze/internal/tool/change"
	"adze/internal/tool/tooltest"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case osproc.ReaperArg:
			os.Exit(osproc.Reap(os.Args[2:]))
		case "lsptest":
			os.Exit(lsptest.Main(os.Args[2:], os.Stdin, os.Stdout, os.Stderr))
		}
	}
	os.Exit(m.Run())
}

// newConfig returns the tool's configuration for a directory, with a scripted server.
func newConfig(t *testing.T, dir string) Config {
	r := &osproc.Runner{Reaper: os.Args[0]}
	s := lsp.Open(lsp.Config{
		Servers: func() []lsp.Server {
			return []lsp.Server{{Name: "test", Command: os.Args[0], Args: []string{"lsptest"}, Languages: map[string]string{".w": "words"}}}
		},
		Trusted: func() bool { return true }, Runner: r, Environ: os.Environ,
	})
	t.Cleanup(func() {
		s.Close()
		r.Close()
	})
	return Config{
		Servers: s, Roots: func() []string { return []string{dir} }, Hidden: func(path string) bool { return filepath.Base(path) == "secret.w" },
		Gates: func() ([]exec.Gate, []exec.After) { return nil, nil },
		Files: &change.Files{Dir: func() string { return dir }, Home: func() string { return "" }, State: filestate.New(), Replacer: replace.New(t.TempDir())},
	}
}

func TestContract(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"a.w": "def one\ncall one\n", "secret.w": "call one\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	c := newConfig(t, dir)
	tooltest.Run(t, New(c), tooltest.Cases{
		Input: Input{},
		Good: map[string]string{
			"definition": `{"operation":"definition","file_path":"a.w","line":2,"symbol":"one"}`,
			"symbols":    `{"operation":"document_symbols","file_path":"a.w"}`,
		},
		Dir: dir,
	})
	// A file that a rule hides is not shown.
	call, err := New(c).Bind(json.RawMessage(`{"operation":"references","file_path":"a.w","line":2,"symbol":"one"}`))
	if err != nil {
		t.Fatal(err)
	}
	r, err := call.Run(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := msg.PlainText(r.Parts), "a.w:1: def one\na.w:2: call one\n1 in files that are not shown"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestWordIndex(t *testing.T) {
	for _, tt := range []struct {
		text, name string
		want       int
	}{
		{"foobar(foo)", "foo", 7}, {"foobar", "foo", 0}, {"a.b.c", "b.c", 4}, {"std::sort(x)", "std::sort", 5}, {"p->x", "p->x", 3},
		{"é.x = äx", "x", 3}, {"none", "x", -1}, {"", "x", -1}, {"x.", "x.", 0},
	} {
		if got := wordIndex(tt.text, tt.name); got != tt.want {
			t.Errorf("%q in %q: %d, want %d", tt.name, tt.text, got, tt.want)
		}
	}
}
