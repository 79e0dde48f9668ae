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

// A reaper is a process that outlives us. It hears that we are gone when our end of the line is closed,
// however that came about, and kills what our programs have left. The system would kill only those that
// we started ourselves.
type reaper struct {
	cmd  *exec.Cmd
	line *os.File
}

// untilWeAreGone is what a small shell does until we are gone: it remembers what it is told, and then becomes the
// program that knows how to kill. That program itself would take more time and memory than the wait is
// worth.
const untilWeAreGone = `trap "" HUP INT QUIT TERM; told=; while read -r word; do told="$told $word"; done; exec "$0" "$@" $told`

// newReaper starts a reaper for the programs with a mark. When it returns, the reaper does its work even
// if we are killed at once.
func newReaper(program string, m mark) (*reaper, error) {
	r, err := startReaper(program, m)
	if err != nil {
		return nil, fmt.Errorf("starting what ends programs if adze is killed: %w", err)
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
	if runtime.GOOS == "linux" { // also if another version takes its place meanwhile
		f, err := os.Open(program)
		if err != nil {
			return nil, err
		}
		defer f.Close() // ok: it has its own
		files, program = []*os.File{f}, "/proc/self/fd/3"
	}
	theirs, ours, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer theirs.Close() // ok: it has its own
	cmd := exec.Command(sh, append([]string{"-c", untilWeAreGone, program, ReaperArg}, m.args()...)...)
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.ExtraFiles = "/", []string{}, theirs, files
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(err, ours.Close())
	}
	return &reaper{cmd, ours}, nil
}

// tell says that a group has begun or ended, where programs are not found otherwise.
func (r *reaper) tell(sign string, pid int) {
	if r != nil && !sweeps {
		io.WriteString(r.line, sign+strconv.Itoa(pid)+"\n") // ok: a reaper that is gone cannot be helped
	}
}

// close ends the reaper: there is nothing left for it to do.
func (r *reaper) close() {
	if r != nil {
		r.cmd.Process.Kill() // ok: it may have ended
		r.cmd.Wait()         // ok: it was killed
		r.line.Close()       // ok: there is no reader left
	}
}

// reaping is how long the reaper tries.
const reaping = 10 * time.Second

// Reap kills the programs that a process left behind when it died, and returns an exit code.
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
			syscall.Kill(-pid, syscall.SIGKILL) // ok: it may be gone
		}
	}
	sweep(marks{m}, reaping)
	return 0
}
