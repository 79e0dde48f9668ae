package bash

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"adze/internal/platform/osproc"
)

// A proven command never reaches a shell: the tree that was analysed is run as it is, and the words
// that come out of its expansion are looked at once more before a program starts or a file is opened.

// errLimit is the cause of a command whose time is up.
var errLimit = errors.New("the time limit")

// drain is how long the end of the output is waited for when no program should be left to write any.
const drain = 2 * time.Second

// runReadOnly runs a proven script. The directory is where it ended.
func (c *call) runReadOnly(ctx context.Context, out io.Writer, limit time.Duration) (exit osproc.Exit, dir string, err error) {
	if limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, limit, errLimit)
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
		read.Close() // ok: a program that still writes gets an error
		copied <- err
	}()

	roots := []string{c.here.Path}
	if c.config.Roots != nil {
		roots = append(roots, c.config.Roots()...)
	}
	check := func(path string) error { return c.judged.check(path, c.config.MayRead) }
	p := &readOnlyShell{ctx: ctx, dir: c.here.Path, env: c.config.readOnlyEnv(c.config.Env(), roots), gitEnv: c.git(c.script.GitUses()).env(false), stdin: nothing, stdout: write, stderr: write, check: check}
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

// A judgement is what the paths of a command led to when it was judged.
type judgement struct {
	leads map[string][]string // nil if it was not judged
	below []string            // directories of which all that is below was judged
}

// add takes down what a path led to; below says that this was about whatever is below it.
func (j *judgement) add(path string, leads []string, below bool) {
	if j.leads == nil {
		j.leads = make(map[string][]string)
	}
	j.leads[path] = append(j.leads[path], leads...)
	if below {
		j.below = append(j.below, leads...)
	}
}

// check says why a path must not be read: it leads elsewhere than when the command was judged, and may not
// be read unasked there. A command that was not judged was typed by the user.
func (j *judgement) check(path string, mayRead func(path string) bool) error {
	if j.leads == nil || mayRead == nil {
		return nil
	}
	real, err := filepath.EvalSymlinks(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil // which is the program's to say
	case err != nil:
		return fmt.Errorf("where %s leads cannot be found out: %w", path, err)
	case slices.Contains(j.leads[filepath.Clean(path)], real) || mayRead(real):
		return nil
	}
	if slices.ContainsFunc(j.below, func(dir string) bool { return within(real, dir) }) {
		return nil
	}
	return fmt.Errorf("%s leads to %s, which it did not when the command was let pass", path, real)
}
