//go:build unix

package main

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"adze/internal/mcp/signin/signintest"
)

var update = flag.Bool("update", false, "write the golden files")

// journey is the model's script for a conversation in which both front ends show all kinds of
// content.
const journey = `
use Read {"file_path":"cart.go"}
---
text "It rounds **twice**, in cart.go:3:\n\n` + "```go\\nreturn sum.Round()\\n```" + `\n\n| where | how often |\n|---|--:|\n| line | 1 |\n| total | 1 |\n"
---
when last "repair it"
use Edit {"file_path":"cart.go","old_string":"line.Round()","new_string":"line"}
---
use Bash {"command":"touch repaired && seq 1 12","description":"Note that it is repaired"}
---
use AskUserQuestion {"questions":[{"question":"How shall it be tested?","header":"Tests","options":[{"label":"unit","description":"the package alone"},{"label":"whole","description":"with a database"}]}]}
---
say It is repaired, and I **test** it as a whole.
---
when last "plan the rest"
use EnterPlanMode {}
---
use ExitPlanMode {"plan":"# The rest\n\n1. Round **once**\n2. Test it\n"}
---
say The plan is carried out.
---
when last "what is left?"
say **Nothing** is left.
`

// A step is an input from the user and the output to wait for. Answers are the numbers of
// choices.
type step struct {
	enter, answer string
	plain         string // the answer in line mode
	until         string
}

var journeySteps = []step{
	{enter: "why does it round wrong?", until: `total.* 1`},
	{enter: "repair it", until: `cart\.go`},
	{answer: "1", plain: "y", until: `touch repaired`},
	{answer: "1", plain: "y", until: `How shall it be tested\?`},
	{answer: "2", plain: "2", until: `as a whole\.`},
	{enter: "plan the rest", until: `(?i)plan mode`},
	{answer: "1", plain: "y", until: `2\. Test it`},
	{answer: "1", plain: "y", until: `is carried out\.`},
	{enter: "/btw what is left?", until: `is left\.$`},
	{enter: "/context all", until: `free$`},
	{enter: "/exit", until: `To continue this session`},
}

