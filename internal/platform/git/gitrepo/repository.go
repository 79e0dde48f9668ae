package gitrepo

import (
	"context"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"adze/internal/platform/fs/cachefile"
)

// A Repository allows running read-only git commands without a sandbox. It can be saved for
// later processes. Permission decisions about commands need a [Verdict], which is never loaded
// from a file.
type Repository struct{ v *Verdict }

// Repository returns the verdict's repository, or nil if it does not exist or git must not run
// in it.
func (v *Verdict) Repository() *Repository {
	if v.Unjailed() != nil || v.Top == "" {
		return nil
	}
	return &Repository{v}
}

// Top is the work tree.
func (r *Repository) Top() string { return r.v.Top }

// Hash is the size of object names in bytes, or 0 if unknown.
func (r *Repository) Hash() int { return r.v.hash }

// Status returns the settings that git status depends on.
func (r *Repository) Status() StatusRules { return r.v.status }

// Dir and Common are the git directories of this work tree and of all work trees.
func (r *Repository) Dir() string    { return r.v.Dir }
func (r *Repository) Common() string { return r.v.Common }

// User returns user.name.
func (r *Repository) User() string { return r.v.user }

// Tables reports whether references are stored in a format other than files.
func (r *Repository) Tables() bool { return r.v.tables }

// Current returns the current state of the repository, or nil if a judge must examine it again.
func (r *Repository) Current() *Repository {
	v := r.v.current()
	if v == nil {
		return nil
	}
	return &Repository{v}
}

// Same reports whether two states of the repository are equal.
func (r *Repository) Same(o *Repository) bool {
	return o != nil && slices.Equal(r.v.roles, o.v.roles) && slices.Equal(r.v.indexes, o.v.indexes)
}

// Ask runs a read-only git command in dir, without other programs, and returns its output. It
// fails if the repository has changed.
func (r *Repository) Ask(ctx context.Context, dir string, args ...string) ([]byte, error) {
	if !r.v.roles.hold() || !r.v.indexes.hold() && len(r.v.indexes) > 0 {
		return nil, errChanged
	}
	q := &inquiry{ctx: ctx, git: r.v.program, env: r.v.environ}
	return q.ask(dir, guards(), Harden(append([]string{"git", "--no-pager"}, args...))[1:]...)
}

// Save writes the repository for [Judge.Load]. It reports whether the repository can be cached:
// every file that the verdict depends on must have a stamp.
func (r *Repository) Save(ctx context.Context, w *cachefile.Writer, dir string) bool {
	v := r.v
	if !v.settled || v.loose || runtime.GOOS == "windows" { // stamps do not identify files on Windows
		return false
	}
	all := slices.Clone(v.roles)
	if !systemConfig(ctx, v, &all) || !all.hold() {
		return false
	}
	w.Text(real(dir), v.program)
	w.List(v.environ)
	w.Text(v.Top, v.Dir, v.Common, v.user)
	w.Flags(v.links, v.attributes, v.tables)
	w.Number(uint64(v.hash))
	w.List(v.dirs)
	v.status.write(w)
	all.write(w)
	v.indexes.write(w)
	return true
}

// systemConfig adds the system-wide configuration, which may not exist, and reports whether its
// location is known.
func systemConfig(ctx context.Context, v *Verdict, all *dependencies) bool {
	known := slices.ContainsFunc(v.environ, func(e string) bool {
		return strings.HasPrefix(e, "GIT_CONFIG_NOSYSTEM=") || strings.HasPrefix(e, "GIT_CONFIG_SYSTEM=")
	})
	for _, program := range []string{v.program, real(v.program)} {
		prefix := filepath.Dir(filepath.Dir(program))
		for _, file := range []string{filepath.Join(prefix, "etc", "gitconfig"), "/etc/gitconfig"} {
			known = all.add(file, target).exists() || known
		}
	}
	if known {
		return true
	}
	q := &inquiry{ctx: ctx, git: v.program, env: v.environ}
	_, err := q.ask(string(filepath.Separator), nil, "config", "--system", "--list")
	if err == nil {
		return false // exists elsewhere
	}
	_, rest, _ := strings.Cut(err.Error(), "unable to read config file '")
	file, _, ok := strings.Cut(rest, "'")
	return ok && filepath.IsAbs(file) && !all.add(file, target).exists()
}

// Load returns the repository of dir saved by an earlier process, or nil if a dependency has
// changed: files, the environment or git itself. Git's commands depend only on the stamps, so a
// damaged file merely makes git run again.
func (j *Judge) Load(r *cachefile.Reader, dir string) *Repository {
	j.mu.Lock()
	defer j.mu.Unlock()
	q, err := j.prepare(context.Background(), dir)
	if err != nil {
		return nil
	}
	if r.Text() != real(dir) || r.Text() != q.git || !slices.Equal(r.List(), q.env) {
		return nil
	}
	v := &Verdict{program: q.git, environ: q.env, Top: r.Text(), Dir: r.Text(), Common: r.Text(), user: r.Text()}
	flags := r.Flags()
	v.links, v.attributes, v.tables = flags[0], flags[1], flags[2]
	v.hash, v.dirs = int(r.Number()), r.List()
	v.status = readStatusRules(r)
	v.roles, v.indexes = readRoles(r), readRoles(r)
	if r.Failed() || v.Top == "" || !slices.Contains(v.dirs, v.Dir) || !v.roles.hold() {
		return nil
	}
	if q.checkPaths(real(dir)) != nil || !v.roles.cover(q.roles) {
		return nil
	}
	for _, dir := range v.dirs {
		if made, known := creationTime(dir); known && !made.Before(j.began) {
			return nil
		}
	}
	v.settled = true
	return &Repository{v}
}

// cover reports whether r contains all roles of o.
func (r dependencies) cover(o dependencies) bool {
	return !slices.ContainsFunc(o, func(x dependency) bool { return !slices.Contains(r, x) })
}

func (r dependencies) write(w *cachefile.Writer) {
	w.Number(uint64(len(r)))
	for _, x := range r {
		s := x.stamp
		w.Text(x.path)
		for _, n := range []uint64{uint64(x.look), s.device, s.inode, uint64(s.mode), uint64(s.size), uint64(s.changed), uint64(s.status), uint64(s.problem)} {
			w.Number(n)
		}
	}
}

func readRoles(r *cachefile.Reader) dependencies {
	var all dependencies
	for range r.Count() {
		x := dependency{path: r.Text()}
		x.look = statMode(r.Number())
		x.stamp = stamp{device: r.Number(), inode: r.Number(), mode: uint32(r.Number()), size: int64(r.Number()), changed: int64(r.Number()), status: int64(r.Number()), problem: uintptr(r.Number())}
		if r.Failed() {
			return nil
		}
		all = append(all, x)
	}
	return all
}
