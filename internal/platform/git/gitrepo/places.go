package gitrepo

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// find gets the repository's location from git and verifies it on disk. The verdict has no
// locations if dir is not in a repository.
func (q *inquiry) find(dir string) (*Verdict, error) {
	at, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, fmt.Errorf("looking for a repository: %w", err)
	}
	if err := q.checkPaths(at); err != nil {
		return nil, err
	}
	out, err := q.ask(at, guards(), "rev-parse", "--is-bare-repository", "--is-inside-git-dir", "--absolute-git-dir", "--git-common-dir", "--show-toplevel")
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	var no *refusal
	switch {
	case errors.As(err, &no) && strings.HasPrefix(no.message, "not a git repository") && len(out) == 0:
		return &Verdict{}, q.none(at)
	case len(lines) > 1 && (lines[0] == "true" || lines[1] == "true"):
		return nil, fmt.Errorf("%s is in a bare repository, or where git keeps its own files", at)
	case err != nil:
		return nil, err
	case len(lines) != 5:
		return nil, errors.New("git's answer about the repository is not understood")
	}
	v := &Verdict{Dir: filepath.FromSlash(lines[2]), Common: filepath.FromSlash(lines[3])}
	if !filepath.IsAbs(v.Common) {
		v.Common = filepath.Join(at, v.Common)
	}
	if v.Top, err = q.top(at, filepath.FromSlash(lines[4])); err != nil {
		return nil, err
	}
	return v, q.compare(v)
}

// checkPaths checks the files that git will read on its way up from dir before git runs: a file
// that never ends would make it hang.
func (q *inquiry) checkPaths(at string) error {
	for dir := at; ; dir = filepath.Dir(dir) {
		dotGit := filepath.Join(dir, ".git")
		switch s := q.roles.add(dotGit, entry); {
		case s.link():
			return fmt.Errorf("%s is a link", dotGit)
		case s.dir():
			if err := q.plainFiles(dotGit); err != nil {
				return err
			}
			if !stampOf(filepath.Join(dotGit, "HEAD"), entry).exists() {
				return fmt.Errorf("%s is not a repository that git understands", dotGit)
			}
			return nil
		case s.exists():
			return q.followed(dotGit)
		}
		if s := q.roles.add(filepath.Join(dir, "HEAD"), entry); s.exists() && !s.regular() && !s.link() {
			return fmt.Errorf("%s is not a file", filepath.Join(dir, "HEAD"))
		}
		if filepath.Dir(dir) == dir {
			return nil
		}
	}
}

// followed checks the target of a .git file.
func (q *inquiry) followed(dotGit string) error {
	target, err := readLine(dotGit, "gitdir: ")
	if err != nil {
		return err
	}
	gitDir := resolve(filepath.Dir(dotGit), target)
	if err := q.plainFiles(gitDir); err != nil || !stampOf(filepath.Join(gitDir, "commondir"), entry).exists() {
		return err
	}
	common, err := readLine(filepath.Join(gitDir, "commondir"), "")
	if err != nil {
		return err
	}
	return q.plainFiles(resolve(gitDir, common))
}

// maxConfig is the maximum size of a configuration file.
const maxConfig = 1 << 20

// plainFiles checks that the files git opens in its directory are regular files, not links.
func (q *inquiry) plainFiles(gitDir string) error {
	if s := q.roles.add(gitDir, entry); s.exists() && !s.dir() {
		return fmt.Errorf("%s is not a directory", gitDir)
	}
	for _, name := range []string{"HEAD", "config", "config.worktree", "commondir", "gitdir", "packed-refs", "shallow"} {
		path := filepath.Join(gitDir, name)
		switch s := q.roles.add(path, entry); {
		case s.exists() && !s.regular():
			return fmt.Errorf("%s is not a file", path)
		case strings.HasPrefix(name, "config") && s.size > maxConfig:
			return fmt.Errorf("%s is too large", path)
		}
	}
	for _, name := range []string{"index", "info/exclude", "info/attributes", "info/grafts", "info/sparse-checkout", "objects/info/alternates"} {
		path := filepath.Join(gitDir, filepath.FromSlash(name))
		if s := stampOf(path, entry); s.exists() && !s.regular() {
			return fmt.Errorf("%s is not a file", path)
		}
	}
	for _, name := range []string{"objects", "refs", "objects/pack", "reftable", "logs"} {
		path := filepath.Join(gitDir, filepath.FromSlash(name))
		if s := q.roles.add(path, entry); s.exists() && !s.dir() {
			return fmt.Errorf("%s is not a directory", path)
		}
	}
	for _, name := range []string{"info", "objects/info", "refs/replace"} {
		path := filepath.Join(gitDir, filepath.FromSlash(name))
		if s := q.roles.add(path, listing); s.exists() && !s.dir() {
			return fmt.Errorf("%s is not a directory", path)
		}
	}
	return nil
}

