//go:build linux && !race

package witness_test

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
)

// An effect is an action of a command, performed or prevented, seen in the trace.
type effect struct {
	kind   string // write, execute, connect, read, signal, system, leak
	line   int
	detail string
}

// A judge decides which system calls are effects that needed a prompt.
type judge struct {
	places   []string        // readable, including everything below
	programs map[string]bool // executable, keyed by resolved name

	mu      sync.Mutex
	tracer  *tracer
	done    []effect
	stopped []effect
	calls   int
}

// writes are calls that modify something regardless of their arguments.
var writes = []string{
	"creat", "rename", "renameat", "renameat2", "unlink", "unlinkat", "rmdir", "mkdir", "mkdirat",
	"link", "linkat", "symlink", "symlinkat", "mknod", "mknodat",
	"chmod", "fchmod", "fchmodat", "chown", "fchown", "lchown", "fchownat",
	"utime", "utimes", "futimesat", "utimensat", "truncate", "ftruncate", "fallocate",
	"setxattr", "lsetxattr", "fsetxattr", "removexattr", "lremovexattr", "fremovexattr",
	"shmget", "msgget", "semget", "mq_open", "mq_unlink", "add_key", "keyctl",
}

// systems are calls that no read-only command needs.
var systems = []string{
	"ptrace", "process_vm_readv", "process_vm_writev", "pidfd_getfd", "open_by_handle_at",
	"mount", "umount2", "pivot_root", "chroot", "setns", "unshare", "move_mount", "fsmount", "open_tree",
	"bpf", "perf_event_open", "userfaultfd", "io_uring_setup",
	"settimeofday", "clock_settime", "sethostname", "setdomainname",
	"reboot", "kexec_load", "init_module", "finit_module", "delete_module", "swapon", "swapoff", "acct", "quotactl",
}

