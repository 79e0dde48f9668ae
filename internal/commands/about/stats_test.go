package about

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"adze/internal/commands"
	"adze/internal/platform/fs/fsys"
	"adze/internal/platform/net/contacts"
	"adze/internal/session"
	"adze/internal/session/archive"
	"adze/internal/session/store"
	"adze/internal/ui/draw"
)

// lines returns a page as it looks on a narrow screen.
func lines(t *testing.T, a commands.Answer) string {
	t.Helper()
	p, ok := a.(commands.Page)
	if !ok {
		t.Fatalf("%T is not a page", a)
	}
	return draw.Palette{}.Text(draw.Page(p, draw.Options{Width: 80})) + "\n"
}

func short(path string) string { return strings.TrimPrefix(path, "/work/app/") }

// Proves X-134.
func TestStatsPage(t *testing.T) {
	s := &archive.Stats{
		Sessions: 1234,
		Sum:      archive.Work{Prompts: 20_000, Input: 98_765_432, Output: 1_234_567, CostUSD: 612.5, Unknown: true},
		Days: []archive.Day{
			{Date: "2026-11-04", Work: archive.Work{Prompts: 12, Input: 1_500_000, Output: 20_000, CostUSD: 4.25}},
			{Date: "2026-11-03", Work: archive.Work{Prompts: 1, Input: 900, Output: 20, Unknown: true}},
		},
		Models: []archive.ModelUse{{Name: "claude-opus-5-5", Work: archive.Work{Input: 1_500_000, Output: 20_000, CostUSD: 4.25}}},
		Tools:  []archive.Use{{Name: "Read", Times: 3200}, {Name: "Edit", Times: 800}},
		Files:  []archive.Use{{Name: "/work/app/main.go", Times: 31}},
	}
	want := `Sessions:  1,234 in the last 30 days
Prompts:   20,000
Tokens:    98,765,432 in, 1,234,567 out
Cost:      more than $612.50
Tools:     Read 3,200, Edit 800
Day         prompts      input  output     cost
2026-11-04       12  1,500,000  20,000    $4.25
2026-11-03        1        900      20  unknown
Model                input  output   cost
claude-opus-5-5  1,500,000  20,000  $4.25
File     edits
main.go     31
`
	if diff := cmp.Diff(want, lines(t, statsPage(s, "in the last 30 days", short))); diff != "" {
		t.Error(diff)
	}
	if got := lines(t, statsPage(&archive.Stats{}, "today", short)); got != "No sessions today.\n" {
		t.Errorf("%q", got)
	}
}

// newRegistry returns a registry of an unsaved session, on the fifth of November.
func newRegistry(t *testing.T, home string) *commands.Registry {
	t.Helper()
	s := session.Open(t.Context(), session.Config{ID: "00000001-id", Models: session.Models{Main: "m"}})
	t.Cleanup(s.Close)
	return commands.New(commands.Config{
		Session: s, Home: home, Dirs: fsys.Dirs{Config: home, Home: home}, Dir: t.TempDir(), Terminal: true,
		Now: func() time.Time { return time.Date(2026, 11, 5, 9, 0, 0, 0, time.UTC) },
		Env: commands.Env{Sections: Sections(Config{}), Settings: func() commands.Settings { return commands.Settings{} }},
	})
}

