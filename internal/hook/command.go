package hook

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"adze/internal/platform/proc/osproc"
	"adze/internal/tool"
)

// A launcher runs command hooks.
type launcher struct {
	cfg     *Config
	notices *notifier
	procs   osproc.Runner
}

// run runs a command hook, with the input on its standard input.
func (l *launcher) run(ctx context.Context, j *job) ending {
	end := ending{stdout: newCapture(), stderr: newCapture()}
	c, err := l.program(ctx, j)
	if err != nil {
		end.broken, end.userNotified = err.Error(), errors.Is(err, osproc.ErrNoShell)
		if end.userNotified {
			l.notices.once(fmt.Sprintf("hooks cannot run: %v", err))
		}
		return end
	}
	c.Input = append(slices.Clip([]byte(j.input)), '\n')
	news := &news{job: j, observer: l.cfg.Observer, stdout: end.stdout, stderr: end.stderr, last: time.Now()}
	var out io.Writer = news.of(end.stdout)
	c.Errors = news.of(end.stderr)
	finish := func() {}
	if j.asks {
		talk, stop := context.WithCancelCause(ctx)
		d := begin(talk, j, l.cfg.Judges.User, out)
		out, c.More = d, d.answers
		finish = func() { stop(errEnded); d.finish() }
	}
	c.Output = &watcher{w: out, notice: j.firstLine}
	exit, err := l.procs.Run(ctx, c)
	finish()
	end.code, end.exited = exit.Code, err == nil && exit.Signal == "" && !exit.Running
	switch {
	case errors.Is(err, errTooOften):
		end.broken = errTooOften.Error()
	case exit.Cancelled && ctx.Err() == nil:
		end.broken = fmt.Sprintf("it printed more than %d MB", maxOutput>>20)
	case ctx.Err() != nil:
		end.stop(ctx)
	case err != nil:
		end.broken = "it could not be started: " + err.Error()
	case exit.Signal != "":
		end.broken = "it was ended by a signal: " + exit.Signal
	case exit.Code == 0:
		end.broken = end.stdout.unheard(j.spec)
	}
	return end
}

// stop records why the hook was ended externally.
func (end *ending) stop(ctx context.Context) {
	var late errTimeout
	if errors.As(context.Cause(ctx), &late) {
		end.broken, end.late = late.Error(), true
		return
	}
	end.cancelled = true
}

// program returns the command to run for a hook.
func (l *launcher) program(ctx context.Context, j *job) (osproc.Cmd, error) {
	s := j.spec
	values, err := s.source.Plugin.values(ctx, s.command)
	if err != nil {
		return osproc.Cmd{}, err
	}
	c := osproc.Cmd{Dir: l.workDir(j.common.Dir), Env: append(l.environment(j), values.environment()...)}
	if len(s.words) > 0 {
		words := values.words(s.words)
		c.Path, c.Args = words[0], words[1:]
		return c, nil
	}
	shell, err := l.findShell(s.shell)
	if err != nil {
		return c, err
	}
	line := values.shell
	if shell.IsPowerShell() {
		line = values.powerShell
	}
	c.Path, c.Args = shell.Path, shell.Args(line(s.command))
	return c, nil
}

// workDir returns dir, or the session's start directory if dir no longer exists.
func (l *launcher) workDir(dir string) string {
	if info, err := os.Stat(dir); err == nil && info.IsDir() {
		return dir
	}
	return l.cfg.Dir
}

// findShell returns the shell for a command: the named one, otherwise bash, otherwise the
// system's.
func (l *launcher) findShell(name string) (osproc.Shell, error) {
	switch name {
	case "powershell", "pwsh":
		return osproc.FindShell(l.lookPath, "pwsh", "powershell")
	case "":
		return osproc.FindShell(l.lookPath, append([]string{"bash"}, osproc.SystemShells(runtime.GOOS)...)...)
	}
	return osproc.FindShell(l.lookPath, name)
}

func (l *launcher) lookPath(name string) (string, error) {
	if l.cfg.lookPath != nil {
		return l.cfg.lookPath(name)
	}
	return exec.LookPath(name)
}

// environment returns a hook's environment: inherited variables and adze's own. Each of adze's
// variables also has the name that hooks written for the ecosystem expect.
func (l *launcher) environment(j *job) []string {
	s := j.spec
	env := l.cfg.Environ()
	if s.source.Workspace || s.source.Plugin != nil {
		env = l.cfg.Scrubbed()
	}
	twin := func(name, value string) {
		env = append(env, "ADZE_"+name+"="+value, "CLAUDE_"+name+"="+value)
	}
	twin("PROJECT_DIR", l.cfg.ProjectDir)
	if j.kind.envFile && l.cfg.EnvFile != "" {
		twin("ENV_FILE", l.cfg.EnvFile)
	}
	if path, ok := filePath(j.use, j.common.Dir); ok {
		twin("FILE_PATH", path)
	}
	return append(env, "ADZE_IN_HOOK=1")
}

// filePath returns the absolute path of the single file a call is about.
func filePath(u *tool.Use, dir string) (string, bool) {
	if u == nil || u.Call == nil {
		return "", false
	}
	path, ok := tool.PathOf(u.Call)
	if ok && !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	return path, ok
}
