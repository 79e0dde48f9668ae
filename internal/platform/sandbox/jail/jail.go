// Package jail runs programs read-only. Regardless of their instructions, the kernel prevents
// them and everything they start from writing anywhere but to /dev/null and their pipes,
// executing programs that are not in the policy, using the network, affecting other processes,
// and reading outside the policy's places and [System].
package jail

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A Policy grants a jailed program access in addition to the system's own places.
type Policy struct {
	// Read are files and directory trees that can be read.
	Read []string
	// Real are further readable files and directory trees. List are directories whose entries
	// can be listed but not read. Both are given without symbolic links; if a path contains one
	// by the time the jail starts, it is ignored.
	Real, List []string
	// Hidden are paths in the readable places that cannot be read. The names in a hidden
	// directory can still be listed.
	Hidden []string
	// Execute are the files that can be executed; see [Finder].
	Execute []string
	// Processes gives access to information about all processes, mounts and devices, Network to
	// sockets and interfaces.
	Processes, Network bool
}

// System returns the places that every jail can read: [Public] and other files that programs
// need, excluding potential secrets.
func System() []string {
	const etc = `ld.so.cache ld.so.conf ld.so.conf.d ld.so.preload ld-musl-x86_64.path ld-musl-aarch64.path alternatives
		passwd group nsswitch.conf hosts host.conf resolv.conf hostname locale.alias locale.conf default/locale gitconfig gitattributes inputrc
		terminfo python3 magic mime.types profile bash.bashrc bashrc services protocols machine-id selinux/config crypto-policies
		ssl/certs ssl/openssl.cnf pki/tls/certs pki/tls/openssl.cnf pki/ca-trust/extracted apt/sources.list apt/sources.list.d dpkg wgetrc`
	const dev = `zero random urandom`
	return slices.Concat(Public(), joinNames("/etc/", etc), joinNames("/dev/", dev))
}

// Public returns the places that describe the system and reveal nothing about its users. A
// command that names them needs no confirmation.
func Public() []string {
	const root = `usr bin sbin lib lib32 lib64 libx32 nix/store gnu/store var/lib/dpkg var/lib/rpm var/db/timezone
		System/Library Library/Developer/CommandLineTools opt/homebrew/Cellar opt/homebrew/bin opt/homebrew/lib opt/homebrew/opt`
	const etc = `os-release lsb-release debian_version redhat-release fedora-release system-release alpine-release arch-release issue
		localtime timezone shells`
	const proc = `cpuinfo meminfo loadavg uptime version stat filesystems partitions swaps diskstats sys`
	return slices.Concat(joinNames("/", root), joinNames("/etc/", etc), joinNames("/proc/", proc), []string{"/sys/devices/system"})
}

// joinNames returns the paths of names in dir.
func joinNames(dir, names string) []string {
	var all []string
	for name := range strings.FieldsSeq(names) {
		all = append(all, dir+name)
	}
	return all
}

// readable splits the readable places around the hidden paths in them. listed are the
// directories whose names can be listed but not read.
func (p *Policy) readable() (whole, listed []string) {
	for _, place := range p.Read {
		hidden := slices.DeleteFunc(slices.Clone(p.Hidden), func(path string) bool { return !within(path, place) })
		switch {
		case len(hidden) == 0:
			whole = append(whole, place)
		case !slices.Contains(hidden, place):
			listed = append(listed, place)
			whole = append(whole, visibleEntries(place, hidden)...)
		}
	}
	return whole, listed
}

// visibleEntries returns the entries of dir that are not hidden. An unreadable directory has none.
func visibleEntries(dir string, hidden []string) []string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var all []string
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		switch {
		case e.Type()&os.ModeSymlink != 0 || slices.Contains(hidden, path): // a link is judged by its target
		case slices.ContainsFunc(hidden, func(h string) bool { return within(h, path) }):
			all = append(all, visibleEntries(path, hidden)...)
		default:
			all = append(all, path)
		}
	}
	return all
}

// within reports whether path is dir or inside it. Both are clean.
func within(path, dir string) bool {
	return path == dir || dir == "/" || strings.HasPrefix(path, dir) && path[len(dir)] == '/'
}
