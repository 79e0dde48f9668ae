// Package app is the program's entry point: it connects the program to the operating system,
// runs the command line, and maps the result to an exit code. In its sub-packages, cli parses
// the command line, settings loads the settings, and wire assembles the parts.
package app

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"runtime"
	"syscall"
	"time"

	"adze/internal/app/cli"
	"adze/internal/feature/teams"
	"adze/internal/platform/proc/environ"
	"adze/internal/platform/proc/osproc"
	"adze/internal/platform/sandbox"
	"adze/internal/platform/term"
	"adze/internal/settings/config"
	"adze/internal/setup"
	"adze/internal/tool"
)

// Version is the program's version. The linker sets it for releases; see scripts/release.
var Version = "0.1.0-dev"

// Downloads is the address of the releases, and ReleaseKey the public key they are signed with.
// The linker sets both for releases; without them, adze update explains how to build a new version.
var Downloads, ReleaseKey string

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
	osproc.KeepDescriptors() // the two above are started by adze with their own descriptors
	if len(args) > 0 && args[0] == teams.PaneArg {
		return teams.RunPane(args[1:])
	}
	osproc.GuardSelf()
	vars := environ.Take()
	dir, lost := os.Getwd()
	width, _ := term.Size(os.Stdout)
	ctx, signals := interruptible(os.Exit)
	defer signals.stop()
	return Run(ctx, cli.Env{
		Args: args, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		StdinTerminal: term.IsTerminal(os.Stdin), StdoutTerminal: term.IsTerminal(os.Stdout), Width: width,
		Keys:       func() (func(), error) { return term.Raw(os.Stdin) },
		Size:       func() (int, int) { return term.Size(os.Stdout) },
		Interrupts: signals.divert,
		Getenv:     vars.Get, Environ: vars.List, Dir: dir, Lost: lost, Managed: config.ManagedDir(), Program: ownProgram(), Version: Version, Downloads: Downloads, ReleaseKey: ReleaseKey, Now: time.Now,
	})
}

// IsHelper reports whether an argument makes Main a helper of another process of this program.
func IsHelper(arg string) bool {
	return arg == sandbox.HelperArg || arg == osproc.ReaperArg || arg == teams.PaneArg
}

// ownProgram returns the path that starts this program again, or "".
func ownProgram() string {
	if runtime.GOOS == "linux" {
		return "/proc/self/exe" // works even if the file has been replaced
	}
	path, err := os.Executable()
	if err != nil {
		return ""
	}
	return path
}

// Exit codes.
const (
	exitFailure   = 1   // the request was attempted and failed
	exitSetup     = 2   // nothing was run: invalid invocation or configuration
	exitInterrupt = 130 // stopped by the user
	exitTerminate = 143 // stopped by the system
)

// Run runs the program and returns its exit code. The cause of a canceled ctx is a
// [tool.Abort].
func Run(ctx context.Context, env cli.Env) int { return exitCode(ctx, cli.Run(ctx, &env), env.Say) }

// unread reports whether err is a failed write to standard output because its reader is gone.
func unread(err error) bool {
	var failed *fs.PathError
	return errors.As(err, &failed) && failed.Path == os.Stdout.Name() && errors.Is(failed, syscall.EPIPE)
}

// exitCode returns the exit code for err, and reports the error unless the user has already
// seen it.
func exitCode(ctx context.Context, err error, say func(string)) int {
	var wrong *setup.Error
	var ended *cli.Ended
	switch {
	case err == nil:
		return 0
	case errors.As(err, &wrong):
		say(err.Error())
		return exitSetup
	case ctx.Err() != nil && tool.AbortReason(ctx) == tool.AbortShutdown:
		return exitTerminate
	case ctx.Err() != nil:
		return exitInterrupt
	case errors.As(err, &ended) && ended.Reason.Aborted():
		return exitInterrupt
	case errors.As(err, &ended):
		return exitFailure
	case unread(err):
		return exitInterrupt
	default:
		say(err.Error())
		return exitFailure
	}
}
