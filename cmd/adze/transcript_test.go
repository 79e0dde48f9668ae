//go:build unix

package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestTerminalTranscript checks the transcript in a real terminal: consecutive reads and
// searches with their names, the tail of a running command with a clock, folded thinking, and a
// key that expands everything.
//
// Proves TOOL-16, TOOL-17, TOOL-18, X-123, SHC-03, PROV-42.
func TestTerminalTranscript(t *testing.T) {
	t.Parallel()
	tm := newTerminal(t, 80, 24, `
think The rounding is in two files.
use Read {"file_path":"cart.go"}
use Read {"file_path":"money.go"}
use Grep {"pattern":"Round\\(","glob":"*.go","output_mode":"content"}
---
use Bash {"command":"seq 1 40; while ! test -e go; do sleep 0.1; done; printf '\\033[2Jend\\n'"}
---
use Read {"file_path":"nosuch.go"}
---
text <<END
It rounds **twice**, see cart.go:2.

| file | rounds |
|---|--:|
| cart.go | 1 |
END
`)
	for _, name := range []string{"cart.go", "money.go"} {
		if err := os.WriteFile(filepath.Join(tm.dir, name), []byte("package shop\n\nfunc f() { Round() }\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	tm.enter(`clear; adze --model replay:model.txt --permission-mode bypassPermissions --settings '{"sandbox":{"enabled":false}}'`)
	tm.waitFor(`^❯ $`)
	tm.enter("why does it round wrong?")
	tm.waitFor(`^▸ seq 1 40; while .* \ds\n  36\n  37\n  38\n  39\n  40\n  ⋯ 40 lines ∙ Ctrl-B background ∙ Ctrl-O all$`)
	if err := os.WriteFile(filepath.Join(tm.dir, "go"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	screen := tm.waitFor(`^cart.go +1\n\n❯`)
	for _, want := range []string{
		`(?m)^❯ why does it round wrong\?\n\n✓ Read cart.go, money.go\n✓ Searched Round\\\( in \*.go: 2 lines in cart.go, money.go\n✓ seq 1 40; while .*s\n  ⋯ 36 earlier lines ∙ Ctrl-O all\n  37\n  38\n  39\n  40\n  end\n✗ Read nosuch.go`,
		`(?m)^It rounds twice, see cart.go:2.\n\nfile +rounds\n─+  ─+\ncart.go +1\n`,
	} {
		if !regexp.MustCompile(want).MatchString(screen) {
			t.Errorf("%s is not on the screen:\n%s", want, screen)
		}
	}
	if n := strings.Count(screen, "Read cart.go"); n != 1 {
		t.Errorf("the row of the reads is there %d times:\n%s", n, screen)
	}
	tm.key("C-o")
	tm.waitFor(`Transcript`)
	tm.key("g")
	tm.waitFor(`^▾ Thought .*\n  The rounding is in two files.\n✓ Read cart.go: 3 lines\n`)
	tm.key("q")
	tm.waitFor(`^cart.go +1\n\n❯`)
}
