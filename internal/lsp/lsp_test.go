package lsp

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"adze/internal/lsp/lsptest"
	"adze/internal/platform/proc/osproc"
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
	goleak.VerifyTestMain(m)
}

// A world is a workspace with a scripted server.
type world struct {
	*Servers
	t     *testing.T
	dir   string
	clock *clock
}

type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func newWorld(t *testing.T, args ...string) *world {
	w := &world{t: t, dir: t.TempDir(), clock: &clock{now: time.Now()}}
	r := &osproc.Runner{Reaper: os.Args[0]}
	def := Server{
		Name: "test", Command: os.Args[0], Args: append([]string{"lsptest"}, args...), Languages: map[string]string{".w": "words"},
		Markers: []string{"words.root"}, Settings: json.RawMessage(`{"test":{"level":3}}`),
	}
	w.Servers = Open(Config{
		Servers: func() []Server { return []Server{def} }, Trusted: func() bool { return true },
		Runner: r, Environ: os.Environ, Version: "1", Now: w.clock.Now,
	})
	t.Cleanup(func() {
		w.Close()
		r.Close()
	})
	return w
}

func (w *world) path(name string) string { return filepath.Join(w.dir, name) }

// edit announces a change of a file as an edit does.
func (w *world) edit(name, before, after string) {
	w.t.Helper()
	w.Before(w.path(name), before, []string{w.dir})
	w.write(name, after)
	w.Changed(w.path(name), after, []string{w.dir})
}

func (w *world) write(name, text string) {
	w.t.Helper()
	if err := os.WriteFile(w.path(name), []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

// report waits for the report on a file and returns its problems as text.
func (w *world) report(name string) []string {
	w.t.Helper()
	var r Report
	w.until(fmt.Sprintf("there is a report on %s", name), func() (ok bool) {
		ctx, cancel := context.WithTimeout(w.t.Context(), 10*time.Second)
		defer cancel()
		w.Await(ctx, w.path(name))
		r, ok = w.Report(w.path(name))
		return ok
	})
	var list []string
	for _, p := range r.Problems {
		list = append(list, fmt.Sprintf("%d:%d %s %s", p.Line, p.Column, p.Severity, p.Message))
	}
	return list
}

// until waits for a condition.
func (w *world) until(what string, ok func() bool) {
	w.t.Helper()
	for deadline := time.Now().Add(time.Minute); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			w.t.Fatalf("waiting until %s: %+v", what, w.List())
		}
	}
}

func (w *world) log(name string) string {
	data, _ := os.ReadFile(name) // ok: empty before the first line
	return string(data)
}

// TestReports checks that errors and warnings of the current text are reported once, by servers
// that push and servers that only answer pulls.
//
// Proves X-072.
func TestReports(t *testing.T) {
	for _, mode := range []string{"", "pull", "register", "unversioned", "twice", "stale", "asks", "huge"} {
		t.Run(mode, func(t *testing.T) {
			w := newWorld(t, mode)
			w.edit("a.w", "def a\n", "def a\r\nsome 😀 BAD\r\nDUBIOUS x BAD")
			want := []string{"2:8 error the word is bad", "3:11 error the word is bad", "3:1 warning the word is dubious"}
			if diff := cmp.Diff(want, w.report("a.w")); diff != "" {
				t.Error(diff)
			}
			w.edit("a.w", "", "BAD")
			if diff := cmp.Diff([]string{"1:1 error the word is bad"}, w.report("a.w")); diff != "" {
				t.Error(diff)
			}
			w.edit("a.w", "", "fine")
			if got := w.report("a.w"); got != nil {
				t.Error(got)
			}
		})
	}
}

// TestOrder checks that a server gets the text before a change, the change, and then the save.
//
// Proves NOTE-01.
func TestOrder(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	w := newWorld(t, "log="+log)
	w.edit("a.w", "one", "two BAD")
	w.report("a.w")
	want := "initialize .\ninitialized .\nworkspace/didChangeConfiguration .\ntextDocument/didOpen a.w\ntextDocument/didChange a.w\nworkspace/didChangeWatchedFiles .\nchanges {\"changes\":[{\"type\":2,\"uri\":\"" + URI(w.path("a.w")) + "\"}]}\ntextDocument/didSave a.w\n"
	w.until("the file was saved", func() bool { return strings.Contains(w.log(log), "didSave") })
	if diff := cmp.Diff(want, w.log(log)); diff != "" {
		t.Error(diff)
	}
}

// TestBefore checks that problems from before the first change are known, if the server was
// running.
func TestBefore(t *testing.T) {
	for _, mode := range []string{"", "pull"} {
		w := newWorld(t, mode)
		w.edit("warm.w", "", "x")
		w.report("warm.w")
		w.Before(w.path("a.w"), "BAD old", []string{w.dir})
		w.report("a.w")
		w.Changed(w.path("a.w"), "new\nBAD old\nBAD new", []string{w.dir})
		w.report("a.w")
		r, _ := w.Report(w.path("a.w"))
		var fresh []int
		for _, p := range r.Problems {
			if !r.Before[p.Key()] {
				fresh = append(fresh, p.Line)
			}
		}
		if diff := cmp.Diff([]int{3}, fresh); diff != "" {
			t.Errorf("%s: %s, before %v", mode, diff, r.Before)
		}
	}
}

