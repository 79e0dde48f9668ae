//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestTerminalHookStopsAsking checks that a question disappears if its hook stops waiting, with
// a faint row that gives the reason.
//
// Proves HOOK-18.
func TestTerminalHookStopsAsking(t *testing.T) {
	t.Parallel()
	tm := newTerminal(t, 80, 24, `
use id=toolu_a Bash {"command":"echo deployed >>log"}
---
expect error-result toolu_a "decided elsewhere"
say Understood.
`)
	const guard = `echo '{"prompt":"w","message":"Deploy?","options":[{"key":"y","label":"Yes"}]}'
while [ ! -e decided ]; do sleep 0.05; done
echo decided elsewhere >&2
exit 2
`
	settings := `{"hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"bash guard.sh","asksUser":true}]}]},"permissions":{"allow":["Bash"]},"sandbox":{"enabled":false}}`
	if err := os.MkdirAll(tm.home, 0o755); err != nil {
		t.Fatal(err)
	}
	write := func(path, text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(tm.home, "settings.json"), settings)
	write(filepath.Join(tm.dir, "guard.sh"), guard)
	tm.enter("clear; adze --model replay:model.txt")
	tm.waitFor(`^. $`)
	tm.enter("go")
	tm.waitFor(`\| Deploy\?[\s\S]*1 Yes`)
	write(filepath.Join(tm.dir, "decided"), "")
	screen := tm.waitFor(`The question was withdrawn: the hook has ended\.[\s\S]*Understood\.`)
	if strings.Contains(screen, "Skip this question") {
		t.Error(screen)
	}
}

// TestTerminalHookAsks checks that a hook can ask the user of a real terminal, in both front
// ends. The prompt names the hook, the hook's text can't be mistaken for the program's own, and
// the question disappears with the turn.
//
// Proves HOOK-18.
func TestTerminalHookAsks(t *testing.T) {
	t.Parallel()
	tm := newTerminal(t, 80, 30, `
when last "one"
use id=toolu_a Bash {"command":"echo deployed >>log"}
---
expect no-error-result toolu_a
say First done.
---
when last "two"
use id=toolu_b Bash {"command":"echo deployed >>log"}
---
expect error-result toolu_b "skipped"
say Second done.
---
when last "three"
use id=toolu_c Bash {"command":"echo deployed >>log"}
---
say Never.
`)
	const plain = `use id=toolu_d Bash {"command":"echo deployed >>log"}
---
expect no-error-result toolu_d
say Fourth done.
`
	const guard = `read -r input
printf '%s\n' '{"prompt":"w","message":"Deploy \u001b[31mwhere?\nThink of Friday.","options":[{"key":"s","label":"Staging"},{"key":"p","label":"Production","description":"the real one"}]}'
read -r answer
printf '%s\n' "$answer" >>answers
case $answer in *'"selected":"p"'*) ;; *) echo skipped >&2; exit 2 ;; esac
`
	settings := `{"hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"bash guard.sh","asksUser":true,"timeout":20}]}]},"permissions":{"allow":["Bash"]},"sandbox":{"enabled":false}}`
	if err := os.MkdirAll(tm.home, 0o755); err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{filepath.Join(tm.home, "settings.json"): settings, filepath.Join(tm.dir, "guard.sh"): guard, filepath.Join(tm.dir, "plain.txt"): plain} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	tm.enter("clear; adze --model replay:model.txt")
	tm.waitFor(`^❯ $`)
	tm.enter("one")
	screen := tm.answer("The PreToolUse hook `bash guard.sh` asks ─+\n  \\| Deploy .*where\\?\n  \\| Think of Friday\\. *\n[\\s\\S]*1 Staging\n 2 Production   the real one\n 3 Skip this question", "2")
	if strings.Contains(tm.tmux("capture-pane", "-p", "-e"), "\x1b[31mwhere") || strings.Contains(screen, "Something else") {
		t.Error(screen)
	}
	tm.waitFor(`First done\.`)
	tm.enter("two")
	tm.answer(`Skip this question`, "3")
	tm.waitFor(`Second done\.`)
	tm.enter("three")
	tm.answer(`three[\s\S]*Skip this question`, "Escape")
	tm.waitFor(`Stopped\.`)
	tm.enter("/exit")
	tm.waitForShell()

	tm.enter("clear; adze --plain --model replay:plain.txt")
	tm.waitFor(`^> $`)
	tm.enter("four")
	tm.waitFor("The PreToolUse hook `bash guard.sh` asks:\n  \\| Deploy .*where\\?\n  \\| Think of Friday\\. *\n *1\\. Staging\n *2\\. Production: the real one")
	tm.waitFor(`Number \(Enter skips the question\): $`)
	tm.enter("somewhere")
	tm.waitFor(`This is not an option`)
	tm.enter("2")
	tm.waitFor(`Fourth done\.`)

	answers, err := os.ReadFile(filepath.Join(tm.dir, "answers"))
	const chosen, declined = `{"prompt_response":"w","selected":"p"}`, `{"prompt_response":"w","selected":null,"declined":"the user did not choose"}`
	// A stopped hook may have read before that its question was declined.
	if got := string(answers); err != nil || got != chosen+"\n"+declined+"\n"+chosen+"\n" && got != chosen+"\n"+declined+"\n"+declined+"\n"+chosen+"\n" {
		t.Errorf("the hook read %q, %v", answers, err)
	}
	if log, err := os.ReadFile(filepath.Join(tm.dir, "log")); string(log) != "deployed\ndeployed\n" {
		t.Errorf("commands run: %q, %v", log, err)
	}
}

// TestTerminalHooksAreTold checks that hooks are notified when the program waits for the user,
// so that they can alert them elsewhere: on a permission prompt, and at the end of a long turn
// if the user is in another window.
//
// Proves HOOK-01, HOOK-21.
func TestTerminalHooksAreTold(t *testing.T) {
	t.Parallel()
	tm := newTerminal(t, 80, 24, `
delay 10s
use id=toolu_a Bash {"command":"touch made"}
---
say Made.
`)
	writeSettings(t, tm, `{"hooks":{"Notification":[
		{"matcher":"permission_prompt","hooks":[{"type":"command","command":"cat >asked"}]},
		{"matcher":"idle_prompt","hooks":[{"type":"command","command":"cat >ended"}]}]},"sandbox":{"enabled":false}}`)
	told := func(name, want string) {
		t.Helper()
		var text []byte
		for range 3000 {
			text, _ = os.ReadFile(filepath.Join(tm.dir, name)) // ok: it is not there yet
			if strings.HasSuffix(strings.TrimSpace(string(text)), "}") {
				break
			}
			time.Sleep(20 * time.Millisecond)
		}
		if !strings.Contains(string(text), want) {
			t.Errorf("%s: %q", name, text)
		}
	}
	tm.enter("clear; adze --model replay:model.txt")
	tm.waitFor(`^❯ $`)
	tm.enter("go")
	tm.answer(`touch made[\s\S]*1 Yes`, "1")
	told("asked", `"message":"adze needs your permission to use Bash","title":"Permission","notification_type":"permission_prompt"`)
	tm.waitFor(`Made\.`)
	if _, err := os.Stat(filepath.Join(tm.dir, "ended")); err == nil {
		t.Error("the user is there, and was called")
	}
	tm.tmux("send-keys", "-l", "\x1b[O")
	told("ended", `"notification_type":"idle_prompt"`)
	if screen := tm.screen(); strings.Contains(screen, "Notification") || strings.Contains(screen, "[O") {
		t.Errorf("the screen tells of it:\n%s", screen)
	}
}
