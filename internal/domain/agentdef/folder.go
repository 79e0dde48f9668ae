package agentdef

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"adze/internal/platform/fs/filestate"
	"adze/internal/platform/fs/fsys"
	"adze/internal/platform/proc/parallel"
)

// A folder is the scan result for a root: the agent files in a directory, or the single file
// that is the root.
type folder struct {
	root  Root
	stamp filestate.Stamp
	sure  bool // an equal stamp means that it has not changed
	// total is the number of agent files; files over the limit are not read.
	total int
	files []agentFile // sorted by name
}

// An agentFile is a parsed file.
type agentFile struct {
	name     string // relative name; empty if the root is the file
	stamp    filestate.Stamp
	sure     bool
	link     bool
	made     *Definition // nil if not an agent
	problems []Problem
}

// path returns the path of a file in the directory.
func (f *folder) path(name string) string {
	if name == "" {
		return f.root.Path
	}
	return filepath.Join(f.root.Path, name)
}

// file returns the known state of a file, or nil. f may be nil.
func (f *folder) file(name string) *agentFile {
	if f == nil {
		return nil
	}
	i, found := slices.BinarySearchFunc(f.files, name, func(x agentFile, name string) int { return strings.Compare(x.name, name) })
	if !found {
		return nil
	}
	return &f.files[i]
}

// isSure reports whether any later change to the file will have another stamp.
func isSure(s filestate.Stamp) bool { return time.Since(time.Unix(0, max(s.MTime, s.CTime))) > settled }

// A scanResult is the result of a disk scan.
type scanResult struct {
	known, now map[Root]*folder
	found      *folder // found at the only root
	all        []*Definition
	problems   []Problem
	read       bool // a file was read that was not known
}

func (c *scanResult) problem(p Problem) {
	switch n := len(c.problems); {
	case n < maxProblems:
		c.problems = append(c.problems, p)
	case n == maxProblems:
		c.problems = append(c.problems, Problem{File: p.File, Text: "there are more problems than are shown"})
	}
}

// roots adds the definitions of roots in order. If early is true, fixed roots contribute their
// known state without a scan.
func (c *scanResult) roots(roots []Root, early bool) {
	parts := make([]scanResult, len(roots))
	parallel.Do(len(roots), func(i int) {
		p := &parts[i]
		p.known = c.known
		if old := c.known[roots[i]]; early && roots[i].Fixed && old != nil {
			p.keep(old)
			return
		}
		p.root(roots[i])
	})
	for i := range parts {
		c.add(&parts[i])
	}
}

// add merges the result for one root.
func (c *scanResult) add(p *scanResult) {
	for _, problem := range p.problems {
		c.problem(problem)
	}
	c.all = append(c.all, p.all...)
	c.read = c.read || p.read
	if p.found != nil {
		c.now[p.found.root] = p.found
	}
}

// root adds a root's definitions.
func (c *scanResult) root(root Root) {
	info, err := os.Stat(root.Path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrInvalid) {
		return
	}
	if err != nil {
		c.problem(Problem{File: root.Path, Text: reason(err)})
		return
	}
	old := c.known[root]
	f := &folder{root: root, stamp: filestate.StampOf(info)}
	f.sure = isSure(f.stamp)
	same := old != nil && old.sure && old.stamp == f.stamp
	if !same && !root.holds(root.Path) {
		c.problem(Problem{File: root.Path, Text: leavesText(root)})
		return
	}
	switch {
	case !info.IsDir():
		if strings.HasSuffix(root.Path, mark) {
			c.file(f, old.file(""), agentFile{stamp: f.stamp})
		}
	case same:
		f.total = old.total
		for i := range old.files {
			c.entry(f, old, old.files[i].name)
		}
	default:
		names, err := list(root.Path)
		if err != nil {
			c.problem(Problem{File: root.Path, Text: reason(err)})
			return
		}
		c.read = c.read || f.sure
		f.total = len(names)
		for _, name := range names[:min(len(names), maxFiles)] {
			c.entry(f, old, name)
		}
	}
	c.looked(f)
}

// looked records a scanned folder.
func (c *scanResult) looked(f *folder) {
	if f.total > maxFiles {
		c.problem(Problem{File: f.root.Path, Text: fmt.Sprintf("only the first %d of its %d files are read", maxFiles, f.total)})
	}
	c.found = f
}

// keep adds a folder's definitions from its known state.
func (c *scanResult) keep(f *folder) {
	for i := range f.files {
		for _, p := range f.files[i].problems {
			c.problem(p)
		}
		if d := f.files[i].made; d != nil {
			c.all = append(c.all, d)
		}
	}
	c.looked(f)
}

