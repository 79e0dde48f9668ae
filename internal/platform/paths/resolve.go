package paths

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// maxLinks is how many links are followed, as kernels do.
const maxLinks = 40

// A Set is a path as the rules judge it: with everything it leads through. It is computed once per
// call, and what it found is what is opened.
type Set struct {
	// Path is the path as it was asked for: expanded, clean, in NFC.
	Path string
	// Real is where the file is, or would be made: without links, spelt as on disk.
	Real string
	// All are the paths a rule may name, Path first and without repetition: both spellings of what was
	// asked for, each path that a link turned it into, and Real. Compare them in NFC.
	All []string
	// Info describes what is at Real, or is nil if nothing is.
	Info fs.FileInfo
	// Doubt is why the links could not be followed to their end. Rules then have not seen everything,
	// and the file cannot be opened.
	Doubt error
	// Remote says that the path may name a share of another machine. Nothing was touched, so that All
	// is the path alone; see [Set.Follow].
	Remote bool
	// Odd is set when the spelling could mean something else than it seems.
	Odd *Oddity

	typed string // absolute, as it was typed
}

// Resolve expands path and follows its links. It looks at the file system, but opens nothing. Its error
// is for the model: a path that can never be opened.
func (b Base) Resolve(path string) (Set, error) {
	typed, err := b.absolute(path)
	if err != nil {
		return Set{}, err
	}
	s := Set{Path: norm.NFC.String(typed), typed: typed, Odd: odd(here(), path, typed)}
	if IsUNC(path) {
		s.Remote, s.Real, s.All = true, s.Path, []string{strings.TrimSpace(path)}
		return s, nil
	}
	return s.Follow()
}

// Follow resolves a Remote set, once touching the other machine is allowed.
func (s Set) Follow() (Set, error) {
	s.All, s.Info = []string{s.Path}, nil
	s.note(s.typed)
	err := s.walk()
	s.note(s.Real)
	return s, err
}

// note adds a member.
func (s *Set) note(path string) {
	if !slices.Contains(s.All, path) {
		s.All = append(s.All, path)
	}
}

// walk goes from the root to the file one name at a time, and finds Real, Info and Doubt.
func (s *Set) walk() error {
	volume := filepath.VolumeName(s.typed)
	root := volume + string(filepath.Separator)
	at, rest := root, split(s.typed[len(volume):])
	exact := 0 // how many names of rest a link wrote
	links, passed := 0, map[string]bool{}
	for len(rest) > 0 {
		name := rest[0]
		rest = rest[1:]
		look := find
		if exact > 0 {
			exact--
			look = findExactly
		}
		if name == ".." { // only in the target of a link, and at has no links any more
			at = filepath.Dir(at)
			continue
		}
		next, info, err := look(at, name)
		s.Real, s.Info = filepath.Join(append([]string{next}, rest...)...), nil
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case errors.Is(err, syscall.ENOTDIR):
			return fmt.Errorf("%s is not a directory, so there can be no %s in it", at, s.Path)
		case errors.Is(err, syscall.ENAMETOOLONG):
			return fmt.Errorf("the path is too long for the file system: it has %d bytes, and its name %.40q... has %d",
				len(s.Path), name, len(name))
		case err != nil:
			s.Doubt = fmt.Errorf("following %s: %w", s.Path, err)
			return nil
		case info.Mode().Type() != fs.ModeSymlink:
			at, s.Info = next, info
			continue
		}
		target, err := os.Readlink(next)
		if err != nil {
			s.Doubt = fmt.Errorf("following %s: %w", s.Path, err)
			return nil
		}
		if links++; links > maxLinks || passed[s.Real] {
			s.Doubt = fmt.Errorf("%s is a chain of links that does not end, or of more than %d", s.Path, maxLinks)
			return nil
		}
		passed[s.Real] = true
		if filepath.IsAbs(target) {
			at = filepath.VolumeName(target) + string(filepath.Separator)
			target = target[len(filepath.VolumeName(target)):]
		}
		s.note(filepath.Join(append([]string{at, target}, rest...)...))
		names := split(target)
		rest, exact = append(names, rest...), exact+len(names)
	}
	s.Real = at
	if s.Info == nil { // the root itself, or a directory reached by ..
		info, err := os.Lstat(at)
		s.Info, s.Doubt = info, err
	}
	return nil
}

// Spelled returns path as an absolute, clean path with each name in the form of Unicode in which it is on
// disk. It follows no links. A name that is not there is in NFC.
func (b Base) Spelled(path string) (string, error) {
	typed, err := b.absolute(path)
	if err != nil || !strings.ContainsFunc(typed, func(r rune) bool { return r >= utf8.RuneSelf }) {
		return typed, err
	}
	volume := filepath.VolumeName(typed)
	at := volume + string(filepath.Separator)
	for _, name := range split(typed[len(volume):]) {
		at, _, _ = find(at, name) // ok: the path is then as good as any
	}
	return at, nil
}

func findExactly(dir, name string) (string, fs.FileInfo, error) {
	path := filepath.Join(dir, name)
	info, err := os.Lstat(path)
	return path, info, err
}

// find returns the entry of dir called name, in the form of Unicode in which it is there. If there is
// none, that is the composed form.
func find(dir, name string) (string, fs.FileInfo, error) {
	composed := norm.NFC.String(name)
	path, info, err := findExactly(dir, composed)
	if !errors.Is(err, fs.ErrNotExist) {
		return path, info, err
	}
	for _, form := range []string{name, norm.NFD.String(name)} {
		if form == composed {
			continue
		}
		if path, info, err := findExactly(dir, form); err == nil {
			return path, info, nil
		}
	}
	return path, nil, err
}

// split returns the names in path. It keeps "..": what that means depends on the links before it.
func split(path string) []string {
	return slices.DeleteFunc(strings.Split(filepath.ToSlash(path), "/"), func(name string) bool {
		return name == "" || name == "."
	})
}
