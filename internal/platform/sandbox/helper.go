package sandbox

import (
	"fmt"
	"os"
)

// HelperArg is the first argument of a program that must call [Help] with the remaining ones
// before it does anything else.
const HelperArg = "__sandbox"

// helperFailed is the exit code if the setup inside failed. The command has not run then.
const helperFailed = 126

// Help completes the setup inside a sandbox and executes the command. It returns an exit code
// only on failure.
func Help(args []string) int {
	if err := help(args); err != nil {
		fmt.Fprintf(os.Stderr, "adze: building the sandbox: %v; the command was not run\n", err)
		return helperFailed
	}
	return 0
}