// TestAnswers checks the answers to a server's requests.
func TestAnswers(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	w := newWorld(t, "asks", "log="+log)
	w.edit("a.w", "", "x")
	w.report("a.w")
	var got []string
	for l := range strings.Lines(w.log(log)) {
		if text, ok := strings.CutPrefix(l, "answer "); ok {
			got = append(got, strings.TrimSpace(text))
		}
	}
	root, _ := json.Marshal([]any{object{"name": w.dir, "uri": URI(w.dir)}})
	want := []string{"[3,null]", "null", string(root), `{"applied":false,"failureReason":"adze applies no edits that it did not request"}`, ""}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestFlood checks that the number of diagnostics and their texts are bounded, with errors first.
func TestFlood(t *testing.T) {
	w := newWorld(t, "flood=30000")
	w.edit("a.w", "", "x")
	got := w.report("a.w")
	if len(got) != maxDiagnostics || !strings.Contains(got[len(got)-1], "error") {
		t.Errorf("%d diagnostics, the last is %s", len(got), got[len(got)-1])
	}
	w = newWorld(t, "hostile")
	w.edit("a.w", "", "BAD")
	if got := w.report("a.w"); len(got) != 1 || len(got[0]) > maxMessageText+50 || strings.ContainsAny(got[0], "\x1b\a\n") {
		t.Errorf("%q", got)
	}
}

// TestMute checks that a server that never reports, hangs or does not read costs no more than a few
// waits.
func TestMute(t *testing.T) {
	for _, mode := range []string{"mute", "hang", "deaf", "stubborn"} {
		t.Run(mode, func(t *testing.T) {
			w := newWorld(t, mode, "mute")
			w.edit("a.w", "", "BAD")
			done, cancel := context.WithCancel(t.Context())
			cancel()
			for range maxMissed {
				w.Await(done, w.path("a.w"))
			}
			w.Await(t.Context(), w.path("a.w")) // returns
			if r, ok := w.Report(w.path("a.w")); ok {
				t.Errorf("%+v", r)
			}
		})
	}
}

// TestFloodOfChanges checks that a server that does not read is given up before its queue fills the
// memory.
func TestFloodOfChanges(t *testing.T) {
	w := newWorld(t, "deaf")
	w.edit("a.w", "", "x")
	text := strings.Repeat("x", MaxFile)
	for i := range 2 * maxQueued / MaxFile {
		w.Changed(w.path("a.w"), fmt.Sprint(i, text), []string{w.dir})
	}
	w.until("it is given up", func() bool { return strings.Contains(w.List()[0].Problem, "does not read") })
}

// TestCrashes checks that a server that crashes is started again after a growing pause, and not at
// all after several crashes.
//
// Proves X-072.
func TestCrashes(t *testing.T) {
	pids := filepath.Join(t.TempDir(), "pids")
	w := newWorld(t, "crash-on=CRASH", "pid="+pids)
	starts := func() int { return strings.Count(w.log(pids), "\n") }
	for i := range maxCrashes {
		w.edit("a.w", "", fmt.Sprint("CRASH ", i))
		w.until("it has crashed", func() bool { return w.List()[0].Crashes == i+1 })
		w.edit("a.w", "", "x") // before the pause is over
		if got := starts(); got != i+1 {
			t.Fatalf("%d starts after %d crashes", got, i+1)
		}
		w.clock.add(firstBackoff << (2 * i))
	}
	w.clock.add(crashWindow)
	w.edit("a.w", "", "x")
	if got := w.List()[0]; got.State != Failed || !got.Off || starts() != maxCrashes || !strings.Contains(got.Problem, "ended with exit code 4") {
		t.Errorf("%d starts, %+v", starts(), got)
	}
	w.Stop() // forgets the failures
	w.edit("a.w", "", "BAD")
	w.report("a.w")
}

// TestRefused checks that the reason of a failed start is kept, without control characters.
func TestRefused(t *testing.T) {
	for mode, want := range map[string]string{"refuse": "did not start: no installation found (-32603)", "crash": "it printed: lsptest: ready lsptest: cannot start", "garbage": "it printed text instead of messages"} {
		w := newWorld(t, mode)
		w.edit("a.w", "", "x")
		w.until("it has failed", func() bool { return w.List()[0].State == Failed })
		if got := w.List()[0]; !strings.Contains(got.Problem, want) || got.Off != (mode == "refuse") {
			t.Errorf("%s: %+v", mode, got)
		}
	}
}

// TestRefresh checks that files changed or removed by other programs are noticed.
func TestRefresh(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	w := newWorld(t, "log="+log)
	w.edit("a.w", "", "x")
	w.edit("b.w", "", "x")
	w.report("a.w")
	w.write("a.w", "BAD")
	os.Remove(w.path("b.w"))
	if diff := cmp.Diff([]string{w.path("a.w")}, w.Refresh()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"1:1 error the word is bad"}, w.report("a.w")); diff != "" {
		t.Error(diff)
	}
	w.until("b.w is closed", func() bool { return strings.Contains(w.log(log), "didClose b.w") })
	// Files that are not open are watched.
	os.Mkdir(w.path("node_modules"), 0o755)
	for _, name := range []string{"c.w", "c.txt", "node_modules/d.w"} {
		w.write(name, "x")
	}
	w.Refresh()
	w.write("c.w", "xx")
	w.Refresh()
	os.Remove(w.path("c.w"))
	w.Refresh()
	w.Refresh()
	for kind := 1; kind <= 3; kind++ {
		want := fmt.Sprintf(`changes {"changes":[{"type":%d,"uri":"%s"}]}`, kind, URI(w.path("c.w")))
		w.until(want, func() bool { return strings.Count(w.log(log), want) == 1 })
	}
	if got := w.log(log); strings.Contains(got, "c.txt") || strings.Contains(got, "d.w") {
		t.Error(got)
	}
}

