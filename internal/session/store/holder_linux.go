package store

import (
	"bufio"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// lockHolder finds the process that holds the lock on f in the kernel's list, if available.
func lockHolder(f *os.File) int {
	info, err := f.Stat()
	if err != nil {
		return 0
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0
	}
	list, err := os.Open("/proc/locks")
	if err != nil {
		return 0
	}
	defer list.Close()
	inode := ":" + strconv.FormatUint(uint64(stat.Ino), 10)
	for lines := bufio.NewScanner(list); lines.Scan(); {
		// 1: FLOCK  ADVISORY  WRITE 4711 08:02:1048603 0 EOF
		fields := strings.Fields(lines.Text())
		if len(fields) == 8 && fields[1] == "FLOCK" && strings.HasSuffix(fields[5], inode) {
			pid, err := strconv.Atoi(fields[4])
			if err == nil && pid > 0 {
				return pid
			}
		}
	}
	return 0
}
