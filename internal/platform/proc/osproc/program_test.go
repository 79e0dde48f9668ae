//go:build unix

package osproc

import (
	"bytes"
	"strings"
	"sync"
	"testing"
	"time"
)

// A page collects the output of a running program.
type page struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (p *page) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.buf.Write(b)
}

func (p *page) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.buf.String()
}

// await waits until the output contains text.
func (p *page) await(t *testing.T, text string) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !strings.Contains(p.String(), text); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("no %q in %q", text, p)
		}
	}
}

func TestProgramIsSpokenTo(t *testing.T) {
	var out, errs page
	c := sh("while read line; do echo got $line; echo said $line >&2; done; exit 4", &out)
	c.Errors = &errs
	p, err := runner(t).Start(c)
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"one", "two"} {
		if _, err := p.Write([]byte(word + "\n")); err != nil {
			t.Fatal(err)
		}
		out.await(t, "got "+word)
	}
	p.Stop()
	<-p.Done()
	if got := p.Exit(); got.Code != 4 || out.String() != "got one\ngot two\n" || errs.String() != "said one\nsaid two\n" {
		t.Errorf("exit %+v, output %q, errors %q", got, &out, &errs)
	}
	if _, err := p.Write([]byte("x")); err == nil {
		t.Error("a program that has ended was written to")
	}
}

// Proves MCP-16.
func TestProgramsThatStayAreKilled(t *testing.T) {
	for name, traps := range map[string]string{"closed input": `""`, "interrupt": "'' INT", "terminate": "'' INT TERM"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out page
			// A child in the group ignores the same signals.
			p, err := runner(t).Start(sh("trap "+traps+"; (trap "+traps+"; echo child; while :; do sleep 1; done) & echo ready; while :; do sleep 1; done", &out))
			if err != nil {
				t.Fatal(err)
			}
			out.await(t, "ready")
			out.await(t, "child")
			start := time.Now()
			p.Stop()
			if took := time.Since(start); took > time.Minute {
				t.Errorf("stopping took %v", took)
			}
			<-p.Done()
			for end := time.Now().Add(time.Minute); alive(p.p.cmd.Process); time.Sleep(time.Millisecond) {
				if time.Now().After(end) {
					t.Fatal("the group lives on")
				}
			}
		})
	}
}
