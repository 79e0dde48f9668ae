// Package inprocess runs adze in the process of the caller, for [sdk.Options.Start]. The program
// needs no installed adze, and becomes as large as adze.
package inprocess

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"adze/internal/app"
	"adze/internal/app/cli"
	"adze/internal/settings/config"
	"adze/internal/tool"
	"adze/sdk"
)

// helps is true once Init was called.
var helps atomic.Bool

// Init must be called at the start of main: sandboxed commands, and process trees that are
// ended as a whole, start through the program itself. Without it they are refused.
func Init() {
	if len(os.Args) > 1 && app.IsHelper(os.Args[1]) {
		os.Exit(app.Main(os.Args[1:]))
	}
	helps.Store(true)
}

// Start runs adze until its standard input ends.
func Start(ctx context.Context, c sdk.Command) (*sdk.Process, error) {
	dir, err := filepath.Abs(c.Dir)
	if err != nil {
		return nil, err
	}
	env := c.Env
	if env == nil {
		env = os.Environ()
	}
	vars := map[string]string{}
	for _, pair := range env {
		name, value, _ := strings.Cut(pair, "=")
		vars[name] = value
	}
	program := ""
	if helps.Load() {
		if program, err = os.Executable(); err != nil {
			return nil, err
		}
	}
	stdin, toStdin := io.Pipe()
	stdout, toStdout := io.Pipe()
	ctx, cancel := context.WithCancelCause(ctx)
	code, ended := 0, make(chan struct{})
	go func() {
		defer close(ended)
		code = app.Run(ctx, cli.Env{
			Args: c.Args, Stdin: stdin, Stdout: toStdout, Stderr: cmp.Or[io.Writer](c.Stderr, io.Discard),
			Getenv: func(name string) string { return vars[name] }, Environ: func() []string { return env },
			Dir: dir, Managed: config.ManagedDir(), Program: program, Version: app.Version, Now: time.Now,
		})
		stdin.Close()    // ok: a pipe
		toStdout.Close() // ok: a pipe
	}()
	return &sdk.Process{
		Stdin: toStdin, Stdout: stdout,
		Kill: func() {
			cancel(tool.AbortShutdown)
			stdin.Close() // ok: a pipe
		},
		Wait: func() error {
			<-ended
			if code != 0 {
				return fmt.Errorf("exit status %d", code)
			}
			return nil
		},
	}, nil
}
