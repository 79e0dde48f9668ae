package bash

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"adze/internal/platform/osproc"
)

// A proven command never reaches a shell: the tree that was analysed is run as it is, and the words
// that come out of its expansion are looked at once more before a program starts or a file is opened.

// errLimit is the cause of a command whose time is up.
var errLimit = errors.New("the time limit")

// drain is how long the end of the output is waited for when nobody should be left to write any.
const drain = 2 * time.Second

// runReadOnly runs a proven script. The directory is where it ended.
func (c *call) runReadOnly(ctx context.Context, out io.Writer) (exit osproc.Exit, dir string, err error) {
	if c.limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, c.limit, errLimit)
		defer cancel()
	}
	start := time.Now()
	nothing, err := os.Open(os.DevNull)
	if err != nil {
		return osproc.Exit{}, "", err
	}
	defer nothing.Close()
	read, write, err := os.Pipe()
	if err != nil {
		return osproc.Exit{}, "", err
	}
	copied := make(chan error, 1)
	go func() {
		_, err := io.Copy(out, read)
		read.Close() // ok: whoever still writes is told that nobody listens
		copied <- err
	}()

	roots := []string{c.dir}
	if c.config.Roots != nil {
		roots = append(roots, c.config.Roots()...)
	}
	p := &proven{ctx: ctx, dir: c.dir, env: readOnlyEnv(c.config.Env(), c.config.Keep, roots), stdin: nothing, stdout: write, stderr: write}
	exit.Code = p.stmts(c.script.Tree().Stmts)
	write.Close() // ok: the programs have their own
	select {
	case err = <-copied:
	case <-time.After(drain):
		read.Close() // ok: something went astray and keeps the pipe open
		err = <-copied
	}
	if errors.Is(err, os.ErrClosed) {
		err = nil
	}
	exit.Duration = time.Since(start)
	if ctx.Err() != nil {
		exit.Code = -1
		exit.TimedOut = errors.Is(context.Cause(ctx), errLimit)
		exit.Cancelled = !exit.TimedOut
	}
	if err != nil {
		err = fmt.Errorf("keeping the output: %w", err)
	}
	return exit, p.dir, err
}
