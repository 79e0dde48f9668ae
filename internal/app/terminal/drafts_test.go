package terminal

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// TestDrafts checks that unsent input is restored in its session. A new session takes over the
// input of a session that was never started, but not from a running process or another project.
//
// Proves X-120.
func TestDrafts(t *testing.T) {
	home := filepath.Join(t.TempDir(), "home")
	begun := map[string]bool{"old": true}
	open := func(project string) *Drafts {
		return OpenDrafts(home, project, func(text string) { t.Error(text) }, func(session string) bool { return begun[session] })
	}
	d := open("/work/app")
	if got := d.Load("old"); got != nil {
		t.Errorf("before the first: %s", got)
	}
	d.Save("old", []byte(`"one"`))
	d.Save("old", []byte(`"two"`))
	if info, err := os.Stat(filepath.Join(home, "drafts", "old")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if got := string(open("/work/app").Load("old")); got != `"two"` {
		t.Errorf("loaded %s", got)
	}
	if got := open("/work/app").Load("new"); got != nil {
		t.Errorf("a session that can be continued lost %s", got)
	}
	d.Save("never-begun", []byte(`"three"`))
	if got := open("/work/other").Load("new"); got != nil {
		t.Errorf("another project got %s", got)
	}
	alive := fmt.Sprintf(`{"project":"/work/app","pid":%d,"field":"of another"}`, os.Getppid())
	if err := os.WriteFile(filepath.Join(home, "drafts", "running"), []byte(alive), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := string(open("/work/app").Load("new")); got != `"three"` {
		t.Errorf("a new session got %s", got)
	}
	if got := open("/work/app").Load("newer"); got != nil && string(got) != `"three"` {
		t.Errorf("another one got %s", got)
	}
	d.Save("old", nil)
	d.Save("old", nil)
	if got := d.Load("old"); got != nil {
		t.Errorf("removed, but %s", got)
	}
	for _, name := range []string{"", ".", "..", "../x", "a/b", "/etc/passwd"} {
		d.Save(name, []byte(`"x"`))
		if got := d.Load(name); got != nil {
			t.Errorf("%q: %s", name, got)
		}
	}
	if err := os.WriteFile(filepath.Join(home, "drafts", "old"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := d.Load("old"); got != nil {
		t.Errorf("damaged: %s", got)
	}
}
