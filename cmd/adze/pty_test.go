//go:build unix

package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"

	"adze/internal/ui/screen/screentest"
)

// A ptyLine is a terminal whose connection the test can block.
type ptyLine struct {
	t   *testing.T
	cmd *exec.Cmd
	pty *os.File

	mu     sync.Mutex // held while reading is blocked
	slow   time.Duration
	out    bytes.Buffer
	exited chan struct{}
	read   chan struct{} // closed when everything is read
}

func newLine(t *testing.T, width, height int, script string, env ...string) *ptyLine {
	t.Helper()
	root := t.TempDir()
	dir := filepath.Join(root, "project")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "model.txt"), []byte(script), 0o644); err != nil {
		t.Fatal(err)
	}
	quiet(t, filepath.Join(root, "home"))
	l := &ptyLine{t: t, cmd: exec.Command("adze", "--model", "replay:model.txt"), exited: make(chan struct{}), read: make(chan struct{})}
	l.cmd.Dir = dir
	l.cmd.Env = append([]string{"ADZE_HOME=" + filepath.Join(root, "home"), "HOME=" + root, "PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8", "TERM=xterm-256color"}, env...)
	var err error
	if l.pty, err = pty.StartWithSize(l.cmd, &pty.Winsize{Cols: uint16(width), Rows: uint16(height)}); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(l.read)
		buf := make([]byte, 2048)
		for {
			l.mu.Lock()
			slow := l.slow
			l.mu.Unlock()
			time.Sleep(slow)
			n, err := l.pty.Read(buf)
			l.mu.Lock()
			l.out.Write(buf[:n])
			l.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	go func() {
		l.cmd.Wait() // ok: its exit status is not tested
		close(l.exited)
	}()
	t.Cleanup(func() {
		l.cmd.Process.Kill() // ok: it may have ended
		<-l.exited
		l.pty.Close()
	})
	return l
}

func (l *ptyLine) keys(text string) { io.WriteString(l.pty, text) } // ok: then nothing appears

// text returns everything read so far.
func (l *ptyLine) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.out.String()
}

func (l *ptyLine) waitFor(pattern string) {
	l.t.Helper()
	re := regexp.MustCompile(pattern)
	for deadline := time.Now().Add(time.Minute); !re.MatchString(l.text()); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			l.t.Fatalf("%q does not appear: %q", pattern, l.text())
		}
	}
}

// shows waits until a text is on a screen of the given size, however it was written.
func (l *ptyLine) shows(width, height int, text string) {
	l.t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		terminal := screentest.New(width, height)
		io.WriteString(terminal, strings.ReplaceAll(l.text(), "\r\n", "\n")) // ok: a terminal of the tests
		if strings.Contains(terminal.Text(), text) {
			return
		}
		if time.Now().After(deadline) {
			l.t.Fatalf("%q is not shown:\n%s", text, terminal.Text())
		}
	}
}

// leave presses a key until the program ends.
func (l *ptyLine) leave(key string) {
	l.t.Helper()
	for deadline := time.Now().Add(time.Minute); ; {
		l.keys(key)
		select {
		case <-l.exited:
			return
		case <-time.After(300 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			l.t.Fatalf("the program does not end: %q", l.text())
		}
	}
}

// stored waits until the transcript contains a text.
func (l *ptyLine) stored(text string) {
	l.t.Helper()
	logs := filepath.Join(filepath.Dir(l.cmd.Dir), "home", "projects", "*", "*.jsonl")
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		files, _ := filepath.Glob(logs) // ok: the pattern is right
		for _, name := range files {
			if data, err := os.ReadFile(name); err == nil && bytes.Contains(data, []byte(text)) {
				return
			}
		}
		if time.Now().After(deadline) {
			l.t.Fatalf("%q is not in the transcript", text)
		}
	}
}

// linePrompt is the mark before the input, with an optional style, in any locale.
const linePrompt = `(>|❯)(\x1b\[0?m)? `

// manyLines returns an answer with n numbered lines.
func manyLines(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "number %d and some words to make it longer\\n\\n", i+1)
	}
	return "forever\ntext \"" + b.String() + "\"\n"
}