// TestIdle checks that an unused server is stopped and started again when needed, and that the
// number of running servers and open files is bounded.
func TestIdle(t *testing.T) {
	w := newWorld(t)
	for i := range maxOpen + 10 {
		w.edit(fmt.Sprintf("%d.w", i), "", "x")
	}
	w.report(fmt.Sprintf("%d.w", maxOpen+9))
	if got := w.List()[0]; got.Files != maxOpen || got.State != Running {
		t.Errorf("%+v", got)
	}
	w.sweep()
	if got := w.List()[0].State; got != Running {
		t.Error(got)
	}
	w.clock.add(idleTime)
	w.mu.Lock()
	w.sweep()
	w.mu.Unlock()
	if got := w.List()[0]; got.State != Stopped || got.Crashes != 0 {
		t.Errorf("%+v", got)
	}
	w.edit("a.w", "", "BAD")
	w.report("a.w")
	for i := range maxRunning + 1 { // one project each
		dir := fmt.Sprintf("p%d", i)
		os.Mkdir(w.path(dir), 0o755)
		w.write(filepath.Join(dir, "words.root"), "")
		w.edit(filepath.Join(dir, "a.w"), "", "BAD")
		w.clock.add(time.Second)
	}
	running := 0
	for _, s := range w.List() {
		if s.State != Stopped {
			running++
		}
	}
	if running != maxRunning {
		t.Errorf("%d servers run", running)
	}
}

// TestChoice checks which programs are used for a file: none in an untrusted workspace, outside the
// workspace, or from a relative entry of PATH.
//
// Proves X-072.
func TestChoice(t *testing.T) {
	dir, bin := t.TempDir(), t.TempDir()
	trusted := false
	path := ".:node_modules/.bin:" + bin
	s := Open(Config{Servers: BuiltIn, Trusted: func() bool { return trusted }, Runner: new(osproc.Runner), Environ: func() []string { return []string{"PATH=/nowhere", "PATH=" + path} }})
	defer s.Close()
	program := func(name string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte("#!/bin/sh\nexit 1\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	program(filepath.Join(bin, "gopls"))
	program(filepath.Join(dir, "pyright-langserver"))
	program(filepath.Join(dir, "node_modules/.bin/clangd"))
	t.Chdir(dir)
	roots := []string{dir}
	if s.Serves(filepath.Join(dir, "a.go"), roots) {
		t.Error("a server for an untrusted workspace")
	}
	s.Changed(filepath.Join(dir, "a.go"), "x", roots)
	if got := s.List(); got != nil {
		t.Errorf("started in an untrusted workspace: %+v", got)
	}
	trusted = true
	for name, want := range map[string]bool{"a.go": true, "sub/a.go": true, "go.mod": true, "../a.go": false, "a.py": false, "a.c": false, "a.txt": false} {
		if got := s.Serves(filepath.Join(dir, name), roots); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
	if got := s.Fits(dir); got != nil {
		t.Errorf("without a go.mod: %v", got)
	}
	os.WriteFile(filepath.Join(dir, "go.mod"), nil, 0o644)
	if diff := cmp.Diff([]string{"gopls"}, s.Fits(dir)); diff != "" {
		t.Error(diff)
	}
}

// TestProjectRoot checks that the outermost directory with a marker is the root.
func TestProjectRoot(t *testing.T) {
	dir := t.TempDir()
	deep := filepath.Join(dir, "a/b/c")
	os.MkdirAll(deep, 0o755)
	file := filepath.Join(deep, "x.go")
	for _, marked := range []string{"", "a/b", "a"} {
		want := filepath.Join(dir, marked)
		if marked != "" {
			os.WriteFile(filepath.Join(want, "go.mod"), nil, 0o644)
		}
		if got := projectRoot(file, dir, []string{"go.mod"}); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
