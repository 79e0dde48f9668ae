package prompt

import (
	"os"
	"runtime"
	"strings"
)

// SystemVersion returns the name and version of the operating system, or "" if they are not
// readable from a file.
func SystemVersion() string {
	if runtime.GOOS != "linux" {
		return ""
	}
	release, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		return ""
	}
	return "Linux " + strings.TrimSpace(string(release))
}
