//go:build unix

package teams

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"time"
)

// errNoPanes is the reason why jobs cannot be passed to another process on this system; nil if
// they can.
var errNoPanes error

// sendJob creates a named pipe that passes the job to the process that opens it. The returned
// function waits for that, if the process was started, and removes the pipe.
func sendJob(file string, j job) (done func(started bool) error, err error) {
	data, err := json.Marshal(j)
	if err != nil {
		return nil, err
	}
	if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err := syscall.Mkfifo(file, 0o600); err != nil {
		return nil, fmt.Errorf("making a pipe for a teammate: %w", err)
	}
	return func(started bool) error {
		defer os.Remove(file) // ok: it holds no data
		if !started {
			return nil
		}
		return feed(file, data, time.Now().Add(10*time.Second))
	}, nil
}

// feed writes data to a pipe as soon as a process opens it.
func feed(file string, data []byte, deadline time.Time) error {
	for {
		pipe, err := os.OpenFile(file, os.O_WRONLY|syscall.O_NONBLOCK, 0)
		switch {
		case err == nil:
			defer pipe.Close()
			pipe.SetWriteDeadline(deadline) // ok: without it we wait for the reader, which is our own
			_, err = pipe.Write(data)
			return err
		case !errors.Is(err, syscall.ENXIO):
			return err
		case time.Now().After(deadline):
			return errors.New("the process in the pane did not begin within 10 seconds")
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// maxJob is the maximum size of a job, in bytes.
const maxJob = 16 << 20

// RunPane is the program run in a pane: it reads its job from the pipe named in args and
// becomes the teammate. It returns an exit code if it cannot.
func RunPane(args []string) int {
	if len(args) != 1 {
		return fail(errors.New("no pipe is named"))
	}
	pipe, err := os.Open(args[0])
	if err != nil {
		return fail(err)
	}
	data, err := io.ReadAll(io.LimitReader(pipe, maxJob))
	pipe.Close()
	if err != nil {
		return fail(err)
	}
	var j job
	if err := json.Unmarshal(data, &j); err != nil || len(j.Args) == 0 {
		return fail(fmt.Errorf("reading the job: %w", err))
	}
	self, err := os.Executable()
	if err != nil {
		return fail(err)
	}
	return fail(syscall.Exec(self, j.Args, terminalEnv(j.Env)))
}

// terminalEnv returns a job's environment with this pane's terminal variables.
func terminalEnv(env []string) []string {
	var all []string
	for _, v := range env {
		if name, _, _ := strings.Cut(v, "="); !ofPane(name) {
			all = append(all, v)
		}
	}
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); ofPane(name) {
			all = append(all, v)
		}
	}
	return all
}

func ofPane(name string) bool { return name == "TERM" || name == "TMUX" || name == "TMUX_PANE" }

func fail(err error) int {
	fmt.Fprintln(os.Stderr, "adze: the teammate cannot start:", err)
	time.Sleep(3 * time.Second) // the pane closes with this process
	return 1
}
