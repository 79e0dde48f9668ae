package suggest_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"adze/internal/commands"
	"adze/internal/commands/suggest"
	"adze/internal/platform/search/fileindex"
)

func TestRead(t *testing.T) {
	for _, tt := range []struct {
		text string
		want suggest.Query
	}{
		{"", suggest.Query{}},
		{"hello", suggest.Query{}},
		{"/", suggest.Query{Kind: suggest.Commands}},
		{"/co", suggest.Query{Kind: suggest.Commands, Typed: "co"}},
		{" /co", suggest.Query{}},
		{"/usr/bin", suggest.Query{}},
		{"/model ", suggest.Query{Kind: suggest.Arguments, From: 7, Command: "model"}},
		{"/model  op", suggest.Query{Kind: suggest.Arguments, Typed: "op", From: 8, Command: "model"}},
		{"see @", suggest.Query{Kind: suggest.Files, From: 4}},
		{"see @a/b", suggest.Query{Kind: suggest.Files, Typed: "a/b", From: 4}},
		{`see @"a b`, suggest.Query{Kind: suggest.Files, Typed: "a b", From: 4}},
		{"see @a b", suggest.Query{}},
		{"me@example", suggest.Query{}},
	} {
		if got := suggest.Read(tt.text, true); got != tt.want {
			t.Errorf("%q: %+v", tt.text, got)
		}
	}
	if got := suggest.Read("/co", false); got != (suggest.Query{}) {
		t.Errorf("a slash in the middle of a message: %+v", got)
	}
	if got := suggest.Read("@co", false); got != (suggest.Query{}) {
		t.Errorf("an at sign perhaps in the middle of a word: %+v", got)
	}
}

// find returns the completions of a query.
func find(ctx context.Context, r *commands.Registry, q suggest.Query) []suggest.Item {
	f := suggest.New(r, time.Now)
	if q.Kind == suggest.Commands {
		return f.Commands(q.Typed)
	}
	return f.Find(ctx, q)
}

func offer(all ...commands.Command) *commands.Registry {
	return commands.New(commands.Config{Env: commands.Env{Commands: func(bool) []commands.Command { return all }}})
}

