package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestHostHandlesTasks checks that a host can move the running command to the background, and
// list, read and stop background tasks.
//
// Proves SHBG-02.
func TestHostHandlesTasks(t *testing.T) {
	script := "use Bash {\"command\":\"echo begun; touch running; tail -f /dev/null\"}\n---\nexpect last \"The user moved the command to the background\"\nsay It goes on.\n---\nexpect last \"<status>killed</status>\"\nsay It is over."
	cmd := adze(t, t.TempDir(), script, "--model", "sonnet", "--allowed-tools", "Bash",
		"--input-format", "stream-json", "--output-format", "stream-json", "--verbose")
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
	send := func(line string) {
		t.Helper()
		if _, err := io.WriteString(stdin, line+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	ask := func(id, request string) string {
		t.Helper()
		send(fmt.Sprintf(`{"type":"control_request","request_id":%q,"request":%s}`, id, request))
		seen := readUntil(t, stdout, `"request_id":"`+id+`"`)
		for !strings.HasSuffix(seen, "\n") {
			seen += readUntil(t, stdout, "\n")
		}
		for line := range strings.Lines(seen) {
			if strings.Contains(line, `"request_id":"`+id+`"`) {
				return line
			}
		}
		return ""
	}
	if got := ask("none", `{"subtype":"background_tasks"}`); !strings.Contains(got, `"backgrounded":false`) {
		t.Errorf("nothing to move: %s", got)
	}
	send(`{"type":"user","message":{"role":"user","content":"go"}}`)
	until(t, "the command does not run", func() bool {
		_, err := os.Stat(filepath.Join(cmd.Dir, "running"))
		return err == nil
	})
	if got := ask("move", `{"subtype":"background_tasks"}`); !strings.Contains(got, `"success"`) {
		t.Errorf("moving: %s", got)
	}
	readUntil(t, stdout, `"result":"It goes on."`)
	var listed struct {
		Response struct {
			Response struct {
				Tasks []struct {
					ID     string `json:"task_id"`
					Status string
				}
			}
		}
	}
	if err := json.Unmarshal([]byte(ask("list", `{"subtype":"list_tasks"}`)), &listed); err != nil || len(listed.Response.Response.Tasks) != 1 {
		t.Fatalf("%v: %+v", err, listed)
	}
	id := listed.Response.Response.Tasks[0].ID
	if got := ask("output", `{"subtype":"get_task_output","task_id":"`+id+`"}`); !strings.Contains(got, `"output":"begun\n"`) || !strings.Contains(got, `"running"`) {
		t.Errorf("output: %s", got)
	}
	if got := ask("stop", `{"subtype":"stop_task","task_id":"`+id+`"}`); !strings.Contains(got, `"success"`) {
		t.Errorf("stopping: %s", got)
	}
	readUntil(t, stdout, `"result":"It is over."`)
	if got := ask("again", `{"subtype":"stop_task","task_id":"`+id+`"}`); !strings.Contains(got, "has ended already: killed") {
		t.Errorf("stopping again: %s", got)
	}
	stdin.Close()               // ok: this ends it
	io.Copy(io.Discard, stdout) // ok: as above
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}
