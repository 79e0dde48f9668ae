package filehistory

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/aymanbagabas/go-udiff/lcs"
)

// Stats are the differences between two times.
type Stats struct {
	Files                 int
	Insertions, Deletions int // in lines; files that are not text count as changed only
}

// compare counts what changed from then to now.
func compare(s *store, steps []step) (Stats, error) {
	var stats Stats
	for _, step := range steps {
		if step.then.hash == step.now.hash {
			continue
		}
		then, err := s.content(step.then)
		if err != nil {
			return Stats{}, fmt.Errorf("what %s was is not there any more: %w", step.path, err)
		}
		stats.Files++
		if isBinary(then) || isBinary(step.data) {
			continue
		}
		for _, d := range lcs.DiffLines(lines(then), lines(step.data)) {
			stats.Deletions += d.End - d.Start
			stats.Insertions += d.ReplEnd - d.ReplStart
		}
	}
	return stats, nil
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