// see judges one call.
func (j *judge) see(e event, c *command) {
	if c.own {
		return
	}
	if preview(e, c) {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.calls++
	kind, detail := j.effect(e, c)
	if kind == "" {
		return
	}
	found := effect{kind: kind, line: c.line, detail: detail}
	switch {
	case !e.failed():
		j.done = note(j.done, found)
	case e.denied():
		j.stopped = note(j.stopped, found)
	}
}

// preview reports whether a call belongs to the copy of a file that the program lets sed modify
// for a preview: a file in its own directory.
func preview(e event, c *command) bool {
	words := e.words()
	c.copies = c.copies || strings.HasPrefix(described(words[0]), copies)
	if !c.copies || strings.HasPrefix(e.name, "exec") {
		return false
	}
	return strings.HasPrefix(e.name, "f") && strings.HasPrefix(described(words[0]), copies) || !slices.ContainsFunc(words, func(word string) bool {
		path := text(word)
		return filepath.IsAbs(path) && !strings.HasPrefix(path, copies) || strings.Contains(path, "..")
	})
}

// copies is the prefix of sed's working directories.
var copies = filepath.Join(os.TempDir(), "adze-sed-")

// note adds an effect, unless the line already has one with its kind. Lines come in order.
func note(list []effect, e effect) []effect {
	for i := len(list) - 1; i >= 0 && list[i].line == e.line; i-- {
		if list[i].kind == e.kind {
			return list
		}
	}
	return append(list, e)
}

// effect returns the kind of effect that a call has, or would have if it had not failed; ""
// means none.
func (j *judge) effect(e event, c *command) (kind, detail string) {
	shown := e.name + "(" + e.args + ") = " + e.ret
	switch {
	case slices.Contains(writes, e.name):
		return "write", shown
	case slices.Contains(systems, e.name):
		return "system", shown
	}
	words := e.words()
	switch e.name {
	case "open", "openat", "openat2":
		return j.opened(e, c, words)
	case "execve", "execveat":
		path, args := j.executed(e, words)
		if !j.programs[path] && !(j.system(path) && (versions.MatchString(args) || syntax.MatchString(args))) {
			return "execute", path + ": " + shown
		}
	case "mmap":
		// Code that a process maps is equivalent to a program. Anonymous memory has no file.
		if path := described(words[4]); strings.Contains(words[2], "PROT_EXEC") && path != "" && !j.system(path) {
			return "execute", path + ": " + shown
		}
	case "socket":
		if family := words[0]; family != "AF_UNIX" && family != "AF_NETLINK" {
			return "connect", shown
		}
	case "connect", "bind", "listen":
		// Libraries probe for system services; a failure is a valid answer.
		if !strings.Contains(e.args, "AF_NETLINK") {
			return "connect", shown
		}
	case "sendto", "sendmsg", "sendmmsg":
		if strings.Contains(e.args, "sa_family=") && !strings.Contains(e.args, "AF_NETLINK") {
			return "connect", shown
		}
	case "kill", "tkill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "pidfd_send_signal":
		if words[len(words)-1] != "0" && !j.ownProcess(words[0], e, c) {
			return "signal", shown
		}
	case "setpriority", "ioprio_set":
		if !j.ownProcess(words[1], e, c) {
			return "signal", shown
		}
	case "sched_setaffinity", "sched_setscheduler", "sched_setparam", "sched_setattr":
		if !j.ownProcess(words[0], e, c) {
			return "signal", shown
		}
	}
	return "", ""
}

// ownProcess reports whether the process named by a call belongs to the call's own line.
func (j *judge) ownProcess(word string, e event, c *command) bool {
	var pid int
	if _, err := fmt.Sscanf(strings.TrimPrefix(word, "-"), "%d", &pid); err != nil {
		return false
	}
	return pid == 0 || pid == e.pid || j.tracer.shares(c.line, pid)
}

// executed returns the file that a call executes, with symlinks resolved, and its arguments.
func (j *judge) executed(e event, words []string) (path, args string) {
	at := 0
	if e.name == "execveat" {
		at = 1
	}
	path = text(words[at])
	args = words[at+1]
	if !filepath.IsAbs(path) {
		return path, args // no allowed program has this name
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real, args
	}
	return path, args
}

// opened judges a call that opens a file.
func (j *judge) opened(e event, c *command, words []string) (kind, detail string) {
	at := slices.IndexFunc(words, func(w string) bool { return strings.Contains(w, "O_") })
	path := cmp.Or(e.file(), named(words))
	shown := path + ": " + e.name + "(" + e.args + ") = " + e.ret
	if at < 0 {
		return "write", shown // no mode found: assume the worst
	}
	flags := words[at]
	if nameless.MatchString(path) {
		return "", ""
	}
	switch {
	case strings.Contains(flags, "O_PATH"):
		return "", ""
	case strings.Contains(flags, "O_WRONLY"), strings.Contains(flags, "O_RDWR"), strings.Contains(flags, "O_CREAT"), strings.Contains(flags, "O_TRUNC"), strings.Contains(flags, "O_TMPFILE"):
		// Shells probe for a terminal.
		if path == os.DevNull || path == "/dev/tty" && e.failed() {
			return "", ""
		}
		return "write", shown
	case !j.readable(path, e, c):
		return "read", shown
	}
	return "", ""
}

// named returns the path in the arguments of a failed call.
func named(words []string) string {
	path := text(words[0])
	dir := ""
	if path == "" && len(words) > 1 {
		path, dir = text(words[1]), described(words[0])
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	return filepath.Clean(path)
}

// versions matches arguments that print a program's version.
var versions = regexp.MustCompile(`"(-v|-V|--version|version|-version|-vV|-dumpversion|-dumpmachine)"(, "-[^"]*")*\]$|^\["[^"]*", "version"`)

// syntax matches interpreters that parse a program without running it.
var syntax = regexp.MustCompile(`^\["node", "(-c|--check)", "[^-]|^\["php", "-l", "[^-]`)

// nameless matches pipes, sockets, namespaces and the like.
var nameless = regexp.MustCompile(`^[a-z_]+:\[`)

var process = regexp.MustCompile(`^/proc/(\d+)(/task/\d+)?(/.*)?$`)

// private are the files of a process that reveal more than its existence and name. The kernel
// checks access to them on open; for others like these, such as the stack, it checks on read.
var private = []string{"environ", "mem", "maps", "smaps", "smaps_rollup", "numa_maps", "pagemap", "auxv", "root", "cwd", "exe"}

// readable reports whether a command may read path.
func (j *judge) readable(path string, e event, c *command) bool {
	if m := process.FindStringSubmatch(path); m != nil {
		first, _, _ := strings.Cut(strings.TrimPrefix(m[3], "/"), "/")
		return !slices.Contains(private, first) || j.ownProcess(m[1], e, c) || memoryless(m[1])
	}
	if path == "/proc" {
		return true // process numbers
	}
	return slices.ContainsFunc(j.places, func(place string) bool { return within(path, place) })
}

// memoryless reports whether a process has nothing to reveal: a kernel thread, or a process
// that has ended. The kernel lets anyone open the files of both.
func memoryless(pid string) bool {
	words, err := os.ReadFile("/proc/" + pid + "/cmdline")
	return len(words) == 0 && (err == nil || errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH))
}

// system reports whether a file belongs to the system.
func (j *judge) system(path string) bool { return within(path, "/usr") || within(path, "/etc") }

// within reports whether path is root or lies below it.
func within(path, root string) bool {
	return path == root || strings.HasPrefix(path, strings.TrimSuffix(root, "/")+"/")
}

// leaked records that a command's output contained a secret.
func (j *judge) leaked(line int, secret string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.done = append(j.done, effect{kind: "leak", line: line, detail: "the output holds " + secret})
}
