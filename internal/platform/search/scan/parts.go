package scan

import (
	"bytes"
	"context"
	"io"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
)

// A Large is a source that supports concurrent reads at different offsets.
type Large interface {
	io.Reader
	io.ReaderAt
	// Size returns the approximate size, or 0 if unknown.
	Size() int64
}

// large returns the source if it is worth searching in parts: if it is much larger than the
// part already read. That is decided before anything is searched, since parts begin at the
// start; a file that grows in the meantime is read to its end.
func (s *Searcher) large() Large {
	in := &s.in
	if in.base > 0 || in.done > 0 || s.part || in.eof || in.utf16 != notUTF16 || runtime.GOMAXPROCS(0) == 1 {
		return nil
	}
	src, ok := in.src.(Large)
	if !ok || src.Size() < 2*s.size.part {
		return nil
	}
	return src
}

// searchParts searches parts of whole lines concurrently.
func (s *Searcher) searchParts(ctx context.Context, src Large) error {
	from := s.in.total - int64(len(s.in.data)) // byte order mark
	starts, err := s.starts(src, from)
	if err != nil {
		return err
	}
	var (
		next    atomic.Int64
		mu      sync.Mutex
		failure error
		wg      sync.WaitGroup
	)
	sum := Stats{Bytes: from}
	for range min(runtime.GOMAXPROCS(0), len(starts)) {
		wg.Go(func() {
			p := &Searcher{query: s.query, matcher: s.query.NewMatcher(), o: s.o, size: s.size, part: true}
			for {
				i := int(next.Add(1)) - 1
				if i >= len(starts) {
					return
				}
				end := int64(math.MaxInt64)
				if i+1 < len(starts) {
					end = starts[i+1]
				}
				stats, err := p.Search(ctx, io.NewSectionReader(src, starts[i], end-starts[i]), nil)
				mu.Lock()
				sum.add(stats)
				if err != nil && failure == nil {
					failure = err
				}
				stop := failure != nil || sum.Binary
				mu.Unlock()
				if stop {
					return
				}
			}
		})
	}
	wg.Wait()
	if s.o.Mode == Exists {
		sum.Lines = min(sum.Lines, 1)
	}
	s.stats, s.in.total = sum, sum.Bytes
	return failure
}

// starts returns the offsets of the parts: the first at from, the others at the first line
// start in each stretch of a part's size, unless that is far away.
func (s *Searcher) starts(src Large, from int64) ([]int64, error) {
	starts := []int64{from}
	look := make([]byte, s.size.search)
	for at, size := from+s.size.part, src.Size(); at < size; at += s.size.part {
		n, err := src.ReadAt(look, at-1)
		if i := bytes.IndexByte(look[:n], '\n'); i >= 0 {
			starts = append(starts, at+int64(i))
		} else if err != nil && err != io.EOF {
			return nil, err
		}
	}
	return starts, nil
}

// add adds the statistics of another part.
func (s *Stats) add(o Stats) {
	s.Lines += o.Lines
	s.Matches += o.Matches
	s.Bytes += o.Bytes
	s.Binary = s.Binary || o.Binary
	s.Cut = s.Cut || o.Cut
}
