package gitrepo

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// places are the hooks and settings that git uses in a directory. They are valid until the
// files they depend on change.
type places struct {
	paths []string
	roles dependencies
}

// maxBelow is the maximum number of directory entries searched for nested repositories.
const maxBelow = 500

// Obeyed returns the places from which git takes hooks and settings in dir, which is absolute,
// and in its immediate subdirectories whose .git is a file: git directories, the core.hooksPath
// directory and configuration files, wherever they are and even if they do not exist. A .git
// directory itself is not included. Git runs only if one of these files has changed.
func (j *Judge) Obeyed(dir string) []string {
	dir = filepath.Clean(dir)
	j.mu.Lock()
	defer j.mu.Unlock()
	if p := j.obeyed[dir]; p != nil && p.roles.hold() {
		return p.paths
	}
	ctx, cancel := context.WithTimeout(context.Background(), verdictTimeout)
	defer cancel()
	began := time.Now()
	q := &inquiry{ctx: ctx, began: j.began}
	var roots []string
	if j.config.Roots != nil {
		roots = j.config.Roots()
	}
	installed := q.prepare(j.config.Environ(), roots) == nil
	p := &places{paths: obeyedIn(q, dir, installed)}
	q.roles.add(dir, listing)
	entries, err := os.ReadDir(dir)
	if err == nil && len(entries) <= maxBelow {
		for _, e := range entries {
			below := filepath.Join(dir, e.Name())
			if e.IsDir() && q.roles.add(filepath.Join(below, ".git"), entry).regular() {
				p.paths = append(p.paths, obeyedIn(q, below, installed)...)
			}
		}
	}
	at := real(dir)
	p.paths = slices.DeleteFunc(p.paths, func(path string) bool { // paths that contain dir, and devices
		return within(at, path) || within(path, filepath.Join(string(filepath.Separator), "dev"))
	})
	slices.Sort(p.paths)
	p.paths, p.roles = slices.Compact(p.paths), q.roles
	if p.roles.settled(began) {
		if j.obeyed == nil || len(j.obeyed) >= maxVerdicts {
			j.obeyed = map[string]*places{}
		}
		j.obeyed[dir] = p
	}
	return p.paths
}

// obeyedIn returns the places that git uses in dir. If git is missing or fails, that is the
// target of .git.
func obeyedIn(q *inquiry, dir string, installed bool) []string {
	var paths []string
	note := func(path string) {
		paths = append(paths, real(path))
		q.roles.add(path, target)
	}
	for top := dir; ; top = filepath.Dir(top) {
		dotGit := filepath.Join(top, ".git")
		if s := q.roles.add(dotGit, entry); s.exists() {
			if gitDir, err := readLine(dotGit, "gitdir: "); err == nil {
				gitDir = resolve(top, gitDir)
				note(gitDir)
				q.roles.add(filepath.Join(gitDir, "commondir"), entry)
				if common, err := readLine(filepath.Join(gitDir, "commondir"), ""); err == nil {
					note(resolve(gitDir, common))
				}
			}
			break
		}
		if filepath.Dir(top) == top {
			return nil
		}
	}
	if !installed {
		return paths
	}
	out, err := q.ask(dir, nil, "rev-parse", "--path-format=absolute", "--git-dir", "--git-common-dir", "--show-toplevel")
	if err != nil {
		return paths
	}
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(lines) != 3 {
		return paths
	}
	gitDir, common, top := lines[0], lines[1], lines[2]
	for _, path := range []string{gitDir, common} {
		if filepath.Base(path) != ".git" {
			note(path)
		}
	}
	for _, file := range []string{filepath.Join(common, "config"), filepath.Join(gitDir, "config.worktree"), filepath.Join(q.home, ".gitconfig"), filepath.Join(q.userDir(), "config")} {
		q.roles.add(file, target)
	}
	all, err := q.settings(&Verdict{Top: top}, dir)
	if err != nil {
		return paths
	}
	for _, o := range all {
		if o.file != "" && !o.users {
			note(o.file)
		}
		switch {
		case o.value == "":
		case o.key == "core.hookspath":
			note(resolve(top, q.untilde(o.value)))
		case o.key == "include.path", strings.HasPrefix(o.key, "includeif.") && strings.HasSuffix(o.key, ".path"):
			note(resolve(filepath.Dir(o.file), q.untilde(o.value))) // even if it does not exist yet
		}
	}
	return paths
}
