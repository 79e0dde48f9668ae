package paths

import (
	"os"
	"runtime"
	"strings"
	"sync"
)

// An Oddity is a misleading spelling that the user should see.
type Oddity struct {
	Part string // part of the path
	Why  string
}

// A system determines which spellings are odd.
type system struct {
	windows bool
	wsl     bool // WSL, with Windows drives mounted
}

var here = sync.OnceValue(func() system {
	if runtime.GOOS != "linux" {
		return system{windows: runtime.GOOS == "windows"}
	}
	release, _ := os.ReadFile("/proc/sys/kernel/osrelease") // ok: unreadable means no WSL
	return system{wsl: strings.Contains(strings.ToLower(string(release)), "microsoft")}
})

// odd returns the oddity of a path, given as typed and as an absolute path, or nil.
func odd(sys system, typed, absolute string) *Oddity {
	if name, _, _ := strings.Cut(strings.TrimSpace(typed), "/"); len(name) > 1 && name[0] == '~' {
		return &Oddity{name, "elsewhere this means the home directory of another user"}
	}
	if !sys.windows && !(sys.wsl && onDrive(absolute)) {
		return nil
	}
	return oddWindows(strings.TrimSpace(typed))
}

// onDrive reports whether path is on a Windows drive mounted by WSL.
func onDrive(path string) bool {
	rest, ok := strings.CutPrefix(path, "/mnt/")
	return ok && len(rest) > 0 && isLetter(rest[0]) && (len(rest) == 1 || rest[1] == '/')
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// oddWindows finds spellings for which Windows opens a file other than the named one.
func oddWindows(path string) *Oddity {
	path = strings.ReplaceAll(path, "/", `\`)
	for _, prefix := range []string{`\\?\`, `\\.\`} {
		if strings.HasPrefix(path, prefix) {
			return &Oddity{prefix, "this prefix reaches devices and skips the checks of names"}
		}
	}
	if len(path) >= 2 && isLetter(path[0]) && path[1] == ':' {
		path = path[2:]
	}
	for _, name := range strings.Split(path, `\`) {
		if why := oddName(name); why != "" {
			return &Oddity{name, why}
		}
	}
	return nil
}

func oddName(name string) string {
	switch {
	case name == "" || name == "." || name == "..":
		return ""
	case strings.Trim(name, ".") == "":
		return "three and more dots can mean a directory further up"
	case strings.Contains(name, ":"):
		return "this names an alternate stream of a file"
	case strings.HasSuffix(name, ".") || strings.HasSuffix(name, " "):
		return "Windows drops the dot or space at the end"
	case isShort(name):
		return "this is the short form of another name"
	case isDevice(name):
		return "this is the name of a device"
	}
	return ""
}

// isShort reports whether name looks like a generated 8.3 name, such as PROGRA~1.
func isShort(name string) bool {
	for i := 0; i+1 < len(name); i++ {
		if name[i] == '~' && name[i+1] >= '0' && name[i+1] <= '9' {
			return true
		}
	}
	return false
}

// isDevice reports whether name is a device name, with any extension.
func isDevice(name string) bool {
	stem, _, _ := strings.Cut(strings.ToUpper(name), ".")
	switch stem = strings.TrimRight(stem, " "); stem {
	case "CON", "PRN", "AUX", "NUL":
		return true
	}
	return len(stem) == 4 && (stem[:3] == "COM" || stem[:3] == "LPT") && stem[3] >= '1' && stem[3] <= '9'
}
