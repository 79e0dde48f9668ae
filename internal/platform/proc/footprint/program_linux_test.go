package footprint

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const smaps = `00400000-00600000 r-xp 00000000 fe:00 12 /usr/bin/ad ze
Rss:                1024 kB
Anonymous:             0 kB
00600000-00700000 r--p 00200000 fe:00 12 /usr/bin/ad ze
Rss:                 512 kB
Anonymous:             4 kB
00700000-00800000 rw-p 00300000 fe:00 12 /usr/bin/ad ze
Anonymous:             0 kB
00800000-00900000 r--p 00000000 fe:00 13 /usr/lib/ad ze
Anonymous:             0 kB
bad-worse r--p 00000000 fe:00 12 /usr/bin/ad ze
Anonymous:             0 kB
00a00000-00b00000 r--p 00400000 fe:00 12                 /usr/bin/ad ze
Anonymous:             0 kB
c000000000-c000800000 rw-p 00000000 00:00 0
Anonymous:             0 kB
`

// TestUnchanged checks that only pages that can be reloaded from the file are dropped.
func TestUnchanged(t *testing.T) {
	want := []area{{0x400000, 0x200000}, {0xa00000, 0x100000}}
	if diff := cmp.Diff(want, unchanged(smaps, "/usr/bin/ad ze"), cmp.AllowUnexported(area{})); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestRelease checks that memory is returned to the system and that the program keeps running.
func TestRelease(t *testing.T) {
	block := make([]byte, 32<<20)
	for i := range block {
		block[i] = 1
	}
	runtime.KeepAlive(block)
	anon, file := resident(t, "RssAnon:"), resident(t, "RssFile:")
	Release()
	if now := resident(t, "RssAnon:"); now > anon-20<<10 { // the race detector allocates some memory
		t.Errorf("%d KB of %d KB are still there", now, anon)
	}
	if now := resident(t, "RssFile:"); now >= file {
		t.Errorf("%d KB of the program are in memory, %d KB before", now, file)
	}
}

// resident returns a value from the system's memory statistics, in kilobytes.
func resident(t *testing.T, name string) int {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), name)
	n, err := strconv.Atoi(strings.Fields(rest)[0])
	if err != nil {
		t.Fatal(err)
	}
	return n
}
