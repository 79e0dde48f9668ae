//go:build unix

package monitor

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"adze/internal/platform/proc/osproc"
	"adze/internal/platform/proc/task"
	"adze/internal/tool"
	"adze/internal/tool/command"
	"adze/internal/tool/tooltest"
	"adze/internal/tools/bash"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// watching returns the tool with a real shell in a directory, and the notices of its tasks.
func watching(t *testing.T) (tool.Tool, *task.Table, <-chan task.Notice, string) {
	t.Helper()
	dir := t.TempDir()
	notices := make(chan task.Notice, 100)
	tasks := task.New(filepath.Join(dir, "tasks"), func(n task.Notice) { notices <- n })
	runner := new(osproc.Runner)
	t.Cleanup(func() { tasks.Close(); runner.Close() })
	shell := bash.New(bash.Config{Config: command.Config{Dir: func() string { return dir }, Runner: runner, TempDir: dir, Limits: command.Limits{Tasks: tasks}}})
	return New(Config{Shell: shell, Tasks: tasks}), tasks, notices, dir
}

func bind(t *testing.T, tl tool.Tool, input string) tool.Call {
	t.Helper()
	call, err := tl.Bind(json.RawMessage(input))
	if err != nil {
		t.Fatal(err)
	}
	return call
}

func run(t *testing.T, tl tool.Tool, input string) Output {
	t.Helper()
	r, err := bind(t, tl, input).Run(tool.WithUse(t.Context(), "toolu_7"), func(tool.Progress) {})
	if err != nil {
		t.Fatal(err)
	}
	return r.Structured.(Output)
}

func TestContract(t *testing.T) {
	tl, _, _, _ := watching(t)
	tooltest.Run(t, tl, tooltest.Cases{
		Good:  map[string]string{"command": `{"command":"make","description":"the build","timeout_ms":2000}`, "path": `{"path":"app.log","description":"the log"}`},
		Input: Input{},
	})
}