// Limits for subdirectories of an agents directory.
const (
	maxDepth   = 5
	maxFolders = 200
)

// WithFolders returns a root followed by roots for its subdirectories, which hold agents too.
// It does not follow symlinks to directories and skips names that begin with a dot.
func WithFolders(root Root) []Root {
	roots := []Root{root}
	for i, depth := 0, []int{0}; i < len(roots); i++ {
		entries, err := os.ReadDir(roots[i].Path)
		if err != nil { // reported when the root is scanned
			continue
		}
		for _, e := range entries {
			if e.IsDir() && e.Name()[0] != '.' && depth[i] < maxDepth && len(roots) < maxFolders {
				sub := root
				sub.Path = filepath.Join(roots[i].Path, e.Name())
				roots, depth = append(roots, sub), append(depth, depth[i]+1)
			}
		}
	}
	return roots
}

// list returns the sorted names of the agent files in a directory.
func list(dir string) (names []string, err error) {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), mark) && !strings.HasPrefix(e.Name(), ".") && !e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names, err
}

// entry adds the definition of a file in a directory whose known state is old.
func (c *scanResult) entry(f, old *folder, name string) {
	path := f.path(name)
	info, err := os.Lstat(path)
	link := err == nil && info.Mode()&fs.ModeSymlink != 0
	if link {
		if info, err = os.Stat(path); err == nil && !f.root.holds(path) {
			c.problem(Problem{File: path, Text: leavesText(f.root)})
			f.files = append(f.files, agentFile{name: name, link: true}) // its target may change
			return
		}
	}
	switch {
	case errors.Is(err, fs.ErrNotExist): // just removed, or a dangling symlink
		f.files = append(f.files, agentFile{name: name, link: link})
	case err != nil:
		c.problem(Problem{File: path, Text: reason(err)})
		f.files = append(f.files, agentFile{name: name, link: link})
	default:
		c.file(f, old.file(name), agentFile{name: name, stamp: filestate.StampOf(info), link: link})
	}
}

// file adds the definition of a file, reading it if it may have changed.
func (c *scanResult) file(f *folder, old *agentFile, now agentFile) {
	if old != nil && old.sure && old.stamp == now.stamp && old.link == now.link {
		now = *old
	} else {
		now.sure = isSure(now.stamp)
		c.read = c.read || now.keeps()
		now.read(f.root, f.path(now.name))
		if old != nil && now.says(old) {
			now.made, now.problems = old.made, old.problems
		}
	}
	f.files = append(f.files, now)
	for _, p := range now.problems {
		c.problem(p)
	}
	if now.made != nil {
		c.all = append(c.all, now.made)
	}
}

// says reports whether two files have the same content.
func (x *agentFile) says(o *agentFile) bool {
	return reflect.DeepEqual(x.made, o.made) && slices.Equal(x.problems, o.problems)
}

func (x *agentFile) read(root Root, path string) {
	data, err := fsys.ReadSmall(path, MaxFile)
	if err != nil {
		x.problems = []Problem{{File: path, Text: reason(err)}}
		return
	}
	x.made, x.problems, err = Parse(path, data, root.Source)
	if err != nil {
		var p Problem
		errors.As(err, &p)
		x.problems = append(x.problems, p)
		return
	}
	x.made.Name = root.Prefix + x.made.Name
}

// holds reports whether a path, with symlinks resolved, stays inside the directory that
// symlinks may not leave.
func (r Root) holds(path string) bool {
	if r.Within == "" || r.plain(path) {
		return true
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return false
	}
	within, err := filepath.EvalSymlinks(r.Within)
	if err != nil {
		return false
	}
	rel, err := filepath.Rel(within, real)
	return err == nil && filepath.IsLocal(rel)
}

// plain reports whether a path lies below that directory with no symlink in between, so that it
// can't lead out.
func (r Root) plain(path string) bool {
	const separator = string(filepath.Separator)
	rest, below := strings.CutPrefix(path, r.Within+separator)
	if !below || !filepath.IsLocal(rest) || filepath.Clean(rest) != rest {
		return false
	}
	at := r.Within
	for name := range strings.SplitSeq(rest, separator) {
		at += separator + name
		if info, err := os.Lstat(at); err != nil || info.Mode()&(fs.ModeSymlink|fs.ModeIrregular) != 0 {
			return false
		}
	}
	return true
}

func leavesText(r Root) string {
	return "it is a link that leads out of " + r.Within + "; it is not used"
}

// reason returns a system error without the path.
func reason(err error) string {
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	return "it cannot be read: " + err.Error()
}
