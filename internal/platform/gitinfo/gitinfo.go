// Package gitinfo takes a snapshot of a repository by asking git: quickly, without writing to the
// repository, and only where a judge has no doubts about it. What the snapshot is good for is left to others.
package gitinfo

import (
	"context"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"adze/internal/platform/gitrepo"
	"adze/internal/platform/osproc"
)

// limit is how long each command may take.
const limit = 5 * time.Second

// maxStatus bounds the status, in characters.
const maxStatus = 2000

// A Snapshot is what git says. What it did not say in time, or at all, is empty.
type Snapshot struct {
	Branch  string // empty when no branch is checked out
	Default string // the branch that others start from
	User    string
	// Status is in the short form. Clean says that there is nothing to tell, Cut that there is more.
	Status     string
	Clean, Cut bool
	Log        string // the latest commits, one a line
}

// Take asks about the repository that dir is in. Without git, without a repository, or where the judge has
// doubts, it knows nothing.
func Take(ctx context.Context, run *osproc.Runner, judge *gitrepo.Judge, dir string) Snapshot {
	v := judge.Of(dir)
	if v.Unjailed() != nil || v.Top == "" {
		return Snapshot{}
	}
	git, environ := v.Program()
	var s Snapshot
	var all sync.WaitGroup
	ask := func(take func(out string), args ...string) {
		all.Go(func() {
			out := &head{room: maxOutput}
			args := gitrepo.Harden(append([]string{"git", "--no-pager"}, args...))
			exit, err := run.Run(ctx, osproc.Cmd{Path: git, Args: args[1:], Dir: dir, Env: environ, Output: out, Errors: new(head), Timeout: limit})
			if err == nil && exit.Code == 0 {
				take(strings.TrimRight(strings.ToValidUTF8(string(out.text), "\uFFFD"), "\n"))
			}
		})
	}
	ask(func(out string) { s.Branch = out }, "symbolic-ref", "--short", "HEAD")
	ask(func(out string) { s.Default = defaultBranch(out) }, "for-each-ref", "--format=%(refname) %(symref)",
		"refs/remotes/origin/HEAD", "refs/heads/main", "refs/heads/master")
	ask(func(out string) { s.Status, s.Cut = cut(out); s.Clean = out == "" }, "status", "--short")
	ask(func(out string) { s.Log = out }, "log", "--oneline", "--no-decorate", "-n", "5")
	ask(func(out string) { s.User = out }, "config", "--get", "user.name")
	all.Wait()
	return s
}

// defaultBranch returns what the remote calls its own, or else a branch with a usual name.
func defaultBranch(refs string) string {
	usual := ""
	for line := range strings.Lines(refs) {
		name, target, _ := strings.Cut(strings.TrimSpace(line), " ")
		if branch, ok := strings.CutPrefix(target, "refs/remotes/origin/"); ok {
			return branch
		}
		if branch, ok := strings.CutPrefix(name, "refs/heads/"); ok && usual == "" {
			usual = branch
		}
	}
	return usual
}

// cut shortens a status that is too long, at the end of a line.
func cut(status string) (string, bool) {
	if utf8.RuneCountInString(status) <= maxStatus {
		return status, false
	}
	end := 0
	for range maxStatus {
		_, n := utf8.DecodeRuneInString(status[end:])
		end += n
	}
	if i := strings.LastIndexByte(status[:end], '\n'); i > 0 {
		end = i
	}
	return status[:end], true
}

// maxOutput is how much of an output is kept, in bytes: more than is ever told.
const maxOutput = 64 << 10

// A head keeps the beginning of what is written to it.
type head struct {
	text []byte
	room int
}

func (h *head) Write(p []byte) (int, error) {
	n := min(len(p), h.room-len(h.text))
	h.text = append(h.text, p[:max(n, 0)]...)
	return len(p), nil
}
