package bash

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"adze/internal/platform/fs/fsys"
	"adze/internal/platform/git/gitrepo"
	"adze/internal/platform/proc/osproc"
	"adze/internal/platform/shell"
)

// runShell runs the command in a new shell. The returned directory is where it ended, or "" if
// unknown.
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
	defer report.Close()           // ok: only read
	cmd := osproc.Cmd{
		Path:    program.Path,
		Name:    program.Dialect.String(),
		Dir:     c.here.Path,
		Env:     append(quietEditors(c.config.Env()), "PAGER=cat", "GIT_PAGER=cat", "TERM=dumb"),
		Output:  out,
		Timeout: limit,
		Reaped:  true,
	}
	hidden, err := c.wrap(&cmd, program.Dialect, report)
	if err != nil {
		return osproc.Exit{}, "", err
	}
	defer hidden.Close() // ok: a held-back part is lost with the output
	if !c.outside() {
		if cmd, c.end, err = c.config.Sandbox.Wrap(cmd); err != nil {
			return osproc.Exit{}, "", err
		}
	} else if c.config.Sandbox != nil {
		defer c.config.Sandbox.Aside()()
	}
	exit, err = c.config.Runner.Run(ctx, cmd)
	// Read through the open file: the command could have replaced the name.
	if ended, readErr := io.ReadAll(io.NewSectionReader(report, 0, maxReport)); readErr == nil && filepath.IsAbs(string(ended)) {
		dir = strings.TrimSuffix(string(ended), "\n")
	}
	return exit, dir, err
}

// maxReport is the maximum length of a directory name.
const maxReport = 64 << 10

// newReport creates the file where the command writes its final directory.
func (c *call) newReport() (*os.File, error) {
	dir := c.config.TempDir
	if !c.outside() {
		var err error
		if dir, err = c.config.Sandbox.Scratch(); err != nil {
			return nil, err
		}
	}
	const pattern = "adze-dir-*"
	if dir == "" {
		return os.CreateTemp("", pattern)
	}
	err := fsys.MkdirPrivate(dir)
	if err == nil {
		return os.CreateTemp(dir, pattern)
	}
	if c.outside() { // a sandbox has no other place
		return os.CreateTemp("", pattern)
	}
	return nil, err
}

// wrap makes the shell run the command with the user's aliases and functions, if any, and
// report its final directory. The shell gets only the command itself, so that line numbers and
// tracing are as usual: bash reads the rest from the report file before the command runs and
// the report is written. Where that is not possible, everything goes on one line. The returned
// closer must be closed at the end.
func (c *call) wrap(cmd *osproc.Cmd, dialect shell.Dialect, report *os.File) (io.Closer, error) {
	trap := "{ command set +xv; } 2>/dev/null; command pwd -P >|" + quote(report.Name()) + " 2>/dev/null"
	hidden := &hider{w: cmd.Output, line: []byte(trap + "\n")} // set -v prints it
	cmd.Output = hidden
	before := []string{"trap " + quote(trap) + " EXIT"}
	if dialect != shell.Bash {
		if guardsGit(c.script) {
			before = append(before, gitGuard())
		}
		cmd.Args = []string{"-c", strings.Join(before, "; ") + "; " + c.in.Command}
		return hidden, nil
	}
	before = append(before, osproc.MarkLine)
	if n := maxProcesses(); n > 0 {
		before = append(before, "ulimit -u "+strconv.FormatUint(n, 10)+" 2>/dev/null")
	}
	if file := c.snapshot(); file != "" {
		before = append(before, "shopt -s expand_aliases; . "+quote(file)+" >/dev/null 2>&1")
	}
	if guardsGit(c.script) {
		before = append(before, gitGuard())
	}
	if strings.ContainsAny(report.Name(), "$`\\\"") { // bash would expand these
		cmd.Args = []string{"-c", strings.Join(before, "; ") + "; eval " + quote(" "+c.in.Command)}
		return hidden, nil
	}
	if file := lookup(cmd.Env)("BASH_ENV"); file != "" {
		before = append(before, "BASH_ENV="+quote(file)+"; . "+quote(file))
	} else {
		before = append(before, "unset BASH_ENV")
	}
	cmd.Env = append(cmd.Env, "BASH_ENV="+report.Name())
	cmd.Args = []string{"-c", " " + c.in.Command} // the command may start with a dash
	_, err := report.WriteString(strings.Join(before, "\n") + "\n")
	return hidden, err
}

// A hider forwards writes except for a specific line.
type hider struct {
	w    io.Writer
	line []byte
	held []byte // the part of the line written so far
}

// Write implements [io.Writer].
func (h *hider) Write(p []byte) (int, error) {
	data := p
	if len(h.held) > 0 {
		data = append(h.held, p...)
	}
	for {
		i := bytes.Index(data, h.line)
		if i < 0 {
			break
		}
		data = append(bytes.Clone(data[:i]), data[i+len(h.line):]...)
	}
	keep := min(len(h.line)-1, len(data))
	for !bytes.HasSuffix(data, h.line[:keep]) {
		keep--
	}
	h.held = bytes.Clone(data[len(data)-keep:])
	if _, err := h.w.Write(data[:len(data)-keep]); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Close forwards the held-back text.
func (h *hider) Close() error {
	_, err := h.w.Write(h.held)
	return err
}

// guardsGit reports whether git in the line may have been allowed because it is read-only. Then
// no program from the repository's configuration may run.
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

// gitGuard returns, on one line, a shell function that replaces git. Programs that call git
// themselves are not affected.
func gitGuard() string {
	var b strings.Builder
	b.WriteString("unalias git 2>/dev/null; git() { ")
	b.WriteString("case $1 in --no-pager) shift;; config) command git \"$@\"; return;; esac; ")
	b.WriteString("case $1 in ")
	for _, name := range []string{"diff", "log", "show"} {
		b.WriteString(name + ") shift; set -- " + strings.Join(gitrepo.Harden([]string{"git", name})[1:], " ") + " \"$@\";; ")
	}
	b.WriteString("esac; ")
	for _, entry := range gitrepo.Guard(false) {
		name, value, _ := strings.Cut(entry, "=")
		b.WriteString(name + "=" + quote(value) + " ")
	}
	b.WriteString("command git \"$@\"; }")
	return b.String()
}

// quote returns s as a single shell word.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
