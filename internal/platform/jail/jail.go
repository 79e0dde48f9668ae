// Package jail runs programs that can do nothing but read. What they are told to do does not matter: the
// kernel keeps them, and all they start, from writing anywhere but to /dev/null and to the pipes they were
// given, from executing other programs than those that were named, from the network, from other processes,
// and from reading outside the places that were named and those of [System].
package jail

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A Policy is what a program may do besides reading the system's own places.
type Policy struct {
	// Read are the files and directories that can be read, with all that is below.
	Read []string
	// Hidden are those of them, or below them, that cannot be. The names in a hidden directory can be seen.
	Hidden []string
	// Execute are the files that can be executed; see [Finder].
	Execute []string
	// Processes lets it see all processes, mounts and devices, Network the sockets and interfaces.
	Processes, Network bool
}

// System returns the places that every jail can read: programs, libraries and what the system says of
// itself, without what may be secret.
func System() []string { return slices.Concat(systemDirs[:], systemFiles()) }

// systemDirs can be read with all that is below them.
var systemDirs = [...]string{
	"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/gnu/store",
	"/var/lib/dpkg", "/var/lib/rpm", "/usr/lib/sysimage", "/var/db/timezone",
	"/etc/alternatives", "/etc/ld.so.conf.d", "/etc/ssl/certs", "/etc/pki/tls/certs", "/etc/pki/ca-trust/extracted",
	"/etc/terminfo", "/etc/python3", "/etc/crypto-policies", "/etc/apt/sources.list.d",
	"/proc/sys", "/sys/devices/system",
	"/System/Library", "/Library/Developer/CommandLineTools", "/opt/homebrew/Cellar", "/opt/homebrew/bin", "/opt/homebrew/lib", "/opt/homebrew/opt",
}

// systemFiles returns files in directories that hold secrets as well.
func systemFiles() []string {
	const (
		etc = `ld.so.cache ld.so.conf ld.so.preload ld-musl-x86_64.path ld-musl-aarch64.path passwd group nsswitch.conf hosts host.conf resolv.conf hostname
			localtime timezone os-release lsb-release debian_version redhat-release fedora-release system-release alpine-release arch-release
			issue locale.alias locale.conf default/locale gitconfig gitattributes inputrc magic mime.types
			profile bash.bashrc bashrc shells services protocols ssl/openssl.cnf pki/tls/openssl.cnf fstab machine-id apt/sources.list selinux/config`
		proc = `cpuinfo meminfo loadavg uptime version stat filesystems partitions swaps diskstats`
		dev  = `zero random urandom`
	)
	var files []string
	for dir, names := range map[string]string{"/etc/": etc, "/proc/": proc, "/dev/": dev} {
		for name := range strings.FieldsSeq(names) {
			files = append(files, dir+name)
		}
	}
	return files
}

// readable returns the pieces of the places that can be read: of a place that something is hidden in, what
// is beside it. The second list is of directories whose names can be seen, and no more.
func (p *Policy) readable() (whole, listed []string) {
	for _, place := range p.Read {
		hidden := slices.DeleteFunc(slices.Clone(p.Hidden), func(path string) bool { return !within(path, place) })
		switch {
		case len(hidden) == 0:
			whole = append(whole, place)
		case !slices.Contains(hidden, place):
			listed = append(listed, place)
			whole = append(whole, beside(place, hidden)...)
		}
	}
	return whole, listed
}

// beside returns what is in dir, without what is hidden. What cannot be looked at cannot be read.
func beside(dir string, hidden []string) []string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var all []string
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		switch {
		case e.Type()&os.ModeSymlink != 0 || slices.Contains(hidden, path): // a link is judged by where it leads
		case slices.ContainsFunc(hidden, func(h string) bool { return within(h, path) }):
			all = append(all, beside(path, hidden)...)
		default:
			all = append(all, path)
		}
	}
	return all
}

// within reports whether path is dir or lies in it. Both are clean.
func within(path, dir string) bool {
	return path == dir || dir == "/" || strings.HasPrefix(path, dir) && path[len(dir)] == '/'
}
