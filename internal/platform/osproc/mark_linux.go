package osproc

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// A mark is what a program of ours is known by, wherever it went: a variable in its environment, and a
// limit that all it starts inherit. The limit is the time a program may take in real time, which hardly
// any program does; ours begins at tens of thousands of years. It stays when the environment is cleared.
type mark struct {
	text      string
	low, high uint64 // the limits that are ours; 0 if there is no room for any
}

// A mark of ours is a number with markTop set, and a range of spanBits. A program that is itself marked,
// such as adze in adze, takes its range from the one it was given, so that the outer process finds all.
const (
	markTop  = 1 << 61
	spanBits = 30
	nestBits = 10
)

func newMark() mark {
	m := mark{text: rand.Text()}
	var have unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_RTTIME, &have); err != nil {
		return m
	}
	random := make([]byte, 8)
	rand.Read(random) // ok: it never fails
	if m.low, m.high = rangeIn(have, binary.NativeEndian.Uint64(random)); m.high > 0 {
		m.text += "." + strconv.FormatUint(m.high, 10) // for [MarkLine]
	}
	return m
}

// rangeIn returns a range for programs that are started under a limit, by a random number, or zeros.
func rangeIn(have unix.Rlimit, random uint64) (low, high uint64) {
	const span, nest = 1<<spanBits - 1, 1<<nestBits - 1
	switch {
	case have.Cur == unix.RLIM_INFINITY:
		low = markTop | random%markTop&^span
		high = low | span
	case have.Cur/markTop == 1 && have.Cur&span == span:
		low = have.Cur&^span | random&span&^nest
		high = low | nest
	}
	if high > have.Max {
		return 0, 0
	}
	return low, high
}

// put marks a program that was started with the variable. What it has started by then has the variable
// alone, unless the program put the mark on itself with [MarkLine].
func (m mark) put(pid int) {
	var have unix.Rlimit
	if m.high == 0 || unix.Prlimit(pid, unix.RLIMIT_RTTIME, nil, &have) != nil {
		return
	}
	unix.Prlimit(pid, unix.RLIMIT_RTTIME, &unix.Rlimit{Cur: m.high, Max: have.Max}, nil) // ok: there is the variable
}

// noCore forbids a program that has just been started, and all it starts, to leave an image of its memory.
func noCore(pid int) {
	unix.Prlimit(pid, unix.RLIMIT_CORE, &unix.Rlimit{}, nil) // ok: it may have ended
}

// args returns the mark as arguments, and parseMark reads it again.
func (m mark) args() []string {
	return []string{m.text, strconv.FormatUint(m.low, 10), strconv.FormatUint(m.high, 10)}
}

func parseMark(args []string) (m mark, rest []string, err error) {
	if len(args) < 3 || args[0] == "" {
		return mark{}, nil, errors.New("no mark")
	}
	m.text = args[0]
	if m.low, err = strconv.ParseUint(args[1], 10, 64); err != nil {
		return mark{}, nil, err
	}
	m.high, err = strconv.ParseUint(args[2], 10, 64)
	return m, args[3:], err
}

// on reports whether a process has the mark. Those of other users cannot be looked at, nor killed.
func (m mark) on(pid int) bool {
	var have unix.Rlimit
	if m.high > 0 && unix.Prlimit(pid, unix.RLIMIT_RTTIME, nil, &have) == nil && m.low <= have.Cur && have.Cur <= m.high {
		return !dead(pid)
	}
	env, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	return err == nil && bytes.Contains(env, []byte(markName+"="+m.text+"\x00"))
}

// dead reports whether a process has ended and only waits to be reaped.
func dead(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	_, state, _ := bytes.Cut(stat[bytes.LastIndexByte(stat, ')')+1:], []byte(" "))
	return err != nil || len(state) > 0 && (state[0] == 'Z' || state[0] == 'X')
}

// bearers returns the processes with the mark, without our own.
func (m mark) bearers() []int {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()                // ok: it was only read
	names, _ := dir.Readdirnames(-1) // ok: those that were read are looked at
	var found []int
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil && pid != os.Getpid() && m.on(pid) {
			found = append(found, pid)
		}
	}
	return found
}
