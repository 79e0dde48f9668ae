// Package clipboard writes text to the system clipboard and reads text and images from it.
package clipboard

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// Copy puts text on the system clipboard using whichever clipboard program is installed, run
// with the given environment. It reports whether it found a program.
func Copy(text string, getenv func(string) string, environ []string) (done bool, err error) {
	for _, command := range programs(runtime.GOOS, getenv) {
		path, err := exec.LookPath(command[0])
		if err != nil {
			continue
		}
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		cmd := exec.CommandContext(ctx, path, command[1:]...)
		cmd.Stdin, cmd.Env = strings.NewReader(text), environ
		var said bytes.Buffer
		cmd.Stderr = &said
		if err := cmd.Run(); err != nil {
			return true, fmt.Errorf("%s: %w %s", command[0], err, strings.TrimSpace(said.String()))
		}
		return true, nil
	}
	return false, nil
}

// programs returns the commands that fill the clipboard of the user's machine. Over an SSH
// connection, that is not this machine.
func programs(system string, getenv func(string) string) [][]string {
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
