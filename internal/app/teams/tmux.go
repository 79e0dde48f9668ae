package teams

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"

	"adze/internal/team"
)

// PaneArg is the first argument of this program when it is started in a pane: the second is the file with what to run.
const PaneArg = "__teammate"

// socket is the name of the server of tmux that runs teammates where this program does not run in tmux itself.
const socket = "adze"

// Tmux starts teammates in panes of tmux: beside the lead if that runs in tmux, else in a session of their own.
type Tmux struct {
	// Dir is that of the teams, and Start where the process of the lead was started: its teammates have the same settings.
	Dir, Start string
	Getenv     func(string) string
	// Program is this program, and Args what it is started with for a teammate.
	Program string
	Args    func(teamName string, m team.Member) []string
	// Environ returns the variables of a teammate, with secrets: none of them is on a command line or in a file.
	Environ func() []string
}

// Available reports that tmux is missing, or nil.
func (t *Tmux) Available() error {
	if t.Program == "" {
		return errors.New("this program cannot be started again")
	}
	if _, err := exec.LookPath("tmux"); err != nil {
		return errors.New("tmux is not installed, or not in PATH")
	}
	return handsOver
}

// Inside reports whether this process runs in tmux.
func (t *Tmux) Inside() bool { return t.Getenv("TMUX") != "" }

// Open starts a teammate in a pane, and returns the pane.
func (t *Tmux) Open(ctx context.Context, name string, m team.Member) (pane, note string, err error) {
	file := filepath.Join(t.Dir, name, m.Name+".start")
	done, err := handOver(file, job{Args: t.Args(name, m), Env: t.Environ()})
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
	t.tmux(ctx, pane, "select-pane", "-t", paneID(pane), "-T", m.Name) // ok: a title is not needed
	return pane, note, nil
}

// attach returns the command that shows a session to the user. iTerm2 shows the panes of tmux as its own.
func (t *Tmux) attach(session string) string {
	control := ""
	if t.Getenv("TERM_PROGRAM") == "iTerm.app" {
		control = "-CC "
	}
	return fmt.Sprintf("tmux %s-L %s attach -t %s", control, socket, session)
}

// inside opens a pane beside that of this process, or a window if there is no space.
func (t *Tmux) inside(ctx context.Context, run []string) (string, error) {
	pane, err := t.tmux(ctx, "", append([]string{"split-window", "-d", "-t", t.Getenv("TMUX_PANE")}, run...)...)
	if err != nil {
		pane, err = t.tmux(ctx, "", append([]string{"new-window", "-d"}, run...)...)
	}
	return pane, err
}

// outside opens a pane in a session of its own.
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

// Close ends what runs in a pane.
func (t *Tmux) Close(ctx context.Context, pane string) {
	t.tmux(ctx, pane, "kill-pane", "-t", paneID(pane)) // ok: it may have ended
}

// paneID returns the name that tmux knows a pane by.
func paneID(pane string) string { return pane[strings.LastIndexByte(pane, '/')+1:] }

// tmux runs a command of tmux, on the server that a pane belongs to.
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

// plainEnv returns the variables that tmux itself needs: those of a server are shown to all its panes.
func (t *Tmux) plainEnv() []string {
	var env []string
	for _, name := range []string{"TMUX", "TMUX_TMPDIR", "PATH", "HOME", "TERM", "LANG", "LC_ALL", "LC_CTYPE", "SHELL", "USER", "TMPDIR"} {
		if v := t.Getenv(name); v != "" {
			env = append(env, name+"="+v)
		}
	}
	return env
}

// A job is what a process in a pane runs.
type job struct {
	Args []string `json:"args"`
	Env  []string `json:"env"`
}
