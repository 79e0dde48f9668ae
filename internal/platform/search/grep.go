package search

import (
	"context"
	"errors"
	"strings"

	"adze/internal/platform/search/glob"
	"adze/internal/platform/search/regex"
	"adze/internal/platform/search/scan"
	"adze/internal/platform/search/walk"
)

// A Mode is the kind of result of a Grep.
type Mode uint8

// Modes.
const (
	Files   Mode = iota // files with a match, newest first
	Content             // matching lines, ordered by path
	Count               // number of matching lines per file, ordered by path
)

// GrepOptions configure a Grep. Root and Pattern are required.
type GrepOptions struct {
	Root     string // absolute file or directory; searched even if ignored
	Real     string // Root with links resolved, if known: no link is then followed to it
	Pattern  string
	Mode     Mode
	Glob     string // name patterns to include or, with !, to exclude
	Type     string // name in the type table
	NoIgnore bool   // include ignored files
	Skip     Skip   // excludes files that must not be read; may be nil

	IgnoreCase bool
	Multiline  bool

	// The rest applies to mode Content.
	Before, After int
	Numbers       bool // show line numbers
	Only          bool // return only the matching parts of lines

	Limit  int // maximum number of files or lines; 0 means no limit
	Offset int // number of files or lines to skip

	// Show returns the display name of a path relative to Root, "." for Root itself, in content
	// lines. It is called concurrently. Nil means absolute paths.
	Show func(rel string) string
}

// A GrepResult is the result of a Grep.
type GrepResult struct {
	Files []Hit    // modes Files and Count
	Lines [][]byte // mode Content: pieces of text, each of whole lines
	Paths []string // file of each piece, relative to the root; empty for a separator

	Entries int // number of files or lines returned
	// Matched is the number of files with a match, Matches the number of matching lines in mode
	// Count. In mode Content, files after the last one returned are not counted.
	Matched int
	Matches int64
	More    bool // there are more entries
	Cut     bool // the result reached its maximum size

	Searched   int // files searched, or selected by the filters
	Binary     int // files skipped because they contain a null byte
	Unreadable int // unreadable files and directories
	Stopped    Stop
}

// A Hit is a file with a match.
type Hit struct {
	Path     string // relative to the root, or "." for it
	Modified int64  // nanoseconds since 1970, in mode Files
	Lines    int64  // mode Count
}

// maxOutput is the maximum size of a result in bytes.
const maxOutput = 20 << 20

// Grep searches. It returns an error only for an invalid root, pattern or filter. An incomplete
// search returns the matches found so far; see [GrepResult].
func (e *Engine) Grep(ctx context.Context, o GrepOptions) (*GrepResult, error) {
	s, err := e.plan(o)
	if err != nil {
		return nil, err
	}
	if rg, ok := e.chooseRipgrep(); ok {
		res, err := s.try(ctx, func(ctx context.Context) outcome { return s.spawn(ctx, rg) })
		if !errors.As(err, new(*ripgrepError)) {
			return res, err
		}
		e.warn(err)
	}
	s.recall()
	return s.try(ctx, s.run)
}

// try searches, and retries with a single worker if the system runs out of a resource.
func (s *grep) try(ctx context.Context, search func(context.Context) outcome) (*GrepResult, error) {
	var out outcome
	for _, workers := range [...]int{0, 1} {
		s.begin(workers)
		var ended bool
		out, ended, s.stopped = bounded(ctx, s.engine.timeout(), search)
		if !ended || !out.short || s.stopped != Complete {
			break
		}
	}
	switch {
	case out.failed():
		return nil, out.err
	case out.short && s.stopped == Complete:
		s.stopped = Short
	}
	s.remember(out)
	return s.result(out), nil
}

// A grep is a search in progress.
type grep struct {
	GrepOptions
	engine  *Engine
	tree    *tree
	query   *regex.Query
	stopped Stop

	// Reset for each attempt.
	found   *collector
	workers []*worker
	warm    *queryFacts // nil without cached facts
}

