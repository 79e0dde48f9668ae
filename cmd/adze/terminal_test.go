//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// A terminal is a tmux server with one window, which runs a shell in a repository.
type terminal struct {
	t      *testing.T
	socket string
	home   string
	dir    string
}

// newTerminal opens a terminal of the given size. script is the model's script.
func newTerminal(t *testing.T, width, height int, script string) *terminal {
	t.Helper()
	root := t.TempDir()
	tm := &terminal{t: t, socket: filepath.Join(root, "tmux"), home: filepath.Join(root, "home"), dir: filepath.Join(root, "project")}
	if err := os.Mkdir(tm.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(tm.dir, "model.txt"), []byte(script), 0o644); err != nil {
		t.Fatal(err)
	}
	quiet(t, tm.home)
	tm.tmux("-f", "/dev/null", "new-session", "-d", "-x", fmt.Sprint(width), "-y", fmt.Sprint(height), "-c", tm.dir,
		"-e", "ADZE_HOME="+tm.home, "-e", "PATH="+os.Getenv("PATH"), "-e", "PS1=$ ", "-e", "HOME="+root, "-e", "LANG=C.UTF-8", "-e", "HISTFILE=",
		"bash", "--norc", "--noprofile")
	t.Cleanup(func() { // the program saves typed text when the terminal closes
		pids, err := exec.Command("pgrep", "-P", strings.TrimSpace(tm.tmux("display-message", "-p", "#{pane_pid}"))).Output()
		exec.Command("tmux", "-S", tm.socket, "kill-server").Run()
		for _, pid := range strings.Fields(string(pids)) {
			for i := 0; err == nil && i < 1000 && exec.Command("kill", "-0", pid).Run() == nil; i++ {
				time.Sleep(20 * time.Millisecond)
			}
		}
	})
	tm.waitFor(`\$ $`)
	return tm
}