// TestStats checks that days begin at midnight, and that skipped sessions are reported.
func TestStats(t *testing.T) {
	home := t.TempDir()
	r := newRegistry(t, home)
	folder, err := store.ClaimProject(home, "/work/app")
	if err != nil {
		t.Fatal(err)
	}
	const prompt = `{"type":"user","uuid":"e1","parentUuid":null,"sessionId":"s1","timestamp":"2026-11-03T00:00:00Z","message":{"role":"user","content":"hello"}}` + "\n"
	if err := os.WriteFile(filepath.Join(folder, "s1.jsonl"), []byte(prompt), 0o600); err != nil {
		t.Fatal(err)
	}
	for arg, want := range map[string]string{
		"3": "1 in the last 3 days", "2": "No sessions in the last 2 days.", "1": "No sessions today.",
		"": "1 in the last 30 days", "all": "1 since the first session",
	} {
		a, err := r.Run(t.Context(), "stats", arg)
		if err != nil {
			t.Fatal(err)
		}
		if got := lines(t, a); !strings.Contains(got, want) {
			t.Errorf("/stats %s: %s", arg, got)
		}
	}
	for _, arg := range []string{"0", "-1", "x", "99999999999999999999", "40000"} {
		if _, err := r.Run(t.Context(), "stats", arg); err == nil {
			t.Errorf("/stats %s: no error", arg)
		}
	}
	a, err := stats(t.Context(), r, "all", 0)
	if err != nil || !strings.Contains(lines(t, a), "1 older session was not counted") {
		t.Error(a, err)
	}
}

// TestContents checks that everything the program stores has a description.
func TestContents(t *testing.T) {
	for _, name := range []string{"AGENTS.md", "agent-memory", "agents-index", "dreams", "plans", "projects", "schedules", "start", "teams", "workflows", "worktrees"} {
		if contents(name) == "" {
			t.Errorf("%s has no text", name)
		}
	}
}

// Proves X-145.
func TestPrivacyPage(t *testing.T) {
	r := newRegistry(t, t.TempDir())
	r.Files.Short = func(path string) string { return strings.Replace(short(path), r.Home, "~/.adze", 1) }
	places := []place{
		{path: filepath.Join(r.Home, "projects"), about: contents("projects"), files: 10_240, bytes: 3 << 30, more: true},
		{path: filepath.Join(r.Home, "history.jsonl"), about: contents("history.jsonl"), files: 1, bytes: 2048},
		{path: "/work/app/.adze", about: "settings of this project", files: 1, bytes: 20},
	}
	hosts := []contacts.Contact{{Host: "api.example.com", For: contacts.Model, Times: 12}, {Host: "go.dev", For: contacts.Web, Times: 1}}
	want := `Stored in ~/.adze, in files that only you can read:
Name            files            size  holds
projects       10,240  over 3072.0 MB  conversations, long outputs, memories
history.jsonl       1          2.0 KB  input history, for the Up key
.adze               1        20 bytes  settings of this project
  note: some of it could not be counted whole
This conversation is not saved.
Contacted since adze was started:
Host             times  for
api.example.com     12  the model
go.dev               1  web tools
  note: there were 3 contacts to other hosts
Hosts contacted by other programs are not listed: commands outside the sandbox,
git and local MCP servers. adze sends no telemetry.
`
	if diff := cmp.Diff(want, lines(t, privacyPage(r, places, hosts, 3))); diff != "" {
		t.Error(diff)
	}
	if got := lines(t, privacyPage(r, nil, nil, 0)); !strings.Contains(got, "Nothing is stored on this machine.\n") || !strings.Contains(got, "No host was contacted") {
		t.Error(got)
	}
}

// TestStored checks that links out of the folder are not followed.
func TestStored(t *testing.T) {
	home, dir, outside := t.TempDir(), t.TempDir(), t.TempDir()
	for _, path := range []string{filepath.Join(home, "projects/p/a.jsonl"), filepath.Join(dir, ".adze/settings.json"), filepath.Join(outside, "large")} {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("12345"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(outside, filepath.Join(home, "projects", "link")); err != nil {
		t.Fatal(err)
	}
	got := stored(t.Context(), fsys.Dirs{Home: home}, dir)
	if len(got) != 2 || got[0].bytes >= 10+int64(len(outside)) || got[0].files != 2 || got[1] != (place{filepath.Join(dir, ".adze"), "settings of this project", 1, 5, false}) {
		t.Errorf("%+v", got)
	}
}
