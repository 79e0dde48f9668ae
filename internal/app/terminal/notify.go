package terminal

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

// Settings, and channel values not defined by package term.
const (
	NotifyChannel = "notifications.channel"
	NotifyCommand = "notifications.command"

	auto = "auto"
	off  = "off"
)

// A Notifier notifies the user.
type Notifier struct {
	// Setting returns the value of a setting.
	Setting func(name string) string
	Getenv  func(string) string
	// Environ returns the environment of commands, and Dir is their working directory.
	Environ func() []string
	Dir     string
	Say     func(string)
}

// Notify notifies the user. It returns the text to write to the terminal, which may be empty.
// Commands run in the background.
func (n Notifier) Notify(text string) string {
	channel := n.Setting(NotifyChannel)
	if channel == off {
		return ""
	}
	title := "adze in " + filepath.Base(n.Dir)
	if command := n.Setting(NotifyCommand); command != "" {
		go n.run(command, title, text)
		return ""
	}
	if channel == auto || channel == "" {
		channel = string(term.Detect(n.Getenv).Notices)
	}
	return term.Notice(term.Channel(channel), title, text, n.Getenv)
}

// limit is the timeout of a command.
const limit = 10 * time.Second

// run runs the user's command with the notification on standard input.
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
		n.Say(NotifyCommand + ": " + err.Error() + ": " + tool.OneLine(string(out), 200))
	}
}