func (tm *terminal) tmux(args ...string) string {
	tm.t.Helper()
	out, err := exec.Command("tmux", append([]string{"-S", tm.socket}, args...)...).CombinedOutput()
	if err != nil {
		tm.t.Fatalf("tmux %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// enter types a line.
func (tm *terminal) enter(line string) {
	tm.t.Helper()
	tm.tmux("send-keys", "-l", line)
	tm.tmux("send-keys", "Enter")
}

// key presses a key by name.
func (tm *terminal) key(name string) {
	tm.t.Helper()
	tm.tmux("send-keys", name)
}

// screen returns the screen, including scrollback, without what frames the input and moves.
func (tm *terminal) screen() string {
	tm.t.Helper()
	return unframed(strings.TrimRight(tm.tmux("capture-pane", "-p", "-J", "-S", "-"), "\n"))
}

// What frames the input, and moves.
var (
	inputRule   = regexp.MustCompile(`(?m)^(?:─+|-+) *\n([❯>!#]|  stashed)`)
	placeholder = regexp.MustCompile(`(?m)^([❯>] )Message(?:…|\.\.\.) *$`)
	erased      = regexp.MustCompile(`(?m)^([❯>] \S.*?) +$`)
	spinner     = regexp.MustCompile(`(?m)^[⠀-⣿] `)
)

// unframed returns a screen without the rule above the input and the placeholder in it, or the
// blanks in its place, and with the glyph of terminals where none moves.
func unframed(screen string) string {
	screen = placeholder.ReplaceAllString(inputRule.ReplaceAllString(screen, "$1"), "$1")
	return spinner.ReplaceAllString(erased.ReplaceAllString(screen, "$1"), "▸ ")
}

// waitFor waits until the screen matches a pattern, and returns the screen.
func (tm *terminal) waitFor(pattern string) string {
	tm.t.Helper()
	re := regexp.MustCompile("(?m)" + pattern)
	return tm.until(fmt.Sprintf("%q does not appear", pattern), re.MatchString)
}

// until waits until ok holds for the screen, and returns the screen.
func (tm *terminal) until(problem string, ok func(screen string) bool) string {
	tm.t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) { // tmux offers no other way to wait
		screen := tm.screen()
		if ok(screen) {
			return screen
		}
		if time.Now().After(deadline) {
			tm.t.Fatalf("%s:\n%s", problem, screen)
		}
	}
}

// waitForShell waits until the program has ended and the shell prompts. The screen must have
// been cleared since the last shell prompt.
func (tm *terminal) waitForShell() {
	tm.t.Helper()
	tm.waitFor(`^\$ $`)
}

// kill kills the shell's child processes.
func (tm *terminal) kill() {
	tm.t.Helper()
	shell := strings.TrimSpace(tm.tmux("display-message", "-p", "#{pane_pid}"))
	if out, err := exec.Command("pkill", "-KILL", "-P", shell).CombinedOutput(); err != nil {
		tm.t.Fatalf("killing: %v\n%s", err, out)
	}
	tm.waitFor(`Killed`)
}

// TestTerminal runs a conversation in a real terminal: a prompt answered in place, an
// interrupt, leaving, resuming after the program was killed, and the commands.
func TestTerminal(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {200, 50}} {
		t.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(t *testing.T) {
			t.Parallel()
			tm := newTerminal(t, size[0], size[1], `
forever
when last "greet"
say Hello, I am a script.
---
forever
when last "make a file"
use Write {"file_path":"made.txt","content":"made\n"}
---
when last "made.txt"
say The file is made.
---
forever
when last "take long"
use Bash {"command":"echo started; sleep 100"}
---
when last "once more"
say Going on.
`)
			const run = "clear; adze --model replay:model.txt --allowed-tools 'Bash(sleep:*)'"
			tm.enter(run)
			tm.waitFor(`^❯ $`)
			tm.enter("greet me")
			tm.waitFor(`Hello, I am a script\.`)
			tm.enter("make a file")
			tm.waitFor(`^Change made.txt\?|^▌1 Yes`)
			if _, err := os.Stat(filepath.Join(tm.dir, "made.txt")); err == nil {
				t.Error("the file was written before it was allowed")
			}
			tm.answer(`made\.txt`, "1")
			tm.waitFor(`The file is made\.`)
			if data, err := os.ReadFile(filepath.Join(tm.dir, "made.txt")); string(data) != "made\n" {
				t.Errorf("the file holds %q, %v", data, err)
			}

			tm.enter("take long")
			tm.waitFor(`^▸ echo started`)
			tm.key("C-c")
			tm.waitFor(`Stopped\. What next\?`)
			tm.enter("/cost")
			tm.waitFor(`Total cost:`)
			tm.enter("/export out.html")
			tm.waitFor(`Written to `)
			tm.enter("/exit")
			screen := tm.waitFor(`To continue this session: adze --resume ([0-9a-f-]{36})`)
			id := regexp.MustCompile(`--resume ([0-9a-f-]{36})`).FindStringSubmatch(screen)[1]
			tm.waitForShell()

			tm.enter(run + " --continue")
			tm.waitFor(`^Continuing "`)
			tm.enter("take long")
			tm.waitFor(`^▸ echo started`)
			tm.kill()
			tm.enter("") // the shell resets the terminal
			tm.enter("clear; echo cleared-$((1+1))")
			tm.waitFor(`\Acleared-2$`) // otherwise old content would match below
			tm.enter(run + " --resume " + id)
			tm.waitFor(`^Continuing "`)
			tm.enter("once more")
			tm.waitFor(`Going on\.`)
			tm.key("C-d")
			tm.waitFor(`To continue this session`)
			tm.waitForShell()
		})
	}
}

