// Package guess finds which file or directory may have been meant by a path that does not exist. It only looks at
// names; what an error says around its question is left to the tools.
package guess

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"adze/internal/platform/paths"
	"adze/internal/platform/spell"
)

// A Guesser knows where to look, and what may be named.
type Guesser struct {
	Dir string // the working directory
	// Hidden reports whether a path must not be named; nil means that none is.
	Hidden func(path string) bool
	// Named returns the files in Dir that have a name, whatever directory they are in; may be nil.
	Named func(name string) []string
	// Dirs says that directories may have been meant, too.
	Dirs bool
}

// maxGuesses is how many paths are suggested at most.
const maxGuesses = 3

// Question asks whether a path that is there was meant by path, as a sentence that follows others, or is
// empty.
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

// Paths returns what may have been meant by path, the likeliest first: a path that differs in the case of
// letters, or in a typing error or two in one of its names; a file beside it with another extension; one
// under the working directory whose path differs in its first directories, since a model often drops or adds
// that of the repository; and, if there is none of those, files of that name elsewhere.
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

// is reports whether path is something that may be suggested.
func (g Guesser) is(path string) bool {
	info, err := os.Stat(path)
	return err == nil && (info.Mode().IsRegular() || g.Dirs && info.IsDir())
}

// maxNames is among how many names of a directory a similar one is looked for.
const maxNames = 4096

// names returns what is in a directory, in order, or a part of it if it is large.
func names(dir string) []string {
	f, err := os.Open(dir)
	if err != nil {
		return nil // there is nothing to suggest then
	}
	defer f.Close()
	all, _ := f.Readdirnames(maxNames) // ok: so many are enough
	slices.Sort(all)
	return all
}

// respelled returns paths that differ from path in the spelling of one name: the first that is not there.
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

// similar returns the names that are name but for the case of letters or, if there are none, those with the
// fewest letters that differ, which are one or two.
func similar(name string, among []string) []string {
	lower := strings.ToLower(name)
	stem := utf8.RuneCountInString(strings.TrimSuffix(name, filepath.Ext(name)))
	var found []string
	best := 3
	for _, other := range among {
		if other == name || len(other) > len(name)+8 || len(name) > len(other)+8 {
			continue
		}
		switch d := spell.Distance(lower, strings.ToLower(other)); {
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

// sameStem returns files beside path that differ in their extension only.
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

// maxDropped bounds how many directories are left out in search of a file.
const maxDropped = 32

// underDir returns what is under the working directory if some of the first directories of path are left
// out.
func (g Guesser) underDir(path string) string {
	parts := strings.Split(strings.Trim(path, string(filepath.Separator)), string(filepath.Separator))
	for i := range min(len(parts), maxDropped) {
		if near := filepath.Join(g.Dir, filepath.Join(parts[i:]...)); g.is(near) {
			return near
		}
	}
	return ""
}
