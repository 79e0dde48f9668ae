package permission

import (
	"slices"
	"strings"
	"sync"

	"adze/internal/permission/rule"
	"adze/internal/platform/sandbox/jail"
)

// knownPaths holds the directories and files a policy knows by name, each as given and with
// symlinks resolved, normalized for comparison.
type knownPaths struct {
	dirs     []string // working directories
	start    []string // the first of them
	left     []string // repository copies that the session left for a worktree
	readable []string
	// public returns the directories that jailed commands may read, including the working
	// directories.
	public   func() []string
	editable []string
	guarded  []string        // adze's own directories
	home     []string        // the user's home directory
	obeyed   func() []string // files git obeys in the working directories
	plan     []string        // the plan file
	scratch  []string        // the temporary directory
}

// look computes the configuration's places.
func (p *Policy) look() *knownPaths {
	c, forms := &p.cfg, p.anchors.Forms
	var left []string
	for _, copied := range c.Copies {
		left = append(left, copied.Main)
	}
	return &knownPaths{
		dirs:     forms(c.workingDirs()...),
		start:    forms(c.start()),
		left:     forms(left...),
		readable: forms(append(slices.Clip(c.Readable), left...)...),
		public:   sync.OnceValue(func() []string { return forms(slices.Concat(c.workingDirs(), left, jail.Public())...) }),
		editable: forms(c.Editable...),
		guarded:  forms(c.Protected...),
		home:     forms(c.Home),
		obeyed: sync.OnceValue(func() []string {
			if c.Obeyed == nil || !c.Mode.AcceptsEdits() && !c.Mode.Unattended() && p.rules.Allow.Edits.Any() == nil {
				return nil // each change asks anyway
			}
			var all []string
			for _, dir := range c.workingDirs() {
				all = append(all, c.Obeyed(dir)...)
			}
			return forms(all...)
		}),
		plan:    forms(c.PlanFile),
		scratch: forms(c.Scratch),
	}
}

// contains reports whether all names are in working directories.
func (p *knownPaths) contains(names []string) bool { return inside(p.dirs, names) && !aside(names) }

// behind reports whether any name is in a repository copy that the session left, and not in its
// worktree.
func (p *knownPaths) behind(names []string) bool {
	return len(p.left) > 0 && slices.ContainsFunc(names, func(name string) bool {
		return inside(p.left, []string{name}) && !inside(p.start, []string{name})
	})
}

// scratched reports whether all names are in the temporary directory. Files that programs
// execute or obey do not count: a repository created there could run code.
func (p *knownPaths) scratched(names []string) bool {
	for _, name := range names {
		below := slices.ContainsFunc(p.scratch, func(dir string) bool {
			rest, ok := rule.Below(dir, name)
			return ok && obeyed(strings.Split(strings.Trim(plain(rest), "/"), "/"), true) == ""
		})
		if !below {
			return false
		}
	}
	return len(names) > 0
}

// inside reports whether every path is in or below dirs.
func inside(dirs, paths []string) bool {
	for _, path := range paths {
		if !slices.ContainsFunc(dirs, func(dir string) bool { _, ok := rule.Below(dir, path); return ok }) {
			return false
		}
	}
	return len(paths) > 0
}

// aside reports whether a path goes through a process's view of the file system, which never
// counts as inside a directory.
func aside(paths []string) bool {
	return slices.ContainsFunc(paths, func(path string) bool {
		rest, ok := strings.CutPrefix(path, "/proc/")
		return ok && slices.ContainsFunc(strings.Split(rest, "/"), func(name string) bool { return name == "root" || name == "cwd" || name == "fd" })
	})
}
