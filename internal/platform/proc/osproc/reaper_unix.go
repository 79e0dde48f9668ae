//go:build unix

package osproc

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"syscall"
	"time"
)

// A reaper is a process that outlives this one. When this process ends for any reason, its end
// of the pipe is closed, and the reaper kills the processes our programs left behind. The
// system would only kill our direct children.
type reaper struct {
	cmd  *exec.Cmd
	line *os.File
}

// reaperScript is the script of a small shell that collects notifications until this process
// is gone and then executes the program that kills. Running that program all the time would
// cost more time and memory.
const reaperScript = `trap "" HUP INT QUIT TERM; told=; while read -r word; do told="$told $word"; done; exec "$0" "$@" $told`

// newReaper starts a reaper for the programs with a mark. Once it returns, the reaper works
// even if this process is killed immediately.
func newReaper(program string, m mark) (*reaper, error) {
	r, err := startReaper(program, m)
	if err != nil {
		return nil, fmt.Errorf("starting the process reaper: %w", err)
	}
	return r, nil
}

func startReaper(program string, m mark) (_ *reaper, err error) {
	sh := "/bin/sh"
	if _, err := os.Stat(sh); err != nil {
		if sh, err = exec.LookPath("sh"); err != nil {
			return nil, err
		}
	}
	var files []*os.File
	if runtime.GOOS == "linux" { // the executable may be replaced in the meantime
		f, err := os.Open(program)
		if err != nil {
			return nil, err
		}
		defer f.Close() // ok: the child has its own copy
		files, program = []*os.File{f}, "/proc/self/fd/3"
	}
	theirs, ours, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer theirs.Close() // ok: the child has its own copy
	cmd := exec.Command(sh, append([]string{"-c", reaperScript, program, ReaperArg}, m.args()...)...)
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.ExtraFiles = "/", []string{}, theirs, files
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(err, ours.Close())
	}
	return &reaper{cmd, ours}, nil
}

// tell notifies the reaper that a group has started or ended, on systems that cannot sweep.
func (r *reaper) tell(sign string, pid int) {
	if r != nil && !sweeps {
		io.WriteString(r.line, sign+strconv.Itoa(pid)+"\n") // ok: nothing can be done about a dead reaper
	}
}

// close kills the reaper, which has nothing left to do.
func (r *reaper) close() {
	if r != nil {
		r.cmd.Process.Kill() // ok: it may have exited
		r.cmd.Wait()         // ok: it was killed
		r.line.Close()       // ok: the reader is gone
	}
}

// reaping limits how long the reaper tries.
const reaping = 10 * time.Second

// Reap kills the processes left behind by a dead process, and returns an exit code.
func Reap(args []string) int {
	signal.Ignore(syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM)
	m, told, err := parseMark(args)
	if err != nil {
		return 1
	}
	groups := map[int]bool{}
	for _, word := range told {
		if pid, err := strconv.Atoi(word); err == nil && (pid > 1 || pid < -1) {
			groups[max(pid, -pid)] = pid > 0
		}
	}
	for pid, there := range groups {
		if there {
			syscall.Kill(-pid, syscall.SIGKILL) // ok: it may have exited
		}
	}
	sweep(marks{m}, reaping)
	return 0
}
