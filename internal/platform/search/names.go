package search

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"adze/internal/platform/fs/guess"
	"adze/internal/platform/fs/paths"
)

// Shown returns a path for display in dir: relative if it is inside, and quoted if it could be
// mistaken for something other than a name on one line.
func Shown(dir, path string) string { return Quoted(paths.Relative(dir, path)) }

// Quoted returns a name, quoted if it contains line breaks, other control characters, or
// invalid bytes.
func Quoted(name string) string {
	if !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl) {
		return strconv.Quote(name)
	}
	return name
}

// CheckRoot returns the reason why a search cannot start at an absolute path, with suggestions
// for a user in dir. Denied returns the rule that denies reading a path, or ""; such a path is
// not mentioned. Named returns files with a name in dir. Both may be nil.
func CheckRoot(dir, path string, denied func(path string) (rule string), named func(name string) []string) error {
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
	near := guess.Guesser{Dir: dir, Dirs: true, Hidden: func(near string) bool { return denied(near) != "" }, Named: named}
	return fmt.Errorf("%s does not exist. The working directory is %s.%s", path, dir, near.Question(path))
}

const (
	// namedTime is the time limit for finding files by name, for a suggestion.
	namedTime = 300 * time.Millisecond
	// maxNamed is the maximum number of suggested files.
	maxNamed = 3
)

// Named returns the files below dir with a name, ignoring case, newest first. It returns a few
// of them, or none if there are too many to choose from or if they are not found quickly.
func (e *Engine) Named(ctx context.Context, dir, name string) []string {
	if strings.ContainsAny(name, `*?[]{}\!/`) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, namedTime)
	defer cancel()
	found, err := e.Glob(ctx, GlobOptions{Root: dir, Pattern: "**/" + name, Limit: maxNamed, Case: AnyCase})
	if err != nil || found.Stopped != Complete || found.Total > maxNamed {
		return nil
	}
	var paths []string
	for _, f := range found.Files {
		paths = append(paths, Join(dir, f.Path))
	}
	return paths
}
