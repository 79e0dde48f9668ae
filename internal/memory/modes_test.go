package memory

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Proves MEM-55.
func TestModeOf(t *testing.T) {
	plain, team := folder(t, "a.md", "x"), folder(t, "team/a.md", "x")
	tests := []struct {
		name               string
		folder             Folder
		enabled, assistant bool
		want               Mode
	}{
		{"off", team, false, true, Off},
		{"off and plain", plain, false, false, Off},
		{"a log comes before a team", team, true, true, Daily},
		{"a log comes before plain", plain, true, true, Daily},
		{"a team comes before plain", team, true, false, Team},
		{"plain", plain, true, false, Auto},
		{"not there yet", Folder{filepath.Join(t.TempDir(), "none")}, true, false, Auto},
	}
	for _, tt := range tests {
		if got := tt.folder.ModeOf(tt.enabled, tt.assistant); got != tt.want {
			t.Errorf("%s: %d", tt.name, got)
		}
	}
	outside := folder(t, "a.md", "x")
	if err := os.Symlink(t.TempDir(), outside.Path("team")); err != nil {
		t.Fatal(err)
	}
	if got := outside.ModeOf(true, false); got != Auto {
		t.Error("a link is taken for the team's folder")
	}
}

// Proves MEM-52.
func TestTeamPath(t *testing.T) {
	f := folder(t, "team/a.md", "x", "team/deep/b.md", "y", "private.md", "z")
	for name, target := range map[string]string{"out.md": "../private.md", "away": t.TempDir(), "in.md": "a.md", "gone.md": "../later.md", "loop": "loop"} {
		if err := os.Symlink(target, f.Path("team/"+name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"a.md", "new.md", "deep/c.md", "in.md", "new/er/d.md"} {
		if path, err := f.TeamPath(name); path != f.Path("team/"+name) || err != nil {
			t.Errorf("%s: %s, %v", name, path, err)
		}
	}
	for _, name := range []string{"", "..", "../private.md", "deep/../../private.md", "/etc/passwd", "out.md", "away/x.md", "away/new/x.md", "gone.md", "loop", "a\x00b"} {
		if path, err := f.TeamPath(name); err == nil {
			t.Errorf("%q leads to %s", name, path)
		}
	}
	linked := folder(t, "a.md", "x")
	if err := os.Symlink(t.TempDir(), linked.Path("team")); err != nil {
		t.Fatal(err)
	}
	if path, err := linked.TeamPath("a.md"); err == nil {
		t.Errorf("through a linked folder: %s", path)
	}
	if path, err := (Folder{"/none"}).TeamPath("a.md"); path != filepath.FromSlash("/none/team/a.md") || err != nil {
		t.Error(path, err)
	}
}

// Proves MEM-54.
func TestAgentFolder(t *testing.T) {
	for scope, want := range map[string]string{
		"user": "/state/agent-memory/reviewer", "project": "/w/.adze/agent-memory/reviewer", "local": "/w/.adze/agent-memory-local/reviewer",
	} {
		if f, err := AgentFolder(scope, "/state", "/w", "reviewer"); f.Dir != filepath.FromSlash(want) || err != nil {
			t.Errorf("%s: %v, %v", scope, f, err)
		}
	}
	for _, bad := range [][2]string{{"team", "reviewer"}, {"", "reviewer"}, {"user", ""}, {"user", "../x"}, {"user", ".."}, {"user", "a/b"}} {
		if f, err := AgentFolder(bad[0], "/state", "/w", bad[1]); err == nil {
			t.Errorf("%v: %v", bad, f)
		}
	}
}

// Proves MEM-50.
func TestAppend(t *testing.T) {
	f := Folder{filepath.Join(t.TempDir(), "memory")}
	night := time.Date(2026, 12, 31, 23, 59, 0, 0, time.Local)
	for _, line := range []struct {
		at   time.Time
		text string
	}{
		{night, "Before\nmidnight."}, {night.Add(2 * time.Minute), "After it."}, {night.Add(3 * time.Minute), "Later."},
		{night.Add(-time.Minute), "The clock went back."},
	} {
		if err := f.Append(line.at, line.text); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{
		"logs/2026/12/2026-12-31.md": "- 23:59 Before midnight.\n- 23:58 The clock went back.\n",
		"logs/2027/01/2027-01-01.md": "- 00:01 After it.\n- 00:02 Later.\n",
	} {
		if got, err := os.ReadFile(f.Path(name)); string(got) != want || err != nil {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if err := f.Append(night, "The key is AKIAQ7RSTUVWXYZ2K4L9"); err == nil {
		t.Error("a secret is in the log")
	}
	if !strings.HasSuffix(f.LogPattern(), filepath.FromSlash("memory/logs/YYYY/MM/YYYY-MM-DD.md")) {
		t.Error(f.LogPattern())
	}
}

func TestDream(t *testing.T) {
	f := Folder{filepath.Join(t.TempDir(), "memory")}
	now := time.Date(2026, 11, 15, 3, 0, 0, 0, time.UTC)
	if d := f.Dream(); !d.Last.IsZero() || !d.Due(now, 5) || d.Due(now, 4) {
		t.Error(d)
	}
	end, err := f.BeginDream(now)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.BeginDream(now.Add(time.Hour)); !errors.Is(err, ErrDreaming) {
		t.Errorf("two at once: %v", err)
	}
	later, err := f.BeginDream(now.Add(61 * time.Minute))
	if err != nil {
		t.Fatalf("an old lock: %v", err)
	}
	if err := end(false); err != nil {
		t.Fatal(err)
	}
	if _, err := f.BeginDream(now.Add(62 * time.Minute)); !errors.Is(err, ErrDreaming) {
		t.Errorf("the lock of another was removed: %v", err)
	}
	if !f.Dream().Last.IsZero() {
		t.Error("one that failed counts")
	}
	if err := later(true); err != nil {
		t.Fatal(err)
	}
	if d := f.Dream(); d.Due(d.Last.Add(23*time.Hour), 9) || !d.Due(d.Last.Add(24*time.Hour), 5) || !d.Last.Equal(now.Add(61*time.Minute)) {
		t.Error(d)
	}
	if end, err := f.BeginDream(now.Add(63 * time.Minute)); err != nil || end(false) != nil {
		t.Error(err)
	}
	if all, err := f.List(); len(all) != 0 || err != nil {
		t.Error(all, err)
	}
}

// Proves MEM-03.
func TestAdopt(t *testing.T) {
	theirs := folder(t,
		"a.md", matter("A", "x", "user"), "deep/b.md", matter("B", "y", "project"),
		"key.md", "AKIAQ7RSTUVWXYZ2K4L9", "binary.md", "\x00", "large.md", strings.Repeat("x", maxAdopted+1),
		IndexName, "- [A](a.md) — x\n- [Key](key.md)\n",
	)
	secret := filepath.Join(t.TempDir(), "x.md")
	if err := os.WriteFile(secret, []byte("private"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(secret, theirs.Path("link.md")); err != nil {
		t.Fatal(err)
	}
	mine := Folder{filepath.Join(t.TempDir(), "memory")}
	if n := mine.Adoptable(theirs); n != 3 {
		t.Errorf("%d can be adopted", n)
	}
	copied, left, err := mine.Adopt(theirs)
	if copied != 2 || len(left) != 4 || err != nil {
		t.Error(copied, left, err)
	}
	if index, err := mine.Index(); index != "- [A](a.md) — x\n- [B](deep/b.md) — y\n" || err != nil {
		t.Errorf("%q, %v", index, err)
	}
	a, _ := mine.Find("a")
	was, _ := theirs.Find("a")
	if info, err := os.Stat(mine.Path("a.md")); err != nil || info.Mode().Perm() != 0o600 || !a.Modified.Equal(was.Modified) {
		t.Error(info, err)
	}
	if mine.Adoptable(theirs) != 0 {
		t.Error("a folder with memories would take over others")
	}
	if (Folder{t.TempDir()}).Adoptable(Folder{"/none"}) != 0 {
		t.Error("there is something to adopt where nothing is")
	}
}
