// Package seccomp builds and applies system call filters.
package seccomp

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A Filter decides the outcome of system calls. Calls it does not mention are allowed.
type Filter struct {
	refused [maxCalls / 32]uint32 // bit set of refused call numbers
	special []special
}

// A special is the code for one call number; it ends in a verdict.
type special struct {
	number uint32
	body   Program
}

// A Verdict is the outcome of a call.
type Verdict uint32

// Allow lets a call pass; Kill kills the process.
const (
	Allow Verdict = 0x7fff0000
	Kill  Verdict = 0x80000000
)

// Fail returns the verdict that makes a call fail with errno.
func Fail(errno unix.Errno) Verdict { return 0x00050000 | Verdict(errno) }

// An Arg identifies a call argument: its lower half on a little-endian machine, which is all
// that is compared here.
type Arg uint32

// Call arguments.
const (
	Arg0 Arg = 16 + 8*iota
	Arg1
	Arg2
)

const (
	offNumber = 0
	offArch   = 4

	loadWord   = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
	ifEqual    = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
	ifAtLeast  = unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K
	ifAny      = unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K
	keepBits   = unix.BPF_ALU | unix.BPF_AND | unix.BPF_K
	returnThis = unix.BPF_RET | unix.BPF_K
	shiftRight = unix.BPF_ALU | unix.BPF_RSH | unix.BPF_K
	shiftLeft  = unix.BPF_ALU | unix.BPF_LSH | unix.BPF_X
	loadMemory = unix.BPF_LD | unix.BPF_MEM
)

// maxCalls is greater than any call number.
const maxCalls = 1024

// Supported reports whether filters are implemented for this architecture.
func Supported() bool { return arch != 0 }

// Refuse makes the calls fail with a permission error.
func (f *Filter) Refuse(numbers ...uint32) *Filter {
	for _, number := range numbers {
		f.refused[number/32] |= 1 << (number % 32)
	}
	return f
}

// Decide sets the verdict for one call number.
func (f *Filter) Decide(number uint32, v Verdict) *Filter {
	f.special = append(f.special, special{number, Program{{Code: returnThis, K: uint32(v)}}})
	return f
}

// A Test compares a call argument.
type Test struct {
	arg   Arg
	mask  uint32 // 0 means all bits
	any   bool   // match if any of the bits in value is set
	value []uint32
}

// OneOf matches if the argument equals any of the values.
func OneOf(arg Arg, values ...uint32) Test { return Test{arg: arg, value: values} }

// Masked is like [OneOf], but compares only the bits in mask.
func Masked(arg Arg, mask uint32, values ...uint32) Test {
	return Test{arg: arg, mask: mask, value: values}
}

// Has matches if the argument has any of the bits set.
func Has(arg Arg, bits uint32) Test { return Test{arg: arg, any: true, value: []uint32{bits}} }

// Test sets the verdict for one call number: then if t matches, otherwise if not.
func (f *Filter) Test(number uint32, t Test, then, otherwise Verdict) *Filter {
	body := Program{{Code: loadWord, K: uint32(t.arg)}}
	if t.mask != 0 {
		body = append(body, unix.SockFilter{Code: keepBits, K: t.mask})
	}
	code := uint16(ifEqual)
	if t.any {
		code = ifAny
	}
	for i, value := range t.value {
		body = append(body, unix.SockFilter{Code: code, Jt: uint8(len(t.value) - i), K: value})
	}
	body = append(body, unix.SockFilter{Code: returnThis, K: uint32(otherwise)}, unix.SockFilter{Code: returnThis, K: uint32(then)})
	f.special = append(f.special, special{number, body})
	return f
}

// All sets the verdict for one call number: then if every argument has the given value,
// otherwise if not.
func (f *Filter) All(number uint32, values map[Arg]uint32, then, otherwise Verdict) *Filter {
	var body Program
	for _, arg := range slices.Sorted(maps.Keys(values)) {
		body = append(body,
			unix.SockFilter{Code: loadWord, K: uint32(arg)},
			unix.SockFilter{Code: ifEqual, Jt: 1, K: values[arg]},
			unix.SockFilter{Code: returnThis, K: uint32(otherwise)})
	}
	body = append(body, unix.SockFilter{Code: returnThis, K: uint32(then)})
	f.special = append(f.special, special{number, body})
	return f
}

// A Program is a filter in the form the kernel runs.
type Program []unix.SockFilter

// Program compiles the filter. The program first refuses calls made with another architecture's
// convention.
//
// Refused numbers are looked up in a bit set. Comparing them one by one would run just as fast,
// but the kernel tries every call number when it loads a filter, which would take longer than
// starting a program.
func (f *Filter) Program() Program {
	p := Program{
		{Code: loadWord, K: offArch},
		{Code: ifEqual, Jt: 1, K: arch},
		{Code: returnThis, K: uint32(Kill)},
		{Code: loadWord, K: offNumber},
	}
	if arch == unix.AUDIT_ARCH_X86_64 {
		p = append(p, // x32 calls
			unix.SockFilter{Code: ifAtLeast, Jf: 1, K: 0x40000000},
			unix.SockFilter{Code: returnThis, K: uint32(Kill)})
	}
	for _, s := range f.special {
		p = append(append(p, unix.SockFilter{Code: ifEqual, Jf: uint8(len(s.body)), K: s.number}), s.body...)
	}
	const set, bit = 0, 1 // scratch memory slots
	p = append(p,
		unix.SockFilter{Code: shiftRight, K: 5}, unix.SockFilter{Code: unix.BPF_ST, K: set},
		unix.SockFilter{Code: loadWord, K: offNumber}, unix.SockFilter{Code: keepBits, K: 31}, unix.SockFilter{Code: unix.BPF_MISC | unix.BPF_TAX},
		unix.SockFilter{Code: unix.BPF_LD | unix.BPF_IMM, K: 1}, unix.SockFilter{Code: shiftLeft}, unix.SockFilter{Code: unix.BPF_ST, K: bit},
		unix.SockFilter{Code: loadMemory, K: set})
	for i, bits := range f.refused {
		if bits != 0 {
			p = append(p,
				unix.SockFilter{Code: ifEqual, Jf: 4, K: uint32(i)},
				unix.SockFilter{Code: loadMemory, K: bit}, unix.SockFilter{Code: ifAny, Jf: 1, K: bits},
				unix.SockFilter{Code: returnThis, K: uint32(Fail(unix.EPERM))},
				unix.SockFilter{Code: returnThis, K: uint32(Allow)})
		}
	}
	return append(p, unix.SockFilter{Code: returnThis, K: uint32(Allow)})
}

// Encode returns the program in the kernel's memory layout.
func (p Program) Encode() []byte {
	var b []byte
	for _, i := range p {
		b = binary.LittleEndian.AppendUint16(b, i.Code)
		b = append(b, i.Jt, i.Jf)
		b = binary.LittleEndian.AppendUint32(b, i.K)
	}
	return b
}

// Apply applies the filter permanently to the calling thread, or to all threads of the process.
// The thread must have no_new_privs set.
func (p Program) Apply(allThreads bool) error {
	if !Supported() {
		return errors.New("seccomp is not supported on this processor")
	}
	var flags uintptr
	if allThreads {
		flags = unix.SECCOMP_FILTER_FLAG_TSYNC
	}
	prog := unix.SockFprog{Len: uint16(len(p)), Filter: &p[0]}
	if _, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags, uintptr(unsafe.Pointer(&prog))); errno != 0 {
		return fmt.Errorf("applying the filter of system calls: %w", errno)
	}
	return nil
}
