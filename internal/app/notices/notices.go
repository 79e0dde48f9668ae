// Package notices notifies a user who is not at the terminal: through the terminal, or by a command of the user. When they
// are is left to the front end.
package notices

import (
	"context"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"adze/internal/platform/term"
	"adze/internal/tool"
)

// The settings, and the values of the channel that are not those of package term.
const (
	Channel = "notifications.channel"
	Command = "notifications.command"

	auto = "auto"
	off  = "off"
)

// A Notifier notifies the user.
type Notifier struct {
	// Setting returns the value of a setting.
	Setting func(name string) string
	Getenv  func(string) string
	// Environ is the environment of commands, and Dir where they run.
	Environ func() []string
	Dir     string
	Say     func(string)
}

// Notify notifies the user. It returns what to write to the terminal, which may be nothing. A command runs beside.
func (n Notifier) Notify(text string) string {
	channel := n.Setting(Channel)
	if channel == off {
		return ""
	}
	title := "adze in " + filepath.Base(n.Dir)
	if command := n.Setting(Command); command != "" {
		go n.run(command, title, text)
		return ""
	}
	if channel == auto || channel == "" {
		channel = string(term.Find(n.Getenv).Notices)
	}
	return term.Notice(term.Channel(channel), title, text, n.Getenv)
}

// limit is how long a command may take.
const limit = 10 * time.Second

// run runs the command of the user, which gets what there is to say on standard input.
func (n Notifier) run(command, title, text string) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	input, err := json.Marshal(map[string]string{"title": title, "message": text, "cwd": n.Dir})
	if err != nil {
		return
	}
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", command)
	cmd.Dir, cmd.Stdin, cmd.WaitDelay = n.Dir, strings.NewReader(string(input)+"\n"), time.Second
	if n.Environ != nil {
		cmd.Env = n.Environ()
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		n.Say(Command + ": " + err.Error() + ": " + tool.OneLine(string(out), 200))
	}
}
