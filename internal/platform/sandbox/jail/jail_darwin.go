package jail

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// seatbelt is the program that applies a sandbox profile.
const seatbelt = "/usr/bin/sandbox-exec"

// Check returns nil if the kernel can enforce jails, or an error with the reason it cannot.
func Check() error {
	if _, err := os.Stat(seatbelt); err != nil {
		return errors.New(seatbelt + " is not there")
	}
	return nil
}

// Warm does nothing on this system.
func Warm() {}

// Detail names the mechanisms that enforce jails on this system.
func Detail() string { return "seatbelt" }

// Start starts cmd in the jail.
func (p *Policy) Start(cmd *exec.Cmd) error {
	args := append([]string{seatbelt, "-p", p.profile(), cmd.Path}, cmd.Args[1:]...)
	cmd.Path, cmd.Args = seatbelt, args
	return cmd.Start()
}

// profile returns the policy as a seatbelt profile. Later rules override earlier ones.
func (p *Policy) profile() string {
	var b strings.Builder
	rule := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	rule("(version 1)")
	rule("(deny default)")
	rule("(allow process-fork)")
	rule("(allow process-info* signal (target same-sandbox))")
	rule("(allow sysctl-read)")
	rule("(allow file-read-metadata)")
	rule("(allow mach-lookup (global-name \"com.apple.system.opendirectoryd.libinfo\"))")
	for _, place := range slices.Concat(System(), []string{"/private/var/db/timezone", "/private/var/db/dyld", "/private/etc/localtime", "/dev/fd", "/dev/dtracehelper"}, p.Read, p.Real) {
		for _, path := range names(place) {
			rule("(allow file-read* (subpath %s))", quoted(path))
		}
	}
	for _, dir := range append([]string{"/"}, p.List...) {
		rule("(allow file-read* (literal %s))", quoted(dir))
	}
	rule("(allow file-read* file-write-data file-ioctl (literal \"/dev/null\") (regex #\"^/dev/fd/[0-9]+$\"))")
	for _, file := range p.Execute {
		for _, path := range names(file) {
			rule("(allow process-exec file-read* (literal %s))", quoted(path))
		}
	}
	for _, path := range p.Hidden {
		rule("(deny file-read-data (subpath %s))", quoted(path))
	}
	if p.Processes {
		rule("(allow process-info*)")
	}
	rule("(deny network*)")
	return b.String()
}

// names returns path as given and with links resolved.
func names(path string) []string {
	if real, err := filepath.EvalSymlinks(path); err == nil && real != path {
		return []string{path, real}
	}
	return []string{path}
}

// quoted returns path as a string literal of the profile language.
func quoted(path string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(path) + `"`
}
