package footprint

import (
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// releaseProgram drops mapped pages of the executable that are identical to the file. Startup
// touches nearly all of them. They stay in the page cache.
func releaseProgram() {
	exe, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return
	}
	maps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		return
	}
	for _, a := range unchanged(string(maps), exe) {
		unix.Syscall(unix.SYS_MADVISE, a.from, a.size, unix.MADV_DONTNEED) // ok: the pages then stay mapped
	}
}

// An area is a file mapping.
type area struct{ from, size uintptr }

// unchanged returns the read-only mappings of a file in which no page differs from the file.
// Pages differ if the program was relocated on loading or a debugger has set a breakpoint,
// which would be lost.
func unchanged(smaps, file string) (found []area) {
	var last area
	for line := range strings.Lines(smaps) {
		fields := strings.Fields(line)
		switch {
		case len(fields) > 1 && len(fields[1]) == 4 && strings.Contains(fields[0], "-"): // addresses and permissions
			last = area{}
			if fields[1][1] == '-' && strings.HasSuffix(line, " "+file+"\n") {
				last = areaOf(fields[0])
			}
		case len(fields) > 1 && fields[0] == "Anonymous:" && fields[1] == "0" && last.size > 0:
			found = append(found, last)
		}
	}
	return found
}

// areaOf parses addresses such as 00400000-012a0000. It returns an empty area if they are
// invalid.
func areaOf(text string) area {
	first, end, _ := strings.Cut(text, "-")
	from, err := strconv.ParseUint(first, 16, 64)
	to, err2 := strconv.ParseUint(end, 16, 64)
	if err != nil || err2 != nil || to <= from {
		return area{}
	}
	return area{uintptr(from), uintptr(to - from)}
}
