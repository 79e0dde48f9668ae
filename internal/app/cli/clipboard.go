package cli

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// copy puts a text on the clipboard of the system with the program that is there for it, and reports false if there is
// none.
func (env *Env) copy(text string) (done bool, err error) {
	for _, command := range clipboards(runtime.GOOS, env.Getenv) {
		path, err := exec.LookPath(command[0])
		if err != nil {
			continue
		}
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		cmd := exec.CommandContext(ctx, path, command[1:]...)
		cmd.Stdin, cmd.Env = strings.NewReader(text), env.Environ()
		var said bytes.Buffer
		cmd.Stderr = &said
		if err := cmd.Run(); err != nil {
			return true, fmt.Errorf("%s: %w %s", command[0], err, strings.TrimSpace(said.String()))
		}
		return true, nil
	}
	return false, nil
}

// clipboards returns the commands that fill the clipboard where the user sits: with a connection over ssh that is not this
// machine.
func clipboards(system string, getenv func(string) string) [][]string {
	switch {
	case getenv("SSH_CONNECTION") != "" && getenv("DISPLAY") == "":
		return nil
	case system == "darwin":
		return [][]string{{"pbcopy"}}
	case system == "windows" || getenv("WSL_DISTRO_NAME") != "":
		return [][]string{{"clip.exe"}}
	case getenv("WAYLAND_DISPLAY") != "":
		return [][]string{{"wl-copy"}}
	case getenv("DISPLAY") != "":
		return [][]string{{"xclip", "-selection", "clipboard"}, {"xsel", "--clipboard", "--input"}}
	}
	return nil
}
