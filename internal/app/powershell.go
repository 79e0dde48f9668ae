package app

import (
	"errors"
	"runtime"

	"adze/internal/tools/bash"
	"adze/internal/tools/powershell"
)

// inPowerShell returns how the tool for PowerShell is made: like the one for the shell, in whose place it
// is offered.
func inPowerShell(c bash.Config) powershell.Config {
	return powershell.Config{
		Config:   c.Config,
		Unwanted: func() error { return noPowerShell(runtime.GOOS, func() error { _, err := bash.Find(); return err }) },
	}
}

// noPowerShell returns why commands do not run in PowerShell, or nil. Missing returns why they do not run
// in a shell.
func noPowerShell(system string, missing func() error) error {
	switch {
	case system != "windows":
		return errors.New("it is for Windows")
	case missing() == nil:
		return errors.New("commands run in Git Bash, with the tool Bash")
	}
	return nil
}
