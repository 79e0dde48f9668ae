package teams

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"

	"adze/internal/domain/team"
)

// PaneArg is this program's first argument when started in a pane; the second is the job file.
const PaneArg = "__teammate"

// socket is the name of the tmux server for teammates when this program does not run in tmux
// itself.
const socket = "adze"

// Tmux starts teammates in tmux panes: next to the lead if it runs in tmux, otherwise in their
// own session.
type Tmux struct {
	// Dir is the teams directory. Start is the directory in which the lead's process was
	// started, so that teammates get the same settings.
	Dir, Start string
	Getenv     func(string) string
	// Program is the path of this program, and Args returns its arguments for a teammate.
	Program string
	Args    func(teamName string, m team.Member) []string
	// Environ returns a teammate's environment, including secrets, which are never put on a
	// command line or in a file.
	Environ func() []string
}

// Available returns an error if tmux is missing.
func (t *Tmux) Available() error {
	if t.Program == "" {
		return errors.New("this program cannot be started again")
	}
	if _, err := exec.LookPath("tmux"); err != nil {
		return errors.New("tmux is not installed, or not in PATH")
	}
	return errNoPanes
}

// Inside reports whether this process runs in tmux.
func (t *Tmux) Inside() bool { return t.Getenv("TMUX") != "" }

// Open starts a teammate in a pane and returns the pane.
func (t *Tmux) Open(ctx context.Context, name string, m team.Member) (pane, note string, err error) {
	file := filepath.Join(t.Dir, name, m.Name+".start")
	done, err := sendJob(file, job{Args: t.Args(name, m), Env: t.Environ()})
	if err != nil {
		return "", "", err
	}
	run := []string{"-c", t.Start, "-P", "-F", "#{pane_id}", t.Program, PaneArg, file}
	if t.Inside() {
		pane, err = t.inside(ctx, run)
	} else {
		session := "adze-" + name
		note = fmt.Sprintf("the teammates of %s run in tmux: %s shows them", name, t.attach(session))
		pane, err = t.outside(ctx, session, run)
	}
	if err = errors.Join(err, done(err == nil)); err != nil {
		if pane != "" {
			t.Close(ctx, pane)
		}
		return "", "", err
	}
	t.tmux(ctx, pane, "select-pane", "-t", paneID(pane), "-T", m.Name) // ok: the title is optional
	return pane, note, nil
}

// attach returns the command that shows a session to the user. iTerm2 displays tmux panes
// natively.
func (t *Tmux) attach(session string) string {
	control := ""
	if t.Getenv("TERM_PROGRAM") == "iTerm.app" {
		control = "-CC "
	}
	return fmt.Sprintf("tmux %s-L %s attach -t %s", control, socket, session)
}

// inside opens a pane next to this process's, or a window if space is lacking.
func (t *Tmux) inside(ctx context.Context, run []string) (string, error) {
	pane, err := t.tmux(ctx, "", append([]string{"split-window", "-d", "-t", t.Getenv("TMUX_PANE")}, run...)...)
	if err != nil {
		pane, err = t.tmux(ctx, "", append([]string{"new-window", "-d"}, run...)...)
	}
	return pane, err
}

// outside opens a pane in a separate session.
func (t *Tmux) outside(ctx context.Context, session string, run []string) (string, error) {
	server := socket + "/"
	begin := []string{"new-window", "-d", "-t", "=" + session + ":"}
	if _, err := t.tmux(ctx, server, "has-session", "-t", "="+session); err != nil {
		begin = []string{"new-session", "-d", "-s", session, "-x", "160", "-y", "48"}
	}
	pane, err := t.tmux(ctx, server, append(begin, run...)...)
	if err != nil {
		return "", err
	}
	return server + pane, nil
}

// Close kills a pane.
func (t *Tmux) Close(ctx context.Context, pane string) {
	t.tmux(ctx, pane, "kill-pane", "-t", paneID(pane)) // ok: it may have ended
}

// paneID returns a pane's tmux ID.
func paneID(pane string) string { return pane[strings.LastIndexByte(pane, '/')+1:] }

// tmux runs a tmux command on the server that a pane belongs to.
func (t *Tmux) tmux(ctx context.Context, pane string, args ...string) (string, error) {
	if server, _, own := strings.Cut(pane, "/"); own {
		args = append([]string{"-L", server}, args...)
	}
	cmd := exec.CommandContext(ctx, "tmux", args...)
	cmd.Env = t.plainEnv()
	out, err := cmd.CombinedOutput()
	text := strings.TrimSpace(string(out))
	if err != nil {
		return "", fmt.Errorf("tmux: %w: %s", err, text)
	}
	return text, nil
}

// plainEnv returns the environment for tmux itself. It is minimal, because a server's
// environment is visible to all its panes.
func (t *Tmux) plainEnv() []string {
	var env []string
	for _, name := range []string{"TMUX", "TMUX_TMPDIR", "PATH", "HOME", "TERM", "LANG", "LC_ALL", "LC_CTYPE", "SHELL", "USER", "TMPDIR"} {
		if v := t.Getenv(name); v != "" {
			env = append(env, name+"="+v)
		}
	}
	return env
}

// A job is a command for a process in a pane.
type job struct {
	Args []string `json:"args"`
	Env  []string `json:"env"`
}
