//go:build linux && !race

package witness_test

import (
	"bufio"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// traced are the traced system calls: all that open, change or execute a file, create a
// process, communicate with another process or the network, or change the system.
var traced = []string{
	"open", "openat", "openat2", "creat", "open_by_handle_at",
	"rename", "renameat", "renameat2", "unlink", "unlinkat", "rmdir", "mkdir", "mkdirat",
	"link", "linkat", "symlink", "symlinkat", "mknod", "mknodat",
	"chmod", "fchmod", "fchmodat", "chown", "fchown", "lchown", "fchownat",
	"utime", "utimes", "futimesat", "utimensat", "truncate", "ftruncate", "fallocate",
	"setxattr", "lsetxattr", "fsetxattr", "removexattr", "lremovexattr", "fremovexattr",
	"execve", "execveat", "mmap",
	"clone", "clone3", "fork", "vfork",
	"socket", "connect", "bind", "listen", "sendto", "sendmsg", "sendmmsg",
	"kill", "tkill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "pidfd_send_signal",
	"setpriority", "ioprio_set", "sched_setaffinity", "sched_setscheduler", "sched_setparam", "sched_setattr",
	"ptrace", "process_vm_readv", "process_vm_writev", "pidfd_getfd", "kcmp",
	"mount", "umount2", "pivot_root", "chroot", "setns", "unshare", "move_mount", "fsmount", "open_tree",
	"bpf", "perf_event_open", "userfaultfd", "io_uring_setup", "memfd_create", "memfd_secret",
	"add_key", "request_key", "keyctl",
	"shmget", "msgget", "semget", "mq_open", "mq_unlink",
	"settimeofday", "clock_settime", "adjtimex", "clock_adjtime", "sethostname", "setdomainname",
	"reboot", "kexec_load", "init_module", "finit_module", "delete_module", "swapon", "swapoff", "acct", "quotactl",
	"syslog", "fanotify_init", "name_to_handle_at", "landlock_create_ruleset",
}

// An event is a completed system call.
type event struct {
	pid  int
	at   float64 // start time, in Unix seconds
	name string
	args string // format as printed by strace
	ret  string // same format
}

func (e event) failed() bool { return strings.HasPrefix(e.ret, "-1") || strings.HasPrefix(e.ret, "?") }

// denied reports whether the kernel refused the call, rather than having nothing to do.
func (e event) denied() bool {
	return strings.HasPrefix(e.ret, "-1 EACCES") || strings.HasPrefix(e.ret, "-1 EPERM") || strings.HasPrefix(e.ret, "-1 EROFS")
}

// number returns the call's return value.
func (e event) number() int {
	end := strings.IndexFunc(e.ret, func(r rune) bool { return r < '0' || r > '9' })
	if end < 0 {
		end = len(e.ret)
	}
	n, err := strconv.Atoi(e.ret[:end])
	if err != nil {
		return -1
	}
	return n
}

// file returns the path of the returned descriptor, as the kernel resolved it.
func (e event) file() string { return described(e.ret) }

// described returns the path that strace adds to a descriptor in s.
func described(s string) string {
	from, to := strings.IndexByte(s, '<'), strings.LastIndexByte(s, '>')
	if from < 0 || to < from {
		return ""
	}
	return unescape(s[from+1 : to])
}

// words splits the arguments. Commas in strings, lists and structures do not separate.
func (e event) words() []string {
	var words []string
	depth, from, quoted := 0, 0, false
	for i := 0; i < len(e.args); i++ {
		switch c := e.args[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[' || c == '{' || c == '(':
			depth++
		case c == ']' || c == '}' || c == ')':
			depth--
		case c == ',' && depth == 0:
			words = append(words, strings.TrimSpace(e.args[from:i]))
			from = i + 1
		}
	}
	return append(words, strings.TrimSpace(e.args[from:]))
}

// text returns the string in an argument.
func text(word string) string {
	from, to := strings.IndexByte(word, '"'), strings.LastIndexByte(word, '"')
	if from < 0 || to <= from {
		return ""
	}
	return unescape(word[from+1 : to])
}

// unescape decodes strace's escapes, which are C escapes.
func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		if at := strings.IndexByte("abtnvfr", s[i]); at >= 0 {
			b.WriteByte("\a\b\t\n\v\f\r"[at])
			continue
		}
		end := i
		for end < len(s) && end < i+3 && s[end] >= '0' && s[end] <= '7' {
			end++
		}
		if n, err := strconv.ParseUint(s[i:end], 8, 8); err == nil {
			b.WriteByte(byte(n))
			i = end - 1
			continue
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// A command is a process that the program started for a line, or a descendant.
type command struct {
	own  bool // the program itself, not a command
	line int  // number of the line it runs for

	copies bool // works on a copy of a file; see preview
}

// A tracer parses strace's output and attributes each call to a command.
type tracer struct {
	lineAt func(at float64) int // line that runs at a time
	seen   func(event, *command)

	pending  map[int]event    // unfinished calls, by process
	prefix   map[int]string   // text of the pending calls
	commands map[int]*command // live processes and threads
	orphans  map[int][]event  // events of processes whose parent is not yet known
	gone     map[int]float64  // end times of orphans
	groups   map[int][]int    // processes of each line
	first    bool
}

func newTracer(lineAt func(float64) int, seen func(event, *command)) *tracer {
	return &tracer{
		lineAt: lineAt, seen: seen,
		pending: map[int]event{}, prefix: map[int]string{}, commands: map[int]*command{},
		orphans: map[int][]event{}, gone: map[int]float64{}, groups: map[int][]int{},
	}
}

// run parses the trace to its end.
func (t *tracer) run(r io.Reader) error {
	lines := bufio.NewReaderSize(r, 1<<20)
	for {
		line, err := lines.ReadString('\n')
		if line != "" {
			if err := t.read(strings.TrimSuffix(line, "\n")); err != nil {
				return fmt.Errorf("%w in %q", err, line)
			}
		}
		if err == io.EOF {
			for pid := range t.orphans {
				t.adopt(pid)
			}
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (t *tracer) read(line string) error {
	id, rest, _ := strings.Cut(line, " ")
	pid, err := strconv.Atoi(id)
	if err != nil {
		return err
	}
	stamp, rest, _ := strings.Cut(strings.TrimLeft(rest, " "), " ")
	at, err := strconv.ParseFloat(stamp, 64)
	if err != nil {
		return err
	}
	if m := superseded.FindStringSubmatch(rest); m != nil {
		t.renamed(m[1], pid)
		return nil
	}
	if m := renumbered.FindStringSubmatchIndex(rest); m != nil {
		// A thread that executes a program gets the number of its process.
		if pid, err = strconv.Atoi(rest[m[2]:m[3]]); err != nil {
			return err
		}
		t.pending[pid], t.prefix[pid] = event{pid: pid, at: at}, rest[:m[0]]
		return nil
	}
	switch {
	case strings.HasPrefix(rest, "+++"):
		t.ended(pid, at)
		return nil
	case strings.HasPrefix(rest, "---"):
		return nil
	case strings.HasPrefix(rest, "<... "):
		e, ok := t.pending[pid]
		_, tail, found := strings.Cut(rest, " resumed>")
		if !ok || !found {
			return nil // began before strace attached
		}
		rest, at = t.prefix[pid]+tail, e.at
		delete(t.pending, pid)
		delete(t.prefix, pid)
	}
	if head, unfinished := strings.CutSuffix(rest, "<unfinished ...>"); unfinished {
		t.pending[pid], t.prefix[pid] = event{pid: pid, at: at}, head
		return nil
	}
	name, tail, ok := strings.Cut(rest, "(")
	if !ok {
		return fmt.Errorf("no call")
	}
	end := strings.LastIndex(tail, " = ")
	if end < 0 {
		return nil // the process ended in the middle of it
	}
	args := strings.TrimSuffix(strings.TrimRight(tail[:end], " "), ")")
	t.attribute(event{pid: pid, at: at, name: name, args: args, ret: tail[end+3:]})
	return nil
}

// attribute determines the command of e, or keeps e until it is known.
func (t *tracer) attribute(e event) {
	if !t.first { // the program itself, started by strace
		t.first = true
		t.commands[e.pid] = &command{own: true, line: -1}
	}
	c, ok := t.commands[e.pid]
	if !ok {
		if _, gone := t.gone[e.pid]; gone { // its number was reused
			t.adopt(e.pid)
		}
		t.orphans[e.pid] = append(t.orphans[e.pid], e)
		return
	}
	switch e.name {
	case "clone", "clone3", "fork", "vfork":
		if child := e.number(); !e.failed() && child > 0 {
			t.born(child, e, c)
		}
	default:
		t.seen(e, c)
	}
}

// born records the process or thread that a call of parent created.
func (t *tracer) born(pid int, e event, parent *command) {
	if at, gone := t.gone[pid]; gone && at < e.at {
		t.adopt(pid)
	}
	c := parent
	if !strings.Contains(e.args, "CLONE_THREAD") && parent.own {
		c = &command{line: t.lineAt(e.at)}
	}
	t.commands[pid] = c
	if !c.own {
		t.groups[c.line] = append(t.groups[c.line], pid)
	}
	early := t.orphans[pid]
	delete(t.orphans, pid)
	for _, e := range early {
		t.attribute(e)
	}
	if at, gone := t.gone[pid]; gone {
		delete(t.gone, pid)
		t.ended(pid, at)
	}
}

// Messages of strace when a thread other than the first executes a program.
var (
	superseded = regexp.MustCompile(`^\+\+\+ superseded by execve in pid (\d+)`)
	renumbered = regexp.MustCompile(` <pid changed to (\d+) \.\.\.>$`)
)

// renamed records that a thread has its process's number from now on.
func (t *tracer) renamed(thread string, pid int) {
	old, err := strconv.Atoi(thread)
	if err != nil {
		return // ok: the expression matches numbers
	}
	if c, ok := t.commands[old]; ok {
		t.commands[pid] = c
		delete(t.commands, old)
	}
	if call, ok := t.pending[old]; ok {
		t.pending[pid], t.prefix[pid] = call, t.prefix[old]
		delete(t.pending, old)
		delete(t.prefix, old)
	}
}

// TestTracer follows processes with reused numbers and threads that execute programs.
func TestTracer(t *testing.T) {
	const trace = `1 1.0 execve("/adze", ["adze"], 0x1) = 0
1 1.1 clone(child_stack=0x1, flags=CLONE_VM|CLONE_THREAD) = 2
2 1.2 openat(AT_FDCWD</ws>, "own", O_RDONLY) = 3</ws/own>
1 2.0 clone(child_stack=NULL, flags=CLONE_VM|CLONE_VFORK|SIGCHLD <unfinished ...>
3 2.1 execve("/bin/bash", ["bash"], 0x1) = 0
1 2.2 <... clone resumed>) = 3
3 2.3 clone(child_stack=0x1, flags=CLONE_VM|CLONE_THREAD) = 4
4 2.4 execve("/bin/cat", ["cat"], 0x1 <unfinished ...>
3 2.5 +++ superseded by execve in pid 4 +++
3 2.6 <... execve resumed>) = 0
3 2.7 clone(child_stack=NULL, flags=SIGCHLD <unfinished ...>
5 2.8 openat(AT_FDCWD</ws>, "lost", O_RDONLY) = 3</ws/lost>
3 2.9 +++ killed by SIGKILL +++
5 2.95 +++ exited with 0 +++
1 3.0 clone(child_stack=0x1, flags=CLONE_VM|CLONE_THREAD) = 4
4 3.1 openat(AT_FDCWD</ws>, "own", O_RDONLY) = 3</ws/own>
1 3.2 clone(child_stack=0x1, flags=CLONE_VM|CLONE_THREAD) = 5
5 3.3 openat(AT_FDCWD</ws>, "own", O_RDONLY) = 3</ws/own>
`
	var got []string
	tr := newTracer(func(at float64) int { return int(at) }, func(e event, c *command) {
		if c.own {
			if file := e.file(); file != "" && file != "/ws/own" {
				t.Errorf("%v is taken for a call of the program", e)
			}
			return
		}
		got = append(got, fmt.Sprint(c.line, " ", text(e.words()[0])+text(e.words()[1])))
	})
	if err := tr.run(strings.NewReader(trace)); err != nil {
		t.Fatal(err)
	}
	if want := []string{"2 /bin/bashbash", "2 /bin/catcat", "2 lost"}; !slices.Equal(got, want) {
		t.Errorf("commands did %q, want %q", got, want)
	}
}

// adopt attributes the calls of a process whose parent ended before reporting it to the line
// that ran then.
func (t *tracer) adopt(pid int) {
	early := t.orphans[pid]
	delete(t.orphans, pid)
	delete(t.gone, pid)
	if len(early) == 0 {
		return
	}
	t.commands[pid] = &command{line: t.lineAt(early[0].at)}
	for _, e := range early {
		t.attribute(e)
	}
	delete(t.commands, pid)
}

func (t *tracer) ended(pid int, at float64) {
	if _, ok := t.commands[pid]; !ok {
		t.gone[pid] = at
		return
	}
	delete(t.commands, pid)
	delete(t.pending, pid)
	delete(t.prefix, pid)
}

// shares reports whether a process runs, or ran, for a line.
func (t *tracer) shares(line, pid int) bool { return slices.Contains(t.groups[line], pid) }
