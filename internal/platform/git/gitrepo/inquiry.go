package gitrepo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"adze/internal/platform/proc/osproc"
)

// An inquiry is one attempt to reach a verdict.
type inquiry struct {
	ctx        context.Context
	git        string // git executable
	env        []string
	home, xdg  string // the user's directories; may be empty
	began      time.Time
	made       map[string]time.Time // see [Judge.Made]
	roots      []string             // working directories with links resolved, the session's first
	roles      dependencies
	submodules int // number examined so far
}

var errChanged = errors.New("the repository changed while it was looked at")

// inquire returns a verdict on the repository that contains dir.
func (j *Judge) inquire(ctx context.Context, dir string) *Verdict {
	began := time.Now()
	q, err := j.prepare(ctx, dir)
	if err != nil {
		return &Verdict{doubt: err} // depends on no file, so it is not cached
	}
	v := q.judge(dir, 0)
	v.own = sync.OnceValue(func() string { return j.ownGit(q.git, q.env) })
	v.roles, v.program, v.environ = q.roles, q.git, q.env
	if v.doubt == nil && !v.roles.hold() {
		v.doubt = errChanged
	}
	v.settled = v.roles.settled(began) && v.indexes.settled(began)
	return v
}

// prepare returns an inquiry for dir without running git.
func (j *Judge) prepare(ctx context.Context, dir string) (*inquiry, error) {
	q := &inquiry{ctx: ctx, began: j.began, made: j.made}
	var roots []string
	if j.config.Roots != nil {
		roots = j.config.Roots()
	}
	for _, root := range roots {
		q.roots = append(q.roots, real(root))
	}
	q.roles.add(dir, target)
	return q, q.prepare(j.config.Environ(), roots)
}

// ownGit returns the git executable that git itself starts. It runs git once.
func (j *Judge) ownGit(git string, env []string) string {
	j.mu.Lock()
	defer j.mu.Unlock()
	now := stampOf(git, target)
	if j.own.program == git && j.own.stamp == now {
		return j.own.path
	}
	ctx, cancel := context.WithTimeout(context.Background(), verdictTimeout)
	defer cancel()
	q := &inquiry{ctx: ctx, git: git, env: env}
	out, err := q.ask(string(filepath.Separator), nil, "--exec-path")
	if err != nil {
		return ""
	}
	path, err := exec.LookPath(filepath.Join(strings.TrimSuffix(string(out), "\n"), "git"))
	if err != nil {
		return ""
	}
	j.own = own{git, now, path}
	return path
}

// prepare finds the git executable and its environment.
func (q *inquiry) prepare(environ, roots []string) error {
	path := ""
	var own []string // locations of the user's own configuration
	for _, entry := range environ {
		switch name, value, _ := strings.Cut(entry, "="); name {
		case "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM":
			if value != "" && (!filepath.IsAbs(value) || slices.ContainsFunc(roots, func(root string) bool { return within(real(value), real(root)) })) {
				return fmt.Errorf("%s names a file of the project", name)
			}
			own = append(own, entry)
			q.roles.add(value, target)
		case "GIT_CONFIG_NOSYSTEM":
			own = append(own, entry)
		case "PATH":
			path = value
		case "HOME":
			q.home = value
		case "XDG_CONFIG_HOME":
			q.xdg = value
		}
	}
	var dirs []string
	for _, dir := range filepath.SplitList(path) {
		if filepath.IsAbs(dir) && !slices.ContainsFunc(roots, func(root string) bool { return within(dir, root) || within(real(dir), real(root)) }) {
			dirs = append(dirs, dir)
		}
	}
	for _, dir := range dirs {
		if program, err := exec.LookPath(filepath.Join(dir, "git")); err == nil {
			q.git = program
			break
		}
	}
	if q.git == "" {
		return errors.New("git is not installed")
	}
	q.roles.add(q.git, target)
	q.env = append(append(baseEnv(), own...), "PATH="+strings.Join(dirs, string(os.PathListSeparator)), "LC_ALL=C", "LANGUAGE=")
	if q.home != "" {
		q.env = append(q.env, "HOME="+q.home)
	}
	if q.xdg != "" {
		q.env = append(q.env, "XDG_CONFIG_HOME="+q.xdg)
	}
	return nil
}

// A refusal is an error message from git.
type refusal struct{ message string }

func (r *refusal) Error() string { return "git: " + r.message }

const (
	// maxAnswer is the maximum size of git's output.
	maxAnswer = 64 << 20
	// outputGrace is how long to wait for remaining output after git has exited. It is long
	// because the machine may be busy.
	outputGrace = 2 * time.Second
)

// ask runs git in dir and returns its output. The settings apply in addition to the
// configuration files.
func (q *inquiry) ask(dir string, settings []setting, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(q.ctx, q.git, args...)
	cmd.Dir, cmd.Env = dir, slices.Concat(q.env, settingsEnv(settings))
	out, said := &head{room: maxAnswer}, &head{room: 4 << 10}
	cmd.Stdout, cmd.Stderr = out, said
	finish := osproc.Isolate(cmd, outputGrace)
	err := cmd.Run()
	finish()
	var failed *exec.ExitError
	switch {
	case q.ctx.Err() != nil:
		return nil, errors.New("git does not answer")
	case errors.As(err, &failed):
		line, _, _ := strings.Cut(strings.TrimSpace(said.String()), "\n")
		return out.Bytes(), &refusal{strings.ToValidUTF8(strings.TrimPrefix(line, "fatal: "), "\uFFFD")}
	case err != nil:
		return nil, fmt.Errorf("asking git: %w", err)
	case out.room == 0:
		return nil, errors.New("git answers too much")
	}
	return out.Bytes(), nil
}

// A head is a writer that keeps the first bytes written to it.
type head struct {
	bytes.Buffer
	room int
}

func (h *head) Write(p []byte) (int, error) {
	n := min(len(p), h.room)
	h.Buffer.Write(p[:n]) // ok: cannot fail
	h.room -= n
	return len(p), nil
}

// real returns path with links resolved, or unchanged if that fails.
func real(path string) string {
	if r, err := filepath.EvalSymlinks(path); err == nil {
		return r
	}
	return filepath.Clean(path)
}

// within reports whether path is root or inside it.
func within(path, root string) bool {
	rel, err := filepath.Rel(root, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// sameFile reports whether two paths refer to the same file.
func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}
