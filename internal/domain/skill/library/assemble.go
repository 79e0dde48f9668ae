package library

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"adze/internal/domain/skill"
	"adze/internal/platform/fs/filestate"
)

// maxProblems is the maximum number of problems in a set.
const maxProblems = 1000

// batchSize is the maximum number of skills allocated at a time, because allocating many
// individually is slow.
const batchSize = 256

// maxName is the maximum length of a name.
const maxName = skill.MaxName

// An assembly builds a Set from scan results.
type assembly struct {
	set   *Set
	all   []*skill.Skill   // highest precedence first
	batch []skill.Skill    // preallocated skills
	files map[inode]string // first path of each file
	reals map[string]bool  // real paths of files without an inode, or that share one
	full  string           // last root that exceeded the entry limit
}

type inode struct{ device, number uint64 }

// assemble builds a set from the scan results.
func (sc *scanner) assemble(reserved func(string) bool) *Set {
	n := sc.count()
	a := assembly{set: &Set{}, all: make([]*skill.Skill, 0, n), files: make(map[inode]string, n), reals: map[string]bool{}}
	order := make([]int, len(sc.roots))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		return cmp.Compare(sc.roots[i].Origin.Kind, sc.roots[j].Origin.Kind)
	})
	for _, i := range order {
		if f := sc.found[i]; f != nil {
			a.folder(&sc.roots[i], f, sc.roots[i].Prefix)
		}
	}
	for _, s := range sc.extra {
		if !skill.ValidName(s.Name) {
			a.problem(s.File, "", "a skill cannot be called "+quoteName(s.Name))
			continue
		}
		a.all = append(a.all, s)
	}
	byKind := func(x, y *skill.Skill) int { return cmp.Compare(x.Origin.Kind, y.Origin.Kind) }
	if !slices.IsSortedFunc(a.all, byKind) {
		slices.SortStableFunc(a.all, byKind)
	}
	a.resolve(reserved)
	return a.set
}

// count returns the approximate number of skills found.
func (sc *scanner) count() int {
	n := len(sc.extra)
	for _, f := range sc.found {
		if f != nil {
			n += len(f.entries)
		}
	}
	return n
}

// resolve decides which of several skills with the same name is used.
func (a *assembly) resolve(reserved func(string) bool) {
	byName := make(map[string]*skill.Skill, len(a.all))
	a.set.Skills = make([]*skill.Skill, 0, len(a.all))
	for _, s := range a.all {
		first, taken := byName[s.Name]
		switch {
		case reserved != nil && reserved(s.Name):
			a.set.Shadowed = append(a.set.Shadowed, Shadowed{Skill: s})
		case taken:
			a.set.Shadowed = append(a.set.Shadowed, Shadowed{s, first})
		default:
			byName[s.Name] = s
			a.set.Skills = append(a.set.Skills, s)
		}
	}
	slices.SortFunc(a.set.Skills, func(x, y *skill.Skill) int { return strings.Compare(x.Name, y.Name) })
}

func (a *assembly) problem(file, field, text string) {
	switch n := len(a.set.Problems); {
	case n < maxProblems:
		a.set.Problems = append(a.set.Problems, skill.Problem{File: file, Field: field, Text: text})
	case n == maxProblems:
		a.set.Problems = append(a.set.Problems, skill.Problem{File: file, Text: "there are more problems than are shown"})
	}
}

// folder adds the skills in a directory, prefixing their names.
func (a *assembly) folder(root *Root, f *folder, prefix string) {
	if f.broken != "" {
		a.problem(f.path, "", f.broken)
		return
	}
	if dir, _ := root.folder(); f.more && a.full != dir { // the limit covers all directories below the root
		a.full = dir
		a.problem(dir, "", fmt.Sprintf("it holds more than %d names; the others are not looked at", maxEntries))
	}
	var loose []string
	_, only := root.folder()
	for i := range f.entries {
		e := &f.entries[i]
		name := prefix + e.name
		switch {
		case only != "" && e.name != only:
		case e.file == nil && e.sub != nil:
			a.folder(root, e.sub, name+":")
		case e.file == nil && !f.commands && isLoose(e.name):
			loose = append(loose, e.name)
		case e.file == nil:
		case f.commands && strings.HasSuffix(e.name, mark) && !e.file.inFolder:
			a.file(root, e.file, strings.TrimSuffix(name, mark), f.dir()+separator+e.name)
		default:
			a.file(root, e.file, name, f.dir()+separator+e.name+inFolder)
		}
	}
	if len(loose) > 0 {
		a.problem(filepath.Join(f.path, loose[0]), "", hint(loose))
	}
}

