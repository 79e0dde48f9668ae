package terminal

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestPrompts checks that a project's prompts are offered there and nowhere else.
//
// Proves SESS-62.
func TestPrompts(t *testing.T) {
	home := filepath.Join(t.TempDir(), "home")
	open := func(dir string) *History {
		return OpenHistory(home, dir, time.Now, func(text string) { t.Error(text) })
	}
	p := open("/work/app")
	if got := p.Recent(); got != nil {
		t.Errorf("before the first: %q", got)
	}
	for _, text := range []string{"first", "two\nlines", "!make"} {
		p.Add(text, true)
	}
	open("/work/other").Add("elsewhere", true)
	path := filepath.Join(home, "history.jsonl")
	damaged, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := damaged.WriteString("not JSON\n{\"display\":7}\n"); err != nil {
		t.Fatal(err)
	}
	damaged.Close()
	open("/work/app").Add("last", false)
	if diff := cmp.Diff([]string{"first", "two\nlines", "!make", "last"}, open("/work/app").Recent()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}
