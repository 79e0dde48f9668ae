package instruct

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"adze/internal/platform/fs/fsys"
	"adze/internal/platform/fs/replace"
)

// A Place is a file that a line can be added to.
type Place struct {
	Path string
	Kind Kind
	// New is true if the file does not exist yet. If Keeps is not empty, the new file starts by
	// including it: that file is read only while this one does not exist.
	New   bool
	Keeps string
}

// Places returns the files that a line can be added to: top-level files that the user may
// write, and new ones where a project or the user has none. Other programs' files are not
// included.
func (s *Set) Places() []Place {
	sc := s.scan()
	var places []Place
	if !s.c.Withheld && !s.c.Bare {
		places = sc.places(Project, projectNames[:])
		if len(places) == 0 {
			places = s.fresh(Place{Path: filepath.Join(s.c.Root, "AGENTS.md"), Kind: Project})
		}
	}
	if s.c.User != "" && !s.c.Bare {
		places = append(places, sc.usersPlace()...)
	}
	return append(places, sc.places(Local, localNames[:])...)
}

// places returns the active files of a kind with a name in names, within the project.
func (sc *scanner) places(kind Kind, names []string) []Place {
	var places []Place
	for _, f := range sc.files {
		named := slices.ContainsFunc(names, func(name string) bool { return filepath.Base(name) == filepath.Base(f.Path) })
		if f.Kind == kind && f.Parent == "" && named && within(sc.s.c.Root, f.Path) && sc.s.writable(f.Path) {
			places = append(places, Place{Path: f.Path, Kind: kind})
		}
	}
	return places
}

// usersPlace returns the user's file. If another program's file is read as long as the user's
// is missing, the new file includes it.
func (sc *scanner) usersPlace() []Place {
	p := Place{Path: filepath.Join(sc.s.c.User, "ADZE.md"), Kind: User}
	for _, f := range sc.files {
		switch {
		case f.Kind != User || f.Parent != "":
		case f.Path != p.Path:
			p.Keeps = f.Path
		case sc.s.writable(f.Path):
			return []Place{p}
		}
	}
	if p.Keeps != "" && !slices.Equal(references("@"+p.Keeps), []string{p.Keeps}) {
		return nil // the name can't be written as an include
	}
	return sc.s.fresh(p)
}

// fresh returns p if its file is missing or empty, and would be read.
func (s *Set) fresh(p Place) []Place {
	info, err := os.Lstat(p.Path)
	p.New = errors.Is(err, fs.ErrNotExist)
	dir, wrong := filepath.EvalSymlinks(filepath.Dir(p.Path))
	switch {
	case s.excluded(p.Path) || wrong == nil && s.foreign(filepath.Join(dir, filepath.Base(p.Path))):
		return nil
	case p.New || err == nil && info.Mode().IsRegular() && info.Size() == 0 && s.writable(p.Path):
		return []Place{p}
	}
	return nil
}

// writable reports whether this user may write to the file at path, and it does not belong to
// another program.
func (s *Set) writable(path string) bool {
	real, err := filepath.EvalSymlinks(path)
	if err != nil || s.foreign(real) {
		return false
	}
	f, err := os.OpenFile(real, os.O_WRONLY, 0)
	if err != nil {
		return false
	}
	f.Close() // ok: nothing was written
	return true
}

// foreign reports whether a real path lies in another program's directory, in the project or
// elsewhere.
func (s *Set) foreign(path string) bool {
	if other, err := filepath.EvalSymlinks(s.c.Other); err == nil && s.c.Other != "" && within(other, path) {
		return true
	}
	if rel, ok := relative(s.c.Root, path); ok {
		path = rel
	}
	return slices.Contains(strings.Split(filepath.ToSlash(path), "/"), ".claude")
}

// Add appends a line to the file at path, which must be in [Set.Places]. The update is atomic.
func (s *Set) Add(ctx context.Context, files *replace.Replacer, path, line string) error {
	places := s.Places()
	i := slices.IndexFunc(places, func(p Place) bool { return p.Path == path })
	if i < 0 {
		return fmt.Errorf("%s is not a file of instructions that can be added to", path)
	}
	if err := add(ctx, files, places[i], line); err != nil {
		return fmt.Errorf("adding to %s: %w", path, err)
	}
	return nil
}

func add(ctx context.Context, files *replace.Replacer, p Place, line string) error {
	path := p.Path
	perm := fs.FileMode(0o644)
	if p.Kind == User {
		perm = 0o600
		if err := fsys.MkdirPrivate(filepath.Dir(path)); err != nil {
			return err
		}
	}
	if !p.New {
		real, err := filepath.EvalSymlinks(path)
		if err != nil {
			return err
		}
		path = real
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer dir.Close()
	f, err := files.Lock(ctx, dir, filepath.Base(path))
	if err != nil {
		return err
	}
	defer f.Unlock()
	if p.New {
		_, err := f.Create([][]byte{newContent(p.Keeps, line)}, perm)
		return err
	}
	old, err := f.Read(maxSize * utf8.UTFMax)
	if err != nil {
		return err
	}
	defer old.Close()
	more := ending(old.Data, line)
	if n := utf8.RuneCount(old.Data) + utf8.RuneCount(more); n > maxSize {
		return fmt.Errorf("it would have %d characters, but only the first %d are read", n, maxSize)
	}
	_, err = f.Replace(old, [][]byte{old.Data, more})
	return err
}

// newContent returns the content of a new file with the line.
func newContent(keeps, line string) []byte {
	if keeps == "" {
		return []byte(line + "\n")
	}
	return []byte("@" + keeps + "\n\n" + line + "\n")
}

// ending returns the bytes to append so that line becomes the last line, using the file's line
// endings.
func ending(data []byte, line string) []byte {
	end := "\n"
	if bytes.Contains(data, []byte("\r\n")) {
		end = "\r\n"
	}
	line = strings.TrimRightFunc(line, unicode.IsSpace) + end
	if len(data) > 0 && !bytes.HasSuffix(data, []byte("\n")) {
		line = end + line
	}
	return []byte(line)
}
