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

// maxLinks limits how many symlinks are followed, as kernels do.
const maxLinks = 40

// A ResolvedPath is a resolved path with all paths it leads through, as judged by the permission rules.
// It is computed once per call, and exactly the resolved file is opened.
type ResolvedPath struct {
	// Path is the requested path: expanded, clean and in NFC.
	Path string
	// Real is the location of the file, which need not exist, without symlinks and spelled as
	// on disk.
	Real string
	// All lists the paths that a rule may match, without duplicates and starting with Path:
	// both spellings of the requested path, each path that a symlink resolved to, and Real.
	// Compare them in NFC.
	All []string
	// Info describes the file at Real, or is nil if it does not exist.
	Info fs.FileInfo
	// ResolveErr is the reason why the symlinks could not be fully resolved. In that case the rules
	// have not seen everything, and the file cannot be opened.
	ResolveErr error
	// Remote means that the path may name a network share. Nothing was accessed, so All only
	// contains the path; see [ResolvedPath.Follow].
	Remote bool
	// Odd is set if the spelling is misleading.
	Odd *Oddity

	typed string // absolute, otherwise as typed
}

// Resolve expands path and follows its symlinks. It inspects the file system, but opens
// nothing. The error, for the model, means that the path can never be opened.
func (b Base) Resolve(path string) (ResolvedPath, error) {
	typed, err := b.absolute(path)
	if err != nil {
		return ResolvedPath{}, err
	}
	s := ResolvedPath{Path: norm.NFC.String(typed), typed: typed, Odd: odd(here(), path, typed)}
	if IsUNC(path) {
		s.Remote, s.Real, s.All = true, s.Path, []string{strings.TrimSpace(path)}
		return s, nil
	}
	return s.Follow()
}

// Follow resolves a Remote set once accessing the other machine is allowed.
func (s ResolvedPath) Follow() (ResolvedPath, error) {
	s.All, s.Info = []string{s.Path}, nil
	s.note(s.typed)
	err := s.walk()
	s.note(s.Real)
	return s, err
}

// note adds a path to All.
func (s *ResolvedPath) note(path string) {
	if !slices.Contains(s.All, path) {
		s.All = append(s.All, path)
	}
}

// walk resolves the path from the root, one component at a time, and sets Real, Info and Doubt.
func (s *ResolvedPath) walk() error {
	volume := filepath.VolumeName(s.typed)
	root := volume + string(filepath.Separator)
	at, rest := root, split(s.typed[len(volume):])
	exact := 0 // number of names in rest that came from a symlink
	links, passed := 0, map[string]bool{}
	for len(rest) > 0 {
		name := rest[0]
		rest = rest[1:]
		look := find
		if exact > 0 {
			exact--
			look = findExactly
		}
		if name == ".." { // only in the target of a symlink, and at contains no symlinks
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
			s.ResolveErr = fmt.Errorf("following %s: %w", s.Path, err)
			return nil
		case info.Mode().Type() != fs.ModeSymlink:
			at, s.Info = next, info
			continue
		}
		target, err := os.Readlink(next)
		if err != nil {
			s.ResolveErr = fmt.Errorf("following %s: %w", s.Path, err)
			return nil
		}
		if links++; links > maxLinks || passed[s.Real] {
			s.ResolveErr = fmt.Errorf("%s is a chain of links that does not end, or of more than %d", s.Path, maxLinks)
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
		s.Info, s.ResolveErr = info, err
	}
	return nil
}

// Spelled returns path as an absolute, clean path with each name in the Unicode form used on
// disk, or NFC if it does not exist. It does not follow symlinks.
func (b Base) Spelled(path string) (string, error) {
	typed, err := b.absolute(path)
	if err != nil || !strings.ContainsFunc(typed, func(r rune) bool { return r >= utf8.RuneSelf }) {
		return typed, err
	}
	volume := filepath.VolumeName(typed)
	at := volume + string(filepath.Separator)
	for _, name := range split(typed[len(volume):]) {
		at, _, _ = find(at, name) // ok: the unresolved path is used
	}
	return at, nil
}

func findExactly(dir, name string) (string, fs.FileInfo, error) {
	path := filepath.Join(dir, name)
	info, err := os.Lstat(path)
	return path, info, err
}

// find returns the entry of dir called name, in the Unicode form used on disk, or the composed
// form if it does not exist.
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

// split returns the names in path. It keeps "..", whose meaning depends on the symlinks before
// it.
func split(path string) []string {
	return slices.DeleteFunc(strings.Split(filepath.ToSlash(path), "/"), func(name string) bool {
		return name == "" || name == "."
	})
}
