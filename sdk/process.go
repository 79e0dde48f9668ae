package sdk

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
)

// A Command starts adze.
type Command struct {
	Program string
	Args    []string
	Dir     string
	Env     []string
	Stderr  io.Writer
}

// A Process is a running adze.
type Process struct {
	Stdin  io.WriteCloser
	Stdout io.Reader
	// Wait waits until it has ended. Kill ends it at once.
	Wait func() error
	Kill func()
}

// start starts the program as a process of the operating system.
func start(_ context.Context, c Command) (*Process, error) {
	path, err := exec.LookPath(cmp.Or(c.Program, "adze"))
	if err != nil {
		return nil, fmt.Errorf("adze is not installed, or not in PATH: %w", err)
	}
	cmd := exec.Command(path, c.Args...)
	cmd.Dir, cmd.Env, cmd.Stderr = c.Dir, c.Env, c.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting adze: %w", err)
	}
	return &Process{
		Stdin: stdin, Stdout: stdout, Wait: cmd.Wait,
		Kill: func() { cmd.Process.Kill() }, // ok: it has ended
	}, nil
}

// A tail keeps the last lines of standard error, for errors.
type tail struct {
	next io.Writer // may be nil

	mu  sync.Mutex
	buf []byte
}

// maxTail is how many bytes of the report an error quotes.
const maxTail = 2000

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, p...)
	if extra := len(t.buf) - maxTail; extra > 0 {
		t.buf = bytes.Clone(t.buf[extra:])
	}
	if t.next != nil {
		return t.next.Write(p)
	}
	return len(p), nil
}

// explain returns an error for a program that ended, with its last lines.
func (t *tail) explain(err error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if text := strings.TrimSpace(string(t.buf)); text != "" {
		return fmt.Errorf("adze ended: %s", text)
	}
	if err == nil {
		err = errors.New("its output is closed")
	}
	return fmt.Errorf("adze ended: %w", err)
}