// TestJourney runs the same conversation in both front ends, with parallel golden files: each
// shows the same content.
func TestJourney(t *testing.T) {
	for _, front := range []string{"tui", "plain"} {
		t.Run(front, func(t *testing.T) {
			t.Parallel()
			tm := newTerminal(t, 80, 60, journey)
			writeSettings(t, tm, `{"sandbox":{"enabled":false}}`)
			if err := os.WriteFile(filepath.Join(tm.dir, "cart.go"), []byte("package shop\n\nvar sum = line.Round()\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			tm.enter("clear; adze --model replay:model.txt" + strings.Repeat(" --plain", strings.Count(front, "plain")))
			tm.waitFor(`^[>❯] $`)
			for _, s := range journeySteps {
				switch {
				case s.answer == "":
					tm.waitFor(map[string]string{"plain": `^> \z`, "tui": `^❯ $`}[front])
					tm.enter(s.enter)
				case front == "plain":
					tm.waitFor(`\S.*: \z`)
					tm.enter(s.plain)
				default:
					tm.answer(``, s.answer)
				}
				tm.waitFor(s.until)
			}
			tm.waitForShell()
			path := filepath.Join("testdata", "journey-"+front+".txt")
			got := settled(tm.screen())
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", path, diff)
			}
		})
	}
}

// settled returns a screen without text that depends on the time, the machine or the prompts.
func settled(screen string) string {
	for _, r := range []struct{ what, with string }{
		{`(?m) +$`, ""},
		{`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}`, "SESSION"},
		{`plans/[a-z-]+\.md`, "plans/NAME.md"},
		{`(?m)(,? \d+(\.\d+)?m?s| \(\d+(\.\d+)?m?s\))$`, ""},
		{`(?m)^ +[\d,]+ {6,}\S.*\n`, ""}, // context window breakdown
		{`(?m)^ +[\d,]+ +\d+%`, "  N%"},
		{`about [\d,]+ of`, "about N of"},
		{`[\d,]+ tokens in, [\d,]+ out`, "N tokens in, N out"},
		{`[\d.]+k of 128k tokens \(\d+%\)`, "Nk of 128k tokens (N%)"},
		{`\(\d+% of the context\)`, "(N% of the context)"},
		{`counted [\d,]+ tokens`, "counted N tokens"},
		{`(?m)\S+ waiting for the model`, "0s waiting for the model"},
	} {
		screen = regexp.MustCompile(r.what).ReplaceAllString(screen, r.with)
	}
	return screen + "\n"
}

// TestTerminalServerLogin checks signing in to a tool server from a conversation: the server is
// listed as requiring it, a browser is opened, and afterwards the model can call its tool.
//
// Proves MCP-25, MCP-27, X-070.
func TestTerminalServerLogin(t *testing.T) {
	t.Parallel()
	vault := signintest.New(false)
	defer vault.Close()
	tm := newTerminal(t, 100, 40, `
use mcp__vault__echo {"text":"hello"}
---
expect last "echo: {\"text\":\"hello\"}"
say The vault answers.
`)
	certificate := filepath.Join(tm.dir, "vault.pem")
	if err := os.WriteFile(certificate, vault.PEM(), 0o644); err != nil {
		t.Fatal(err)
	}
	tm.enter("export BROWSER=browse ADZE_EXTRA_CA_CERTS=" + certificate + " DBUS_SESSION_BUS_ADDRESS=unix:path=/nowhere")
	tm.enter("adze mcp add vault " + vault.Address())
	tm.waitFor(`[Aa]dded`)
	writeSettings(t, tm, `{"sandbox":{"enabled":false}}`)
	tm.enter("clear; adze --model replay:model.txt")
	tm.waitFor(`^❯ $`)
	tm.waitFor(`vault[\s\S]*(sign in|login)`)
	tm.enter("/mcp auth vault")
	tm.waitFor(`(?i)you are signed in to vault`)
	tm.enter("use the vault")
	tm.answer(`mcp__vault__echo`, "1")
	tm.waitFor(`The vault answers\.`)
	tm.key("C-d")
	tm.waitFor(`To continue this session`)
	if faults := vault.Faults(); len(faults) > 0 {
		t.Errorf("the vault complains: %q", faults)
	}
	access, refresh := vault.Tokens()
	for _, secret := range append(access, refresh...) {
		if strings.Contains(tm.screen(), secret) {
			t.Error("a token is on the screen")
		}
	}
}

// TestTerminalLongBuild checks a long build with much output: its last lines and a clock are
// shown while the user types, a key moves it to the background, another moves by itself, and
// the user and the model are notified when they end. No line of 100,000 is lost.
//
// Proves SHBG-02, SHC-03, TASK-05.
func TestTerminalLongBuild(t *testing.T) {
	t.Parallel()
	tm := newTerminal(t, 80, 24, `
use Bash {"command":"seq -f 'compiled %.0f' 1 100000; while ! test -e go; do sleep 0.1; done; echo built","description":"Build"}
---
expect last "moved the command to the background"
use Bash {"command":"echo testing; while ! test -e go; do sleep 0.1; done; echo tested","description":"Test"}
---
expect last "in the background"
say Both run.
---
forever
say They are done.
`)
	writeSettings(t, tm, `{"sandbox":{"enabled":false},"shell":{"blockingBudgetMs":10000}}`)
	tm.enter("clear; adze --model replay:model.txt --allowed-tools Bash")
	tm.waitFor(`^❯ $`)
	tm.enter("build and test")
	tm.waitFor(`^▸ seq -f .* \d+s *\n(  compiled 9999\d *\n)+  compiled 100000 *\n  ⋯ 100,000 lines ∙ Ctrl-B background ∙ Ctrl-O all$`)
	tm.tmux("send-keys", "-l", "while it builds")
	if screen := tm.waitFor(`^❯ while it builds$`); strings.Contains(screen, "Ctrl-B") {
		t.Errorf("a key is named that is for the text now:\n%s", screen)
	}
	tm.key("C-u")
	tm.waitFor(`^❯ $`)
	tm.key("C-b")
	tm.waitFor(`^✓ seq -f.*: running in the background$`)
	tm.waitFor(`^▸ echo testing; .*\n  testing$`)
	tm.waitFor(`^✓ echo testing; .*: running in the background$`) // moved automatically
	tm.waitFor(`^Both run\.$`)
	tm.tmux("send-keys", "-l", "what is typed stays")
	if err := os.WriteFile(filepath.Join(tm.dir, "go"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	tm.waitFor(`^✓ Task b[0-9a-z]{8}, Build: completed`)
	tm.waitFor(`^✓ Task b[0-9a-z]{8}, Test: completed`)
	tm.waitFor(`They are done\.`)
	tm.waitFor(`^❯ what is typed stays *$`)
	tm.key("C-u")
	tm.enter("/tasks")
	screen := tm.waitFor(`Build +(completed|done).*  b[0-9a-z]{8}$`)
	id := regexp.MustCompile(`(?m)Build +(?:completed|done).*  (b[0-9a-z]{8})$`).FindStringSubmatch(screen)
	if id == nil {
		t.Fatalf("the build is not listed:\n%s", screen)
	}
	files, err := filepath.Glob(filepath.Join(tm.home, "projects", "*", "*", "*", id[1]+"*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%v, %v", files, err)
	}
	data, err := os.ReadFile(files[0])
	if err != nil || strings.Count(string(data), "\n") != 100_001 {
		t.Errorf("%d lines are kept, %v", strings.Count(string(data), "\n"), err)
	}
	tm.key("Escape")
	tm.waitFor(`^❯ *$`)
	tm.key("C-d")
	tm.waitFor(`To continue this session`)
}

// TestTerminalKittyKeys checks that a terminal with the Kitty keyboard protocol gets a line
// break for Shift-Enter, also with lock and alternate codes, and no delay for Escape. In
// terminals that do not report Shift-Enter, Enter sends the message.
//
// Proves X-120.
func TestTerminalKittyKeys(t *testing.T) {
	t.Parallel()
	l := newLine(t, 80, 24, "forever\nwhen last \"one\\ntwo\\nthree\"\nsay All three lines.\n---\nforever\nsay Something else.\n", "TERM=xterm-kitty")
	l.waitFor(linePrompt)
	if !strings.Contains(l.text(), "\x1b[>1u") {
		t.Errorf("no query for the key protocol: %q", l.text())
	}
	for _, keys := range []string{
		"one", "\x1b[13;2u", // Shift-Enter
		"two", "\x1b[13;130:1u", // Num Lock, key press event
		"threx", "\x1b[127;1:1u", "e", // Backspace
	} {
		l.keys(keys)
	}
	l.shows(80, 24, "❯ one\n  two\n  three\n")
	l.keys("\x1b[13;1:1u")
	l.waitFor(`All three lines\.`)
	l.keys("\x1b[97;5u\x1b[107;5u") // Ctrl-A, Ctrl-K
	l.keys("/cos")
	l.waitFor(`tokens|cost`)
	l.keys("\x1b[27u") // Escape closes the suggestions
	l.keys("\x1b[117;5u")
	l.leave("\x1b[100;5u") // Ctrl-D
	<-l.read
	if out := l.text(); strings.LastIndex(out, "\x1b[<u") < strings.LastIndex(out, "\x1b[>1u") {
		t.Errorf("the keys are not given back: %q", out)
	}
}

// TestTerminalFirstQuestionInterrupted checks that Ctrl-C at a question before the conversation
// ends the program.
func TestTerminalFirstQuestionInterrupted(t *testing.T) {
	t.Parallel()
	tm := newTerminal(t, 80, 24, "say Never.\n")
	if err := os.WriteFile(filepath.Join(tm.dir, ".mcp.json"), []byte(`{"mcpServers":{"db":{"command":"mcptest"}}}`), 0o644); err != nil {
		t.Fatal(err)
	}
	tm.enter("clear; adze --model replay:model.txt; echo ended with $?")
	tm.waitFor(`Trust this workspace\?\n +1 Yes\n▌2 No\n +Enter select ∙ Esc no`)
	tm.key("C-c")
	tm.waitFor(`^ended with 130$`)
}

// TestTerminalBadInput checks that hostile or oversized input does no harm: escapes and hidden
// characters in file names and contents, a line of 10,000 characters from the model, a command
// and the user, a text that arrives byte by byte, and a paste of a megabyte.
func TestTerminalBadInput(t *testing.T) {
	t.Parallel()
	tm := newTerminal(t, 80, 24, `
when last "look"
use Bash {"command":"for f in bad*; do echo $f; done; cat bad*; printf '%010000d' 7","description":"List \u001b[31mred \u202efiles"}
---
when last "go on"
fragments 900
text "`+strings.Repeat("One byte at a time: **bold**, 漢字. ", 20)+strings.Repeat("x", 10_000)+` That is it."
---
say Done.
`)
	name := "bad\x1b]2;stolen\a\x1b[31m\u202egpj\u200b.txt"
	if err := os.WriteFile(filepath.Join(tm.dir, name), []byte("in it\x1b[2J\x1b]2;stolen\a\u202e\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	writeSettings(t, tm, `{"sandbox":{"enabled":false}}`)
	tm.enter("clear; adze --model replay:model.txt --allowed-tools Bash")
	tm.waitFor(`^❯ $`)
	tm.enter("look")
	tm.waitFor(`^✓ for f in bad[\s\S]*bad‹U\+202E›gpj‹U\+200B›\.txt[\s\S]*^  0{70}[\s\S]*^Done\.$`)
	tm.tmux("send-keys", "-l", "@bad")
	tm.waitFor(`^▌ bad.*gpj.*txt`)
	tm.key("C-u")
	tm.waitFor(`^❯ *$`)
	tm.enter("go on")
	tm.waitFor(`That is it\.`)
	tm.tmux("send-keys", "-l", strings.Repeat("y", 10_000))
	tm.waitFor(`y{60}`)
	tm.key("C-u")
	tm.waitFor(`^❯ *\n.*\z`)
	big := filepath.Join(tm.dir, "big")
	if err := os.WriteFile(big, []byte(strings.Repeat("a pasted \x1b[31mline\n", 60_000)), 0o644); err != nil {
		t.Fatal(err)
	}
	tm.tmux("load-buffer", big)
	tm.tmux("paste-buffer", "-p")
	tm.waitFor(`^❯ \[Pasted text #1 \+60000 lines\] *$`)
	tm.key("BSpace")
	tm.waitFor(`^❯ *\n.*\z`)
	if title := tm.tmux("display-message", "-p", "#{pane_title}"); strings.Contains(title, "stolen") {
		t.Errorf("the title of the terminal was changed to %q", title)
	}
	if screen := tm.tmux("capture-pane", "-p", "-e", "-S", "-"); strings.Contains(screen, "\u202e") || strings.Contains(screen, "\u200b") {
		t.Errorf("hidden characters are on the screen:\n%q", screen)
	}
	tm.key("C-d")
	tm.waitFor(`To continue this session`)
}
