//go:build linux && !race

package witness_test

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// An effect is what the witness saw a command do, or be kept from doing.
type effect struct {
	kind   string // write, execute, connect, read, signal, system, leak
	line   int
	detail string
}

// A judge says which calls of commands are effects that nobody was asked about.
type judge struct {
	places   []string            // readable with what is below
	programs map[string][]string // executable, by what their names lead to; if it is not nil, with one of these arguments

	mu      sync.Mutex
	tracer  *tracer
	done    []effect
	stopped []effect
	calls   int
}

// writes are calls that change something whatever their arguments are.
var writes = []string{
	"creat", "rename", "renameat", "renameat2", "unlink", "unlinkat", "rmdir", "mkdir", "mkdirat",
	"link", "linkat", "symlink", "symlinkat", "mknod", "mknodat",
	"chmod", "fchmod", "fchmodat", "chown", "fchown", "lchown", "fchownat",
	"utime", "utimes", "futimesat", "utimensat", "truncate", "ftruncate", "fallocate",
	"setxattr", "lsetxattr", "fsetxattr", "removexattr", "lremovexattr", "fremovexattr",
	"shmget", "msgget", "semget", "mq_open", "mq_unlink", "add_key", "keyctl",
}

// systems are calls that no command that reads has a use for.
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
	j.mu.Lock()
	defer j.mu.Unlock()
	j.calls++
	kind, detail := j.effect(e, c)
	if kind == "" {
		return
	}
	found := effect{kind: kind, line: c.line, detail: detail}
	if e.failed() {
		if e.denied() {
			j.stopped = append(j.stopped, found)
		}
		return
	}
	j.done = append(j.done, found)
}

// effect returns what kind of effect a call has, or would have if it did not fail; "" means none.
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
		path, last := j.executed(e, words)
		if only, ok := j.programs[path]; !ok || only != nil && !slices.Contains(only, last) {
			return "execute", path + ": " + shown
		}
	case "mmap":
		// Code that a process takes in is as good as a program. Anonymous memory has no file.
		if path := described(words[4]); strings.Contains(words[2], "PROT_EXEC") && path != "" && !j.system(path) {
			return "execute", path + ": " + shown
		}
	case "socket":
		if family := words[0]; family != "AF_UNIX" && family != "AF_NETLINK" {
			return "connect", shown
		}
	case "connect", "bind", "listen":
		// Libraries look whether there are services of the system: that there is none is an answer.
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

// ownProcess reports whether a call that names a process means one of its own line.
func (j *judge) ownProcess(word string, e event, c *command) bool {
	var pid int
	if _, err := fmt.Sscanf(strings.TrimPrefix(word, "-"), "%d", &pid); err != nil {
		return false
	}
	return pid == 0 || pid == e.pid || j.tracer.shares(c.line, pid)
}

// executed returns the file that a call executes, without links, and its last argument.
func (j *judge) executed(e event, words []string) (path, last string) {
	at := 0
	if e.name == "execveat" {
		at = 1
	}
	path = text(words[at])
	if args := words[at+1]; strings.HasSuffix(args, `"]`) {
		last = args[strings.LastIndex(args[:len(args)-2], `"`)+1 : len(args)-2]
	}
	if !filepath.IsAbs(path) {
		return path, last // none of what may be executed is named so
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real, last
	}
	return path, last
}

// opened judges a call that opens a file.
func (j *judge) opened(e event, c *command, words []string) (kind, detail string) {
	at := slices.IndexFunc(words, func(w string) bool { return strings.Contains(w, "O_") })
	path := cmp.Or(e.file(), named(words))
	shown := path + ": " + e.name + "(" + e.args + ") = " + e.ret
	if at < 0 {
		return "write", shown // not even a mode: judged as the worst
	}
	flags := words[at]
	for _, stream := range []string{"pipe:", "socket:", "anon_inode:"} {
		if strings.HasPrefix(path, stream) {
			return "", ""
		}
	}
	switch {
	case strings.Contains(flags, "O_PATH"):
		return "", ""
	case strings.Contains(flags, "O_WRONLY"), strings.Contains(flags, "O_RDWR"), strings.Contains(flags, "O_CREAT"), strings.Contains(flags, "O_TRUNC"), strings.Contains(flags, "O_TMPFILE"):
		if path == os.DevNull {
			return "", ""
		}
		return "write", shown
	case !j.readable(path, e, c):
		return "read", shown
	}
	return "", ""
}

// named returns the path that the arguments of a call name, which failed.
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

// versions are the arguments by which programs are asked for their version.
var versions = []string{"-v", "-V", "--version", "version", "-version", "--Version", "-vV", "-Version"}

var process = regexp.MustCompile(`^/proc/(\d+)(/task/\d+)?(/.*)?$`)

// listed are the files of a process that programs that list processes read. What it was started with
// beyond its arguments, its memory and its open files are not among them.
var listed = []string{"", "/stat", "/statm", "/status", "/cmdline", "/comm", "/wchan", "/task", "/cgroup", "/sched", "/schedstat", "/loginuid", "/oom_score", "/oom_score_adj"}

// readable reports whether a command may read what is at path.
func (j *judge) readable(path string, e event, c *command) bool {
	if m := process.FindStringSubmatch(path); m != nil {
		return slices.Contains(listed, strings.TrimSuffix(m[3], "/")) || j.ownProcess(m[1], e, c)
	}
	return slices.ContainsFunc(j.places, func(place string) bool { return within(path, place) })
}

// system reports whether a file is one of the system.
func (j *judge) system(path string) bool { return within(path, "/usr") || within(path, "/etc") }

// within reports whether path is root or lies in it.
func within(path, root string) bool {
	return path == root || strings.HasPrefix(path, strings.TrimSuffix(root, "/")+"/")
}

// leaked notes that what a command printed held a secret.
func (j *judge) leaked(line int, secret string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.done = append(j.done, effect{kind: "leak", line: line, detail: "the output holds " + secret})
}
