package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestHostStopsAgentsOfAgents checks that a host can stop an agent that works for another, and
// then an agent the model waits for: the others continue and are notified.
//
// Proves TASK-04, AGENT-40.
func TestHostStopsAgentsOfAgents(t *testing.T) {
	script := `
when last "go down"
use id=toolu_main Agent {"description":"one deep","prompt":"LEVEL-1","subagent_type":"nest"}
---
when last "LEVEL-1"
use id=toolu_one Agent {"description":"two deep","prompt":"LEVEL-2","subagent_type":"nest"}
---
when last "LEVEL-2"
hang
---
when result toolu_one
expect error-result toolu_one "the task was stopped"
hang
---
when result toolu_main
expect error-result toolu_main "the task was stopped"
say Both were stopped.
`
	cmd := adze(t, t.TempDir(), script, "--model", "sonnet", "--trust", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose")
	agents := filepath.Join(cmd.Dir, ".adze", "agents")
	if err := os.MkdirAll(agents, 0o755); err != nil {
		t.Fatal(err)
	}
	const nest = "---\nname: nest\ndescription: launches agents\ntools: Agent\n---\nYou launch agents.\n"
	if err := os.WriteFile(filepath.Join(agents, "nest.md"), []byte(nest), 0o644); err != nil {
		t.Fatal(err)
	}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(stdin, `{"type":"user","message":{"role":"user","content":"go down"}}`)
	seen := ""
	wait := func(text string) {
		t.Helper()
		for !strings.Contains(seen, text) {
			seen += readUntil(t, stdout, "\n")
		}
	}
	wait(`"spawn_depth":2`)
	ids := regexp.MustCompile(`"subtype":"task_started","task_id":"(a[0-9a-z]+)"`).FindAllStringSubmatch(seen, -1)
	if len(ids) != 2 {
		t.Fatalf("%d agents began: %s", len(ids), seen)
	}
	for _, id := range []string{ids[1][1], ids[0][1]} {
		fmt.Fprintf(stdin, `{"type":"control_request","request_id":%q,"request":{"subtype":"stop_task","task_id":%[1]q}}`+"\n", id)
		wait(`"subtype":"task_notification","task_id":"` + id + `"`)
		wait(`"subtype":"success","request_id":"` + id + `"`)
	}
	wait(`"result":"Both were stopped."`)
	stdin.Close()               // ok: this ends it
	io.Copy(io.Discard, stdout) // ok: as above
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}
