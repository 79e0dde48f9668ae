//go:build sdk && unix

package main

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/google/go-cmp/cmp"

	"adze/internal/platform/term/cells"
)

// An xterm is a terminal other than tmux: xterm.js, which editors and browsers use. The program
// runs on a pty of the test.
type xterm struct {
	t   *testing.T
	pty *os.File

	mu    sync.Mutex
	in    io.Writer
	shown *bufio.Scanner
}

// A xtermScreen is the visible content of an xterm.
type xtermScreen struct {
	Lines   []string
	Grounds []string // backgrounds of the lines' last cells, such as 1f2d24
	X, Y    int
	Cell    string
}

func (s xtermScreen) text() string { return strings.TrimRight(strings.Join(s.Lines, "\n"), "\n") }

// newXterm starts the program in a terminal of the given size. script is the model's script.
func newXterm(t *testing.T, width, height int, script string) *xterm {
	t.Helper()
	root := t.TempDir()
	dir := filepath.Join(root, "project")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "model.txt"), []byte(script), 0o644); err != nil {
		t.Fatal(err)
	}
	x := &xterm{t: t}
	node := exec.Command("node", filepath.Join("..", "..", "test", "npm", "xterm.mjs"), fmt.Sprint(width), fmt.Sprint(height))
	node.Stderr = os.Stderr
	in, err := node.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := node.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	x.in, x.shown = in, bufio.NewScanner(out)
	x.shown.Buffer(nil, 16<<20)
	if err := node.Start(); err != nil {
		t.Fatal(err)
	}
	quiet(t, filepath.Join(root, "home"))
	cmd := exec.Command("adze", "--model", "replay:model.txt")
	cmd.Dir = dir
	cmd.Env = []string{"ADZE_HOME=" + filepath.Join(root, "home"), "HOME=" + root, "PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8", "TERM=xterm-256color", "COLORTERM=truecolor", "TERM_PROGRAM=vscode"}
	x.pty, err = pty.StartWithSize(cmd, &pty.Winsize{Cols: uint16(width), Rows: uint16(height)})
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		buf := make([]byte, 32<<10)
		for {
			n, err := x.pty.Read(buf)
			if n > 0 {
				x.ask(map[string]string{"write": base64.StdEncoding.EncodeToString(buf[:n])})
			}
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		cmd.Process.Signal(syscall.SIGHUP) // ok: it may have ended
		cmd.Wait()                         // ok: its exit status does not matter
		x.pty.Close()
		in.Close()
		node.Wait() // ok: it is over
	})
	return x
}

func (x *xterm) ask(request any) {
	line, err := json.Marshal(request)
	if err != nil {
		panic(err) // plain data always encodes
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.in.Write(append(line, '\n')) // ok: nothing appears then
}

// show returns the visible content.
func (x *xterm) show() (s xtermScreen) {
	x.t.Helper()
	x.ask(map[string]bool{"show": true})
	if !x.shown.Scan() {
		x.t.Fatalf("the terminal is gone: %v", x.shown.Err())
	}
	if err := json.Unmarshal(x.shown.Bytes(), &s); err != nil {
		x.t.Fatal(err)
	}
	return s
}

// until waits until ok holds for the visible content.
func (x *xterm) until(what string, ok func(xtermScreen) bool) xtermScreen {
	x.t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		s := x.show()
		if ok(s) {
			return s
		}
		if time.Now().After(deadline) {
			x.t.Fatalf("%s does not appear; the cursor is at %d, %d, on %q:\n%s", what, s.X, s.Y, s.Cell, s.text())
		}
	}
}

func (x *xterm) waitFor(pattern string) string {
	x.t.Helper()
	re := regexp.MustCompile("(?m)" + pattern)
	return unframed(x.until(pattern, func(s xtermScreen) bool { return re.MatchString(unframed(s.text())) }).text())
}

func (x *xterm) keys(text string) { io.WriteString(x.pty, text) } // ok: then nothing appears

func (x *xterm) resize(width, height int) {
	x.ask(map[string][2]int{"resize": {width, height}})
	if err := pty.Setsize(x.pty, &pty.Winsize{Cols: uint16(width), Rows: uint16(height)}); err != nil {
		x.t.Fatal(err)
	}
}