// TestTerminalStuck checks that a blocked terminal does not prevent the user from leaving, and
// that a slow one gets every line.
func TestTerminalStuck(t *testing.T) {
	t.Parallel()
	t.Run("stuck", func(t *testing.T) {
		t.Parallel()
		l := newLine(t, 80, 24, manyLines(3000))
		l.waitFor(linePrompt)
		l.mu.Lock()
		l.slow = time.Hour // stop reading after the next read
		l.mu.Unlock()
		l.keys("go\r")
		l.stored(`"go"`)
		l.leave("\x03")
	})
	t.Run("slow", func(t *testing.T) {
		t.Parallel()
		l := newLine(t, 80, 24, manyLines(500))
		l.waitFor(linePrompt)
		l.mu.Lock()
		l.slow = 20 * time.Millisecond
		l.mu.Unlock()
		l.keys("go\r")
		l.waitFor("number 500 ") // a user who leaves earlier does not get the rest
		l.leave("\x04")
		<-l.read
		terminal := screentest.New(80, 24)
		io.WriteString(terminal, strings.ReplaceAll(l.text(), "\r\n", "\n")) // ok: a terminal of the tests
		next := 1
		for _, m := range regexp.MustCompile(`number (\d+) `).FindAllStringSubmatch(terminal.Text(), -1) {
			if m[1] != fmt.Sprint(next) {
				t.Fatalf("%s where %d should be", m[0], next)
			}
			next++
		}
		if p := terminal.Problems(); next != 501 || len(p) > 0 {
			t.Errorf("%d lines are there; %v", next-1, p)
		}
	})
}

// TestTerminalKinds checks that in every kind of terminal there is a prompt, input is echoed,
// nothing unsupported is written, and modes are reset at the end.
func TestTerminalKinds(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name          string
		width, height int
		env           []string
		without       string // pattern that must not be written
	}{
		{"narrow and low", 10, 5, nil, ""},
		{"20 columns", 20, 10, nil, ""},
		{"300 columns", 300, 80, nil, ""},
		{"screen", 80, 24, []string{"TERM=screen"}, ""},
		{"dumb", 80, 24, []string{"TERM=dumb"}, `\x1b`},
		{"no colours", 80, 24, []string{"NO_COLOR=1"}, `\x1b\[([0-9;]*;)?[34][0-9][;m]`},
		{"locale C", 80, 24, []string{"LANG=C", "LC_ALL=C"}, "❯"},
		{"no size", 0, 0, nil, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l := newLine(t, tt.width, tt.height, "forever\nsay Hello there.\n", tt.env...)
			l.waitFor(linePrompt)
			l.keys("greet")
			l.shows(max(10, tt.width), max(5, tt.height), "greet")
			if tt.name == "dumb" {
				l.keys("\n")
			} else {
				l.keys("\r")
			}
			l.waitFor(`Hello`)
			l.leave("\x04")
			<-l.read
			out := l.text()
			if tt.without != "" && regexp.MustCompile(tt.without).MatchString(out) {
				t.Errorf("%q is written: %q", tt.without, out)
			}
			for on, off := range map[string]string{"\x1b[?2004h": "\x1b[?2004l", "\x1b[>1u": "\x1b[<u", "\x1b[?25l": "\x1b[?25h", "\x1b[?1004h": "\x1b[?1004l"} {
				if strings.LastIndex(out, on) > strings.LastIndex(out, off) {
					t.Errorf("%q is not taken back: %q", on, out)
				}
			}
			terminal := screentest.New(max(10, tt.width), max(5, tt.height))
			io.WriteString(terminal, strings.ReplaceAll(out, "\r\n", "\n")) // ok: a terminal of the tests
			if p := terminal.Problems(); len(p) > 0 {
				t.Error(p)
			}
		})
	}
}

// TestTerminalWhereCIIsSet checks that a terminal on a build server gets line mode and an
// explanation, and that a desktop with CI set gets full key handling.
//
// Proves X-129.
func TestTerminalWhereCIIsSet(t *testing.T) {
	t.Parallel()
	server := newLine(t, 80, 24, "text \"x\"\n", "CI=true")
	server.waitFor(`line by line, because CI is set\.`)
	server.leave("\x04")

	desk := newTerminal(t, 80, 24, "text \"x\"\n")
	desk.enter("CI=true adze --model replay:model.txt")
	desk.waitFor(`(?m)^❯ `)
	desk.key("C-d")
}