// plan validates the options.
func (e *Engine) plan(o GrepOptions) (*grep, error) {
	s := &grep{GrepOptions: o, engine: e}
	if o.Pattern == "" {
		return nil, errors.New("the pattern is empty: every line would match")
	}
	var err error
	if s.query, err = regex.Compile(o.Pattern, regex.Options{IgnoreCase: o.IgnoreCase, Multiline: o.Multiline}); err != nil {
		return nil, err
	}
	if s.tree, err = e.newTree(o.Root, o.Real, o.Skip, o.NoIgnore); err != nil {
		return nil, err
	}
	if err := s.addFilters(); err != nil {
		return nil, err
	}
	if o.Show == nil {
		s.Show = func(rel string) string { return Join(s.tree.root, rel) }
	}
	return s, nil
}

// addFilters makes the walk skip files excluded by the patterns and the type.
func (s *grep) addFilters() error {
	chosen, err := glob.ParseFilter(s.Glob, glob.Options{Fold: foldsCase()})
	if err != nil {
		return err
	}
	byType, err := typeFilter(s.Type)
	if err != nil {
		return err
	}
	suffix, simple := suffixOf(s.Glob)
	simple = simple && !foldsCase() && !strings.ContainsAny(suffix, ", \t\r\n")
	s.tree.walk.Match = func(rel string) bool {
		return byType(rel) && (simple && strings.HasSuffix(rel, suffix) || !simple && chosen.Match(rel))
	}
	if s.Glob == "" {
		s.tree.walk.Match = byType
	}
	denied := s.tree.walk.Skip
	s.tree.walk.Skip = func(rel string, dir bool) bool {
		if s.found.past(rel, dir) || dir && s.Glob != "" && !simple && chosen.Prune(rel) {
			return true
		}
		return denied != nil && denied(rel, dir)
	}
	return nil
}

// begin prepares an attempt.
func (s *grep) begin(workers int) {
	s.tree.walk.Workers = workers
	need := 0
	if s.Limit > 0 {
		need = s.Offset + s.Limit + 1
	}
	s.found = newCollector(s.Mode, need)
	s.workers = make([]*worker, maxWorkers)
}

const maxWorkers = 16

// An outcome is the result of an attempt.
type outcome struct {
	walk  walk.Stats
	err   error // error of the walk or of ripgrep
	short bool  // the system ran out of a resource
}

// failed reports whether the attempt has no usable result: it ended for a reason other than
// lack of time or resources.
func (o outcome) failed() bool {
	return o.err != nil && !errors.Is(o.err, context.Canceled) && !errors.Is(o.err, context.DeadlineExceeded) && !errors.Is(o.err, errShort)
}

var errShort = errors.New("out of descriptors")

// run searches with the built-in engine.
func (s *grep) run(ctx context.Context) outcome {
	stats, err := walk.Walk(ctx, s.tree.walk, func(id int, b *walk.Batch) error {
		w := s.workers[id]
		if w == nil {
			w = s.newWorker()
			s.workers[id] = w
		}
		return w.visit(ctx, b)
	})
	return outcome{stats, err, errors.Is(err, errShort) || s.found.short.Load() || stats.Partial && err == nil}
}

// newWorker returns a worker of the built-in engine.
func (s *grep) newWorker() *worker {
	o := scan.Options{Mode: scan.Exists}
	switch s.Mode {
	case Count:
		o.Mode = scan.Count
	case Content:
		o.Mode, o.Before, o.After = scan.Lines, s.Before, s.After
		if s.Only {
			o.Spans = scan.AllSpans
		} else if s.query.Spanning() {
			o.Spans = scan.FirstSpan // available anyway
		}
	}
	w := &worker{grep: s, searcher: scan.NewSearcher(s.query, o)}
	w.sink, w.again = w.line, w.reopen
	return w
}
