package rule

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"adze/internal/platform/filestate"
)

// links remember which names on the way to the paths of rules are links, and notice when that changes.
// A directory is looked at again only if it changed.
type links struct {
	mu   sync.Mutex
	dirs map[string]*linkDir
}

// A linkDir is a directory with the names in it that matter: where each leads, or "" if it is no link or not
// there.
type linkDir struct {
	stamp filestate.Stamp
	young bool // it was changed so recently that another change may not show, or never shows any
	names map[string]string
}

// maxLinks is how many links are followed, as kernels do.
const maxLinks = 40

// settled is after what time a directory that changes again shows another time.
const settled = 100 * time.Millisecond

// real returns the path without links, whether or not everything on it is there. It is as given if its links
// do not end.
func (l *links) real(name string) string {
	at := filepath.VolumeName(name) + string(filepath.Separator)
	rest := strings.Split(filepath.ToSlash(name[len(filepath.VolumeName(name)):]), "/")
	for followed := 0; len(rest) > 0; {
		first := rest[0]
		rest = rest[1:]
		switch first {
		case "", ".":
			continue
		case "..":
			at = filepath.Dir(at)
			continue
		}
		target := l.target(at, first)
		if target == "" {
			at = filepath.Join(at, first)
			continue
		}
		if followed++; followed > maxLinks {
			return name
		}
		if filepath.IsAbs(target) {
			at = filepath.VolumeName(target) + string(filepath.Separator)
			target = target[len(filepath.VolumeName(target)):]
		}
		rest = append(strings.Split(filepath.ToSlash(target), "/"), rest...)
	}
	return at
}

// target returns where the name in dir leads, or "", and remembers it.
func (l *links) target(dir, name string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	d := l.dirs[dir]
	if d == nil {
		if l.dirs == nil {
			l.dirs = map[string]*linkDir{}
		}
		d = &linkDir{names: map[string]string{}}
		d.look(dir)
		l.dirs[dir] = d
	}
	target, ok := d.names[name]
	if !ok {
		target = readLink(dir, name)
		d.names[name] = target
	}
	return target
}

func readLink(dir, name string) string {
	target, err := os.Readlink(filepath.Join(dir, name))
	if err != nil {
		return ""
	}
	return target
}

// look takes the stamp of the directory, and reports whether it may have changed since the last time.
func (d *linkDir) look(dir string) bool {
	var stamp filestate.Stamp
	young := false
	if info, err := os.Stat(dir); err == nil {
		stamp = filestate.StampOf(info)
		young = time.Since(time.Unix(0, stamp.CTime)) < settled || stamp.CTime == 0
	}
	changed := d.young || stamp != d.stamp
	d.stamp, d.young = stamp, young
	return changed
}

// stale reports whether a name leads elsewhere now.
func (l *links) stale() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for dir, d := range l.dirs {
		if !d.look(dir) {
			continue
		}
		for name, target := range d.names {
			if readLink(dir, name) != target {
				return true
			}
		}
	}
	return false
}
