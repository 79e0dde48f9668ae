package osproc

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"
)

// TestDaemonsEndWithTheRunner checks that a program that daemonizes twice does not outlive the
// runner, even if it clears its environment.
//
// Proves SH-04.
func TestDaemonsEndWithTheRunner(t *testing.T) {
	for _, how := range []string{"", "env -i "} {
		t.Run(how, func(t *testing.T) {
			var r Runner
			pid := daemon(t, &r, how)
			m := r.mark
			r.Close()
			if left := (marks{m}).bearers(); len(left) > 0 || !gone(pid) {
				t.Errorf("%v are left", left)
			}
		})
	}
}

// TestMarksNest checks that the mark of a program that itself marks programs covers theirs, and
// that the marks of parts are covered and distinct.
func TestMarksNest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.Uint64()
		free := unix.Rlimit{Cur: unix.RLIM_INFINITY, Max: unix.RLIM_INFINITY}
		outer := drawMark(t, "outer", free)
		if outer.low < markTop || outer.high >= 2*markTop || outer.high-outer.low != 1<<spanBits-1 {
			t.Fatalf("%x to %x", outer.low, outer.high)
		}
		inner := drawMark(t, "inner", unix.Rlimit{Cur: outer.high, Max: unix.RLIM_INFINITY})
		first, second := outer.part(0), outer.part(1+int(number.Draw(t, "part")%100_000))
		innermost := drawMark(t, "innermost", unix.Rlimit{Cur: second.high, Max: unix.RLIM_INFINITY})
		for _, m := range []mark{inner, first, second, innermost, inner.part(3)} {
			if m.low > m.high || !outer.covers(m.low) || !outer.covers(m.high) {
				t.Fatalf("%+v in %+v", m, outer)
			}
		}
		if first.covers(second.low) || first.covers(inner.low) || second.covers(inner.low) || !second.covers(innermost.high) || inner.part(1).covers(inner.part(2).low) {
			t.Fatalf("%+v, %+v, %+v, %+v", first, second, inner, innermost)
		}
		for _, have := range []unix.Rlimit{{Cur: 1000, Max: 2000}, {Cur: unix.RLIM_INFINITY, Max: 0}, {Cur: innermost.high, Max: unix.RLIM_INFINITY}} {
			if low, high := rangeIn(have, number.Draw(t, "none")); low != 0 || high != 0 {
				t.Fatalf("%x to %x under %+v", low, high, have)
			}
		}
	})
	m := newMark()
	if got, rest, err := parseMark(append(m.args(), "+7")); err != nil || got != m || len(rest) != 1 {
		t.Errorf("%+v, %v, %v, want %+v", got, rest, err, m)
	}
	one, eleven := m.part(1), m.part(11)
	if !m.named(m.text()) || !m.named(one.text()) || !one.named(one.text()) || one.named(eleven.text()) || one.named(m.text()) {
		t.Errorf("%s, %s, %s", m.text(), one.text(), eleven.text())
	}
}

// drawMark returns the mark of a program started under a limit.
func drawMark(t *rapid.T, name string, have unix.Rlimit) mark {
	m := mark{name: name}
	m.low, m.high = rangeIn(have, rapid.Uint64().Draw(t, name))
	return m
}

// TestPartsEndAlone checks that closing a part ends exactly its own programs, including
// daemons, and that closing the whole ends the rest.
//
// Proves AGENT-39, SH-04.
func TestPartsEndAlone(t *testing.T) {
	for _, how := range []string{"", "env -i "} {
		t.Run(how, func(t *testing.T) {
			var whole Runner
			own := daemon(t, &whole, how)
			var ended sync.WaitGroup
			var theirs []int
			var last *Runner
			for range 20 {
				part := whole.Part()
				theirs = append(theirs, daemon(t, part, how))
				ended.Go(part.Close)
			}
			last = whole.Part()
			kept := daemon(t, last, how)
			ended.Wait()
			for _, pid := range theirs {
				if !gone(pid) {
					t.Errorf("%d outlives its part", pid)
				}
			}
			if gone(own) || gone(kept) {
				t.Error("a part has ended programs of others")
			}
			whole.Close()
			if !gone(own) || !gone(kept) {
				t.Error("a program outlives the whole")
			}
			if _, err := last.Run(t.Context(), Cmd{Path: "/bin/true"}); !errors.Is(err, os.ErrClosed) {
				t.Errorf("a part of a closed runner started a program: %v", err)
			}
		})
	}
}

// daemon runs a command that leaves a process behind in its own session, and returns its PID.
func daemon(t *testing.T, r *Runner, how string) int {
	t.Helper()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	exit, err := r.Run(context.Background(), Cmd{
		Path: bash, Args: []string{"-c", MarkLine + "; setsid --wait " + how + "sh -c 'setsid sleep 1000 >/dev/null 2>&1 & echo $!'"},
		Env: []string{"PATH=/usr/bin:/bin"}, Dir: "/", Output: &out,
	})
	if err != nil || exit.Code != 0 {
		t.Fatalf("%v, %+v", err, exit)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(out.String()))
	if err != nil {
		t.Fatal(err)
	}
	if gone(pid) {
		t.Fatal("no daemon")
	}
	return pid
}

// TestCloseDoesNotWaitForTheDead checks that Close does not wait for a group that only contains
// zombies.
func TestCloseDoesNotWaitForTheDead(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Fatal(err)
	}
	r := &Runner{Grace: time.Hour}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(100*time.Millisecond, cancel)
	exit, err := r.Run(ctx, Cmd{
		Path: bash, Args: []string{"-c", "(sleep 1000 & exec setsid sleep 1000) >/dev/null 2>&1 & sleep 1000"}, Env: []string{"PATH=/usr/bin:/bin"}, Dir: "/",
	})
	if err != nil || !exit.Cancelled {
		t.Fatalf("%v, %+v", err, exit)
	}
	began := time.Now()
	r.Close()
	if took := time.Since(began); took > time.Minute {
		t.Errorf("it took %v", took)
	}
}
