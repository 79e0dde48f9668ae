//go:build unix

package envfile

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"adze/internal/platform/proc/osproc"
)

func TestApply(t *testing.T) {
	var runner osproc.Runner
	defer runner.Close()
	var said strings.Builder
	f := New(filepath.Join(t.TempDir(), "env", "id.sh"), &runner, func(text string) { said.WriteString(text) })
	path := "PATH=" + os.Getenv("PATH")
	base := []string{path, "KEPT=a", "LOST=b"}
	apply := func(env []string) []string {
		got := slices.DeleteFunc(f.Apply(env), func(entry string) bool { return strings.HasPrefix(entry, "ADZE_RUN=") }) // set by the runner
		slices.Sort(got)
		return got
	}
	var stamp time.Time
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(f.Path(), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		stamp = stamp.Add(time.Hour) // differs from the last version's time
		if err := os.Chtimes(f.Path(), stamp, stamp); err != nil {
			t.Fatal(err)
		}
	}
	stamp = time.Now()

	if got := f.Apply(base); !cmp.Equal(got, base) {
		t.Errorf("without a file: %q", got)
	}
	f.Prepare()
	write("")
	if got := f.Apply(base); !cmp.Equal(got, base) {
		t.Errorf("an empty file: %q", got)
	}
	write("export NEW=\"$KEPT b\"\nunset LOST\nLOCAL=x\necho noise\n")
	want := []string{"KEPT=a", "NEW=a b", path}
	for range 2 {
		if diff := cmp.Diff(want, apply(base)); diff != "" {
			t.Error(diff)
		}
	}
	if diff := cmp.Diff([]string{"KEPT=c", "NEW=c b", path}, apply([]string{path, "KEPT=c"})); diff != "" {
		t.Errorf("on another environment: %s", diff)
	}
	got := f.Apply(base)
	got[0] = "damaged"
	if diff := cmp.Diff(want, apply(base)); diff != "" {
		t.Errorf("a caller changed the result: %s", diff)
	}
	write("exit 3")
	if got := f.Apply(base); !cmp.Equal(got, base) || !strings.Contains(said.String(), "the variables that hooks set are not used: ") || !strings.Contains(said.String(), "ended with code 3") {
		t.Errorf("a file that fails: %q, said %q", got, said.String())
	}
	f.Remove()
	if _, err := os.Stat(f.Path()); err == nil {
		t.Error("the file is still there")
	}
}

func TestNoFile(t *testing.T) {
	for name, f := range map[string]*File{"nil": nil, "no path": New("", nil, nil)} {
		f.Prepare()
		if got := f.Apply([]string{"A=b"}); !cmp.Equal(got, []string{"A=b"}) || f.Path() != "" {
			t.Errorf("%s: %q, %q", name, got, f.Path())
		}
		f.Remove()
	}
}

// TestPrepare checks that the user is notified if the directory cannot be created.
func TestPrepare(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var said string
	New(filepath.Join(file, "id.sh"), nil, func(text string) { said = text }).Prepare()
	if !strings.HasPrefix(said, "hooks cannot set variables: ") {
		t.Errorf("said %q", said)
	}
}
