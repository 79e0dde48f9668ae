package footprint

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

// TestRelease checks that memory is returned to the system.
func TestRelease(t *testing.T) {
	block := make([]byte, 32<<20)
	for i := range block {
		block[i] = 1
	}
	runtime.KeepAlive(block)
	before := resident(t)
	New().release()
	if now := resident(t); now > before-20<<10 { // the race detector allocates some memory
		t.Errorf("%d KB of %d KB are still there", now, before)
	}
}

// resident returns the size of the process's private memory, in kilobytes.
func resident(t *testing.T) int {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), "RssAnon:")
	n, err := strconv.Atoi(strings.Fields(rest)[0])
	if err != nil {
		t.Fatal(err)
	}
	return n
}
