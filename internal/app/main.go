// Package app is the composition root: it reads flags and settings, makes the parts of the program
// from them, and runs what was asked for. It is the only package that sees all the others; what the
// parts do is left to them.
package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"time"

	"adze/internal/agent"
	"adze/internal/platform/config"
	"adze/internal/platform/osproc"
	"adze/internal/platform/sandbox"
	"adze/internal/platform/term"
	"adze/internal/tool"
)

// Version is the program's version. The linker sets that of a release; see scripts/release.
var Version = "0.1.0-dev"

// An Env is what the program sees of the world around it.
type Env struct {
	Args           []string
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// StdinTerminal and StdoutTerminal say that a person is at that end; Width is that of the terminal.
	StdinTerminal, StdoutTerminal bool
	Width                         int
	// Keys makes the terminal deliver every key; nil means that it cannot. Size returns the width of the
	// terminal as it is now; nil means that it stays as it was.
	Keys func() (restore func(), err error)
	Size func() int
	// Interrupts takes over the interrupts of the person; nil means that there are none.
	Interrupts func() <-chan struct{}
	Getenv     func(string) string
	// Dir is the working directory, absolute. Managed is that of the administrator's settings, empty for
	// none.
	Dir, Managed string
	// Program is this very program, to be started again; empty means that it must not be.
	Program string
	Now     func() time.Time
}

// Main runs the program in this process and returns its exit code.
func Main(args []string) int {
	if len(args) > 0 {
		switch args[0] {
		case sandbox.HelperArg:
			return sandbox.Help(args[1:])
		case osproc.ReaperArg:
			return osproc.Reap(args[1:])
		}
	}
	dir, err := os.Getwd()
	if err != nil {
		fmt.Fprintf(os.Stderr, "adze: finding the working directory: %v; change to one that exists\n", err)
		return exitSetup
	}
	width, _ := term.Size(os.Stdout)
	ctx, signals := interruptible(os.Exit)
	defer signals.stop()
	return Run(ctx, Env{
		Args: args, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		StdinTerminal: term.IsTerminal(os.Stdin), StdoutTerminal: term.IsTerminal(os.Stdout), Width: width,
		Keys:       func() (func(), error) { return term.Raw(os.Stdin) },
		Size:       func() int { width, _ := term.Size(os.Stdout); return width },
		Interrupts: signals.divert,
		Getenv:     os.Getenv, Dir: dir, Managed: config.ManagedDir(), Program: ownProgram(), Now: time.Now,
	})
}

// ownProgram returns what starts this program again, or "".
func ownProgram() string {
	if runtime.GOOS == "linux" {
		return "/proc/self/exe" // also when another version has taken its place
	}
	path, err := os.Executable()
	if err != nil {
		return ""
	}
	return path
}

// The exit codes.
const (
	exitFailure   = 1   // what was asked for was tried and did not succeed
	exitSetup     = 2   // nothing was run: the invocation or the set-up is wrong
	exitInterrupt = 130 // somebody stopped it
	exitTerminate = 143 // the system stopped it
)

// Run runs the program and returns its exit code. The cause of a cancelled ctx is a [tool.Abort].
func Run(ctx context.Context, env Env) int { return env.exitCode(ctx, dispatch(ctx, &env)) }

// exitCode returns the code for how the program ended, and tells the person what it has not been told.
func (env *Env) exitCode(ctx context.Context, err error) int {
	var setup *setupError
	var ended *endedError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &setup):
		env.say(err.Error())
		return exitSetup
	case ctx.Err() != nil && tool.AbortReason(ctx) == tool.AbortShutdown:
		return exitTerminate
	case ctx.Err() != nil:
		return exitInterrupt
	case errors.As(err, &ended) && ended.reason.Aborted():
		return exitInterrupt
	case errors.As(err, &ended):
		return exitFailure
	default:
		env.say(err.Error())
		return exitFailure
	}
}

// A setupError says that nothing was run, and what to do about it.
type setupError struct{ text string }

func (e *setupError) Error() string { return e.text }

func setupErrorf(format string, args ...any) error {
	return &setupError{fmt.Sprintf(format, args...)}
}

// An endedError says that something was run and did not succeed, and that the person was told.
type endedError struct{ reason agent.Reason }

func (e *endedError) Error() string { return "ended: " + string(e.reason) }

// raw makes the terminal deliver every key, if it is more than the plainest of all.
func (env *Env) raw() (restore func(), err error) {
	if env.Keys == nil || env.Getenv("TERM") == "dumb" {
		return nil, errors.ErrUnsupported
	}
	return env.Keys()
}

// width returns how wide the terminal is now.
func (env *Env) width() int {
	if env.Size == nil {
		return env.Width
	}
	return env.Size()
}

// suspend gives the terminal back as it was and stops the program until the person brings it back.
func (env *Env) suspend(restore *func()) {
	(*restore)()
	if err := term.Suspend(); err != nil {
		env.say(err.Error())
	}
	if again, err := env.raw(); err == nil {
		*restore = again
	}
}

// say tells the person something on standard error.
func (env *Env) say(text string) {
	fmt.Fprintf(env.Stderr, "adze: %s\n", term.Sanitize(text))
}

// print writes to standard output.
func (env *Env) print(text string) error {
	_, err := io.WriteString(env.Stdout, text)
	return err
}