// TestXtermCaret checks that the cursor is at the caret, on the right character, also after
// characters that this terminal shows with another width.
//
// Proves X-120.
func TestXtermCaret(t *testing.T) {
	x := newXterm(t, 80, 24, "forever\nsay Hello.\n")
	x.waitFor(`^[>❯] *$`)
	begin := cells.Width("❯ ")
	x.until("the caret", func(s xtermScreen) bool { return s.X == begin })
	for _, text := range carets {
		x.keys(text + ".")
		want := begin + cells.Width(text)
		x.until(text, func(s xtermScreen) bool { return s.X == want+1 })
		x.keys("\x1b[D")
		x.until("the stop after "+text, func(s xtermScreen) bool { return s.X == want && s.Cell == "." })
		x.keys("\x05\x15")
		x.until("nothing", func(s xtermScreen) bool { return s.X == begin })
	}
	x.keys("\x04")
}

// TestXtermTint checks that the user's messages and the changed lines in a question are tinted
// over the whole width, also where a line is broken.
//
// Proves.
func TestXtermTint(t *testing.T) {
	x := newXterm(t, 40, 30, `
use Write {"file_path":"a.txt","content":"one\ntwo, on a line that does not fit into a row\n"}
---
expect last "this is never sent"
say never
`)
	x.waitFor(`^❯ *$`)
	x.keys("/theme dark\r")
	x.waitFor("The theme is now dark")
	x.keys("write it\r")
	x.waitFor(`^ Create a.txt`)
	for pattern, ground := range map[string]string{`^❯ write it`: "222638", ` 1 \+one *$`: "1f2d24", ` 2 \+two`: "1f2d24", `^ +into a row *$`: "1f2d24", `^ Create`: ""} {
		x.until(fmt.Sprintf("%s on %q", pattern, ground), func(s xtermScreen) bool {
			at := slices.IndexFunc(s.Lines, regexp.MustCompile(pattern).MatchString)
			return at >= 0 && s.Grounds[at] == ground
		})
	}
}

// TestXtermJourney checks that the same conversation looks the same in two different terminals,
// also after they were made narrower and wider: each line appears once and in order, with no
// remnants of changed rows.
func TestXtermJourney(t *testing.T) {
	script := "forever\nwhen last \"count\"\ntext \"" + strings.Repeat("A line of the answer that is long enough to be broken.\\n\\n", 30) + "\"\n---\nforever\nsay Hello, **this** is `code`.\n"
	x := newXterm(t, 80, 24, script)
	tm := newTerminal(t, 80, 24, script)
	tm.enter("clear; exec adze --model replay:model.txt")
	const prompt, whole = `^[>❯] *$`, `^[>❯] *\n.* \d+%.*\s*\z`
	// alike waits until both terminals show the same down to the row below the prompt, which is
	// ignored while the size changes. It returns the screen.
	alike := func() string {
		t.Helper()
		for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
			one, two := normal(x.waitFor(whole)), normal(tm.waitFor(whole))
			if one == two {
				return one
			}
			if time.Now().After(deadline) {
				t.Fatalf("xterm.js shows (-) what tmux does not (+):\n%s", cmp.Diff(one, two))
			}
		}
	}
	x.waitFor(prompt)
	tm.waitFor(prompt)
	for _, text := range []string{"greet me", "count", "greet 漢字 again"} {
		x.keys(text)
		tm.tmux("send-keys", "-l", text)
		x.keys("\r")
		tm.key("Enter")
		last := `(?s)` + regexp.QuoteMeta(text) + `.*(code\.|broken\.)\n.*` + prompt
		x.waitFor(last)
		tm.waitFor(last)
		for _, width := range []int{100, 70, 50, 80} {
			x.resize(width, 24)
			tm.tmux("resize-window", "-x", fmt.Sprint(width), "-y", "24")
			alike()
		}
	}
	if one := alike(); strings.Count(one, "long enough") != 30 {
		t.Errorf("the answer does not have 30 lines:\n%s", one)
	}
	x.keys("\x04")
}

// normal removes text that depends on the place and time of a run.
func normal(screen string) string {
	screen = regexp.MustCompile(`(?m) +$`).ReplaceAllString(screen, "")
	screen = regexp.MustCompile(`/tmp/\S*/project`).ReplaceAllString(screen, "project")
	return regexp.MustCompile(`\d+(\.\d+)?s`).ReplaceAllString(screen, "1s")
}
