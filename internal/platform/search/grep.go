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

// A Mode is what a Grep is to return.
type Mode uint8

// The modes.
const (
	Files   Mode = iota // which files have a match, the newest first
	Content             // the lines that match, by path
	Count               // how many lines match in each file, by path
)

// GrepOptions say what to search for, and where. Root and Pattern are required.
type GrepOptions struct {
	Root     string // a file or a directory, absolute; it is searched even if it is ignored
	Real     string // Root without links, if it was resolved before: then no link is followed to it
	Pattern  string
	Mode     Mode
	Glob     string // patterns of names to choose or, with !, to leave out
	Type     string // a name of the type table
	NoIgnore bool   // also what ignore files leave out
	Skip     Skip   // leaves out what must not be read; nil leaves out nothing

	IgnoreCase bool
	Multiline  bool

	// The rest is for mode Content.
	Before, After int
	Numbers       bool // lines have numbers
	Only          bool // the matching parts of lines instead of lines

	Limit  int // files or lines to return at most; 0 means no limit
	Offset int // files or lines to leave out before

	// Show returns what a path relative to Root, "." for Root itself, is called in lines of content. It
	// is called by several goroutines. Nil means absolute paths.
	Show func(rel string) string
}

// A GrepResult is what a Grep has found.
type GrepResult struct {
	Files []Hit    // in modes Files and Count
	Lines [][]byte // in mode Content: pieces of text, all of whole lines
	Paths []string // of the file that each piece is from, relative to the root; empty for a separator

	Entries int // files or lines returned
	// Matched is the number of files with a match, and Matches of lines in mode Count. Those after the
	// last one returned are not looked at in mode Content.
	Matched int
	Matches int64
	More    bool // there are entries after those returned
	Cut     bool // the result is as large as it may be

	Searched   int // files that were looked at, or that the filters left to look at
	Binary     int // files passed over because they hold a null byte
	Unreadable int // files and directories that could not be read
	Stopped    Stop
}

// A Hit is a file with a match.
type Hit struct {
	Path     string // relative to the root, or "." for it
	Modified int64  // nanoseconds since 1970; in mode Files
	Lines    int64  // in mode Count
}

// maxOutput is how much a search returns at most, in bytes.
const maxOutput = 20 << 20

// Grep searches. Its error is about what was asked for: the root, the pattern or the filters. A search
// that could not be completed returns what was found; see [GrepResult].
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

// try searches, and once more with a single worker if the system runs out of something.
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

// A grep is one search under way.
type grep struct {
	GrepOptions
	engine  *Engine
	tree    *tree
	query   *regex.Query
	stopped Stop

	// These are new for each attempt.
	found   *collector
	workers []*worker
	warm    *recollection // nil if nothing is known about the files
}

// plan checks what was asked for.
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

// addFilters makes the walk pass over what the patterns and the type leave out.
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

// An outcome is how an attempt ended.
type outcome struct {
	walk  walk.Stats
	err   error // of the walk, or of ripgrep
	short bool  // the system ran out of something
}

// failed reports whether there is nothing to return: it was not a lack of time or means that ended it.
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
			o.Spans = scan.FirstSpan // they are known anyway
		}
	}
	w := &worker{grep: s, searcher: scan.NewSearcher(s.query, o)}
	w.sink, w.again = w.line, w.reopen
	return w
}
