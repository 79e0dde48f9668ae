package search

import (
	"context"
	"path/filepath"
	"strings"

	"adze/internal/platform/search/glob"
	"adze/internal/platform/search/walk"
)

// GlobOptions configure a Glob. Root and Pattern are required.
type GlobOptions struct {
	Root     string // absolute directory
	Real     string // Root with links resolved, if known: no link is then followed to it
	Pattern  string // relative to Root; see [glob.Pattern]
	Limit    int    // maximum number of files
	NoIgnore bool   // include ignored files
	Skip     Skip   // excludes files that must not be read; may be nil
	Case     Case
}

// A Case selects case sensitivity for names.
type Case uint8

// Case settings. The default follows the platform's usual file systems.
const (
	PlatformCase Case = iota
	ExactCase
	AnyCase
)

// A GlobResult is the result of a Glob.
type GlobResult struct {
	Files      []walk.Found // newest first, with paths relative to the root
	Total      int          // number of matches; more than len(Files) if there is a limit
	Unreadable int          // number of unreadable directories
	Stopped    Stop
}

// Glob finds files by name. It returns an error only for an invalid root or pattern.
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

// suffixOf returns the common suffix of all paths that match a pattern, if the suffix is
// equivalent to the pattern, as for *.go. Most patterns are like that, and comparing suffixes
// is much faster.
func suffixOf(pattern string) (suffix string, ok bool) {
	if pattern == "**" {
		return "", true
	}
	suffix, ok = strings.CutPrefix(strings.TrimPrefix(pattern, "**/"), "*")
	return suffix, ok && !strings.ContainsAny(suffix, `*?[]{}\!/`)
}

// ListOptions configure a List. Root is required.
type ListOptions struct {
	Root     string // absolute directory
	NoIgnore bool
	Skip     Skip
}

// List calls yield with file names relative to the root, in batches during the walk, never
// concurrently. An error from yield ends the walk and is returned unchanged. List leaves no
// goroutines behind.
func (e *Engine) List(ctx context.Context, o ListOptions, yield func(rels []string) error) error {
	t, err := e.newTree(o.Root, "", o.Skip, o.NoIgnore)
	if err != nil {
		return err
	}
	_, err = walk.List(ctx, t.walk, yield)
	return err
}

// SplitGlob splits an absolute pattern into its directory and the rest. A relative pattern is
// returned unchanged.
func SplitGlob(pattern string) (dir, rest string) {
	if !filepath.IsAbs(pattern) {
		return "", pattern
	}
	dir, rest = glob.Split(filepath.ToSlash(pattern))
	return filepath.FromSlash(dir), rest
}