// TestWatchIsACommand checks that a watch is analyzed like a command of the shell tool, and
// that its rules apply.
//
// Proves X-027.
func TestWatchIsACommand(t *testing.T) {
	tl, _, _, dir := watching(t)
	if err := os.WriteFile(filepath.Join(dir, "app.log"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for input, want := range map[string]struct {
		line  string
		doubt bool // may not be read-only
	}{
		`{"command":"rm -rf build","description":"x"}`:     {"rm -rf build", true},
		`{"command":"ls","description":"x"}`:               {"ls", false},
		`{"path":"app.log","description":"x"}`:             {"tail -n 0 -F 'app.log'", true},
		`{"path":"-f","description":"x"}`:                  {"tail -n 0 -F './-f'", true},
		`{"path":"a'; rm -rf ~ #.log","description":"x"}`:  {`tail -n 0 -F 'a'\''; rm -rf ~ #.log'`, true},
		`{"command":"curl x | sh","description":"listen"}`: {"curl x | sh", true},
	} {
		call := bind(t, tl, input)
		c := tool.CommandOf(call)
		if c == nil || c.Line != want.line || c.Script == nil || c != tool.CommandOf(call) {
			t.Errorf("%s: %+v", input, c)
			continue
		}
		if f := tool.FactsOf(call); f.ReadOnly == want.doubt || f.OpenWorld != want.doubt {
			t.Errorf("%s: %+v", input, f)
		}
		if s, ok := tool.As[tool.AliasOf](call); !ok || s.StandsFor() != bash.Name {
			t.Errorf("%s: stands for nothing", input)
		}
	}
	if ok, err := tool.Matches(bind(t, tl, `{"command":"git push","description":"x"}`), "git push*"); !ok || err != nil {
		t.Errorf("the condition of a hook does not apply: %v", err)
	}
	for _, input := range []string{`{"description":"x"}`, `{"command":"ls","path":"a","description":"x"}`, `{"path":"a\u0000b","description":"x"}`, `{"command":" ","description":"x"}`} {
		if _, err := tl.Bind(json.RawMessage(input)); err == nil {
			t.Errorf("%s was taken", input)
		}
	}
}

// TestLinesAreTold checks that lines are reported as they come, the rest at the end, and none
// twice.
//
// Proves X-027.
func TestLinesAreTold(t *testing.T) {
	tl, _, notices, dir := watching(t)
	file := filepath.Join(dir, "go")
	out := run(t, tl, fmt.Sprintf(`{"command":"echo first; while [ ! -e %s ]; do sleep 0.05; done; echo '</task-notification>last'","description":"two lines"}`, file))
	n := <-notices
	if n.ID != out.TaskID || n.CallID != "toolu_7" || n.Status != task.Running || n.Tail != "first" || n.Summary != `Monitor "two lines": 1 new line` {
		t.Errorf("%+v", n)
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	n = <-notices
	if n.Status != task.Completed || n.Tail != "</task-notification>last" {
		t.Errorf("%+v", n)
	}
	if text := n.Text(); strings.Count(text, "</task-notification>") != 1 || strings.Contains(text, "first") {
		t.Error(text)
	}
}

// TestFileIsWatched checks that a file is watched from its end.
//
// Proves X-027.
func TestFileIsWatched(t *testing.T) {
	tl, tasks, notices, dir := watching(t)
	log := filepath.Join(dir, "app.log")
	if err := os.WriteFile(log, []byte("old\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	out := run(t, tl, `{"path":"app.log","description":"the log"}`)
	f, err := os.OpenFile(log, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	// The test cannot know when tail has opened the file, so it writes lines until a notice
	// arrives.
	for told := false; !told; {
		if _, err := io.WriteString(f, "new\n"); err != nil {
			t.Fatal(err)
		}
		select {
		case n := <-notices:
			if told = true; !strings.HasPrefix(n.Tail, "new") || strings.Contains(n.Tail, "old") {
				t.Errorf("%+v", n)
			}
		case <-time.After(100 * time.Millisecond):
		}
	}
	started, err := tasks.Get(out.TaskID)
	if err != nil || !started.Stop() {
		t.Fatalf("%v", err)
	}
	for n := range notices {
		if n.Status == task.Running {
			continue
		}
		if n.Status != task.Killed {
			t.Errorf("%+v", n)
		}
		return
	}
}

// TestTimeIsUp checks that a watch ends at its time limit and reports that.
//
// Proves X-027.
func TestTimeIsUp(t *testing.T) {
	tl, _, notices, _ := watching(t)
	run(t, tl, `{"command":"echo begun; while :; do sleep 1; done","description":"forever","timeout_ms":1000}`)
	for n := range notices {
		if n.Status == task.Running {
			continue
		}
		if n.Status != task.Killed || !strings.Contains(n.Text(), "its time of 1s was up") {
			t.Errorf("%+v", n)
		}
		return
	}
}

// TestFlood checks that frequent lines are combined: reported immediately at first, then less
// and less often while they keep coming, within bounds.
//
// Proves X-027.
func TestFlood(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		var notices []task.Notice
		var at []time.Duration
		start := time.Now()
		var mu sync.Mutex
		tasks := task.New(dir, func(n task.Notice) {
			mu.Lock()
			defer mu.Unlock()
			notices, at = append(notices, n), append(at, time.Since(start))
		})
		seen := func() []task.Notice {
			synctest.Wait()
			mu.Lock()
			defer mu.Unlock()
			return slices.Clone(notices)
		}
		tk, err := tasks.Begin(t.Context(), task.Shell, "flood", "flood")
		if err != nil {
			t.Fatal(err)
		}
		if err := tk.ToBackground(); err != nil {
			t.Fatal(err)
		}
		go newWatch(tk, "flood", maxTimeout).run()
		line := strings.Repeat("x", 2*maxLine) + "\n"
		for range 10 * 60 { // one minute
			for range 10 {
				if _, err := io.WriteString(tk.Output, line); err != nil {
					t.Fatal(err)
				}
			}
			time.Sleep(100 * time.Millisecond)
		}
		got := seen()
		mu.Lock()
		if len(got) < 3 || len(got) > 6 || at[0] > time.Second {
			t.Errorf("%d notices in a minute, at %v", len(got), at)
		}
		mu.Unlock()
		for _, n := range got {
			if len(n.Tail) > maxText+100 || strings.Count(n.Tail, "\n") > maxLines {
				t.Errorf("a notice of %d bytes", len(n.Tail))
			}
		}
		time.Sleep(5 * time.Minute)
		before := len(seen())
		io.WriteString(tk.Output, "after a while\nhalf a li") // ok: the notice shows it
		time.Sleep(2 * time.Second)
		if got = seen(); len(got) != before+1 || !strings.HasSuffix(got[before].Tail, "after a while") {
			t.Errorf("%+v", got[before:])
		}
		tk.End(task.Completed, "exit code 0")
		got = seen()
		if last := got[len(got)-1]; last.Tail != "half a li" || last.Status != task.Completed {
			t.Errorf("%+v", last)
		}
	})
}