// TestTerminalTasks checks that a key moves the running command to the background, where it is
// listed, viewed and stopped.
//
// Proves SHBG-02, TASK-05.
func TestTerminalTasks(t *testing.T) {
	t.Parallel()
	tm := newTerminal(t, 80, 24, `
use Bash {"command":"echo started; tail -f /dev/null","description":"Watch nothing"}
---
expect last "moved the command to the background"
say It goes on.
---
expect last "<status>killed</status>"
say It is over.
`)
	tm.enter("clear; adze --model replay:model.txt --allowed-tools Bash")
	tm.waitFor(`^❯ $`)
	tm.enter("go")
	tm.waitFor(`^▸ echo started`)
	tm.key("C-b")
	tm.waitFor(`It goes on\.`)
	tm.enter("/tasks")
	screen := tm.waitFor(`^▌ Watch nothing  running, .*  b[0-9a-z]{8}$[\s\S]*^ +started *$[\s\S]*Ctrl-X stop`)
	id := regexp.MustCompile(`(?m)^▌ Watch nothing .*  (b[0-9a-z]{8})$`).FindStringSubmatch(screen)[1]
	tm.key("Escape")
	tm.waitFor(`^❯ *$`)
	tm.enter("/tasks fg " + id)
	tm.waitFor(`^  started$`)
	tm.key("C-c")
	tm.waitFor(`^❯ *$`)
	tm.enter("/tasks")
	tm.waitFor(`Ctrl-X stop`)
	tm.key("C-x")
	tm.waitFor(`Stopping the task`)
	tm.key("Escape")
	tm.waitFor(`(?s)It is over\..*^❯ *$`)
	tm.enter("/tasks " + id)
	tm.waitFor(`^` + id + `  Watch nothing  killed`)
	tm.key("C-d")
	tm.waitFor(`To continue this session`)
	tm.waitForShell()
}

