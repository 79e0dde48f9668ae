package plugin

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"adze/internal/platform/fs/fsys"
	"adze/internal/platform/proc/osproc"
)

// stageTime is the maximum age of a stage in use.
const stageTime = 24 * time.Hour

// Stage creates a directory to fetch into, on the same file system as the store. The caller
// removes it; if this process is killed, another one does.
func (s *Store) Stage() (dir string, err error) {
	dir = filepath.Join(s.dir, "tmp", strconv.Itoa(os.Getpid())+"-"+rand.Text())
	return dir, fsys.MkdirPrivate(dir)
}

// sweep removes stages left by killed processes.
func (s *Store) sweep() {
	tmp := filepath.Join(s.dir, "tmp")
	entries, _ := os.ReadDir(tmp) // ok: without the directory there is nothing to remove
	for _, e := range entries {
		pid, _, _ := strings.Cut(e.Name(), "-")
		n, err := strconv.Atoi(pid)
		info, err2 := e.Info()
		if err == nil && err2 == nil && osproc.Alive(n) && time.Since(info.ModTime()) < stageTime {
			continue
		}
		_ = removeAll(filepath.Join(tmp, e.Name())) // ok: the next run tries again
	}
	_ = os.Remove(tmp) // ok: another process uses it
}

// move moves the directory from to to, after syncing its files to disk: the state that names
// the directory is written later and must not name files that a power loss has emptied. An
// existing directory is replaced.
func (s *Store) move(from, to string) error {
	if err := fsys.MkdirPrivate(filepath.Dir(to)); err != nil {
		return err
	}
	if err := settle(from); err != nil {
		return fmt.Errorf("saving the files: %w", err)
	}
	if err := s.rename(from, to); err != nil {
		return err
	}
	return fsys.SyncDir(filepath.Dir(to))
}

// settle syncs the files and directories below dir to disk.
func settle(dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			return fsys.SyncDir(path)
		case !d.Type().IsRegular():
			return nil
		}
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			return err
		}
		return errors.Join(f.Sync(), f.Close())
	})
}

// rename renames the directory from to to, replacing an existing one.
func (s *Store) rename(from, to string) error {
	if _, err := os.Lstat(to); err == nil {
		aside, err := s.Stage()
		if err != nil {
			return err
		}
		defer removeAll(aside)
		if err := os.Rename(to, filepath.Join(aside, "old")); err != nil {
			return err
		}
		if err := os.Rename(from, to); err != nil {
			return errors.Join(err, os.Rename(filepath.Join(aside, "old"), to))
		}
		return nil
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.Rename(from, to)
}

// clean removes files that the state does not name. The caller holds the lock.
func (s *Store) clean(st *state) {
	s.sweep()
	wanted := map[string]bool{}
	for _, in := range st.Installed {
		wanted[s.pluginDir(in.ID, in.Hash)], wanted[s.sealFile(in.ID, in.Hash)] = true, true
		for _, f := range in.Former {
			if time.Since(f.At) < formerTime {
				wanted[s.pluginDir(in.ID, f.Hash)] = true
			}
		}
	}
	for _, m := range st.Markets {
		if m.Tree != "" {
			wanted[s.MarketDir(*m)] = true
		}
	}
	prune(filepath.Join(s.dir, "cache"), 3, wanted)
	prune(filepath.Join(s.dir, "seals"), 3, wanted)
	prune(filepath.Join(s.dir, "markets"), 2, wanted)
}

// prune removes unwanted directories the given number of levels below dir, and then empty ones.
func prune(dir string, levels int, wanted map[string]bool) {
	if levels == 0 {
		if !wanted[dir] {
			_ = removeAll(dir) // ok: the next change tries again
		}
		return
	}
	entries, _ := os.ReadDir(dir) // ok: leave unreadable directories alone
	for _, e := range entries {
		prune(filepath.Join(dir, e.Name()), levels-1, wanted)
	}
	_ = os.Remove(dir) // ok: it is not empty
}

// removeAll removes a directory, even if it contains read-only directories.
func removeAll(dir string) error {
	err := os.RemoveAll(dir)
	if err == nil {
		return nil
	}
	_ = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error { // ok: the removal below reports errors
		if d != nil && d.IsDir() {
			_ = os.Chmod(name, 0o700)
		}
		return nil
	})
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("removing %s: %w", dir, err)
	}
	return nil
}
