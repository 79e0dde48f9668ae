package worktree

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"adze/internal/platform/proc/osproc"
)

const (
	// checkoutTime limits commands that write files, and askTime limits queries.
	checkoutTime = 10 * time.Minute
	askTime      = time.Minute
	// maxAnswer limits git's output, in bytes.
	maxAnswer = 32 << 20
)

// A repository is a git repository that the judge has approved.
type repository struct {
	t       *Manager
	top     string // working tree in which git runs
	dir     string // git directory of top
	common  string // common git directory
	root    string // main working tree
	program string
	environ []string
}

// repository returns the repository of a directory.
func (t *Manager) repository(dir string) (*repository, error) {
	v := t.cfg.Judge.Of(dir)
	if err := v.Unjailed(); err != nil {
		return nil, fmt.Errorf("git is not run in this repository: %w", err)
	}
	if v.Top == "" {
		return nil, fmt.Errorf("%s is not in a git repository, and no WorktreeCreate hook is configured", dir)
	}
	if v.Dir == v.Common && v.Dir != filepath.Join(v.Top, ".git") {
		return nil, fmt.Errorf("%s is a submodule, and git keeps no worktrees of those apart: start from the repository around it", v.Top)
	}
	r := &repository{t: t, top: v.Top, dir: v.Dir, common: v.Common, root: v.Top}
	if v.Dir != v.Common {
		r.root = filepath.Dir(v.Common)
		if err := t.cfg.Judge.Of(r.root).Unjailed(); err != nil {
			return nil, fmt.Errorf("git is not run in %s: %w", r.root, err)
		}
	}
	r.program, r.environ = v.Program()
	return r, nil
}

// settings returns configuration arguments for every command. The judge's environment
// additionally keeps git from running other programs.
func settings() []string {
	var args []string
	for _, s := range []string{
		"submodule.recurse=false", "gc.auto=0", "maintenance.auto=false", "advice.detachedHead=false", "core.quotePath=false",
		"worktree.guessRemote=false", "branch.autoSetupMerge=false", "index.sparse=false",
		"core.filesRefLockTimeout=10000", "core.packedRefsTimeout=10000", // many agents may end at the same time on a busy machine
	} {
		args = append(args, "-c", s)
	}
	return args
}

// git runs a command in dir and returns its output. The error includes git's message.
func (r *repository) git(ctx context.Context, dir string, args ...string) (string, error) {
	return r.ask(ctx, dir, askTime, nil, args...)
}

func (r *repository) ask(ctx context.Context, dir string, limit time.Duration, input []byte, args ...string) (string, error) {
	if r.t.step != nil {
		if err := r.t.step("git " + strings.Join(args, " ")); err != nil {
			return "", err
		}
	}
	out, said := &head{room: maxAnswer}, &head{room: 4 << 10}
	exit, err := r.t.cfg.Run.Run(ctx, osproc.Cmd{Path: r.program, Args: slices.Concat(settings(), []string{"--no-pager"}, args), Dir: dir, Env: r.environ,
		Input: input, Output: out, Errors: said, Timeout: limit, Reaped: limit == checkoutTime})
	switch {
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case err != nil:
		return "", fmt.Errorf("running git: %w", err)
	case exit.TimedOut:
		return "", fmt.Errorf("git %s took longer than %v, and was stopped", args[0], limit)
	case exit.Code != 0:
		return "", &gitError{args[0], plain(string(said.text))}
	case out.room == 0:
		return "", errors.New("git answers too much")
	}
	return string(out.text), nil
}

// A gitError is an error message from git.
type gitError struct{ command, message string }

func (r *gitError) Error() string {
	if r.message == "" {
		return "git " + r.command + " failed without an error message"
	}
	return "git " + r.command + ": " + r.message
}

// plain returns git's message on one line, without control characters and progress output.
func plain(said string) string {
	var lines []string
	for line := range strings.Lines(strings.ToValidUTF8(said, "\uFFFD")) {
		line = strings.TrimSpace(strings.Map(func(c rune) rune {
			if !unicode.IsPrint(c) {
				return ' '
			}
			return c
		}, line))
		line = strings.TrimPrefix(strings.TrimPrefix(line, "fatal: "), "error: ")
		if line != "" && !strings.HasPrefix(line, "Preparing worktree") {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines[max(0, len(lines)-4):], "; ")
}

// A head keeps the beginning of the data written to it.
type head struct {
	text []byte
	room int
}

func (h *head) Write(p []byte) (int, error) {
	n := min(len(p), h.room)
	h.text, h.room = append(h.text, p[:n]...), h.room-n
	return len(p), nil
}
