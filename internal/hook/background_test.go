//go:build unix

package hook

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

const lateContext = `echo '{"systemMessage":"by the way","hookSpecificOutput":{"hookEventName":"PostToolUse","additionalContext":"lint is clean"}}'`

// Proves HOOK-16.
func TestAsyncHooksDelayNothing(t *testing.T) {
	tests := []struct{ name, first, more string }{
		{"by first line", `echo '{"async":true}'; `, ""},
		{"by first line, with a limit", `echo '{"async": true, "asyncTimeout": 60000}'; `, ""},
		{"by settings", "", `"async":true`},
		{"by both", `echo '{"async":true}'; `, `"async":true`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			more := []string{`"timeout":60`}
			if tt.more != "" {
				more = append(more, tt.more)
			}
			r, said := start(t, Config{Dir: dir}, on(PostToolUse, command(tt.first+"while [ ! -e go ]; do sleep 0.01; done; "+lateContext, more...)))
			use := shell(t, "ls")
			if out := r.Fire(t.Context(), posted(use)); !reflect.DeepEqual(out, Outcome{}) {
				t.Errorf("the event was not let go: %+v", out)
			}
			if late := said.get(&said.late); len(late) > 0 {
				t.Fatalf("delivered before it was said: %q", late)
			}
			if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			eventually(t, "nothing was delivered", func() bool { return len(said.get(&said.late)) > 0 })
			if late := said.get(&said.late); len(late) != 1 || !strings.Contains(late[0], "lint is clean") {
				t.Errorf("delivered %q", late)
			}
			if notes := said.get(&said.notes); len(notes) != 1 || !strings.HasSuffix(notes[0], ": by the way") {
				t.Errorf("unexpected notices %q", notes)
			}
		})
	}
}

// Proves HOOK-16.
func TestFirstLineThatIsNotAsync(t *testing.T) {
	for _, line := range []string{`{"async":false}`, `{"continue":true}`, `{"async":"yes"}`, `[1]`} {
		r, _ := start(t, Config{}, on(UserPromptSubmit, command(fmt.Sprintf("echo '%s'; sleep 0.1; exit 2", line))))
		if out := r.Fire(t.Context(), OnUserPromptSubmit("hi")); !out.Blocked {
			t.Errorf("%s sent the hook to the background", line)
		}
	}
}

// Proves HOOK-16.
func TestAsyncHookIsEnded(t *testing.T) {
	if AsyncTimeout != 15*time.Second {
		t.Errorf("without a limit of its own it is ended after %v", AsyncTimeout)
	}
	dir := t.TempDir()
	r, said := start(t, Config{Dir: dir},
		on(PostToolUse, command(`echo $$ >pids; echo '{"async":true,"asyncTimeout":200}'; sleep 100`)))
	r.Fire(t.Context(), posted(shell(t, "ls")))
	eventually(t, "nobody was told", func() bool { return len(said.get(&said.notes)) > 0 })
	if notes := said.get(&said.notes); !strings.Contains(notes[0], "it was ended after 200ms, its time limit") {
		t.Errorf("told %q", notes)
	}
	eventually(t, "a process survived", func() bool { return gone(pids(t, filepath.Join(dir, "pids"))[0]) })

	r, said = start(t, Config{Dir: dir}, on(PostToolUse, command("echo $$ >pids2; touch up; sleep 100", `"async":true`)))
	r.Fire(t.Context(), posted(shell(t, "ls")))
	eventually(t, "it did not start", func() bool { _, err := os.Stat(filepath.Join(dir, "up")); return err == nil })
	r.Close()
	if !gone(pids(t, filepath.Join(dir, "pids2"))[0]) {
		t.Error("a process survived the session")
	}
	if notes := said.get(&said.notes); len(notes) > 0 {
		t.Errorf("the end of the session is no failure: %q", notes)
	}
}

func TestRewake(t *testing.T) {
	tests := []struct{ name, script, want string }{
		{"2", "echo tests fail >&2; exit 2", "PostToolUse hook `echo tests fail >&2; exit 2`: tests fail"},
		{"2 by standard output", "echo see log; exit 2", "PostToolUse hook `echo see log; exit 2`: see log"},
		{"0", "echo fine", ""},
		{"1", "echo oops >&2; exit 1", ""},
		{"127", "/no/such/hook", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rec := &recorder{}
			r, said := start(t, Config{Observer: rec}, on(PostToolUse, command(tt.script, `"asyncRewake":true`)))
			if out := r.Fire(t.Context(), posted(shell(t, "ls"))); !reflect.DeepEqual(out, Outcome{}) {
				t.Errorf("outcome %+v", out)
			}
			eventually(t, "it did not end", func() bool { rec.mu.Lock(); defer rec.mu.Unlock(); return len(rec.done) == 1 })
			r.Close()
			if diff := cmp.Diff(tt.want, strings.Join(said.get(&said.woken), "|")); diff != "" {
				t.Errorf("woken (-want +got):\n%s", diff)
			}
			if notes := append(said.get(&said.notes), said.get(&said.late)...); len(notes) > 0 {
				t.Errorf("not silent: %q", notes)
			}
		})
	}
}

func TestRewakeIsThrottled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, said := start(t, Config{Dir: "/"})
		j := &job{hook: &hook{spec: &spec{event: Stop, handler: handler{typ: TypeCommand, command: "x"}}}}
		two := exitBlock
		for range 13 {
			r.notices.wake(j, result{code: &two, stderr: "again"})
		}
		time.Sleep(wakeWindow)
		r.notices.wake(j, result{code: &two, stderr: "again"})
		if n := len(said.get(&said.woken)); n != 11 {
			t.Errorf("woken %d times", n)
		}
		want := []string{"Stop hook `x` wakes the session more than 10 times a minute; it is held back"}
		if diff := cmp.Diff(want, said.get(&said.notes)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}
