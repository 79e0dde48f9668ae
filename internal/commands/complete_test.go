package commands

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"adze/internal/platform/search/fileindex"
)

// TestComplete checks that Tab completes commands, their arguments and mentioned files, and
// lists several possibilities (5.7, 2.15).
//
// Proves CMD-01, X-121.
func TestComplete(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"src/main.go", "src/match.go", "src/my file.txt", "README.md", "only/one.go"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("x"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	x := fileindex.New(fileindex.Config{Dir: filepath.Join(dir, "src")})
	t.Cleanup(x.Close)
	r := New(Config{Terminal: true, Dir: filepath.Join(dir, "src"), Files: Files{Index: x}})
	for _, tt := range []struct {
		text, want string
		choices    []string
	}{
		{"/cos", "/cost", nil},
		{"/co", "/co", []string{"/copy", "/context", "/compact", "/config", "/cost"}},
		{"/CONT", "/context ", nil},
		{"/mod", "/mode", []string{"/model", "/mode"}},
		{"/ffor", "/effort ", nil},
		{"/nothing", "/nothing", nil},
		{"say /co", "say /co", nil},
		{"/mode acc", "/mode acceptEdits", nil},
		{"/mode ", "/mode ", []string{"default", "acceptEdits", "plan", "auto", "dontAsk", "bypassPermissions"}},
		{"/model opu", "/model opus", nil},
		{"/effort m", "/effort m", []string{"medium", "max"}},
		{"/thinking of", "/thinking off", nil},
		{"/cost x", "/cost x", nil},
		{"/usr/bi", "/usr/bi", nil},
		{"see @mai", "see @main.go ", nil},
		{"see @ma", "see @ma", []string{"main.go", "match.go"}},
		{"see @my", `see @"my file.txt" `, nil},
		{`see @"my f`, `see @"my file.txt" `, nil},
		{"@./mat", "@./match.go ", nil},
		{"@../REA", "@../README.md ", nil},
		{"@../on", "@../only/", nil},
		{"@" + dir + "/REA", "@" + dir + "/README.md ", nil},
		{"@..", "@../", nil},
		{"@zzz", "@zzz", nil},
		{"me@ma", "me@ma", nil},
		{"/compact @mai", "/compact @main.go ", nil},
		{"", "", nil},
	} {
		got, choices := r.Complete(t.Context(), tt.text)
		if got != tt.want {
			t.Errorf("%q is completed to %q, not %q", tt.text, got, tt.want)
		}
		if diff := cmp.Diff(tt.choices, choices); diff != "" {
			t.Errorf("%q (-want +got):\n%s", tt.text, diff)
		}
	}
}
