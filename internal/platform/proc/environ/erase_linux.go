package environ

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"unsafe"
)

// erase overwrites the values of secret variables in the initial environment block, which
// /proc/PID/environ exposes, also to root. The runtime has copies of everything it needs.
func erase(secret func(name, value string) bool) {
	block := initialBlock()
	for len(block) > 0 {
		entry, rest, _ := bytes.Cut(block, []byte{0})
		name, value, _ := bytes.Cut(entry, []byte("="))
		if secret(string(name), string(value)) {
			clear(value)
		}
		block = rest
	}
}

// initialBlock returns the memory holding the initial environment, or nil if it cannot be
// located reliably.
func initialBlock() []byte {
	stat, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return nil
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:])) // starts at the third field
	const argStart, argEnd, envStart, envEnd = 48 - 3, 49 - 3, 50 - 3, 51 - 3
	if len(fields) <= envEnd {
		return nil
	}
	at := func(field int) uintptr {
		n, _ := strconv.ParseUint(fields[field], 10, 64) // ok: zero is not a valid address
		return uintptr(n)
	}
	if at(envEnd) <= at(envStart) {
		return nil
	}
	for _, arg := range os.Args {
		// The runtime does not copy the arguments: they remain where the kernel put them, near
		// the environment.
		p := unsafe.Pointer(unsafe.StringData(arg))
		if at(argStart) <= uintptr(p) && uintptr(p) < at(argEnd) {
			return unsafe.Slice((*byte)(unsafe.Add(p, int(at(envStart))-int(uintptr(p)))), at(envEnd)-at(envStart))
		}
	}
	return nil
}
