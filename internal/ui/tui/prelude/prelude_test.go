//go:build unix

package prelude

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"adze/internal/ui/draw"
	"adze/internal/ui/screen/screentest"
	"adze/internal/ui/tui/dialog"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A person simulates a user who answers a question.
type person struct {
	*screentest.Terminal
	input   chan string
	wake    chan struct{}
	changes chan os.Signal
	resumed int
	stopped []string // screens when the program was stopped
	rest    string   // typed input not yet read
	chosen  int
	typed   string
	err     error
	over    bool
}

func (p *person) Await(d time.Duration) bool {
	var late <-chan time.Time
	if d > 0 {
		late = time.After(d)
	}
	if p.rest != "" {
		return true
	}
	select {
	case text, ok := <-p.input:
		p.rest = text
		return text != "" || !ok
	case <-late:
	case <-p.wake:
	}
	return false
}

func (p *person) Wake() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

func (p *person) Read(buf []byte) (int, error) {
	if p.rest == "" {
		return 0, io.EOF
	}
	n := copy(buf, p.rest)
	p.rest = p.rest[n:]
	return n, nil
}

// asked starts a trust question.
func asked(t *testing.T, ctx context.Context) *person {
	t.Helper()
	p := &person{Terminal: screentest.New(60, 12), input: make(chan string, 9), wake: make(chan struct{}, 1), changes: make(chan os.Signal)}
	go func() {
		var typed []byte
		p.chosen, typed, p.err = Ask(ctx, Config{
			In: p, Out: p.Terminal, Waiter: p, Width: func() int { return 60 }, Height: func() int { return 12 },
			Changes: p.changes, Suspend: func() { p.stopped = append(p.stopped, p.Text()) }, Resume: func() { p.resumed++ }, Glyphs: draw.Unicode(),
		}, dialog.Simple{Question: "Trust this workspace?", Answers: []string{"Yes", "No"}, Marked: 1, Letters: "yn", Leaving: "no"})
		p.typed, p.over = string(typed), true
	}()
	synctest.Wait()
	return p
}

// types presses keys one by one, after the question could be seen.
func (p *person) types(keys ...string) {
	for _, key := range keys {
		time.Sleep(2 * time.Second)
		p.input <- key
		synctest.Wait()
	}
	time.Sleep(2 * time.Second)
	synctest.Wait()
}

// TestAnswers checks that questions before a conversation are answered like questions within
// it: by letter, number or mark. A missing answer means no.
//
// Proves PERM-17.
func TestAnswers(t *testing.T) {
	for _, tt := range []struct {
		name   string
		keys   []string
		chosen int
		err    error
	}{
		{"letter", []string{"y"}, 0, nil},
		{"capital", []string{"N"}, 1, nil},
		{"number", []string{"1"}, 0, nil},
		{"Enter", []string{"\r"}, 1, nil},
		{"Up and Enter", []string{"\x1b[A", "\r"}, 0, nil},
		{"an arrow in two parts", []string{"\x1b", "\r"}, -1, nil}, // too late: the first part was a key
		{"Esc", []string{"\x1b"}, -1, nil},
		{"Ctrl-C", []string{"\x03"}, -1, ErrInterrupted},
		{"Ctrl-D", []string{"\x04"}, -1, ErrInterrupted},
		{"Tab first", []string{"x", "\t", "y"}, 0, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := asked(t, t.Context())
				if text := p.Text(); !strings.Contains(text, "Trust this workspace?\n 1 Yes\n▌2 No\n Enter select ∙ Esc no") {
					t.Errorf("it shows:\n%s", text)
				}
				p.types(tt.keys...)
				if !p.over || p.chosen != tt.chosen || !errors.Is(p.err, tt.err) {
					t.Fatalf("over %v: %d, %v", p.over, p.chosen, p.err)
				}
				want := "Trust this workspace? " + map[int]string{0: "Yes", 1: "No", -1: "no"}[tt.chosen]
				if tt.err != nil {
					want = "Trust this workspace? interrupted"
				}
				if text := p.Text(); !strings.Contains(text, want) || strings.Contains(text, "Enter select") {
					t.Errorf("it leaves:\n%s", text)
				}
			})
		})
	}
}

// TestTypedAhead checks that text typed before the question could be seen, or pasted, does not
// answer it, is shown and is returned.
//
// Proves PERM-17.
func TestTypedAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := asked(t, t.Context())
		p.input <- "y"
		synctest.Wait()
		p.types("es, do it\r", "\x1b[200~y\x1b[201~")
		if text := p.Text(); p.over || !strings.Contains(text, "Waiting for you") || !strings.Contains(text, "❯ yes, do it") {
			t.Fatalf("over %v:\n%s", p.over, text)
		}
		p.types("\t", "n")
		if want := "yes, do it\r\x1b[200~y\x1b[201~"; p.chosen != 1 || p.typed != want {
			t.Errorf("%d, and typed %q, want %q", p.chosen, p.typed, want)
		}
	})
}

// TestStopped checks that the user can suspend the program at a question. The shell then sees
// only the output above it; the typed text is kept, and the question is shown again on resume.
func TestStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := asked(t, t.Context())
		p.types("x", "\x1a", "\x1a")
		if len(p.stopped) != 2 || strings.Contains(p.stopped[1], "Trust this workspace?") {
			t.Errorf("stopped with %q", p.stopped)
		}
		if text := p.Text(); p.over || !strings.Contains(text, "Trust this workspace?") || !strings.Contains(text, "❯ x") {
			t.Fatalf("over %v:\n%s", p.over, text)
		}
		p.types("\t", "y")
		if p.chosen != 0 || p.typed != "x" {
			t.Errorf("%d, and typed %q", p.chosen, p.typed)
		}
	})
}

// TestEnds checks that a question ends with the program and with its input, and is shown again
// after the program was stopped.
func TestEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		p := asked(t, ctx)
		p.changes <- syscall.SIGCONT
		synctest.Wait()
		if p.resumed != 1 {
			t.Errorf("resumed %d times", p.resumed)
		}
		cancel()
		p.types()
		if !p.over || !errors.Is(p.err, ErrInterrupted) {
			t.Errorf("over %v: %v", p.over, p.err)
		}
		p = asked(t, t.Context())
		close(p.input)
		p.types()
		if !p.over || !errors.Is(p.err, ErrInterrupted) {
			t.Errorf("at the end of the input: over %v: %v", p.over, p.err)
		}
	})
}
