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
	// Real are further files and directories, and List directories whose names alone can be seen. They are
	// named without links: if there is one by now, what it leads to is not meant.
	Real, List []string
	// Hidden are those of them, or below them, that cannot be. The names in a hidden directory can be seen.
	Hidden []string
	// Execute are the files that can be executed; see [Finder].
	Execute []string
	// Processes lets it see all processes, mounts and devices, Network the sockets and interfaces.
	Processes, Network bool
}

// System returns the places that every jail can read: [Public], and what programs need besides, without what
// may be secret.
func System() []string {
	const etc = `ld.so.cache ld.so.conf ld.so.conf.d ld.so.preload ld-musl-x86_64.path ld-musl-aarch64.path alternatives
		passwd group nsswitch.conf hosts host.conf resolv.conf hostname locale.alias locale.conf default/locale gitconfig gitattributes inputrc
		terminfo python3 magic mime.types profile bash.bashrc bashrc services protocols machine-id selinux/config crypto-policies
		ssl/certs ssl/openssl.cnf pki/tls/certs pki/tls/openssl.cnf pki/ca-trust/extracted apt/sources.list apt/sources.list.d dpkg wgetrc`
	const dev = `zero random urandom`
	return slices.Concat(Public(), in("/etc/", etc), in("/dev/", dev))
}

// Public returns the places that say what the system is made of and nothing about who uses it: a command that
// names them need not be asked about.
func Public() []string {
	const root = `usr bin sbin lib lib32 lib64 libx32 nix/store gnu/store var/lib/dpkg var/lib/rpm var/db/timezone
		System/Library Library/Developer/CommandLineTools opt/homebrew/Cellar opt/homebrew/bin opt/homebrew/lib opt/homebrew/opt`
	const etc = `os-release lsb-release debian_version redhat-release fedora-release system-release alpine-release arch-release issue
		localtime timezone shells`
	const proc = `cpuinfo meminfo loadavg uptime version stat filesystems partitions swaps diskstats sys`
	return slices.Concat(in("/", root), in("/etc/", etc), in("/proc/", proc), []string{"/sys/devices/system"})
}

// in returns the paths of names in dir.
func in(dir, names string) []string {
	var all []string
	for name := range strings.FieldsSeq(names) {
		all = append(all, dir+name)
	}
	return all
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
