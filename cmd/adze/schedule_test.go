//go:build unix

package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// A hostedProgram is a program driven by a host.
type hostedProgram struct {
	t      *testing.T
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout io.ReadCloser
}

// newHosted starts the program for a host, in a directory.
func newHosted(t *testing.T, home, dir, script string, env ...string) *hostedProgram {
	t.Helper()
	h := &hostedProgram{t: t, cmd: adze(t, home, script, "--model", "sonnet", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose")}
	h.cmd.Dir = dir
	h.cmd.Env = append(h.cmd.Env, env...)
	var err error
	if h.stdin, err = h.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if h.stdout, err = h.cmd.StdoutPipe(); err != nil {
		t.Fatal(err)
	}
	if err := h.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return h
}

// say sends a message, and returns the output up to a text.
func (h *hostedProgram) say(message, until string) string {
	h.t.Helper()
	io.WriteString(h.stdin, `{"type":"user","message":{"role":"user","content":"`+message+`"}}`+"\n") // ok: the answer shows
	return readUntil(h.t, h.stdout, until)
}

func (h *hostedProgram) end() {
	h.t.Helper()
	h.stdin.Close()               // ok: this ends it
	io.Copy(io.Discard, h.stdout) // ok: as above
	if err := h.cmd.Wait(); err != nil {
		h.t.Error(err)
	}
}

// TestSchedule checks that a host can schedule prompts, and that a prompt due when the program
// was killed runs once in the next session and reports its delay, but not before the host has
// sent initialize.
//
// Proves.
func TestSchedule(t *testing.T) {
	home, dir := t.TempDir(), t.TempDir()
	h := newHosted(t, home, dir, "expect last \"look\"\nexpect text \"The schedule submitted this prompt (every 10 minutes)\"\nsay I looked.")
	h.say("/loop 10m look", "I looked.")
	h.say("/schedule once 0 3 * * * report", "/schedule delete ")
	h.cmd.Process.Kill() // ok: Wait shows
	io.Copy(io.Discard, h.stdout)
	h.cmd.Wait() // ok: it was killed

	files, _ := filepath.Glob(filepath.Join(home, "schedules", "*.json"))
	if len(files) != 1 {
		t.Fatalf("jobs are kept in %q", files)
	}
	kept, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	due := regexp.MustCompile(`"due": "[^"]*"`)
	late := due.ReplaceAll(kept, []byte(`"due": "`+time.Now().Add(-3*time.Hour).Format(time.RFC3339)+`"`))
	if err := os.WriteFile(files[0], late, 0o600); err != nil {
		t.Fatal(err)
	}
	again := newHosted(t, home, dir, "expect last \"report\"\nsay I reported.")
	io.WriteString(again.stdin, `{"type":"control_request","request_id":"1","request":{"subtype":"initialize"}}`+"\n") // ok: as above
	if told := readUntil(t, again.stdout, "I reported."); !strings.Contains(told, ": report (3h") {
		t.Error(told)
	}
	again.say("/schedule list", "No prompt is scheduled.")
	again.end()
}

// TestScheduleOff checks that scheduled prompts can be disabled: the program then lacks the
// commands and runs nothing.
//
// Proves X-101.
func TestScheduleOff(t *testing.T) {
	h := newHosted(t, t.TempDir(), t.TempDir(), "say never", "ADZE_DISABLE_CRON=1")
	h.say("/loop look", "/loop is turned off by the variable ADZE_DISABLE_CRON")
	h.say("/schedule 0 9 * * * look", "/schedule is turned off by the variable ADZE_DISABLE_CRON")
	h.stdin.Close()               // ok: this ends it
	io.Copy(io.Discard, h.stdout) // ok: as above
	h.cmd.Wait()                  // ok: the commands failed
}

// TestTerminalLoop checks that a loop at a terminal runs immediately while the user may type,
// and can be listed and ended.
//
// Proves X-131, CMD-03.
func TestTerminalLoop(t *testing.T) {
	tm := newTerminal(t, 100, 30, "forever\nwhen last \"look\"\nsay I looked.")
	tm.enter("clear; adze --model replay:model.txt")
	tm.waitFor(`^❯ `)
	tm.enter("/loop 5m look")
	tm.waitFor(`/loop every 5 minutes: look \(run 1\)`)
	tm.waitFor(`I looked\.`)
	counted := regexp.MustCompile(`every 5 minutes, this session .* 1 +\$0\.00 +look`)
	tm.until("the run is not counted", func(string) bool { // counted when its turn has ended
		tm.enter("/loop")
		return counted.MatchString(tm.waitFor(`ends one\.`))
	})
	tm.enter("/loop stop all")
	tm.waitFor(`Ended 1 job\.`)
	tm.enter("/exit")
}

// TestScheduleByModel checks that the model can schedule a prompt through the deferred tools,
// and that this requires approval because the user is absent when it runs. The tool is
// unavailable if schedules are disabled or the settings do not enable it.
//
// Proves X-021.
func TestScheduleByModel(t *testing.T) {
	const script = "use ExecuteExtraTool {\"tool_name\":\"CronCreate\",\"params\":{\"cron\":\"0 3 * * *\",\"prompt\":\"report\"}}\n---\nsay Done."
	for _, tt := range []struct{ want, env, tools string }{
		{"CronCreate", "", "true"}, {"unknown tool", "", "false"}, {"unknown tool", "ADZE_DISABLE_CRON=1", "true"},
	} {
		home := t.TempDir()
		if err := os.WriteFile(filepath.Join(home, "settings.json"), []byte(`{"schedule":{"tools":`+tt.tools+`}}`), 0o600); err != nil {
			t.Fatal(err)
		}
		h := newHosted(t, home, t.TempDir(), script, tt.env)
		out := h.say("report every night", `"result":"Done."`)
		if !strings.Contains(out, tt.want) || strings.Contains(out, "Scheduled job") {
			t.Errorf("%s: %s", tt.env, out)
		}
		if tt.env == "" {
			h.say("/schedule list", "No prompt is scheduled.")
		}
		h.stdin.Close()               // ok: this ends it
		io.Copy(io.Discard, h.stdout) // ok: as above
		h.cmd.Wait()                  // ok: the command may have failed
	}
}
