//go:build unix

package find

import (
	"os"
	"syscall"
	"testing"
)

// guarded returns n bytes of memory, rounded up to whole pages, followed by an inaccessible
// page.
func guarded(t *testing.T, n int) []byte {
	t.Helper()
	page := os.Getpagesize()
	n = (n + page - 1) / page * page
	mem, err := syscall.Mmap(-1, 0, n+page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Munmap(mem) }) // ok: the process ends anyway
	if err := syscall.Mprotect(mem[n:], syscall.PROT_NONE); err != nil {
		t.Fatal(err)
	}
	return mem[:n:n]
}
