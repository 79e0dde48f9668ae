package app

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"adze/internal/tools/plan"
)

// TestNotesCompactionRestores checks that notes replace a summary and SessionStart hooks run.
// The plan, background tasks, files and instructions are restored.
//
// Proves CTX-37, CTX-41, CTX-43.
func TestNotesCompactionRestores(t *testing.T) {
	d := drivenPlace(t, `"sessionMemoryCompact":{"minTokens":10,"minTextMessages":0,"maxTokens":1000},
		"hooks":{"SessionStart":[{"matcher":"compact","hooks":[{"type":"command","command":"cat >>../log; echo Mind the style guide."}]}]}`)
	d.Write("work/AGENTS.md", "Answer in British English.\n")
	d.Write("work/parser.go", "package parser\n")
	file, err := json.Marshal(plan.File(d.Path("home/.adze/plans"), d.id, ""))
	if err != nil {
		t.Fatal(err)
	}
	d.start(`
when text "<notes>"
text "<notes>\n# Current state\nThe parser is being fixed.\n</notes>"
---
when text "<notes>"
forever
say <notes></notes>
---
when text "Summarise this conversation"
forever
error invalid_request
---
use Bash {"command":"sleep 300","run_in_background":true,"description":"wait for the build"}
use Read {"file_path":"parser.go"}
use Write {"file_path":`+string(file)+`,"content":"1. Fix the parser.\n"}
---
say `+strings.Repeat("it is so because of that. ", 3000)+`
use Bash {"command":"echo fine"}
---
use Bash {"command":"echo fine"}
---
error too_long
---
say Fixed.
`, "--session-id", d.id, "--permission-mode", "acceptEdits", "--allowed-tools", "Bash,Write")
	d.prompt("Fix the parser.")
	requests := d.requests(0)
	last := requests[len(requests)-1]
	if isNotes(last) { // may arrive late
		last = requests[len(requests)-2]
	}
	for _, want := range []string{
		"The parser is being fixed.", "Mind the style guide.", "Answer in British English.",
		"still running in the background", "wait for the build", "The plan of this session is in", "1. Fix the parser.", "package parser",
		`\n\u003csaid\u003e\nFix the parser.\n\u003c/said\u003e`,
	} {
		if !bytes.Contains(last.raw, []byte(want)) && !bytes.Contains(last.raw, []byte(unescaped(want))) {
			t.Errorf("%q is not in the request after the compaction:\n%s", want, d.skeleton(last))
		}
	}
	for _, s := range requests {
		if bytes.Contains(s.raw, []byte("Summarise this conversation")) {
			t.Error("a summary was requested")
		}
	}
	if n := strings.Count(string(last.raw), "1. Fix the parser."); n != 1 {
		t.Errorf("the plan is there %d times", n)
	}
	d.end()
	log, err := os.ReadFile(d.Path("log"))
	if err != nil || bytes.Count(log, []byte(`"source":"compact"`)) != 1 {
		t.Errorf("%v, hook input %s", err, log)
	}
	if err := d.player.Err(); err != nil {
		t.Error(err)
	}
}

func isNotes(s sent) bool { return bytes.Contains(s.raw, []byte("belongs in the notes")) }

func unescaped(s string) string {
	return strings.NewReplacer(`\u003c`, "<", `\u003e`, ">").Replace(s)
}

// TestExperimentsAreOff checks that both experiments are off by default: no tool is announced
// and no step is numbered.
//
// Proves CTX-51, CTX-52.
func TestExperimentsAreOff(t *testing.T) {
	for _, on := range []bool{false, true} {
		settings := `"snip":{"enabled":false}`
		if on {
			settings = `"snip":{"enabled":true},"contextCollapse":{"enabled":true}`
		}
		d := drivenPlace(t, settings)
		d.start("use Bash {\"command\":\"echo fine\"}\n---\nsay Done.\n", "--session-id", d.id)
		d.prompt("Look.")
		requests := d.requests(0)
		last := requests[len(requests)-1]
		for _, mark := range []string{"built in: CtxInspect, NotebookEdit, Snip", "[step 1]"} {
			if got := bytes.Contains(last.raw, []byte(mark)); got != on {
				t.Errorf("on %t: %s is in the request: %t", on, mark, got)
			}
		}
		d.end()
	}
}

// TestNotesDoNotHoldUpTheEnd checks that a single-turn run does not wait for notes, and that a
// bare one writes none.
//
// Proves CTX-59.
func TestNotesDoNotHoldUpTheEnd(t *testing.T) {
	for _, bare := range []bool{false, true} {
		p := newPlace(t)
		p.Write("model.replay", "when text \"<notes>\"\nforever\nhang\n---\nuse Bash {\"command\":\"seq 1 5000\"}\n---\nuse Bash {\"command\":\"seq 1 5001\"}\n---\nuse Bash {\"command\":\"seq 1 5002\"}\n---\nuse Bash {\"command\":\"seq 1 4000\"}\n---\nuse Bash {\"command\":\"seq 1 4000\"}\n---\nsay Done.\n")
		args := []string{"-p", "count", "--model", "replay:" + p.Path("model.replay"), "--record-requests", p.Path("requests")}
		if bare {
			args = append(args, "--bare")
		}
		p.env.Now = time.Now
		if code, out, said := p.run(args...); code != 0 || !strings.Contains(out, "Done.") {
			t.Errorf("bare %t: exit code %d, %s, %s", bare, code, out, said)
		}
		asked := 0
		names, err := filepath.Glob(p.Path("requests/*.json"))
		if err != nil || len(names) < 4 {
			t.Fatalf("%v, %d requests", err, len(names))
		}
		for _, name := range names {
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if bytes.Contains(data, []byte("belongs in the notes")) {
				asked++
			}
		}
		if want := 1; bare && asked != 0 || !bare && asked != want {
			t.Errorf("bare %t: %d requests for notes", bare, asked)
		}
	}
}
