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

// A mark identifies our programs and their descendants wherever they are in the process tree.
// It consists of an environment variable and an inherited resource limit, RLIMIT_RTTIME. Hardly
// any program sets that limit, and our values are at least tens of thousands of years. Unlike
// the variable, the limit survives clearing the environment.
type mark struct {
	name      string
	low, high uint64 // our range of limits; 0 if none is available
}

// A mark is a number with markTop set and covers a range of spanBits. A part has a subrange of
// partBits. So does a marked program that itself marks programs, such as adze run by adze, so
// that the outer process finds all of them; such a subrange is divided into ranges of leafBits.
// Parts use the lower half sequentially, and programs the upper half at random.
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

// rangeIn returns a random range for programs started under the limit have, or zeros if none is
// available.
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

// upperHalf returns a number in the upper half of the given number of bits, excluding the
// maximum, because that range would end like its enclosing range.
func upperHalf(bits int, random uint64) uint64 {
	half := uint64(1) << (bits - 1)
	return half + random%(half-1)
}

// within returns the number-th subrange of inner bits in the range of outer bits that ends at
// high.
func within(high uint64, outer, inner int, number uint64) (uint64, uint64) {
	low := high&^(1<<outer-1) | number<<inner
	return low, low | (1<<inner - 1)
}

// part returns a part's mark, which m covers. The ranges are reused after hundreds of thousands
// of parts, when the earlier parts have long ended.
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

// text returns the variable's value: the name, and the limit for [MarkLine].
func (m mark) text() string {
	if m.high == 0 {
		return m.name
	}
	return m.name + "." + strconv.FormatUint(m.high, 10)
}

// named reports whether a value of the variable belongs to the mark or a part.
func (m mark) named(value string) bool {
	rest, ok := strings.CutPrefix(value, m.name)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '-')
}

// covers reports whether a limit belongs to the mark or a part.
func (m mark) covers(limit uint64) bool { return m.high > 0 && m.low <= limit && limit <= m.high }

// put sets the limit of a program that was started with the variable. Processes that the
// program has already started only have the variable, unless the program marked itself with
// [MarkLine].
func (m mark) put(pid int) {
	var have unix.Rlimit
	if m.high == 0 || unix.Prlimit(pid, unix.RLIMIT_RTTIME, nil, &have) != nil {
		return
	}
	unix.Prlimit(pid, unix.RLIMIT_RTTIME, &unix.Rlimit{Cur: m.high, Max: have.Max}, nil) // ok: the variable remains
}

// noCore disables core dumps for a program that has just been started, and its descendants.
func noCore(pid int) {
	unix.Prlimit(pid, unix.RLIMIT_CORE, &unix.Rlimit{}, nil) // ok: it may have ended
}

// args encodes the mark as arguments for parseMark.
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

// on reports whether a process has any of the marks. Other users' processes can be neither
// inspected nor killed.
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

// dead reports whether a process is a zombie.
func dead(pid int) bool {
	stat := processFile(pid, "stat")
	_, state, _ := bytes.Cut(stat[bytes.LastIndexByte(stat, ')')+1:], []byte(" "))
	return len(state) == 0 || state[0] == 'Z' || state[0] == 'X'
}

// processFile reads a file in a process's /proc directory, or returns nil. It is called for
// every process on the system, so it makes as few system calls as possible.
func processFile(pid int, name string) []byte {
	fd, err := unix.Open("/proc/"+strconv.Itoa(pid)+"/"+name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer unix.Close(fd) // ok: opened read-only
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

// bearers returns the processes with any of the marks, except this process.
func (all marks) bearers() []int {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()                // ok: opened read-only
	names, _ := dir.Readdirnames(-1) // ok: a partial listing is used
	var found []int
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil && pid != os.Getpid() && all.on(pid) {
			found = append(found, pid)
		}
	}
	return found
}
