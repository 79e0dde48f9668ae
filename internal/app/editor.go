package app

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// edit opens a file in the person's editor and waits until they are done with it.
func (env *Env) edit(path string) error {
	in, ok := env.Stdin.(*os.File)
	out, okOut := env.Stdout.(*os.File)
	if !ok || !okOut || !env.StdinTerminal || !env.StdoutTerminal {
		return fmt.Errorf("an editor needs a terminal; the file is %s", path)
	}
	words := strings.Fields(firstOf(env.Getenv("VISUAL"), env.Getenv("EDITOR"), "vi"))
	cmd := exec.Command(words[0], append(words[1:], path)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, out, os.Stderr
	if err := cmd.Run(); err != nil {
		if errors.Is(err, exec.ErrNotFound) {
			return fmt.Errorf("%s is not there; set EDITOR to an editor, or open %s yourself", words[0], path)
		}
		return fmt.Errorf("editing %s: %w", path, err)
	}
	return nil
}
