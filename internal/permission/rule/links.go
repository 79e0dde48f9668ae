package rule

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"adze/internal/platform/fs/filestate"
)

// links records which names on rule paths are symlinks, and detects changes. A directory is
// read again only if it changed.
type links struct {
	mu   sync.Mutex
	dirs map[string]*linkDir
}

// A linkDir holds a directory's relevant names with their link targets, or "" if a name is
// missing or not a symlink.
type linkDir struct {
	stamp filestate.Stamp
	young bool // changed so recently that another change may be invisible, or changes never show
	names map[string]string
}

// maxLinks is the maximum number of symlinks followed, as in kernels.
const maxLinks = 40

// settled is the age after which a further change to a directory is certain to alter its
// timestamp.
const settled = 100 * time.Millisecond

// real returns the path with symlinks resolved, whether or not all of it exists. A symlink loop
// leaves it unchanged.
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

// target returns the target of name in dir, or "", and records it.
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

// look updates the directory's stamp and reports whether the directory may have changed.
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

// stale reports whether a name's target has changed.
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
