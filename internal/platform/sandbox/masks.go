package sandbox

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
)

// masks are stand-ins for protected names that are not there. A name can only be kept from being
// created if something stands in its place; an empty directory disturbs no program, and an empty file
// the least of what is left. They are shared by the commands that run at a time, also by those of other
// processes, and removed with the last: without it the name would be free again.
type masks struct {
	mu    sync.Mutex
	inUse map[string]*mask
	dir   string // of the sandbox; "" before the first
}

type mask struct {
	users int
	made  os.FileInfo
}

// add puts stand-ins for what is not there at the top of the policy's roots, if the tier can make use
// of them, until release is called.
func (m *masks) add(p *policy, t Tier) (release func(), err error) {
	if t != Bubblewrap {
		return func() {}, nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	defer lock(p.roots...)()
	p.guards, m.dir = nil, filepath.Dir(p.temp)
	planned := slices.Collect(maps.Keys(m.inUse))
	others := relied(m.dir)
	for _, root := range p.roots {
		list, err := guards(root, p.home)
		if err != nil {
			return nil, err
		}
		p.guards = append(p.guards, list...)
	}
	stands := func(g guard) bool {
		return !g.here || m.inUse[g.path] != nil || others[g.path] && hollow(g.path)
	}
	for _, g := range p.guards {
		if stands(g) {
			planned = append(planned, g.path)
		}
	}
	if err := note(p.own(), planned); err != nil {
		return nil, err
	}
	var taken []string
	for _, g := range p.guards {
		if !stands(g) {
			continue
		}
		if err := m.take(g); err != nil {
			m.release(taken)
			return nil, fmt.Errorf("protecting %s: %w", g.path, err)
		}
		taken = append(taken, g.path)
	}
	p.masked = taken
	return func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		defer lock(p.roots...)()
		m.release(taken)
	}, nil
}

func (m *masks) take(g guard) error {
	if have := m.inUse[g.path]; have != nil {
		have.users++
		return nil
	}
	if err := standIn(g); err != nil {
		return err
	}
	info, err := os.Lstat(g.path)
	if err != nil {
		return err
	}
	if m.inUse == nil {
		m.inUse = map[string]*mask{}
	}
	m.inUse[g.path] = &mask{users: 1, made: info}
	return nil
}

// standIn makes what stands in for a name. What came there meanwhile stays.
func standIn(g guard) error {
	if g.dir {
		return ignoreExist(os.Mkdir(g.path, 0o700))
	}
	f, err := os.OpenFile(g.path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return ignoreExist(err)
	}
	if strings.HasSuffix(g.path, ".json") {
		_, err = f.WriteString(emptyJSON)
	}
	return errors.Join(err, f.Close())
}

// emptyJSON is what stands in for a file that others may read while it is there.
const emptyJSON = "{}\n"

// hollow reports whether what is at path could be a stand-in.
func hollow(path string) bool {
	info, err := os.Lstat(path)
	if err != nil || !info.IsDir() {
		return err == nil && info.Mode().IsRegular() && info.Size() <= int64(len(emptyJSON))
	}
	entries, err := os.ReadDir(path)
	return err == nil && len(entries) == 0
}

func ignoreExist(err error) error {
	if errors.Is(err, os.ErrExist) {
		return nil
	}
	return err
}

// release gives stand-ins back. Those no longer in use are removed.
func (m *masks) release(paths []string) {
	gone := map[string]*mask{}
	for _, path := range paths {
		have := m.inUse[path]
		if have == nil { // the sandbox was closed
			continue
		}
		if have.users--; have.users == 0 {
			gone[path] = have
			delete(m.inUse, path)
		}
	}
	m.drop(gone)
}

// drop removes stand-ins that are no longer ours, unless another process needs them: it removes them then.
func (m *masks) drop(gone map[string]*mask) {
	if len(gone) == 0 {
		return
	}
	note(filepath.Join(m.dir, ownName), slices.Collect(maps.Keys(m.inUse))) // ok: others find out that we ended
	others := relied(m.dir)
	for path, k := range gone {
		if !others[path] {
			k.remove(path)
		}
	}
}

// remove takes a stand-in away, unless something else is in its place, or in it.
func (k *mask) remove(path string) {
	info, err := os.Lstat(path)
	if err != nil || !os.SameFile(info, k.made) ||
		!info.IsDir() && (info.Size() != k.made.Size() || !info.ModTime().Equal(k.made.ModTime())) {
		return
	}
	if info.IsDir() {
		syscall.Rmdir(path) // ok: what is not empty is no stand-in
		return
	}
	os.Remove(path) // ok: nothing depends on it
}

func (m *masks) close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	dirs := map[string]bool{}
	for path := range m.inUse {
		dirs[filepath.Dir(path)] = true
	}
	defer lock(slices.Sorted(maps.Keys(dirs))...)()
	gone := m.inUse
	m.inUse = nil
	m.drop(gone)
}

// watchPlanted remembers which repositories and settings there are where nothing is masked: one level
// below the roots, and names that are obeyed in a home directory only. The returned function says which came since.
func watchPlanted(p *policy) func() []string {
	before := planted(p)
	return func() []string {
		var news []string
		for path := range planted(p) {
			if !before[path] {
				news = append(news, path+" was created: what it holds is run or obeyed by other programs, "+
					"so look at it before you use git or other tools there")
			}
		}
		return news
	}
}

// watched are the names whose appearance below a root is told.
var watched = [...]string{".git", ".adze", ".claude", ".mcp.json"}

func planted(p *policy) map[string]bool {
	found := map[string]bool{}
	for _, root := range p.roots {
		for _, name := range homeFiles {
			path := filepath.Join(root, name)
			if _, err := os.Lstat(path); err == nil {
				found[path] = true
			}
		}
		entries, err := os.ReadDir(root)
		if err != nil || len(entries) > maxWatched {
			continue
		}
		for _, e := range entries {
			if !e.IsDir() {
				continue
			}
			for _, name := range watched {
				path := filepath.Join(root, e.Name(), name)
				if _, err := os.Lstat(path); err == nil {
					found[path] = true
				}
			}
		}
	}
	return found
}

// maxWatched bounds what is looked at before and after each command.
const maxWatched = 500
