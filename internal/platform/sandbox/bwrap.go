package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"adze/internal/platform/fs/fsys"
	"adze/internal/platform/sandbox/jail"
)

// insideDir is the directory for the sandbox's own files inside. It is created there.
const insideDir = "/run/adze"

// namespaces returns the bubblewrap arguments that set up the namespaces for p. A non-empty
// helper is mounted inside.
func namespaces(p *policy, net *netAccess, helper string) []string {
	args := []string{
		"--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--remount-ro", "/proc",
		"--bind", p.temp, "/tmp", "--tmpfs", "/run",
		"--unshare-user", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try",
		"--cap-drop", "ALL",
	}
	if fsys.IsDir("/var/tmp") {
		args = append(args, "--tmpfs", "/var/tmp")
	}
	if os.Geteuid() == 0 {
		args = append(args, hideKernel()...)
	}
	args = append(args, "--bind", p.temp, p.temp)
	for _, path := range p.outermostFirst() {
		if slices.Contains(p.roots, path) {
			args = append(args, "--bind", path, path)
			args = append(args, p.pins(path)...)
			for _, g := range p.guards {
				if g.root == path {
					args = append(args, "--ro-bind", g.path, g.path)
				}
			}
		}
		if slices.Contains(p.write, path) {
			args = append(args, "--bind", path, path)
			args = append(args, p.pins(path)...)
		}
		if slices.Contains(p.own, path) && fsys.IsDir(path) {
			args = append(args, "--ro-bind", path, path)
		}
	}
	for _, path := range p.readOnly {
		args = append(args, "--ro-bind", path, path)
	}
	args = append(args, hide(p.hidden)...)
	if helper != "" {
		args = append(args, "--ro-bind", helper, filepath.Join(insideDir, "adze"))
	}
	if net.socket != "" {
		args = append(args, "--ro-bind", net.socket, filepath.Join(insideDir, "net"))
	}
	return args
}

// outermostFirst returns the working directories, further writable paths and adze's own
// directories, so that each follows the ones that contain it: a mount covers those below it.
func (p *policy) outermostFirst() []string {
	all := slices.Concat(p.roots, p.write, p.own)
	slices.Sort(all)
	return slices.Compact(all)
}

// pins returns the arguments that keep the directories between root and its read-only paths
// from being renamed, which is impossible for a mount point. Nothing may be mounted below the
// root before.
func (p *policy) pins(root string) []string {
	var args []string
	seen := map[string]bool{}
	for _, path := range slices.Concat(p.own, p.readOnly) {
		if path == root || !below(root, path) || slices.ContainsFunc(p.roots, func(other string) bool { return other != root && below(root, other) && below(other, path) }) {
			continue
		}
		var above []string
		for dir := filepath.Dir(path); dir != root && !seen[dir]; dir = filepath.Dir(dir) {
			above = append(above, dir)
			seen[dir] = true
		}
		slices.Reverse(above)
		for _, dir := range above {
			args = append(args, "--bind", dir, dir)
		}
	}
	return args
}

// hide returns the arguments that replace paths, which are sorted, by something empty.
func hide(paths []string) []string {
	var args, covered []string
	for _, path := range paths {
		if slices.ContainsFunc(covered, func(dir string) bool { return below(dir, path) }) {
			continue
		}
		if fsys.IsDir(path) {
			covered = append(covered, path)
			args = append(args, "--perms", "0500", "--tmpfs", path, "--remount-ro", path)
		} else {
			args = append(args, "--ro-bind", "/dev/null", path)
		}
	}
	return args
}

// readingNamespaces returns the bubblewrap arguments for a read-only command: the whole file
// system, mounted read-only. The jail decides which parts of it can be read, except for hidden
// paths.
func readingNamespaces(p *policy, reading *jail.Policy) []string {
	args := []string{
		"--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--remount-ro", "/proc",
		"--unshare-user", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try",
		"--cap-drop", "ALL",
	}
	if os.Geteuid() == 0 {
		args = append(args, hideKernel()...)
	}
	within := slices.DeleteFunc(slices.Clone(p.hidden), func(path string) bool {
		return !slices.ContainsFunc(reading.Read, func(dir string) bool { return below(dir, path) })
	})
	return append(args, hide(within)...)
}

// Files and directories that reveal information about the kernel and the machine to root. Other
// users cannot read them anyway.
var (
	kernelFiles = [...]string{"/proc/kcore", "/proc/keys", "/proc/latency_stats", "/proc/timer_list", "/proc/timer_stats", "/proc/sched_debug"}
	kernelDirs  = [...]string{"/proc/acpi", "/proc/asound", "/proc/scsi", "/sys/firmware", "/sys/devices/virtual/powercap"}
)

// hideKernel returns the arguments that hide the existing kernel files and directories.
// Mounting /proc and /sys read-only is needed as well: to the kernel, root in a sandbox is
// still root wherever file ownership decides, as for the settings in /proc/sys.
func hideKernel() []string {
	var args []string
	for _, path := range kernelFiles {
		if _, err := os.Lstat(path); err == nil {
			args = append(args, "--ro-bind", "/dev/null", path)
		}
	}
	for _, path := range kernelDirs {
		if fsys.IsDir(path) {
			args = append(args, "--perms", "0500", "--tmpfs", path)
		}
	}
	return args
}

// insideEnv returns the environment of a confined program: without the addresses of unreachable
// services, and with the addresses of reachable ones.
func insideEnv(env []string, p *policy, net *netAccess) []string {
	drop := []string{"XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS", "SSH_AUTH_SOCK", "SSH_AGENT_PID", "GPG_AGENT_INFO",
		"DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY",
		"TMPDIR", "TMP", "TEMP", "DOCKER_HOST"}
	if net.proxy != "" {
		drop = append(drop, "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY",
			"http_proxy", "https_proxy", "all_proxy", "no_proxy", "NODE_USE_ENV_PROXY")
	}
	kept := slices.DeleteFunc(slices.Clone(env), func(entry string) bool {
		return slices.ContainsFunc(drop, func(name string) bool {
			return len(entry) > len(name) && entry[:len(name)] == name && entry[len(name)] == '='
		})
	})
	kept = append(kept, "TMPDIR="+p.temp, "ADZE_SANDBOX=1")
	if net.proxy != "" {
		for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"} {
			kept = append(kept, name+"=http://"+net.proxy)
		}
		direct := slices.DeleteFunc([]string{"localhost", "127.0.0.1", "::1"}, net.listed)
		kept = append(kept, "NO_PROXY="+strings.Join(direct, ","), "no_proxy="+strings.Join(direct, ","), "NODE_USE_ENV_PROXY=1")
	}
	return kept
}