// TestTerminalTypedAhead checks that lines typed before the program took the terminal are
// entered, and that an unfinished one can be completed.
//
// Proves X-120.
func TestTerminalTypedAhead(t *testing.T) {
	t.Parallel()
	tm := newTerminal(t, 80, 24, "when last \"greet\"\nsay Hello.\n")
	tm.enter("clear; echo soon; until [ -e ready ]; do sleep 0.05; done; adze --model replay:model.txt")
	tm.waitFor(`^soon$`)
	tm.enter("greet")
	tm.tmux("send-keys", "-l", "not yet")
	tm.waitFor(`not yet$`)
	if err := os.WriteFile(filepath.Join(tm.dir, "ready"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	tm.waitFor(`^Hello\.$`)
	tm.waitFor(`^❯ not yet$`)
}

// TestTerminalSuspend checks that the program can be suspended and resumed repeatedly, with the
// terminal restored (second look 2.1).
func TestTerminalSuspend(t *testing.T) {
	t.Parallel()
	tm := newTerminal(t, 80, 24, "forever\nwhen last \"greet\"\nsay Hello again.\n")
	tm.enter("clear; adze --model replay:model.txt")
	tm.waitFor(`^❯ $`)
	for i := range 4 {
		if i%2 == 0 {
			tm.key("C-z")
		} else { // stopped by another process
			shell := strings.TrimSpace(tm.tmux("display-message", "-p", "#{pane_pid}"))
			if out, err := exec.Command("pkill", "-STOP", "-P", shell).CombinedOutput(); err != nil {
				t.Fatalf("stopping: %v\n%s", err, out)
			}
		}
		tm.waitFor(`Stopped +adze`)
		tm.enter("clear; echo stopped-$((1+1))")
		tm.waitFor(`\Astopped-2$`)
		tm.enter("fg")
		tm.waitFor(`^❯ $`)
		tm.enter(fmt.Sprintf("greet %d", i))
		tm.waitFor(`Hello again\.`)
		if screen := tm.waitFor(`^❯ $`); strings.Count(screen, "greet") != 1 {
			t.Fatalf("what was typed is echoed twice:\n%s", screen)
		}
		// The shell has disabled bracketed paste; with it, line ends do not send.
		tm.tmux("set-buffer", "one\ntwo")
		tm.tmux("paste-buffer", "-p")
		tm.waitFor(`^❯ one *\n  two *$`)
		tm.key("C-c")
		tm.waitFor(`^❯ *\n.*\z`)
	}
	tm.key("C-d")
	tm.waitFor(`To continue this session`)
}

// TestTerminalDraft checks that typed text survives the death of the program, with its folds:
// in its session, or in a new one if that was never begun. Ctrl-G edits it, key bindings are
// reloaded when their file changes, and vim mode works like vim.
//
// Proves.
func TestTerminalDraft(t *testing.T) {
	t.Parallel()
	tm := newTerminal(t, 80, 24, "forever\nwhen last \"greet\"\nsay Hello again.\n---\nforever\nsay Something else.\n")
	const run = "clear; EDITOR='sed -i s/half/whole/' adze --model replay:model.txt"
	saved := func(text string) {
		t.Helper()
		for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
			files, _ := filepath.Glob(filepath.Join(tm.home, "drafts", "*")) // ok: the pattern is right
			for _, name := range files {
				if data, err := os.ReadFile(name); err == nil && strings.Contains(string(data), text) {
					return
				}
			}
			if time.Now().After(deadline) {
				t.Fatalf("%q is not saved", text)
			}
		}
	}
	again := func(args string) {
		t.Helper()
		tm.kill()
		tm.enter("")
		tm.enter("clear; echo cleared-$((1+1))")
		tm.waitFor(`\Acleared-2$`)
		tm.enter(run + args)
	}
	tm.enter(run)
	tm.waitFor(`^❯ $`)
	tm.tmux("send-keys", "-l", "half a sentence ")
	tm.tmux("set-buffer", strings.Repeat("pasted\n", 20)+"end")
	tm.tmux("paste-buffer", "-p")
	tm.waitFor(`^❯ half a sentence \[Pasted text #1 \+21 lines\]$`)
	saved("half a sentence")
	again("")
	tm.waitFor(`^❯ half a sentence \[Pasted text #1 \+21 lines\]$`)
	tm.key("BSpace")
	tm.waitFor(`^❯ half a sentence *$`)
	tm.key("C-g")
	tm.waitFor(`^❯ whole a sentence *$`)
	tm.key("C-u")
	tm.enter("greet me")
	tm.waitFor(`Hello again\.`)
	tm.tmux("send-keys", "-l", "next to say")
	saved("next to say")
	again(" --continue")
	tm.waitFor(`^❯ next to say$`)

	if err := os.WriteFile(filepath.Join(tm.home, "keybindings.json"), []byte(`{"bindings":[{"context":"Chat","bindings":{"ctrl+x k":"edit:killLineStart","alt+c":"command:cost"}}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	empty := regexp.MustCompile(`(?m)^❯ *\n.*\z`)
	tm.until("the keys are not read again", func(string) bool { // the file is checked once per second
		tm.key("C-x")
		tm.key("k")
		return empty.MatchString(tm.screen())
	})
	tm.waitFor(`^❯ *\n.*\z`)
	tm.key("M-c")
	tm.waitFor(`Total cost:`)
	tm.enter("/vim")
	tm.waitFor(`Vim mode is on`)
	tm.tmux("send-keys", "-l", "one two three")
	tm.waitFor(`INSERT`)
	tm.key("Escape")
	tm.waitFor(`NORMAL`)
	tm.tmux("send-keys", "-l", "0dwA!")
	tm.waitFor(`^❯ two three! *$`)
	tm.key("Escape")
	tm.waitFor(`NORMAL`)
	tm.tmux("send-keys", "-l", "dd")
	tm.waitFor(`^❯ *\n(.*\n)*.*NORMAL`)
	tm.key("C-d")
	tm.waitFor(`To continue this session`)
	tm.waitForShell()
}

// TestTerminalShows checks that activity is visible in a real terminal of any size, that
// finished content appears once and in order when the size changes, and that the keys work.
func TestTerminalShows(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {40, 12}, {200, 50}} {
		t.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(t *testing.T) {
			t.Parallel()
			tm := newTerminal(t, size[0], size[1], `
forever
when last "test it"
use Bash {"command":"echo one; echo two; exit 3","description":"Test"}
---
forever
when last "take long"
when no-last "so?"
delay 100s
say Never.
---
forever
text "All:\n\n`+"```"+`make\nall:\n\tgo build\n`+"```"+`\n\n| A | B |\n|---|---|\n| long cell | x |\n\nThat is *it*."
`)
			tm.enter("clear; adze --model replay:model.txt --allowed-tools Bash")
			tm.waitFor(`^❯ $`)
			tm.enter("test it")
			tm.waitFor(`^✗ echo one; .*: exit code 3$\n  one\n  two\n\nAll:\n\n╭─ make\n│ all:\n│     go build\n\nA          B\n─+  ─\nlong cell  x\n\nThat is it\.\n\n❯ $`) // the turn is over
			tm.enter("take long")
			tm.waitFor(`^▸ Waiting for the model [2-9]s`)
			tm.key("Escape")
			screen := tm.waitFor(`^Cancelled\. Your message`)
			if strings.Contains(screen, "▸") {
				t.Errorf("the row is still there:\n%s", screen)
			}
			tm.waitFor(`^❯ take long *$[\s\S]*^❯ take long *$`) // unanswered input can be entered again
			tm.key("C-u")
			tm.waitFor(`^❯ $`)
			tm.enter("!echo begun; sleep 100")
			tm.waitFor(`^  begun$`)
			tm.key("C-c")
			tm.waitFor(`^  Stopped after`)

			text := "a long entry that is wrapped where the terminal ends, whatever its size: " + strings.Repeat("0123456789 ", 12)
			tm.tmux("send-keys", "-l", text)
			before := strings.Split(tm.waitFor(`6789 *\n.* \d+%.*\z`), "\n")
			rows := strings.Join(before[len(before)-3:], "\n")
			for _, width := range []int{60, 30, 45, size[0]} {
				tm.tmux("resize-window", "-x", fmt.Sprint(width), "-y", fmt.Sprint(size[1]))
			}
			tm.until("the rows are not as before", func(screen string) bool { return strings.HasSuffix(screen, rows) })
			tm.key("C-u")
			tm.enter("so?")
			tm.waitFor(`so\?\n\nAll:`)
			screen = tm.waitFor(`That is it\.\n(.*\n)*❯ $`)
			for text, n := range map[string]int{"❯ test it\n": 1, "exit code 3": 1, "❯ take long\n": 1, "Cancelled. Your message is": 1, "❯ !echo begun": 1, "❯ so?\n": 1, "go build": 2} {
				if got := strings.Count(screen, text); got != n {
					t.Errorf("%q is there %d times, not %d:\n%s", text, got, n, screen)
				}
			}
			if got := strings.Count(screen, "a long entry"); got > 4 { // a busy terminal may keep a row of each size
				t.Errorf("what was typed is left %d times:\n%s", got, screen)
			}
			// A file that the user denies is not called a model's call, and no turn is reported
			// as stopped.
			tm.enter("see @/etc/passwd")
			tm.answer(`passwd`, "3")
			tm.waitFor(`^@/etc/passwd is not\s+attached:\s+you\s+said\s+no\.$`)
			tm.waitFor(`That is it\.\n(.*\n)*❯ $`)
			tm.tmux("send-keys", "-l", "see @/etc/")
			tm.waitFor(`^▌ /etc/`)
			tm.key("Escape") // Enter would accept the suggestion
			tm.until("the suggestions stay", func(screen string) bool { return !strings.Contains(screen, "▌ /etc/") })
			tm.key("Enter")
			tm.answer(`─ Read /etc ─`, "3")
			tm.waitFor(`^@/etc/ is not attached: /etc\s+may\s+not\s+be\s+read:\s+the\s+user\s+said\s+no$`)
			tm.waitFor(`That is it\.\n(.*\n)*❯ $`)
			tm.key("C-d")
			tm.waitFor(`To continue this session`)
		})
	}
}
