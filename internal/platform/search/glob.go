package search

import (
	"context"
	"path/filepath"
	"strings"

	"adze/internal/platform/search/glob"
	"adze/internal/platform/search/walk"
)

// GlobOptions say which files to find. Root and Pattern are required.
type GlobOptions struct {
	Root     string // a directory, absolute
	Real     string // Root without links, if it was resolved before: then no link is followed to it
	Pattern  string // relative to Root; see [glob.Pattern]
	Limit    int    // files to return at most
	NoIgnore bool   // also what ignore files leave out
	Skip     Skip   // leaves out what must not be read; nil leaves out nothing
	Case     Case
}

// A Case says whether upper and lower case are told apart in names.
type Case uint8

// The cases. By default it is as on most file systems of the platform.
const (
	PlatformCase Case = iota
	ExactCase
	AnyCase
)

// A GlobResult is what a Glob has found.
type GlobResult struct {
	Files      []walk.Found // the newest first, with paths relative to the root
	Total      int          // that match; more than were returned if there is a limit
	Unreadable int          // directories that could not be read
	Stopped    Stop
}

// Glob finds files by name. Its error is about the root or the pattern.
func (e *Engine) Glob(ctx context.Context, o GlobOptions) (*GlobResult, error) {
	fold := o.Case == AnyCase || o.Case == PlatformCase && foldsCase()
	pattern, err := glob.Compile(o.Pattern, glob.Options{Fold: fold})
	if err != nil {
		return nil, err
	}
	t, err := e.newTree(o.Root, o.Real, o.Skip, o.NoIgnore)
	if err != nil {
		return nil, err
	}
	if suffix, ok := suffixOf(o.Pattern); ok && !fold {
		t.walk.Match = func(rel string) bool { return strings.HasSuffix(rel, suffix) }
	} else {
		denied := t.walk.Skip
		t.walk.Skip = func(rel string, dir bool) bool {
			return dir && !pattern.MayContain(rel) || denied != nil && denied(rel, dir)
		}
		t.walk.Match = pattern.Match
	}
	type found struct {
		files []walk.Found
		stats walk.Stats
		err   error
	}
	out, ended, stop := bounded(ctx, e.timeout(), func(ctx context.Context) found {
		files, stats, err := walk.Newest(ctx, t.walk, o.Limit)
		return found{files, stats, err}
	})
	if ended && stop == Complete && out.err != nil {
		return nil, out.err
	}
	if stop == Complete && out.stats.Partial {
		stop = Short
	}
	return &GlobResult{Files: out.files, Total: out.stats.Files, Unreadable: out.stats.Skipped, Stopped: stop}, nil
}

// suffixOf returns what all paths that match a pattern end in, if that is all there is to it, as with
// *.go. Most patterns are like that, and comparing the end of a path is much faster.
func suffixOf(pattern string) (suffix string, ok bool) {
	if pattern == "**" {
		return "", true
	}
	suffix, ok = strings.CutPrefix(strings.TrimPrefix(pattern, "**/"), "*")
	return suffix, ok && !strings.ContainsAny(suffix, `*?[]{}\!/`)
}

// ListOptions say which files to list. Root is required.
type ListOptions struct {
	Root     string // a directory, absolute
	NoIgnore bool
	Skip     Skip
}

// List calls yield with the names of files relative to the root, a batch at a time while the walk goes
// on, never two at once. An error of yield ends it and is returned as it is. Nothing is left behind.
func (e *Engine) List(ctx context.Context, o ListOptions, yield func(rels []string) error) error {
	t, err := e.newTree(o.Root, "", o.Skip, o.NoIgnore)
	if err != nil {
		return err
	}
	_, err = walk.List(ctx, t.walk, yield)
	return err
}

// SplitGlob divides an absolute pattern into the directory it is about and the rest. A relative pattern
// is returned as it is.
func SplitGlob(pattern string) (dir, rest string) {
	if !filepath.IsAbs(pattern) {
		return "", pattern
	}
	dir, rest = glob.Split(filepath.ToSlash(pattern))
	return filepath.FromSlash(dir), rest
}