// isLoose reports whether a file in a skills directory looks like a misplaced skill.
func isLoose(name string) bool {
	return strings.HasSuffix(name, mark) && !strings.EqualFold(name, "README.md")
}

// hint explains how to turn loose files into skills.
func hint(loose []string) string {
	text := "it is not used: a skill is a folder with a file " + skillFile + ", here " + strings.TrimSuffix(loose[0], mark) + "/" + skillFile
	if n := len(loose) - 1; n > 0 {
		text += fmt.Sprintf("; the folder has %d more such files", n)
	}
	return text
}

// file adds a file's skill, unless it was already added under another path.
func (a *assembly) file(root *Root, r *record, name, path string) {
	if !a.first(r, path) {
		return
	}
	for _, p := range r.problems {
		a.problem(path, p.Field, p.Text)
	}
	switch {
	case r.broken != nil:
		a.problem(path, r.broken.Field, r.broken.Text)
		return
	case !skill.ValidName(name):
		a.problem(path, "", "a skill cannot be called "+quoteName(name)+": use letters, digits and _ : . - in the name")
		return
	}
	if s := r.made; s == nil || s.Name != name || s.Origin != root.Origin || s.File != path {
		if len(a.batch) == 0 {
			a.batch = make([]skill.Skill, min(batchSize, max(cap(a.all)-len(a.all), 1)))
		}
		r.made, a.batch = &a.batch[0], a.batch[1:]
		*r.made = skill.Skill{Name: name, Head: r.head, Origin: root.Origin, File: path, Dir: path[:strings.LastIndex(path, separator)], Text: text(path, &r.head)}
	}
	a.all = append(a.all, r.made)
}

// first reports whether a file is not yet known under another path. Two names that share an
// inode but are not symlinks to each other, such as deduplicated copies, are two files.
func (a *assembly) first(r *record, path string) bool {
	id := inode{r.stamp.Dev, r.stamp.Inode}
	if r.stamp == (filestate.Stamp{}) {
		return true // nothing is known about it
	}
	if id.number != 0 {
		other, shared := a.files[id]
		if !shared {
			a.files[id] = path
			return true
		}
		a.reals[realPath(other)] = true
	}
	real := realPath(path)
	if a.reals[real] {
		return false
	}
	a.reals[real] = true
	return true
}

func realPath(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// text returns a function that reads a skill's prompt. It fails if the front matter has changed
// since: that would be a different skill.
func text(path string, h *skill.Head) func(context.Context) (string, error) {
	return func(context.Context) (string, error) {
		i, err := anywhere.stat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return "", fmt.Errorf("the skill is gone: %s does not exist any more", path)
		case err != nil:
			return "", fmt.Errorf("%s: %s", path, words(err))
		case !i.regular || i.stamp.Size > skill.MaxFile:
			return "", fmt.Errorf("%s is no longer a regular file of at most %d bytes", path, skill.MaxFile)
		}
		data := make([]byte, i.stamp.Size+1)
		n, err := anywhere.read(path, data, -1)
		if errors.Is(err, errLink) {
			var real string
			if real, err = target(path); err == nil {
				n, err = anywhere.read(real, data, -1)
			}
		}
		if err != nil {
			return "", fmt.Errorf("%s: %s", path, words(err))
		}
		now, body, _, err := skill.Parse(path, data[:n])
		if err != nil {
			return "", err
		}
		if int64(n) > i.stamp.Size || !reflect.DeepEqual(now, *h) {
			return "", fmt.Errorf("%s has just been changed; call the skill again", path)
		}
		return body, nil
	}
}

// quoteName returns an invalid name in printable form.
func quoteName(name string) string {
	if len(name) > maxName {
		name = name[:maxName]
	}
	return fmt.Sprintf("%q", name)
}
