package filehistory

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/aymanbagabas/go-udiff/lcs"
)

// Stats are the differences between two times.
type Stats struct {
	Files                 int
	Insertions, Deletions int // in lines; files that are not text count as changed only
}

// Stats returns what changed from just before one message to just before another, or to now if that is
// empty.
func (h *History) Stats(ctx context.Context, from, to string) (Stats, error) {
	if h == nil {
		return Stats{}, ErrOff
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.settle()
	begin, err := h.find(from)
	if err != nil {
		return Stats{}, err
	}
	end := len(h.snapshots)
	if to != "" {
		if end, err = h.find(to); err != nil {
			return Stats{}, err
		}
	}
	if begin > end {
		begin, end = end, begin
	}
	then, later := h.at(begin), h.at(end)
	var steps []step
	for path, v := range then {
		if err := ctx.Err(); err != nil {
			return Stats{}, err
		}
		s := step{path: path, then: v}
		var ok bool
		if s.now, ok = later[path]; ok {
			s.data, err = h.content(s.now)
		} else { // not changed after that: it is as it is now
			s.now, s.data, err = look(path)
		}
		if err != nil {
			return Stats{}, fmt.Errorf("looking at %s: %w", path, err)
		}
		steps = append(steps, s)
	}
	return h.compare(steps)
}

// compare counts what changed from then to now.
func (h *History) compare(steps []step) (Stats, error) {
	var s Stats
	for _, step := range steps {
		if step.then.hash == step.now.hash {
			continue
		}
		then, err := h.content(step.then)
		if err != nil {
			return Stats{}, fmt.Errorf("what %s was is not there any more: %w", step.path, err)
		}
		s.Files++
		if isBinary(then) || isBinary(step.data) {
			continue
		}
		for _, d := range lcs.DiffLines(lines(then), lines(step.data)) {
			s.Deletions += d.End - d.Start
			s.Insertions += d.ReplEnd - d.ReplStart
		}
	}
	return s, nil
}

// isBinary reports whether data is not text, by the way git does.
func isBinary(data []byte) bool { return bytes.IndexByte(data[:min(len(data), 8000)], 0) >= 0 }

func lines(data []byte) []string {
	all := strings.SplitAfter(string(data), "\n")
	if all[len(all)-1] == "" {
		all = all[:len(all)-1]
	}
	return all
}
