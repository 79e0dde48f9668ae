package prompt

import (
	"os"
	"strings"
)

// SystemVersion returns the name and version of the operating system, or "" if they are not
// readable from a file.
func SystemVersion() string {
	release, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		return ""
	}
	return "Linux " + strings.TrimSpace(string(release))
}
