package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// eachUser runs a test as the current user and, if that is root, as an unprivileged user.
// change prepares a program for that user.
func eachUser(t *testing.T, test func(t *testing.T, root bool, change func(*exec.Cmd))) {
	t.Run("own", func(t *testing.T) { test(t, os.Getuid() == 0, func(*exec.Cmd) {}) })
	if os.Getuid() == 0 {
		t.Run("unprivileged", func(t *testing.T) {
			test(t, false, func(cmd *exec.Cmd) { runAs(t, cmd, 64_322) })
		})
	}
}

// TestSecretsOfTheProcess checks that an approved command finds no secrets in the system's
// information about its parent program and, unless it is root, in its memory (F8).
//
// Proves PERM-71.
func TestSecretsOfTheProcess(t *testing.T) {
	const part = "q7Xw2mV9" // part of all values
	secrets := []string{
		"ANTHROPIC_API_KEY=sk-ant-api03-" + part + "Kd83nsLq0PzvR5tYb1Hc", "ANTHROPIC_AUTH_TOKEN=" + part, "OPENAI_API_KEY=" + part,
		"ANTHROPIC_CUSTOM_HEADERS=X-Gate: " + part, "GITHUB_TOKEN=" + part, "DATABASE_URL=postgres://app:" + part + "@db/x",
		"HARMLESS=" + "ghp_" + part + "Kd83nsLq0PzvR5tYb1HcGf6Ja4Wu2Ei8Ox", "HTTPS_PROXY=http://me:" + part + "@localhost:1",
	}
	eachUser(t, func(t *testing.T, root bool, change func(*exec.Cmd)) {
		b := newBench(t, func(cmd *exec.Cmd) {
			cmd.Env = append(cmd.Env, append(secrets, "PLAIN=shown")...)
			change(cmd)
		})
		commands := []string{
			`cat /proc/$PPID/environ; :`, `cat /proc/$PPID/task/*/environ; :`, `tr '\0' '\n' < /proc/$PPID/environ; :`, `ps eww $PPID; :`,
			`cat /proc/[0-9]*/environ | tr '\0' '\n' | grep -a ADZE_HOME; :`,
		}
		for _, command := range commands {
			if got := b.bash(command); strings.Contains(got.Text, part) {
				t.Errorf("%s shows a secret: %q", command, got.Text)
			}
		}
		if root {
			if got := b.bash(`tr '\0' '\n' < /proc/$PPID/environ; :`); !strings.Contains(got.Text, "PLAIN=shown") {
				t.Errorf("the environment was not looked at: %q", got.Text)
			}
		} else {
			for _, file := range []string{"environ", "mem", "maps", "fd/0", "cwd/x", "auxv"} {
				got := b.bash(fmt.Sprintf(`head -c 1 /proc/$PPID/%s >/dev/null; :`, file))
				if !strings.Contains(got.Text, "Permission denied") {
					t.Errorf("%s: %q", file, got.Text)
				}
			}
		}
		b.end()
	})
}

// TestGuardedProcessWorks checks that the program's use of /proc and of child processes works
// although others may not inspect it.
func TestGuardedProcessWorks(t *testing.T) {
	eachUser(t, func(t *testing.T, _ bool, change func(*exec.Cmd)) {
		for _, sandbox := range []bool{false, true} {
			b := newBench(t, func(cmd *exec.Cmd) {
				cmd.Args = append(cmd.Args, "--settings", fmt.Sprintf(`{"sandbox":{"enabled":%[1]v,"failIfUnavailable":%[1]v}}`, sandbox))
				change(cmd)
			})
			if got := b.bash("echo $((6*7)); cat /proc/self/environ | head -c 1 | wc -c; :"); got.Text != "42\n1" {
				t.Errorf("sandbox %v: %q", sandbox, got.Text)
			}
			name := fmt.Sprintf("new-%v.txt", sandbox)
			if got := b.call("Write", map[string]any{"file_path": name, "content": "x"}); got.IsError {
				t.Errorf("sandbox %v: %q", sandbox, got.Text)
			}
			id := b.call("Bash", map[string]any{"command": "setsid sleep 1000; :", "run_in_background": true}).Structured.BackgroundTaskID
			if got := b.call("TaskStop", map[string]any{"task_id": id}); got.IsError {
				t.Errorf("sandbox %v: %q", sandbox, got.Text)
			}
			b.end()
		}
	})
}
