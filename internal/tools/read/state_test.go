//go:build unix

package read

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"adze/internal/msg"
	"adze/internal/platform/fs/filestate"
	"adze/internal/tool"
)

// outputType runs a call and returns the type of its output.
func outputType(t testing.TB, tl tool.Tool, input string) string {
	t.Helper()
	res, err := run(t, tl, input)
	if err != nil {
		t.Fatal(err)
	}
	return res.Structured.(Output).Type
}

// Proves READ-06.
func TestRepeatedReads(t *testing.T) {
	d := dir(t, map[string]string{"a.txt": "one\ntwo\n", "p.png": string(pngOf(t, 3, 2)), "n.ipynb": notebookOf("1"), "d.pdf": pdfOf("a", "b")})
	path := filepath.Join(d, "a.txt")
	const whole, part = `{"file_path":"a.txt"}`, `{"file_path":"a.txt","offset":2,"limit":1}`
	later := time.Now().Add(time.Hour)
	tests := []struct {
		name    string
		first   string
		between func(t *testing.T, s *filestate.Store)
		second  string
		want    string
	}{
		{"same", whole, nil, whole, "file_unchanged"},
		{"same range", part, nil, part, "file_unchanged"},
		{"other range", whole, nil, part, "text"},
		{"picture", `{"file_path":"p.png"}`, nil, `{"file_path":"p.png"}`, "file_unchanged"},
		{"notebook", `{"file_path":"n.ipynb"}`, nil, `{"file_path":"n.ipynb"}`, "file_unchanged"},
		{"document", `{"file_path":"d.pdf"}`, nil, `{"file_path":"d.pdf"}`, "file_unchanged"},
		{"pages", `{"file_path":"d.pdf"}`, nil, `{"file_path":"d.pdf","pages":"1"}`, "pdf"},
		{"touched", whole, func(t *testing.T, _ *filestate.Store) {
			if err := os.Chtimes(path, later, later); err != nil {
				t.Fatal(err)
			}
		}, whole, "text"},
		{"replaced by another file of the same size and time", whole, func(t *testing.T, _ *filestate.Store) {
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			other := path + ".new"
			if err := errors.Join(os.WriteFile(other, []byte("one\nTWO\n"), 0o644), os.Chtimes(other, info.ModTime(), info.ModTime()), os.Rename(other, path)); err != nil {
				t.Fatal(err)
			}
		}, whole, "text"},
		{"changed with the time set back", whole, func(t *testing.T, _ *filestate.Store) {
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(os.WriteFile(path, []byte("one\nTvo\n"), 0o644), os.Chtimes(path, info.ModTime(), info.ModTime())); err != nil {
				t.Fatal(err)
			}
		}, whole, "text"},
		{"edited", whole, func(t *testing.T, s *filestate.Store) {
			e, _ := s.Get(path)
			e.Origin = filestate.Edit
			s.Record(e)
		}, whole, "text"},
		{"injected", whole, func(t *testing.T, s *filestate.Store) {
			e, _ := s.Get(path)
			e.Origin = filestate.Injected
			s.Record(e)
		}, whole, "text"},
		{"forgotten", whole, func(_ *testing.T, s *filestate.Store) { s.Forget(path) }, whole, "text"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := filestate.New()
			tl := New(Config{Dir: func() string { return d }, State: s, Images: yes})
			outputType(t, tl, tt.first)
			if tt.between != nil {
				tt.between(t, s)
			}
			if got := outputType(t, tl, tt.second); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
	tl := New(Config{Dir: func() string { return d }, State: filestate.New(), Repeat: true})
	outputType(t, tl, whole)
	if got := outputType(t, tl, whole); got != "text" {
		t.Errorf("with repeats wanted: %s", got)
	}
}

func TestRecordedState(t *testing.T) {
	latin := "gr\xfc\xdfe\r\nzwei\r\n"
	d := dir(t, map[string]string{"a.txt": latin, "p.png": string(pngOf(t, 3, 2)), "n.ipynb": notebookOf("1")})
	tests := []struct {
		name, input, file string
		want              filestate.Entry
	}{
		{"whole", `{"file_path":"a.txt"}`, "a.txt", filestate.Entry{Offset: 1, Lines: 2, Total: 2, Complete: true, Content: []byte(latin)}},
		{"part", `{"file_path":"a.txt","offset":2,"limit":5}`, "a.txt", filestate.Entry{Offset: 2, Limit: 5, Lines: 1, Total: 2, Content: []byte(latin)}},
		{"past", `{"file_path":"a.txt","offset":9}`, "a.txt", filestate.Entry{Offset: 9, Total: 2, Content: []byte(latin)}},
		{"picture", `{"file_path":"p.png"}`, "p.png", filestate.Entry{Offset: 1, Complete: true}},
		{"notebook", `{"file_path":"n.ipynb"}`, "n.ipynb", filestate.Entry{Offset: 1, Complete: true, Content: []byte(notebookOf("1"))}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := filestate.New()
			res, err := run(t, New(Config{Dir: func() string { return d }, State: s, Images: yes, Model: func() string { return "m" }}), tt.input)
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(d, tt.file)
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			tt.want.Path, tt.want.Real, tt.want.Hash, tt.want.Stamp, tt.want.Shown = path, path, sha256.Sum256(data), filestate.StampOf(info), true
			got, _ := s.Get(path)
			if diff := cmp.Diff(tt.want, got, cmpopts.IgnoreFields(filestate.Entry{}, "Seen")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if len(res.Reminders) > 0 && strings.Contains(string(got.Content), res.Reminders[0]) {
				t.Error("the reminder is in the state")
			}
		})
	}
}

// Proves READ-09, X-138.
func TestReminder(t *testing.T) {
	d := dir(t, map[string]string{"a.txt": "code\n", "empty": "", "p.png": string(pngOf(t, 3, 2)), "d.pdf": pdfOf("x")})
	tests := []struct {
		name, model, file string
		want              bool
	}{
		{"default", "some-model", "a.txt", true},
		{"exempt", "claude-opus-4-6", "a.txt", false},
		{"exempt, with a date", "claude-opus-4-6-20260101", "a.txt", false},
		{"exempt, with a long context", "claude-opus-4-6[1m]", "a.txt", false},
		{"only alike", "claude-opus-4-65", "a.txt", true},
		{"nothing in it", "some-model", "empty", false},
		{"picture", "some-model", "p.png", false},
		{"document", "some-model", "d.pdf", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := filestate.New()
			tl := New(Config{Dir: func() string { return d }, State: s, Images: yes, Model: func() string { return tt.model }, Exempt: []string{"claude-opus-4-6"}})
			res, err := run(t, tl, string(input(tt.file)))
			if err != nil {
				t.Fatal(err)
			}
			if got := len(res.Reminders) == 1 && strings.Contains(res.Reminders[0], "malware"); got != tt.want {
				t.Errorf("reminded: %q", res.Reminders)
			}
			if strings.Contains(msg.PlainText(res.Parts), "malware") {
				t.Error("the reminder is part of the file")
			}
			if e, _ := s.Get(filepath.Join(d, tt.file)); tt.file == "a.txt" && string(e.Content) != "code\n" {
				t.Errorf("the state holds %q", e.Content)
			}
			if again, err := run(t, tl, string(input(tt.file))); err != nil || len(again.Reminders) > 0 {
				t.Errorf("with the unchanged stub: %q, %v", again.Reminders, err)
			}
		})
	}
}

// Proves READ-10.
func TestDiscovery(t *testing.T) {
	d := dir(t, map[string]string{"pkg/a.go": "a", "pkg/b.go": "b", "top.go": "t"})
	var got []string
	s := filestate.New()
	tl := New(Config{Dir: func() string { return d }, State: s, Discovered: func(dir string) { got = append(got, dir) }})
	for _, name := range []string{"pkg/a.go", "pkg/b.go", "pkg/a.go", "top.go"} {
		outputType(t, tl, string(input(name)))
	}
	if _, err := run(t, tl, `{"file_path":"none/x.go"}`); err == nil {
		t.Error("a missing file was read")
	}
	if diff := cmp.Diff([]string{filepath.Join(d, "pkg"), d}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, ok := s.Get(filepath.Join(d, "pkg/b.go")); !ok {
		t.Error("the state was not recorded")
	}
	call, err := tl.Bind(input("pkg/a.go"))
	if err != nil || tool.ActivityOf("Read", call) != "Reading pkg/a.go" {
		t.Errorf("activity %q, %v", tool.ActivityOf("Read", call), err)
	}
}

// TestRangesShareTheirContent checks that ranges of an unchanged file are hashed and stored
// once.
func TestRangesShareTheirContent(t *testing.T) {
	d := dir(t, map[string]string{"a.txt": strings.Repeat("line\n", 10_000)})
	state := filestate.New()
	tl := New(Config{Dir: func() string { return d }, State: state})
	read := func(offset int) filestate.Entry {
		t.Helper()
		if _, err := run(t, tl, fmt.Sprintf(`{"file_path":"a.txt","offset":%d,"limit":5}`, offset)); err != nil {
			t.Fatal(err)
		}
		e, ok := state.Get(filepath.Join(d, "a.txt"))
		if !ok || len(e.Content) != 50_000 || e.Hash != sha256.Sum256(e.Content) || e.Offset != offset {
			t.Fatalf("%d bytes from %d, hash %x", len(e.Content), e.Offset, e.Hash)
		}
		return e
	}
	first, second := read(1), read(6)
	if &first.Content[0] != &second.Content[0] {
		t.Error("the content is kept twice")
	}
	if err := os.WriteFile(filepath.Join(d, "a.txt"), []byte(strings.Repeat("LINE\n", 10_000)), 0o644); err != nil {
		t.Fatal(err)
	}
	if third := read(6); &third.Content[0] == &second.Content[0] || third.Hash == second.Hash {
		t.Error("the change is not noticed")
	}
}

// Proves LIM-03.
func TestTokenBounds(t *testing.T) {
	d := dir(t, map[string]string{
		"small.txt":  strings.Repeat("1234567\n", 7_800),  // 2.5 bytes per allowed token
		"more.txt":   strings.Repeat("1234567\n", 10_000), // 20,000 estimated tokens
		"most.txt":   strings.Repeat("1234567\n", 18_000), // 36,000
		"large.txt":  strings.Repeat("1234567\n", 19_000), // more than 6 bytes per token
		"small.json": strings.Repeat("1234567\n", 6_200),  // 24,800
		"more.json":  strings.Repeat("1234567\n", 7_000),  // 28,000
	})
	broken := errors.New("no network")
	tests := []struct {
		name, file string
		tokens     int
		err        error
		calls      int
		want       string // expected in the error
	}{
		{"small", "small.txt", 99_999, nil, 0, ""},
		{"more, counted few", "more.txt", 25_000, nil, 1, ""},
		{"more, counted many", "more.txt", 25_001, nil, 1, "lines, 25001 tokens; one read returns at most 25000. Read up to 8900 lines at a time"},
		{"more, not counted", "more.txt", 0, broken, 1, ""},
		{"most, counted few", "most.txt", 20_000, nil, 1, ""},
		{"most, not counted", "most.txt", 0, broken, 1, "about 36000 tokens"},
		{"large", "large.txt", 20_000, nil, 0, "about 38000 tokens"},
		{"small data", "small.json", 99_999, nil, 0, ""},
		{"data, not counted", "more.json", 0, broken, 1, "about 28000 tokens"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			calls := 0
			tl := New(Config{Dir: func() string { return d }, CountTokens: func(context.Context, string) (int, error) {
				calls++
				return tt.tokens, tt.err
			}})
			_, err := run(t, tl, string(input(tt.file)))
			if calls != tt.calls || (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%d calls, %v; want %d, %q", calls, err, tt.calls, tt.want)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		r := &fileRead{call: &call{reader: &reader{Config: Config{MaxTokens: 100, CountTokens: func(ctx context.Context, _ string) (int, error) {
			<-ctx.Done()
			return 0, ctx.Err()
		}}}}, path: "a.txt"}
		err := r.budget().fits(t.Context(), strings.Repeat("x", 300), 300, "")
		if took := time.Since(start); err != nil || took != 5*time.Second {
			t.Errorf("an endpoint that hangs: %v after %v", err, took)
		}
	})
}
