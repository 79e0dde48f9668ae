package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"adze/internal/platform/fs/lockfile"
)

// TestKilledWorkflowContinues checks that a killed run is reported when the session is resumed,
// and continues with the interrupted step unless another process is running it. A finished run
// starts over.
//
// Proves X-130.
func TestKilledWorkflowContinues(t *testing.T) {
	home, work := t.TempDir(), t.TempDir()
	const session = "7b2f6a52-6a0f-4a55-9d3e-0c1f6f0d9e11"
	folder := filepath.Join(home, "workflows")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	steps := "inputs: [word]\nsteps:\n  - {name: one, prompt: 'STEP-ONE {{inputs.word}}'}\n  - {name: two, prompt: 'STEP-TWO of {{steps.one.output}}'}\n"
	if err := os.WriteFile(filepath.Join(folder, "both.yaml"), []byte(steps), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(script string, args ...string) string {
		t.Helper()
		cmd := adze(t, home, script, append([]string{"--model", "sonnet", "--resume", session, "-p"}, args...)...)
		cmd.Dir = work
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return string(out)
	}

	cmd := adze(t, home, `when last "start it"
use id=toolu_a Workflow {"name":"both","inputs":{"word":"a 'b' c"}}
---
when last "STEP-ONE a 'b' c"
say first
---
when text "STEP-TWO of first"
hang
---
say Waiting.
`, "--model", "sonnet", "-p", "start it", "--session-id", session, "--allowed-tools", "Workflow")
	cmd.Dir = work
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var journal string
	until(t, "the second step does not begin", func() bool {
		files, _ := filepath.Glob(filepath.Join(home, "projects", "*", session, "workflows", "*.jsonl")) // ok: the pattern is valid
		if len(files) == 0 {
			return false
		}
		journal = files[0]
		data, err := os.ReadFile(journal)
		return err == nil && bytes.Contains(data, []byte(`"call":"two"`))
	})
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	cmd.Wait() // ok: it was killed

	const again = `/workflow both word='a '\''b'\'' c'`
	held, err := lockfile.Try(journal + ".lock")
	if err != nil {
		t.Fatalf("the lock of a killed process is left: %v", err)
	}
	cmd = adze(t, home, "say unused", "--model", "sonnet", "--resume", session, "-p", again)
	cmd.Dir, cmd.Stderr = work, nil
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), fmt.Sprintf("in another run of adze (process %d of ", os.Getpid())) {
		t.Errorf("two processes run one journal: %v: %s", err, out)
	}
	held.Close()
	if out := run("say unused", "/workflows"); !strings.Contains(out, "To continue it: "+again) {
		t.Errorf("/workflows shows\n%s", out)
	}
	if out := run("expect text \"continues with the step that did not finish\"\nsay Told.", "hi"); !strings.Contains(out, "Told.") {
		t.Errorf("no notice to the model: %s", out)
	}
	if out := run("when text \"STEP-TWO of first\"\nsay second", again); !strings.Contains(out, "second") {
		t.Errorf("continued, it returned %s", out)
	}
	if out := run("say unused", "/workflows"); strings.Contains(out, "To continue it") {
		t.Errorf("a run that has ended is offered:\n%s", out)
	}
	if out := run("when last \"STEP-ONE\"\nsay new\n---\nwhen text \"STEP-TWO of new\"\nsay end", again); !strings.Contains(out, "end") {
		t.Errorf("begun again, it returned %s", out)
	}
	if out := run("expect no-text \"The agent\"\nsay Fine.", "hi"); !strings.Contains(out, "Fine.") {
		t.Errorf("notices to the model about a workflow's agents: %s", out)
	}
}
