package search

import (
	"bytes"
	"cmp"
	"container/heap"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// An item is a file's contribution to a result: a line of the list, or a piece of its lines.
type item struct {
	Hit
	piece   int // piece number, if the file has several
	text    []byte
	entries int
}

// size returns the memory the item uses.
func (it *item) size() int { return len(it.Path) + len(it.text) + 128 }

// A collector keeps the first items in result order, as many as are needed, regardless of the
// order in which they arrive. It is safe for concurrent use.
type collector struct {
	need   int // entries; 0 means no limit
	max    int // bytes
	newest bool
	lines  bool

	bound atomic.Pointer[string] // later paths are not needed; nil until known
	short atomic.Bool            // a file could not be opened for lack of descriptors

	mu         sync.Mutex
	items      items // heap with the last item on top
	entries    int
	bytes      int
	waste      int  // number of bytes dropped
	dropped    bool // items were dropped because they are not needed
	cut        bool // items were dropped for lack of space
	matched    int
	matches    int64
	binary     int
	unreadable int
}

func newCollector(m Mode, need int) *collector {
	c := &collector{need: need, max: maxOutput, newest: m == Files, lines: m == Content}
	c.items.compare = comparePaths
	if c.newest {
		c.items.compare = compareAges
	}
	return c
}

// comparePaths orders by path, and a file's pieces by number.
func comparePaths(a, b *item) int {
	return cmp.Or(strings.Compare(a.Path, b.Path), cmp.Compare(a.piece, b.piece))
}

// compareAges orders the newest first.
func compareAges(a, b *item) int {
	return cmp.Or(cmp.Compare(b.Modified, a.Modified), strings.Compare(a.Path, b.Path))
}

// past reports whether a file, or everything in a directory, comes after everything that is
// needed. The other modes count all files and matches, so nothing is past in them.
func (c *collector) past(rel string, dir bool) bool {
	bound := c.bound.Load()
	switch {
	case bound == nil:
		return false
	case dir && strings.HasPrefix(*bound, rel):
		rest := (*bound)[len(rel):]
		return rest == "" || '/' > rest[0]
	}
	return rel > *bound
}

// add adds an item if it is needed, and reports whether it is.
func (c *collector) add(it item) bool {
	kept, waste := c.insert(it)
	if waste {
		runtime.GC()
	}
	return kept
}

// maxWaste is the amount of dropped text that triggers a garbage collection. Otherwise the
// collector would wait until there is as much garbage as text.
const maxWaste = 4 << 20

// insert is add, and also reports whether much text was dropped since the last report.
func (c *collector) insert(it item) (kept, waste bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if it.piece == 0 {
		c.matched++
		c.matches += it.Lines
	}
	it.Path = strings.Clone(it.Path) // the original shares memory with others
	heap.Push(&c.items, &it)
	c.entries += it.entries
	c.bytes += it.size()
	kept = true
	for {
		last := c.items.list[0]
		enough := c.need > 0 && c.entries-last.entries >= c.need
		if !enough && c.bytes-last.size() < c.max {
			break
		}
		heap.Pop(&c.items)
		c.entries -= last.entries
		c.bytes -= last.size()
		c.waste += last.size()
		c.dropped = c.dropped || enough
		c.cut = c.cut || !enough
		kept = kept && last != &it
	}
	if c.lines && (c.need > 0 && c.entries >= c.need || c.bytes >= c.max) {
		c.bound.Store(&c.items.list[0].Path)
	}
	if waste = c.waste > maxWaste; waste {
		c.waste = 0
	}
	return kept, waste
}

func (c *collector) addBinary() {
	c.mu.Lock()
	c.binary++
	c.mu.Unlock()
}

func (c *collector) addUnreadable() {
	c.mu.Lock()
	c.unreadable++
	c.mu.Unlock()
}

// items is a heap with the last item on top.
type items struct {
	list    []*item
	compare func(a, b *item) int
}

func (h *items) Len() int           { return len(h.list) }
func (h *items) Less(i, j int) bool { return h.compare(h.list[i], h.list[j]) > 0 }
func (h *items) Swap(i, j int)      { h.list[i], h.list[j] = h.list[j], h.list[i] }
func (h *items) Push(x any)         { h.list = append(h.list, x.(*item)) }
func (h *items) Pop() any {
	last := len(h.list) - 1
	it := h.list[last]
	h.list[last] = nil
	h.list = h.list[:last]
	return it
}

// result returns the matches found so far: the search may still be blocked somewhere.
func (s *grep) result(out outcome) *GrepResult {
	c := s.found
	c.mu.Lock()
	defer c.mu.Unlock()
	r := &GrepResult{
		Matched: c.matched, Matches: c.matches, Stopped: s.stopped, Cut: c.cut, More: c.dropped || c.cut,
		Searched: out.walk.Files, Binary: c.binary, Unreadable: c.unreadable + out.walk.Skipped,
	}
	found := slices.SortedFunc(slices.Values(c.items.list), c.items.compare)
	if s.Mode == Content {
		s.slice(r, found)
	} else {
		s.list(r, found)
	}
	if r.More && s.Mode == Content {
		r.Binary, r.Unreadable = 0, 0 // incomplete counts
	}
	return r
}

// list fills in the files.
func (s *grep) list(r *GrepResult, found []*item) {
	for _, it := range found[min(s.Offset, len(found)):] {
		if s.Limit > 0 && r.Entries == s.Limit {
			r.More = true
			break
		}
		r.Files = append(r.Files, it.Hit)
		r.Entries++
	}
}

// slice fills in the lines, with separators between groups of lines if there is context.
func (s *grep) slice(r *GrepResult, found []*item) {
	skip, room := s.Offset, maxOutput
	for i, it := range found {
		if skip >= it.entries {
			skip -= it.entries
			continue
		}
		text, n := it.text[entriesEnd(it.text, skip):], it.entries-skip
		full := s.Limit > 0 && n > s.Limit-r.Entries
		if full {
			n = s.Limit - r.Entries
			text = text[:entriesEnd(text, n)]
		}
		if len(text) > room {
			full, r.Cut = true, true
			text = text[:bytes.LastIndexByte(text[:room], '\n')+1]
			n = countEntries(text)
		}
		r.More = r.More || full
		switch {
		case n == 0:
			return
		case r.Entries == 0:
			text = bytes.TrimPrefix(text, []byte(separator))
		case s.Before+s.After > 0 && it.Path != found[i-1].Path:
			r.Lines, r.Paths = append(r.Lines, []byte(separator)), append(r.Paths, "")
		}
		r.Lines, r.Paths = append(r.Lines, text), append(r.Paths, it.Path)
		r.Entries += n
		if full {
			return
		}
		room -= len(text)
		skip = 0
	}
}

const separator = "--\n"

// entriesEnd returns the end of the first n lines of text, not counting separators.
func entriesEnd(text []byte, n int) int {
	end := 0
	for n > 0 && end < len(text) {
		line := text[end : end+bytes.IndexByte(text[end:], '\n')+1]
		end += len(line)
		if string(line) != separator {
			n--
		}
	}
	return end
}

func countEntries(text []byte) int {
	n := 0
	for line := range bytes.Lines(text) {
		if string(line) != separator {
			n++
		}
	}
	return n
}
