package gitrepo

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// judge returns a verdict on the repository that contains dir. A depth above 0 means a
// submodule.
func (q *inquiry) judge(dir string, depth int) *Verdict {
	if !stampOf(dir, target).exists() {
		return &Verdict{} // git does not run where nothing exists
	}
	v, err := q.find(dir)
	if err != nil {
		return &Verdict{doubt: err}
	}
	v.doubt = q.examine(v, dir, depth)
	return v
}

func (q *inquiry) examine(v *Verdict, dir string, depth int) error {
	all, err := q.settings(v, real(dir))
	if err != nil {
		return err
	}
	v.note(all)
	v.status = q.statusRules(all)
	if err := q.checkSettings(v, all); err != nil {
		return err
	}
	if err := q.adapt(v, all); err != nil || v.Top == "" {
		return err
	}
	v.dirs = append(v.dirs, v.Dir)
	v.reads = append(v.reads, v.Dir, v.Common)
	if q.private(v.Top) {
		v.filtered = fmt.Errorf("the work tree %s holds more than the project", v.Top)
	} else {
		v.reads = append(v.reads, v.Top)
	}
	if err := q.age(v); err != nil {
		return err
	}
	links, err := q.links(v)
	if err != nil {
		return err
	}
	for _, link := range links {
		if err := q.submodule(v, link, depth); err != nil {
			return err
		}
	}
	if v.linked && slices.ContainsFunc(v.overrides, func(s setting) bool { return s.key == "core.fsmonitor" }) {
		return errors.New("core.fsmonitor is on, and git does not pass on to submodules that it should be off")
	}
	return nil
}

// private reports whether a work tree that extends beyond the working directories contains the
// user's home: it must not become readable because a project is inside it.
func (q *inquiry) private(top string) bool {
	if slices.ContainsFunc(q.roots, func(root string) bool { return within(top, root) }) {
		return false
	}
	return q.home == "" || within(real(q.home), top)
}

// age distrusts a repository that is newer than the judge, because a command of this session
// may have created it.
func (q *inquiry) age(v *Verdict) error {
	made, known := creationTime(v.Dir)
	if !known || made.Before(q.began) || made.Equal(q.made[real(v.Dir)]) {
		return nil
	}
	err := fmt.Errorf("the repository %s was made during this session", v.Top)
	if len(q.roots) > 0 && v.Top != q.roots[0] && within(v.Top, q.roots[0]) {
		return err
	}
	if v.unjailed == nil {
		v.unjailed = err
	}
	return nil
}

// links returns the paths of the submodules in the index.
func (q *inquiry) links(v *Verdict) ([]string, error) {
	links, index, err := readLinks(v.Dir, v.hash)
	if errors.Is(err, errOdd) {
		return nil, err
	}
	if err != nil { // a split index, for example
		index = dependency{indexOf(v.Dir), entry, stampOf(indexOf(v.Dir), entry)}
		links, err = q.listLinks(v)
	}
	v.indexes, v.links = append(v.indexes, index), v.links || len(links) > 0
	return links, err
}

// listLinks is links, implemented by running git.
func (q *inquiry) listLinks(v *Verdict) ([]string, error) {
	out, err := q.ask(v.Top, guards(), "ls-files", "--stage", "-z", "--full-name")
	if err != nil {
		return nil, err
	}
	v.links = true // a changed index needs a new inquiry
	var links []string
	for len(out) > 0 {
		entry, rest, _ := bytes.Cut(out, []byte{0})
		out = rest
		_, name, ok := bytes.Cut(entry, []byte{'\t'})
		if !ok {
			return nil, errors.New("git's answer about its index is not understood")
		}
		if isOutsideTree(name) {
			return nil, fmt.Errorf("%w %q", errOdd, name)
		}
		if bytes.HasPrefix(entry, []byte("160000 ")) {
			links = append(links, string(name))
		}
	}
	return links, nil
}

// isOutsideTree reports whether an index path is outside the work tree or inside the git directory.
func isOutsideTree(name []byte) bool {
	if len(name) == 0 || name[0] == '/' {
		return true
	}
	for len(name) > 0 {
		part, rest, _ := bytes.Cut(name, []byte{'/'})
		if len(part) == 0 || len(part) <= 4 && part[0] == '.' && (len(part) == 1 || string(part) == ".." || bytes.EqualFold(part, []byte(".git"))) {
			return true
		}
		name = rest
	}
	return false
}

// submodule examines a submodule, in which git starts another git.
func (q *inquiry) submodule(v *Verdict, link string, depth int) error {
	dir := filepath.Join(v.Top, filepath.FromSlash(link))
	if !q.roles.add(dir, entry).dir() || !q.roles.add(filepath.Join(dir, ".git"), entry).exists() {
		return nil // does not exist
	}
	if q.submodules++; q.submodules > maxSubmodules || depth > 3 {
		return errors.New("it has too many submodules")
	}
	v.linked = true
	sub := q.judge(dir, depth+1)
	switch {
	case sub.doubt != nil:
		return fmt.Errorf("submodule %s: %w", link, sub.doubt)
	case sub.Top != dir:
		return fmt.Errorf("submodule %s: it is not the repository that git uses there", link)
	}
	if v.unjailed == nil {
		v.unjailed = sub.unjailed
	}
	if v.filtered == nil {
		v.filtered = sub.filtered
	}
	v.indexes, v.dirs = append(v.indexes, sub.indexes...), append(v.dirs, sub.dirs...)
	v.overrides = append(v.overrides, sub.overrides...)
	v.secrets = append(v.secrets, sub.secrets...)
	for _, place := range sub.reads {
		if !strings.HasPrefix(place, v.Top) {
			v.reads = append(v.reads, place)
		}
	}
	return nil
}
