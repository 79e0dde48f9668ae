// Package seccomp assembles filters of system calls and applies them.
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

// A Filter says what becomes of system calls: those that it does not speak of pass.
type Filter struct {
	refused [maxCalls / 32]uint32 // the numbers that are refused, as bits
	special []special
}

// A special is what is done for the calls of one number; it ends in a verdict.
type special struct {
	number uint32
	body   Program
}

// A Verdict is what becomes of a call.
type Verdict uint32

// Allow lets a call pass, Kill ends the process.
const (
	Allow Verdict = 0x7fff0000
	Kill  Verdict = 0x80000000
)

// Fail lets a call fail.
func Fail(errno unix.Errno) Verdict { return 0x00050000 | Verdict(errno) }

// An Arg is an argument of a call: its lower half on a little-endian machine, where all that is compared
// here is.
type Arg uint32

// The arguments.
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

// maxCalls is more than there are numbers of calls.
const maxCalls = 1024

// Supported reports whether filters can be made for this processor.
func Supported() bool { return arch != 0 }

// Refuse lets calls fail for want of permission.
func (f *Filter) Refuse(numbers ...uint32) *Filter {
	for _, number := range numbers {
		f.refused[number/32] |= 1 << (number % 32)
	}
	return f
}

// Decide decides about the calls of one number.
func (f *Filter) Decide(number uint32, v Verdict) *Filter {
	f.special = append(f.special, special{number, Program{{Code: returnThis, K: uint32(v)}}})
	return f
}

// A Test compares an argument of a call.
type Test struct {
	arg   Arg
	mask  uint32 // 0 for all bits
	any   bool   // some of the bits in values are set
	value []uint32
}

// OneOf holds for an argument that is one of the values.
func OneOf(arg Arg, values ...uint32) Test { return Test{arg: arg, value: values} }

// Masked is like [OneOf] for the bits of an argument that are in mask.
func Masked(arg Arg, mask uint32, values ...uint32) Test {
	return Test{arg: arg, mask: mask, value: values}
}

// Has holds for an argument with some of the bits.
func Has(arg Arg, bits uint32) Test { return Test{arg: arg, any: true, value: []uint32{bits}} }

// Test decides about the calls of one number: as then says if the test holds, and else as otherwise.
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

// All decides about the calls of one number: as then says if every argument is the value that goes with it, and else as
// otherwise.
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

// A Program is a filter as the kernel runs it.
type Program []unix.SockFilter

// Program returns the filter as a program. It begins with the refusal of calls in the manner of other
// processors.
//
// Refused numbers are looked up as bits. Comparing them one after the other would be as fast to run, but the
// kernel tries every number there is when it takes a filter, which would take longer than to start a program.
func (f *Filter) Program() Program {
	p := Program{
		{Code: loadWord, K: offArch},
		{Code: ifEqual, Jt: 1, K: arch},
		{Code: returnThis, K: uint32(Kill)},
		{Code: loadWord, K: offNumber},
	}
	if arch == unix.AUDIT_ARCH_X86_64 {
		p = append(p, // the x32 calls
			unix.SockFilter{Code: ifAtLeast, Jf: 1, K: 0x40000000},
			unix.SockFilter{Code: returnThis, K: uint32(Kill)})
	}
	for _, s := range f.special {
		p = append(append(p, unix.SockFilter{Code: ifEqual, Jf: uint8(len(s.body)), K: s.number}), s.body...)
	}
	const set, bit = 0, 1 // what is kept in the memory of the program
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

// Encode returns the program as the kernel has it in memory.
func (p Program) Encode() []byte {
	var b []byte
	for _, i := range p {
		b = binary.LittleEndian.AppendUint16(b, i.Code)
		b = append(b, i.Jt, i.Jf)
		b = binary.LittleEndian.AppendUint32(b, i.K)
	}
	return b
}

// Apply puts the calling thread under the filter for good, or all threads of the process. It needs the
// thread to have given up new privileges.
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
