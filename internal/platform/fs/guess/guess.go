// Package guess suggests existing files or directories for a path that does not exist.
package guess

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"adze/internal/platform/fs/paths"
	"adze/internal/platform/text/rank"
)

// A Guesser suggests paths.
type Guesser struct {
	Dir string // working directory
	// Hidden reports whether a path must not be suggested; nil means no path is hidden.
	Hidden func(path string) bool
	// Named returns the files with the given base name anywhere in Dir. It may be nil.
	Named func(name string) []string
	// Dirs enables suggesting directories.
	Dirs bool
}

// maxGuesses limits the number of suggestions.
const maxGuesses = 3

// Question returns a sentence that asks whether an existing path was meant, to append to an
// error message, or "".
func (g Guesser) Question(path string) string {
	found := g.Paths(path)
	for i, near := range found {
		found[i] = paths.Relative(g.Dir, near)
	}
	switch n := len(found); n {
	case 0:
		return ""
	case 1:
		return " Did you mean " + found[0] + "?"
	default:
		return " Did you mean " + strings.Join(found[:n-1], ", ") + " or " + found[n-1] + "?"
	}
}

// Paths returns suggestions for path, most likely first:
//
//   - paths with one name that differs in case or by a typo or two
//   - files in the same directory with another extension
//   - a path under the working directory that differs in its leading directories, because models often drop or add the repository's name
//   - otherwise, files with that name elsewhere
func (g Guesser) Paths(path string) []string {
	var found []string
	add := func(all ...string) {
		for _, near := range all {
			if near != "" && len(found) < maxGuesses && !slices.Contains(found, near) && (g.Hidden == nil || !g.Hidden(near)) {
				found = append(found, near)
			}
		}
	}
	add(g.respelled(path)...)
	add(g.sameStem(path)...)
	add(g.underDir(path))
	if len(found) == 0 && g.Named != nil {
		add(g.Named(filepath.Base(path))...)
	}
	return found
}

// is reports whether path exists and can be suggested.
func (g Guesser) is(path string) bool {
	info, err := os.Stat(path)
	return err == nil && (info.Mode().IsRegular() || g.Dirs && info.IsDir())
}

// maxNames limits how many names of a directory are compared.
const maxNames = 4096

// names returns the sorted names in a directory, up to maxNames.
func names(dir string) []string {
	f, err := os.Open(dir)
	if err != nil {
		return nil // nothing to suggest
	}
	defer f.Close()
	all, _ := f.Readdirnames(maxNames) // ok: a partial listing suffices
	slices.Sort(all)
	return all
}

// respelled returns paths in which the first nonexistent name of path is replaced by a similar
// one.
func (g Guesser) respelled(path string) []string {
	at, rest := filepath.Dir(path), filepath.Base(path)
	for range maxDropped {
		if info, err := os.Stat(at); err == nil {
			if !info.IsDir() {
				return nil
			}
			break
		}
		at, rest = filepath.Dir(at), filepath.Join(filepath.Base(at), rest)
	}
	wrong, below, _ := strings.Cut(rest, string(filepath.Separator))
	var found []string
	for _, name := range similar(wrong, names(at)) {
		if near := filepath.Join(at, name, below); g.is(near) {
			found = append(found, near)
		}
	}
	return found
}

// similar returns the names at the smallest edit distance from name, ignoring case, if that is
// at most two.
func similar(name string, among []string) []string {
	lower := strings.ToLower(name)
	stem := utf8.RuneCountInString(strings.TrimSuffix(name, filepath.Ext(name)))
	var found []string
	best := 3
	for _, other := range among {
		if other == name || len(other) > len(name)+8 || len(name) > len(other)+8 {
			continue
		}
		switch d := rank.Distance(lower, strings.ToLower(other)); {
		case d > best || 2*d > stem:
		case d < best:
			found, best = []string{other}, d
		default:
			found = append(found, other)
		}
	}
	if best > 2 {
		return nil
	}
	return found
}

// sameStem returns files in the same directory that differ only in their extension.
func (g Guesser) sameStem(path string) []string {
	dir, base := filepath.Split(path)
	stem := strings.TrimSuffix(base, filepath.Ext(base))
	if stem == "" {
		return nil
	}
	var found []string
	for _, name := range names(dir) {
		near := filepath.Join(dir, name)
		if name != base && strings.TrimSuffix(name, filepath.Ext(name)) == stem && g.is(near) {
			found = append(found, near)
		}
	}
	return found
}

// maxDropped limits how many leading directories are dropped.
const maxDropped = 32

// underDir returns the path under the working directory that results from dropping leading
// directories of path, or "".
func (g Guesser) underDir(path string) string {
	parts := strings.Split(strings.Trim(path, string(filepath.Separator)), string(filepath.Separator))
	for i := range min(len(parts), maxDropped) {
		if near := filepath.Join(g.Dir, filepath.Join(parts[i:]...)); g.is(near) {
			return near
		}
	}
	return ""
}
