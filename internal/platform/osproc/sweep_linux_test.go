package osproc

import (
	"bytes"
	"context"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"
)

// A program that becomes a daemon, twice over, does not outlive the runner, even if it forgets its
// environment.
//
// Proves SH-04.
func TestDaemonsEndWithTheRunner(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Fatal(err)
	}
	for _, how := range []string{"", "env -i "} {
		t.Run(how, func(t *testing.T) {
			var r Runner
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
			if err := syscall.Kill(pid, 0); err != nil {
				t.Fatalf("there is no daemon: %v", err)
			}
			m := r.mark
			r.Close()
			if left := m.bearers(); len(left) > 0 || !gone(pid) {
				t.Errorf("%v are left", left)
			}
		})
	}
}

// A mark given to a program that marks others itself covers theirs, and those of two others differ.
func TestMarksNest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.Uint64()
		free := unix.Rlimit{Cur: unix.RLIM_INFINITY, Max: unix.RLIM_INFINITY}
		low, high := rangeIn(free, number.Draw(t, "outer"))
		if low < markTop || high >= 2*markTop || high-low != 1<<spanBits-1 {
			t.Fatalf("%x to %x", low, high)
		}
		innerLow, innerHigh := rangeIn(unix.Rlimit{Cur: high, Max: unix.RLIM_INFINITY}, number.Draw(t, "inner"))
		if innerLow < low || innerHigh > high || innerHigh-innerLow != 1<<nestBits-1 {
			t.Fatalf("%x to %x in %x to %x", innerLow, innerHigh, low, high)
		}
		for _, have := range []unix.Rlimit{{Cur: 1000, Max: 2000}, {Cur: unix.RLIM_INFINITY, Max: 0}} {
			if low, high := rangeIn(have, number.Draw(t, "none")); low != 0 || high != 0 {
				t.Fatalf("%x to %x under %+v", low, high, have)
			}
		}
	})
	m := newMark()
	if got, rest, err := parseMark(append(m.args(), "+7")); err != nil || got != m || len(rest) != 1 {
		t.Errorf("%+v, %v, %v, want %+v", got, rest, err, m)
	}
}
