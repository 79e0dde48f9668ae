package main

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// TestServersOfAgentsEndWithTheProgram checks that an agent's server ends with the program,
// however that ends, even if the server ignores signals and the end of its input.
//
// Proves AGENT-14, AGENT-39.
func TestServersOfAgentsEndWithTheProgram(t *testing.T) {
	const definition = `---
name: own
description: has a server
mcpServers:
  - db: {command: mcptest, args: [pid=PID, stubborn]}
---
You have a server.`
	const script = `use Agent {"description":"ask","prompt":"Ask.","subagent_type":"own"}
---
use mcp__db__echo {"text":"row"}
---
expect last "row"
use mcp__db__hang {}
---
forever
say Cut.`
	for _, sig := range []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM, syscall.SIGINT} {
		t.Run(sig.String(), func(t *testing.T) {
			home, pids := t.TempDir(), filepath.Join(t.TempDir(), "pids")
			if err := os.MkdirAll(filepath.Join(home, "agents"), 0o755); err != nil {
				t.Fatal(err)
			}
			text := strings.ReplaceAll(definition, "PID", pids)
			if err := os.WriteFile(filepath.Join(home, "agents", "own.md"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			cmd := adze(t, home, script, "--model", "sonnet", "--trust", "--allowed-tools", "Agent,mcp__db", "-p", "go")
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			var pid int
			until(t, "the server was not called", func() bool {
				data, _ := os.ReadFile(pids) // ok: not started yet
				pid, _ = strconv.Atoi(strings.TrimSpace(string(data)))
				return pid > 0 && strings.Contains(sideLogs(t, home), "mcp__db__hang")
			})
			if err := cmd.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			cmd.Wait() // ok: it was ended
			until(t, "the server outlives the program", func() bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) })
		})
	}
}
