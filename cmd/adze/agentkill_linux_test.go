package main

import (
	"crypto/rand"
	"fmt"
	"io/fs"
	mathrand "math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestAgentsOfAKilledProgram kills a program with five agents, two of them in worktrees, at
// arbitrary moments. Everything sent to a model must be in the logs, the session must be
// resumable, the model must learn which agents were cut, how to continue them and where their
// worktrees are, and no process may be left. ADZE_KILLS sets the number of kills; by default,
// as many as fit into 15 seconds.
//
// Proves AGENT-39, SESS-16, AGENT-30.
func TestAgentsOfAKilledProgram(t *testing.T) {
	kills, _ := strconv.Atoi(os.Getenv("ADZE_KILLS")) // ok: 0 means by time
	began, cut := time.Now(), 0
	round := 0
	for ; round < kills || kills == 0 && time.Since(began) < 15*time.Second; round++ {
		cut += killAgents(t, time.Duration(mathrand.IntN(1500))*time.Millisecond)
		if t.Failed() {
			break
		}
	}
	t.Logf("killed %d times, with %d agents at work", round, cut)
	if cut == 0 {
		t.Error("no agent was at work")
	}
}

// killAgents kills a program with agents after a delay, checks its leftovers, resumes it, and
// returns the number of agents reported to the model.
func killAgents(t *testing.T, after time.Duration) int {
	t.Helper()
	home, word := t.TempDir(), rand.Text()
	sent := filepath.Join(home, "sent")
	script := strings.ReplaceAll(`when text "Wait for it."
when system "whole task"
forever
use Bash {"command":"exec -a WORD-1 tail -f /dev/null"}
---
when system "whole task"
forever
delay 5ms
use Read {"file_path":"a.txt"}
---
`, "WORD", word)
	for i := range 5 {
		more, prompt := "", "Read it again and again."
		if i < 2 {
			more, prompt = `,"isolation":"worktree"`, "Wait for it."
		}
		script += fmt.Sprintf("use Agent {\"description\":\"agent %d\",\"prompt\":%q,\"subagent_type\":\"general-purpose\",\"run_in_background\":%v%s}\n", i, prompt, i != 2, more)
	}
	const id = "11111111-2222-4333-8444-555555555555"
	args := []string{"--model", "sonnet", "--trust", "--allowed-tools", "Bash,Read", "-p", "go"}
	cmd := adze(t, home, script+"---\nforever\nsay Launched.", append(args, "--session-id", id, "--record-requests", sent)...)
	repository(t, cmd.Dir)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(after)
	cmd.Process.Kill() // ok: it may have ended
	cmd.Wait()         // ok: it was killed
	until(t, "a command outlives the program", func() bool { return len(called(t, word)) == 0 })
	logs := soFar(t, home) + sideLogs(t, home)
	for _, result := range resultsIn(t, sent) {
		if !strings.Contains(logs, `"tool_use_id":"`+result+`"`) {
			t.Errorf("after %v: the result of %s was sent, but is not in a log", after, result)
		}
	}
	if !strings.Contains(logs, `"type":"user"`) {
		return 0 // nothing to resume yet
	}
	again := adze(t, home, "forever\nsay Fine.", append(args, "--resume", id, "--record-requests", sent+"2")...)
	again.Dir = cmd.Dir
	if out, err := again.Output(); err != nil || !strings.Contains(string(out), "Fine.") {
		t.Errorf("after %v: %v: %s", after, err, out)
	}
	told := recorded(t, sent+"2")
	begun, _ := filepath.Glob(filepath.Join(home, "projects", "*", "*", "subagents", "*.meta.json"))
	for _, file := range begun {
		agent := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(file), "agent-"), ".meta.json")
		if strings.Contains(logs, agent) && !strings.Contains(told, "SendMessage to "+agent) {
			t.Errorf("after %v: no notice to the model about %s", after, agent)
		}
	}
	out, err := exec.Command("git", "-C", cmd.Dir, "worktree", "list", "--porcelain").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, tree := range strings.Split(strings.TrimSpace(string(out)), "\n\n")[1:] {
		path, _, _ := strings.Cut(strings.TrimPrefix(tree, "worktree "), "\n")
		known := strings.Contains(strings.Join(begun, " "), filepath.Base(path)) // otherwise its agent had not started, and it is swept
		if known && !strings.Contains(told, path) {
			t.Errorf("after %v: the worktree %s is left over, without a notice to the model", after, path)
		}
	}
	return strings.Count(told, "SendMessage to ")
}

// repository turns a directory into a repository with a file.
func repository(t *testing.T, dir string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("text\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "."}, {"commit", "-q", "-m", "first"}} {
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@b"}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
}

// sideLogs returns the content of the agents' logs.
func sideLogs(t *testing.T, home string) string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(home, "projects", "*", "*", "subagents", "*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	return all.String()
}

var resultPattern = regexp.MustCompile(`"tool_use_id": ?"([^"]+)"`)

// resultsIn returns the calls whose results are in the recorded requests.
func resultsIn(t *testing.T, dir string) []string {
	t.Helper()
	var all []string
	for _, m := range resultPattern.FindAllStringSubmatch(recorded(t, dir), -1) {
		all = append(all, m[1])
	}
	return all
}

// recorded returns the recorded requests.
func recorded(t *testing.T, dir string) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".json") {
			return nil // nothing was recorded
		}
		text, err := os.ReadFile(path)
		all.Write(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}
