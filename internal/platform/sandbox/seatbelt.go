package sandbox

import (
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strings"
)

// profile returns the seatbelt profile for p. Later rules override earlier ones. Proxy is the
// address of the egress proxy, or empty.
func profile(p *policy, proxy string) string {
	var b strings.Builder
	rule := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	rule("(version 1)")
	rule("(deny default)")
	rule("(allow process-fork process-exec)")
	rule("(allow process-info* signal (target same-sandbox))")
	rule("(allow sysctl-read)")
	rule("(allow file-read* file-ioctl)")
	rule("(allow mach-lookup (global-name \"com.apple.system.opendirectoryd.libinfo\") (global-name \"com.apple.system.logger\"))")
	rule("(allow file-write* (literal \"/dev/null\") (literal \"/dev/zero\") (literal \"/dev/dtracehelper\") (literal \"/dev/tty\"))")
	for _, path := range append(append([]string{p.temp}, p.roots...), p.write...) {
		rule("(allow file-write* (subpath %s))", quoted(path))
	}
	for _, path := range p.own {
		rule("(deny file-write* (subpath %s))", quoted(path))
	}
	for _, path := range slices.Concat(p.roots, p.write) {
		if slices.ContainsFunc(p.own, func(dir string) bool { return dir != path && below(dir, path) }) {
			rule("(allow file-write* (subpath %s))", quoted(path))
		}
	}
	for _, root := range p.roots {
		names := slices.Concat(protectedDirs[:], protectedFiles[:], toolNames[:], protectedBelow[:], homeFiles[:], homeDirs[:]) // rules are free here
		if root == p.home {
			names = slices.Concat(names, onlyHomeFiles[:], onlyHomeDirs[:])
		}
		for _, name := range names {
			rule("(deny file-write* (subpath %s))", quoted(filepath.Join(root, name)))
		}
		for _, name := range []string{"HEAD", "refs", "commondir"} { // names that make it a repository
			rule("(deny file-write* (subpath %s))", quoted(filepath.Join(root, name)))
		}
		// Moving a root, or a directory above it, would take its protected names out of the
		// rules above.
		for dir := root; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
			rule("(deny file-write-unlink file-write-create (literal %s))", quoted(dir))
		}
	}
	for _, path := range p.readOnly {
		rule("(deny file-write* (subpath %s))", quoted(path))
	}
	for _, path := range p.hidden {
		rule("(deny file-read* file-write* (subpath %s))", quoted(path))
	}
	rule("(deny network*)")
	if _, port, err := net.SplitHostPort(proxy); err == nil {
		rule("(allow network-outbound (remote ip \"localhost:%s\"))", port)
	}
	return b.String()
}

// quoted returns path as a string literal of the profile language.
func quoted(path string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(path) + `"`
}
