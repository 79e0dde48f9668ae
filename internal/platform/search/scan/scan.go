// Package scan searches the content of one file for a query: whether a line matches, how many do, or
// which ones, with the lines around them. It knows encodings, binary files and lines of any length, and
// its memory is bounded. Which files to search, and how results are shown, is left to others.
package scan

import (
	"context"
	"io"

	"adze/internal/platform/search/regex"
)

// A Mode is what a search is to find out.
type Mode uint8

const (
	Exists Mode = iota // whether there is a match
	Count              // how many lines match
	Lines              // which lines match; they go to the sink
)

// Spans say which matches within a line are asked for.
type Spans uint8

const (
	NoSpans Spans = iota
	FirstSpan
	AllSpans
)

// Options say what to search for, besides the query.
type Options struct {
	Mode          Mode
	Before, After int   // lines of context, in mode Lines
	Spans         Spans // in mode Lines; with AllSpans also mode Count counts them
}

// A Span is a part of a line.
type Span struct{ Start, End int }

// A Line is a line of a file, without its line feed. It is the sink's until the sink returns.
type Line struct {
	Number int64  // from 1
	Offset int64  // of its first byte, in the text as UTF-8 without a byte order mark
	Text   []byte // as it is in the file, so not always valid UTF-8
	Match  bool   // it is not a line of context
	Gap    bool   // lines are left out between the one before and this
	Cut    bool   // Text is a part of a very long line
	Spans  []Span // of the matches that are not empty, in order; not all if there are very many
}

// A Sink takes lines in order. It returns false if it wants no more of this file.
type Sink func(*Line) bool

// Stats is what a search found out.
type Stats struct {
	Lines   int64 // that match; in mode Exists at most 1
	Matches int64 // if they were asked for or may span lines
	Bytes   int64 // of text that were read
	// Binary says that the file holds a null byte. There are then no matches, and lines that went to the
	// sink before it was seen are void.
	Binary bool
	// Cut says that a line, or a match across lines, was too long to be searched as one.
	Cut bool
}

// Matched reports whether the file has a match.
func (s *Stats) Matched() bool { return s.Lines > 0 }

// A Searcher searches one file after the other. It belongs to one goroutine.
type Searcher struct {
	query   *regex.Query
	matcher *regex.Matcher
	o       Options

	size  sizes
	in    input
	out   report
	stats Stats
	done  bool // nothing more is asked of this file
	part  bool // it searches a part of a file: without byte order mark, and not the beginning
	// counts makes it count the lines of a part in which nothing matches.
	counts bool

	pending block // of matches that span lines
}

// sizes bound what is in memory. Tests make them small.
type sizes struct {
	piece   int   // how much of a file is read and searched at once: it stays in the processor's cache
	line    int   // how much of a line is searched at once, and how much is kept for context
	overlap int   // how much of one part of a longer line is searched again with the next
	head    int   // how much of a file is looked at for null bytes even if it has no match
	text    int   // how much of a file is searched at once for matches that span lines
	span    int   // how long a match in a longer file may be
	part    int64 // how much of a large file is searched by one of several searchers
	search  int   // how far the beginning of a line is looked for that a part can begin with
}

func defaultSizes() sizes {
	return sizes{piece: 256 << 10, line: 2 << 20, overlap: 64 << 10, head: 4 << 10, text: 4 << 20, span: 1 << 20,
		part: 8 << 20, search: 4 << 10}
}

// maxSpans is how many matches of a line are told.
const maxSpans = 1 << 16

// NewSearcher returns a searcher for q.
func NewSearcher(q *regex.Query, o Options) *Searcher {
	return &Searcher{query: q, matcher: q.NewMatcher(), o: o, size: defaultSizes()}
}

// Search reads src to its end and searches it. In mode Lines what it finds goes to sink; otherwise sink
// is not used. The error is that of ctx or of reading; the stats are of what was searched before.
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