// Proves CMD-01.
func TestCommands(t *testing.T) {
	r := offer(
		commands.Command{Name: "team:deploy", Args: "[where]", Doc: "send it out", Origin: "p"},
		commands.Command{Name: "tide", Origin: "p"},
		commands.Command{Name: "tidy", Aliases: []string{"sweep"}, Origin: "p"},
	)
	r.Env.Score = func(name string) float64 { return map[string]float64{"tidy": 2}[name] }
	labels := func(typed string) (got []string) {
		for _, it := range find(t.Context(), r, suggest.Query{Kind: suggest.Commands, Typed: typed}) {
			got = append(got, it.Label)
		}
		return got
	}
	for typed, want := range map[string][]string{
		"tid": {"/tidy", "/tide"}, "td": {"/team:deploy"}, "te:de": {"/team:deploy"}, "swe": {"/sweep"}, "zzzz": nil, "model": {"/model"},
	} {
		if diff := cmp.Diff(want, labels(typed)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", typed, diff)
		}
	}
	got := find(t.Context(), r, suggest.Query{Kind: suggest.Commands, Typed: "td"})
	want := []suggest.Item{{Text: "/team:deploy", Label: "/team:deploy", Matched: []int{1, 6}, Args: "[where]", Doc: "send it out"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if all := labels(""); len(all) != len(r.Commands()) {
		t.Errorf("%d commands for a slash", len(all))
	}
}

// TestArguments checks that a command's arguments are suggested after its name.
//
// Proves CMD-01.
func TestArguments(t *testing.T) {
	r := offer(commands.Command{Name: "paint", Origin: "p", Complete: func(*commands.Registry, string) []string { return []string{"red", "rose", "blue"} }})
	texts := func(typed string) (got []string) {
		for _, it := range find(t.Context(), r, suggest.Query{Kind: suggest.Arguments, Typed: typed, Command: "paint"}) {
			got = append(got, it.Text)
		}
		return got
	}
	if diff := cmp.Diff([][]string{{"red", "rose", "blue"}, {"rose"}, nil}, [][]string{texts(""), texts("ro"), texts("rose")}); diff != "" {
		t.Error(diff)
	}
	// A word that is followed by another includes its blank, and gets no second one.
	r = offer(commands.Command{Name: "paint", Origin: "p", Complete: func(*commands.Registry, string) []string { return []string{"mix "} }})
	if got := find(t.Context(), r, suggest.Query{Kind: suggest.Arguments, Typed: "m", Command: "paint"}); len(got) != 1 || !got[0].Continues {
		t.Errorf("%+v", got)
	}
}

// TestFiles checks that choosing an entry inserts @path, quoted if it contains blanks, and that
// a directory can be continued.
//
// Proves IDX-08.
func TestFiles(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"src/settings.go", "my notes/a b.txt"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	index := fileindex.New(fileindex.Config{Dir: dir})
	t.Cleanup(index.Close)
	r := commands.New(commands.Config{Files: commands.Files{Dir: dir, Index: index}})
	r.Env.Resources = func(_ context.Context, typed string) []string {
		if strings.HasPrefix("db:", typed) && typed != "" {
			return []string{"db:"}
		}
		return nil
	}
	for typed, want := range map[string][]suggest.Item{
		"sett": {{Text: "@src/settings.go", Label: "src/settings.go", Matched: []int{4, 5, 6, 7}}},
		"a b":  {{Text: `@"my notes/a b.txt"`, Label: "my notes/a b.txt", Matched: []int{9, 10, 11}}},
		"note": {
			{Text: `@"my notes/`, Label: "my notes/", Matched: []int{3, 4, 5, 6}, Continues: true},
			{Text: `@"my notes/a b.txt"`, Label: "my notes/a b.txt", Matched: []int{3, 4, 5, 6}},
		},
		"d":     {{Text: "@db:", Label: "db:", Matched: []int{0}, Continues: true}},
		"./set": {{Text: "@./src/settings.go", Label: "./src/settings.go", Matched: []int{6, 7, 8}}},
	} {
		if diff := cmp.Diff(want, find(t.Context(), r, suggest.Query{Kind: suggest.Files, Typed: typed})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", typed, diff)
		}
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if got := find(gone, r, suggest.Query{Kind: suggest.Files, Typed: "sett"}); got != nil {
		t.Errorf("after the next key: %v", got)
	}
}

// TestCommandsChange checks that the command list is reused only briefly.
func TestCommandsChange(t *testing.T) {
	all := []commands.Command{{Name: "deploy", Origin: "p"}}
	r := commands.New(commands.Config{Env: commands.Env{Commands: func(bool) []commands.Command { return all }}})
	now := time.Unix(1000, 0)
	f := suggest.New(r, func() time.Time { return now })
	if got := f.Commands("deploy"); len(got) != 1 {
		t.Fatal(got)
	}
	all = nil
	now = now.Add(5 * time.Second)
	if got := f.Commands("deploy"); len(got) != 0 {
		t.Error(got)
	}
}

func thousands() *commands.Registry {
	all := make([]commands.Command, 2000)
	for i := range all {
		all[i] = commands.Command{Name: fmt.Sprintf("plugin-%d:deploy-%d", i%300, i), Doc: strings.Repeat("about ", 30), Origin: "plugin"}
	}
	r := offer(all...)
	r.Env.Score = func(name string) float64 { return float64(len(name)) }
	return r
}

func BenchmarkCommands(b *testing.B) {
	f := suggest.New(thousands(), time.Now)
	for _, typed := range []string{"", "p", "deploy", "pd19", "dly", "zzz"} {
		b.Run(typed, func(b *testing.B) {
			for b.Loop() {
				f.Commands(typed)
			}
		})
	}
}
