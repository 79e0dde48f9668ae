package osproc

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// A mark is what a program of ours is known by, wherever it went: a variable in its environment, and a
// limit that all it starts inherit. The limit is the time a program may take in real time, which hardly
// any program does; ours begins at tens of thousands of years. It stays when the environment is cleared.
type mark struct {
	name      string
	low, high uint64 // the limits that are ours; 0 if there is no room for any
}

// A mark of ours is a number with markTop set, and a range of spanBits. A part of it has a range within of
// partBits, and so does a program that is itself marked, such as adze in adze, so that the outer process finds all; in
// such a range there is room for others of leafBits. Parts take theirs from the lower half, one after the
// other, and programs from the upper half at random.
const (
	markTop  = 1 << 62
	spanBits = 38
	partBits = 19
	leafBits = 1
)

func newMark() mark {
	m := mark{name: rand.Text()}
	var have unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_RTTIME, &have); err != nil {
		return m
	}
	random := make([]byte, 8)
	rand.Read(random) // ok: it never fails
	m.low, m.high = rangeIn(have, binary.NativeEndian.Uint64(random))
	return m
}

// rangeIn returns a range for programs that are started under a limit, by a random number, or zeros.
func rangeIn(have unix.Rlimit, random uint64) (low, high uint64) {
	const span, part = 1<<spanBits - 1, 1<<partBits - 1
	ours := have.Cur/markTop == 1
	switch {
	case have.Cur == unix.RLIM_INFINITY:
		low = markTop | random%markTop&^span
		high = low | span
	case ours && have.Cur&span == span:
		low, high = within(have.Cur, spanBits, partBits, upperHalf(spanBits-partBits, random))
	case ours && have.Cur&part == part:
		low, high = within(have.Cur, partBits, leafBits, upperHalf(partBits-leafBits, random))
	}
	if high > have.Max {
		return 0, 0
	}
	return low, high
}

// upperHalf returns a number of so many bits in their upper half, but not the last one: that range would end like the
// one around it.
func upperHalf(bits int, random uint64) uint64 {
	half := uint64(1) << (bits - 1)
	return half + random%(half-1)
}

// within returns the range with that number among those of so many bits in the outer range, which ends with high.
func within(high uint64, outer, inner int, number uint64) (uint64, uint64) {
	low := high&^(1<<outer-1) | number<<inner
	return low, low | (1<<inner - 1)
}

// part returns the mark of a part, which the whole covers. After hundreds of thousands the ranges are used again, of parts
// that have long ended.
func (m mark) part(number int) mark {
	p := mark{name: m.name + "-" + strconv.Itoa(number)}
	switch m.high - m.low {
	case 1<<spanBits - 1:
		p.low, p.high = within(m.high, spanBits, partBits, uint64(number)%(1<<(spanBits-partBits-1)))
	case 1<<partBits - 1:
		p.low, p.high = within(m.high, partBits, leafBits, uint64(number)%(1<<(partBits-leafBits-1)))
	}
	return p
}

// text returns the value of the variable: the name, and the limit for [MarkLine].
func (m mark) text() string {
	if m.high == 0 {
		return m.name
	}
	return m.name + "." + strconv.FormatUint(m.high, 10)
}

// named reports whether a value of the variable is that of the mark or of a part of it.
func (m mark) named(value string) bool {
	rest, ok := strings.CutPrefix(value, m.name)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '-')
}

// covers reports whether a limit is that of the mark or of a part of it.
func (m mark) covers(limit uint64) bool { return m.high > 0 && m.low <= limit && limit <= m.high }

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
	return []string{m.name, strconv.FormatUint(m.low, 10), strconv.FormatUint(m.high, 10)}
}

func parseMark(args []string) (m mark, rest []string, err error) {
	if len(args) < 3 || args[0] == "" {
		return mark{}, nil, errors.New("no mark")
	}
	m.name = args[0]
	if m.low, err = strconv.ParseUint(args[1], 10, 64); err != nil {
		return mark{}, nil, err
	}
	m.high, err = strconv.ParseUint(args[2], 10, 64)
	return m, args[3:], err
}

// on reports whether a process has one of the marks. Those of other users cannot be looked at, nor killed.
func (all marks) on(pid int) bool {
	var have unix.Rlimit
	if unix.Prlimit(pid, unix.RLIMIT_RTTIME, nil, &have) == nil {
		for _, m := range all {
			if m.covers(have.Cur) {
				return !dead(pid)
			}
		}
	}
	env := processFile(pid, "environ")
	for {
		_, rest, ok := bytes.Cut(env, []byte(markName+"="))
		if !ok {
			return false
		}
		value, rest, _ := bytes.Cut(rest, []byte{0})
		for _, m := range all {
			if m.named(string(value)) {
				return true
			}
		}
		env = rest
	}
}

// dead reports whether a process has ended and only waits to be reaped.
func dead(pid int) bool {
	stat := processFile(pid, "stat")
	_, state, _ := bytes.Cut(stat[bytes.LastIndexByte(stat, ')')+1:], []byte(" "))
	return len(state) == 0 || state[0] == 'Z' || state[0] == 'X'
}

// processFile returns what the system says of a process, or nothing. It is called for every process that there is, and
// asks the system no more than it must.
func processFile(pid int, name string) []byte {
	fd, err := unix.Open("/proc/"+strconv.Itoa(pid)+"/"+name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer unix.Close(fd) // ok: it was only read
	text := make([]byte, 0, 4096)
	for {
		n, err := unix.Read(fd, text[len(text):cap(text)])
		switch {
		case err == unix.EINTR:
		case err != nil || n <= 0:
			return text
		default:
			text = text[:len(text)+n]
		}
		if len(text) == cap(text) {
			text = append(text, make([]byte, len(text))...)[:len(text)]
		}
	}
}

// bearers returns the processes with one of the marks, without our own.
func (all marks) bearers() []int {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()                // ok: it was only read
	names, _ := dir.Readdirnames(-1) // ok: those that were read are looked at
	var found []int
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil && pid != os.Getpid() && all.on(pid) {
			found = append(found, pid)
		}
	}
	return found
}