// none confirms that dir is not in a repository: a .git above it that git does not recognize,
// or not yet, is distrusted.
func (q *inquiry) none(at string) error {
	for dir := at; ; dir = filepath.Dir(dir) {
		if dotGit := filepath.Join(dir, ".git"); q.roles.add(dotGit, entry).exists() {
			return fmt.Errorf("%s is not a repository that git understands", dotGit)
		}
		if filepath.Dir(dir) == dir {
			return nil
		}
	}
}

// top returns the work tree that git reported, which must be the closest directory above dir
// with a .git.
func (q *inquiry) top(at, said string) (string, error) {
	for dir := at; ; dir = filepath.Dir(dir) {
		if sameFile(dir, said) {
			return dir, nil
		}
		if dotGit := filepath.Join(dir, ".git"); q.roles.add(dotGit, entry).exists() {
			return "", fmt.Errorf("%s is not the repository that git uses", dotGit)
		}
		if filepath.Dir(dir) == dir {
			return "", fmt.Errorf("the work tree %s is elsewhere", said)
		}
	}
}

// compare checks that the git directories belong to the work tree. A .git file is trusted only
// if its target points back: anyone can write a file that names someone else's repository.
func (q *inquiry) compare(v *Verdict) error {
	dotGit := filepath.Join(v.Top, ".git")
	elsewhere := fmt.Errorf("%s does not belong to %s", v.Dir, v.Top)
	if q.roles.add(dotGit, entry).dir() {
		switch {
		case !sameFile(dotGit, v.Dir):
			return elsewhere
		case !sameFile(v.Dir, v.Common) || stampOf(filepath.Join(dotGit, "commondir"), entry).exists():
			return fmt.Errorf("%s uses the settings of %s", dotGit, v.Common)
		}
		v.Dir, v.Common = dotGit, dotGit
		return q.objects(v)
	}
	target, err := readLine(dotGit, "gitdir: ")
	if err != nil {
		return err
	}
	if !sameFile(resolve(v.Top, target), v.Dir) {
		return elsewhere
	}
	if !stampOf(filepath.Join(v.Dir, "gitdir"), entry).exists() {
		// A submodule's git directory names its work tree in a setting, which is checked with
		// the others.
		if !sameFile(v.Dir, v.Common) || stampOf(filepath.Join(v.Dir, "commondir"), entry).exists() {
			return elsewhere
		}
		v.Common = v.Dir
		return q.objects(v)
	}
	q.roles.add(filepath.Join(v.Common, "worktrees"), entry)
	back, err := readLine(filepath.Join(v.Dir, "gitdir"), "")
	if err != nil {
		return err
	}
	common, err := readLine(filepath.Join(v.Dir, "commondir"), "")
	if err != nil {
		return err
	}
	if !sameFile(resolve(v.Dir, back), dotGit) || !sameFile(resolve(v.Dir, common), v.Common) || !sameFile(filepath.Dir(v.Dir), filepath.Join(v.Common, "worktrees")) {
		return elsewhere
	}
	return q.objects(v)
}

// objects checks that the repository uses only its own objects.
func (q *inquiry) objects(v *Verdict) error {
	dir := filepath.Join(v.Common, "objects")
	file := filepath.Join(dir, "info", "alternates")
	if !stampOf(file, entry).exists() {
		return nil // the listing detects its creation
	}
	q.roles.add(file, entry)
	text, err := os.ReadFile(file)
	if err != nil || len(text) > maxConfig {
		return fmt.Errorf("%s cannot be read", file)
	}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" || line[0] == '#' {
			continue
		}
		other, err := filepath.EvalSymlinks(resolve(dir, line))
		switch {
		case err != nil || line[0] == '"' || !within(other, v.Top) && !within(other, real(v.Common)):
			return fmt.Errorf("the repository takes objects from %s", line)
		case q.roles.add(filepath.Join(other, "info", "alternates"), entry).exists():
			return fmt.Errorf("the repository takes objects from %s, which takes them from another", line)
		}
	}
	return nil
}

// maxLine is the maximum size of a file that contains a path.
const maxLine = 8 << 10

// readLine returns the single line of a file, without a prefix.
func readLine(file, prefix string) (string, error) {
	info, err := os.Lstat(file)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() || info.Size() > maxLine {
		return "", fmt.Errorf("%s has an unexpected format", file)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	line, ok := strings.CutPrefix(strings.TrimRight(string(data), "\r\n"), prefix)
	if !ok || line == "" || strings.ContainsAny(line, "\n\r\x00") {
		return "", fmt.Errorf("%s has an unexpected format", file)
	}
	return line, nil
}

// resolve returns name relative to dir.
func resolve(dir, name string) string {
	name = filepath.FromSlash(name)
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(dir, name)
}
