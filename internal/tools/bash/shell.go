package bash

import (
	"context"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"adze/internal/platform/gitrepo"
	"adze/internal/platform/osproc"
	"adze/internal/platform/shell"
)

// runShell runs the command in a fresh shell. The directory is where it ended, or "" if it did not say.
func (c *call) runShell(ctx context.Context, out io.Writer, limit time.Duration) (exit osproc.Exit, dir string, err error) {
	program, err := c.config.find()
	if err != nil {
		return osproc.Exit{}, "", err
	}
	report, err := c.newReport()
	if err != nil {
		return osproc.Exit{}, "", err
	}
	defer os.Remove(report.Name()) // ok: nothing depends on it
	defer report.Close()           // ok: it was only read
	cmd := osproc.Cmd{
		Path:    program.Path,
		Args:    []string{"-c", c.wrapped(program.Dialect, report.Name())},
		Dir:     c.here.Path,
		Env:     append(quietEditors(c.config.Env()), "PAGER=cat", "GIT_PAGER=cat", "TERM=dumb"),
		Output:  out,
		Timeout: limit,
		Reaped:  true,
	}
	if !c.outside() {
		if cmd, c.end, err = c.config.Sandbox.Wrap(cmd); err != nil {
			return osproc.Exit{}, "", err
		}
	} else if c.config.Sandbox != nil {
		defer c.config.Sandbox.Aside()()
	}
	exit, err = c.config.Runner.Run(ctx, cmd)
	// The name may by now lead elsewhere: the command could write to it.
	ended, readErr := io.ReadAll(io.LimitReader(report, maxReport))
	if readErr == nil {
		dir = strings.TrimSuffix(string(ended), "\n")
	}
	return exit, dir, err
}

// maxReport bounds the name of a directory.
const maxReport = 64 << 10

// newReport makes the file in which the command says where it ended.
func (c *call) newReport() (*os.File, error) {
	dir := c.config.TempDir
	if !c.outside() {
		var err error
		if dir, err = c.config.Sandbox.Scratch(); err != nil {
			return nil, err
		}
	}
	if dir != "" {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
	}
	return os.CreateTemp(dir, "adze-dir-*")
}

// wrapped returns the script that runs the command: with the user's aliases and functions, if there
// are any, and with word of where it ended. The command is a string to it, so that nothing in it, not
// even an error, reaches the rest.
func (c *call) wrapped(dialect shell.Dialect, report string) string {
	var b strings.Builder
	b.WriteString("trap 'pwd -P > " + strings.ReplaceAll(quote(report), "'", `'\''`) + " 2>/dev/null' EXIT\n")
	if dialect == shell.Bash {
		b.WriteString(osproc.MarkLine + "\n")
	}
	if n := maxProcesses(); n > 0 && dialect == shell.Bash {
		b.WriteString("ulimit -u " + strconv.FormatUint(n, 10) + " 2>/dev/null\n")
	}
	if dialect == shell.Bash {
		if file := c.snapshot(); file != "" {
			b.WriteString("shopt -s expand_aliases; . " + quote(file) + " >/dev/null 2>&1\n")
		}
	}
	if guardsGit(c.script) {
		b.WriteString(gitGuard())
	}
	b.WriteString("eval " + quote(" "+c.in.Command))
	return b.String()
}

// guardsGit reports whether git in the line may have been let pass because it only reads: then nothing
// that the repository's configuration names may run.
func guardsGit(s *shell.Script) bool {
	if !s.Simple || !s.UsesGit() {
		return false
	}
	for _, part := range s.Parts {
		if len(part.Words) > 0 && part.Words[0].Value == "git" && part.WordsReadOnly() != nil {
			return false
		}
	}
	return true
}

// gitGuard returns a function in git's place that harms none of the programs that call git themselves.
func gitGuard() string {
	var b strings.Builder
	b.WriteString("unalias git 2>/dev/null\ngit() {\n")
	b.WriteString("case $1 in --no-pager) shift;; config) command git \"$@\"; return;; esac\n")
	b.WriteString("case $1 in\n")
	for _, name := range []string{"diff", "log", "show"} {
		b.WriteString(name + ") shift; set -- " + strings.Join(gitrepo.Harden([]string{"git", name})[1:], " ") + " \"$@\";;\n")
	}
	b.WriteString("esac\n")
	for _, entry := range gitrepo.Guard(false) {
		name, value, _ := strings.Cut(entry, "=")
		b.WriteString(name + "=" + quote(value) + " ")
	}
	b.WriteString("command git \"$@\"\n}\n")
	return b.String()
}

// quote returns s as one word of shell.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
