// Package scan searches the content of one file for a query: whether any line matches, how many
// do, or which ones, with context. It handles encodings, binary files and lines of any length
// in bounded memory.
package scan

import (
	"context"
	"io"

	"adze/internal/platform/search/regex"
)

// A Mode is the kind of result of a search.
type Mode uint8

const (
	Exists Mode = iota // stop at the first match
	Count              // count matching lines
	Lines              // pass matching lines to the sink
)

// Spans select the matches within a line to report.
type Spans uint8

const (
	NoSpans Spans = iota
	FirstSpan
	AllSpans
)

// Options configure a Searcher, in addition to the query.
type Options struct {
	Mode          Mode
	Before, After int   // lines of context, in mode Lines
	Spans         Spans // used in mode Lines; with AllSpans, mode Count counts them too
}

// A Span is a part of a line.
type Span struct{ Start, End int }

// A Line is a line of a file, without its line feed. It is valid until the sink returns.
type Line struct {
	Number int64  // counted from 1
	Offset int64  // offset of its first byte in the text as UTF-8 without a byte order mark
	Text   []byte // raw bytes, not always valid UTF-8
	Match  bool   // false for a line of context
	Gap    bool   // lines were skipped before this one
	Cut    bool   // Text is part of a very long line
	Spans  []Span // non-empty matches in order; incomplete if there are very many
}

// A Sink receives lines in order. It returns false if it needs no more lines of this file.
type Sink func(*Line) bool

// Stats is the result of a search.
type Stats struct {
	Lines   int64 // matching lines; at most 1 in mode Exists
	Matches int64 // set if requested or if matches may span lines
	Bytes   int64 // bytes of text read
	// Binary is true if the file contains a null byte. There are then no matches, and lines
	// already passed to the sink are void.
	Binary bool
	// Cut is true if a line, or a match across lines, was too long to be searched as a whole.
	Cut bool
}

// Matched reports whether the file has a match.
func (s *Stats) Matched() bool { return s.Lines > 0 }

// A Searcher searches files one at a time. It is not safe for concurrent use.
type Searcher struct {
	query   *regex.Query
	matcher *regex.Matcher
	o       Options

	size  sizes
	in    input
	out   report
	stats Stats
	done  bool // no more of this file is needed
	part  bool // searches a part of a file: no byte order mark, not at the beginning
	// counts makes it count the lines of a part without matches.
	counts bool

	pending block // matches that span lines
}

// sizes limit the memory. Tests make them small.
type sizes struct {
	piece   int   // amount of a file read and searched in one step: it stays in the processor's cache
	line    int   // amount of a line searched in one step, and kept for context
	overlap int   // overlap between consecutive parts of a longer line
	head    int   // amount of a file checked for null bytes even without a match
	text    int   // amount of a file searched in one step for matches that span lines
	span    int   // maximum length of a match in a longer file
	part    int64 // amount of a large file searched by each of several searchers
	search  int   // how far to look for a line start at which a part can begin
}

func defaultSizes() sizes {
	return sizes{piece: 256 << 10, line: 2 << 20, overlap: 64 << 10, head: 4 << 10, text: 4 << 20, span: 1 << 20,
		part: 8 << 20, search: 4 << 10}
}

// maxSpans is the maximum number of matches reported per line.
const maxSpans = 1 << 16

// NewSearcher returns a searcher for q.
func NewSearcher(q *regex.Query, o Options) *Searcher {
	return &Searcher{query: q, matcher: q.NewMatcher(), o: o, size: defaultSizes()}
}

// Search reads src to its end and searches it. In mode Lines it passes the lines to sink;
// otherwise sink is not used. The error is from ctx or from reading; the stats then cover the
// part searched before it.
func (s *Searcher) Search(ctx context.Context, src io.Reader, sink Sink) (Stats, error) {
	s.stats = Stats{}
	s.done = false
	s.pending = block{matches: s.pending.matches[:0]}
	s.in.reset(src)
	s.in.sniffed = s.part
	s.out.reset(s, sink)
	var err error
	if s.query.Spanning() {
		err = s.searchText(ctx)
	} else {
		err = s.searchLines(ctx)
	}
	if s.counts && !s.done && err == nil && !s.stats.Binary {
		s.out.count(s.in.base + int64(len(s.in.data)))
	}
	s.stats.Bytes = s.in.total
	s.in.release()
	if s.stats.Binary {
		s.stats.Lines, s.stats.Matches = 0, 0
	}
	return s.stats, err
}
