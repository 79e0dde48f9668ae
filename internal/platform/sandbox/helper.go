package sandbox

import (
	"fmt"
	"os"
)

// HelperArg is the first argument of a program that is to call [Help] with the others, before it does
// anything else.
const HelperArg = "__sandbox"

// helperFailed is the exit code when the inside could not be prepared. The command has not run then.
const helperFailed = 126

// Help prepares the inside of a sandbox and becomes the command that is to run there. It returns an exit
// code only if that fails.
func Help(args []string) int {
	if err := help(args); err != nil {
		fmt.Fprintf(os.Stderr, "adze: building the sandbox: %v; the command was not run\n", err)
		return helperFailed
	}
	return 0
}
