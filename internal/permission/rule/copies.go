package rule

import (
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"adze/internal/platform/search/glob"
)

// A Copy is a working copy of a repository: Root has the same files as Main.
type Copy struct {
	Root string `json:"root"`
	Main string `json:"main"`
}

// Copies holds a repository's working copies. A rule that protects a file in one copy protects
// it in all: paths and rules are also compared as if they were in the main copy.
type Copies struct {
	list []Copy // normalized for comparison
}

// newCopies returns the copies in c, as given and with symlinks resolved.
func newCopies(c []Copy, a *Anchors) *Copies {
	var all Copies
	for _, one := range c {
		for _, root := range a.Forms(one.Root) {
			if main := a.Form(filepath.Clean(one.Main)); root != main {
				all.list = append(all.list, Copy{Root: root, Main: main})
			}
		}
	}
	return &all
}

// main returns the main copy's path for a path in another copy. A copy may itself have copies.
func (c *Copies) main(name string) (string, bool) {
	if c == nil {
		return "", false
	}
	found := false
	for range c.list { // a copy takes at most one step
		best, rest := Copy{}, ""
		for _, one := range c.list {
			if rel, ok := Below(one.Root, name); ok && len(one.Root) > len(best.Root) {
				best, rest = one, rel
			}
		}
		if best.Root == "" {
			break
		}
		name, found = path.Join(best.Main, rest), true
	}
	return name, found
}

// Main returns a file's path in its repository's main copy, or the path itself if it is in no
// other copy.
func (a *Anchors) Main(name string) string {
	if main, ok := a.copies.main(a.Form(filepath.Clean(name))); ok {
		return main
	}
	return name
}

// dirs returns dir and the main copy's directories with the same files: dir may be in a copy,
// or contain copies.
func (c *Copies) dirs(dir string) []string {
	dirs := []string{dir}
	if c == nil {
		return dirs
	}
	if main, ok := c.main(dir); ok {
		dirs = append(dirs, main)
	}
	for _, one := range c.list {
		if rel, ok := Below(dir, one.Root); ok && rel != "" {
			main, _ := c.main(one.Root)
			dirs = append(dirs, main)
		}
	}
	return dirs
}

// placeCopy adds a place for the main copy's version of a file in a copy.
func (r *pathRule) placeCopy(base, rest string, c *Copies) {
	if rest == "" || rest[0] != '/' {
		if main, ok := c.main(foldPath(base, r.fold)); ok {
			r.place(main, rest)
		}
		return
	}
	dir, pattern := rest, ""
	if strings.ContainsAny(rest, `*?[{\`) {
		dir, pattern = glob.Split(rest)
	}
	main, ok := c.main(foldPath(path.Join(base, dir), r.fold))
	switch {
	case !ok:
	case pattern != "":
		r.place(main, pattern)
	default:
		r.place(path.Dir(main), "/"+Literal(path.Base(main)))
	}
}

// Worktrees holds the working copies registered with git.
type Worktrees struct {
	Copies []Copy // all except the main one

	folder string    // git's registration directory; empty outside a repository
	stamp  time.Time // modification time of folder; zero if it does not exist
	read   time.Time
}

// FindWorktrees returns the worktrees of dir's repository. It reads files and runs nothing.
func FindWorktrees(dir string) *Worktrees {
	w := &Worktrees{read: time.Now()}
	top, common := gitDirs(dir)
	if common == "" {
		return w
	}
	main := common // a bare repository's directory
	if filepath.Base(common) == ".git" {
		main = filepath.Dir(common)
	}
	if top != main {
		w.Copies = append(w.Copies, Copy{Root: top, Main: main})
	}
	w.folder = filepath.Join(common, "worktrees")
	w.stamp = modTime(w.folder)
	entries, err := os.ReadDir(w.folder)
	if err != nil {
		return w // no registered worktrees
	}
	for _, e := range entries[:min(len(entries), maxCopies)] {
		entry := filepath.Join(w.folder, e.Name())
		if link := readLine(filepath.Join(entry, "gitdir"), entry); link != "" && filepath.Dir(link) != top {
			w.Copies = append(w.Copies, Copy{Root: filepath.Dir(link), Main: main})
		}
	}
	return w
}

// Stale reports whether worktrees may have been added or removed since.
func (w *Worktrees) Stale() bool {
	if w == nil || w.folder == "" {
		return false
	}
	now := modTime(w.folder)
	return !now.Equal(w.stamp) || !now.IsZero() && w.read.Sub(now) < settled
}

func modTime(dir string) time.Time {
	info, err := os.Stat(dir)
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// maxCopies limits the number of worktrees considered.
const maxCopies = 1000

// gitDirs returns the top of dir's working copy and the repository directory its copies share.
// Both are empty outside a repository.
func gitDirs(dir string) (top, common string) {
	for dir = filepath.Clean(dir); ; dir = filepath.Dir(dir) {
		at := filepath.Join(dir, ".git")
		info, err := os.Lstat(at)
		switch {
		case err == nil && info.IsDir():
			return dir, at
		case err == nil && info.Mode().IsRegular():
			link, ok := strings.CutPrefix(readLine(at, ""), "gitdir: ")
			if !ok {
				return "", ""
			}
			own := absolute(dir, link)
			if shared := readLine(filepath.Join(own, "commondir"), own); shared != "" {
				return dir, shared
			}
			return dir, own
		}
		if dir == filepath.Dir(dir) {
			return "", ""
		}
	}
}

// readLine returns the first line of a small file, or "": a path relative to dir unless dir is
// empty.
func readLine(file, dir string) string {
	info, err := os.Lstat(file)
	if err != nil || !info.Mode().IsRegular() || info.Size() > 16<<10 {
		return ""
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(data), "\n")
	line = strings.TrimRight(line, "\r")
	if dir == "" || line == "" {
		return line
	}
	return absolute(dir, line)
}

func absolute(dir, name string) string {
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(dir, name)
}
