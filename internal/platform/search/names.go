package search

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"adze/internal/platform/paths"
	"adze/internal/platform/spell"
)

// Shown returns how a path is called by someone in dir: relative to it if it is inside, and quoted if
// it could be taken for something else than a name on one line.
func Shown(dir, path string) string { return Quoted(paths.Relative(dir, path)) }

// Quoted returns a name, in quotes if it holds line breaks, other control characters, or bytes that are
// no characters.
func Quoted(name string) string {
	if !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl) {
		return strconv.Quote(name)
	}
	return name
}

// CheckRoot says why a search cannot begin at an absolute path, and what may have been meant instead by
// someone in dir. Denied names the rule that keeps a path from being read, if there is one; such a path
// is not mentioned.
func CheckRoot(dir, path string, denied func(path string) (rule string)) error {
	if denied == nil {
		denied = func(string) string { return "" }
	}
	if rule := denied(path); rule != "" {
		return fmt.Errorf("the permission rule %s denies reading %s. Ask the user if you need it.", rule, path)
	}
	_, err := os.Stat(path)
	switch {
	case err == nil:
		return nil
	case !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("reading %s: %w", path, reason(err))
	}
	if target, err := os.Readlink(path); err == nil {
		return fmt.Errorf("%s is a link to %s, which does not exist.", path, Quoted(target))
	}
	text := fmt.Sprintf("%s does not exist. The working directory is %s.", path, dir)
	for _, near := range nearby(dir, path) {
		if denied(near) == "" {
			return fmt.Errorf("%s Did you mean %s?", text, near)
		}
	}
	return errors.New(text)
}

// nearby returns what may have been meant by a path that does not exist.
func nearby(dir, path string) []string {
	found := paths.Suggest(dir, path, nil)
	if near := sameTail(dir, path); near != "" {
		found = append(found, near)
	}
	parent, base := filepath.Split(path)
	for _, name := range spell.Closest(base, someNames(parent), 1) {
		found = append(found, filepath.Join(parent, name))
	}
	return found
}

// maxNames is among how many names of a directory a similar one is looked for.
const maxNames = 4096

// someNames returns what is in a directory, in order, or a part of it if it is large.
func someNames(dir string) []string {
	f, err := os.Open(dir)
	if err != nil {
		return nil // there is nothing to suggest then
	}
	defer f.Close()
	names, _ := f.Readdirnames(maxNames) // ok: so many are enough
	slices.Sort(names)
	return names
}

// sameTail returns the directory under dir that path names if some of its first elements are left out.
func sameTail(dir, path string) string {
	parts := strings.Split(strings.Trim(path, string(filepath.Separator)), string(filepath.Separator))
	for i := range parts {
		near := filepath.Join(dir, filepath.Join(parts[i:]...))
		if info, err := os.Stat(near); err == nil && info.IsDir() {
			return near
		}
	}
	return ""
}
