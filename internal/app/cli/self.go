package cli

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"adze/internal/settings"
)

// startSelf runs this program again at the terminal, with the given arguments and this run's
// settings, and waits for it. It reports false if it failed, in which case it has shown the
// reason. Interrupts go to the child.
func startSelf(env *Env, args []string, src settings.Source) (bool, error) {
	in, ok := env.Stdin.(*os.File)
	out, okOut := env.Stdout.(*os.File)
	if env.Program == "" || !ok || !okOut || !env.StdinTerminal || !env.StdoutTerminal {
		return false, errors.New("this asks at a terminal; use adze " + strings.Join(args, " "))
	}
	cmd := exec.Command(env.Program, append(args, sourceArgs(src)...)...)
	cmd.Args[0] = "adze"
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.Dir = in, out, os.Stderr, env.Dir
	if env.Environ != nil {
		cmd.Env = env.Environ()
	}
	if env.Interrupts != nil {
		_, release := env.Interrupts()
		defer release()
	}
	err := cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		time.Sleep(settle)
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("starting adze %s: %w", strings.Join(args, " "), err)
	}
	return true, nil
}

// settle is how long an interrupt that ended another program may take to arrive here.
const settle = 50 * time.Millisecond

// sourceArgs returns the flags that make another run read the same settings.
func sourceArgs(src settings.Source) (args []string) {
	if src.Inline != "" {
		args = append(args, "--settings="+src.Inline)
	}
	if src.ManagedInline != "" {
		args = append(args, "--managed-settings="+src.ManagedInline)
	}
	if src.Scopes != nil {
		var names []string
		for _, s := range src.Scopes {
			names = append(names, string(s))
		}
		args = append(args, "--setting-sources="+strings.Join(names, ","))
	}
	return args
}
