package walk

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"time"
)

// List calls yield with the paths of the files below o.Root, in batches during the walk, never
// concurrently, and not after ctx is done. The slice may be kept. An error from yield ends the
// walk and is returned unchanged; otherwise List is like [Walk].
func List(ctx context.Context, o Options, yield func(paths []string) error) (Stats, error) {
	var mu sync.Mutex
	var failed error
	return Walk(ctx, o, func(_ int, b *Batch) error {
		paths := make([]string, len(b.Files))
		for i, e := range b.Files {
			paths[i] = e.Path()
		}
		mu.Lock()
		defer mu.Unlock()
		if failed == nil {
			failed = ctx.Err() // workers that have found more may be waiting here
		}
		if failed == nil {
			failed = yield(paths)
		}
		return failed
	})
}

// A Found is a file returned by Newest.
type Found struct {
	Path     string
	Modified time.Time // zero if unknown
}

// byAge orders the newest first, files of unknown age last, and equals by path.
func byAge(a, b Found) int {
	if c := b.Modified.Compare(a.Modified); c != 0 {
		return c
	}
	return cmp.Compare(a.Path, b.Path)
}

// Newest returns the n most recently modified files below o.Root, newest first. It holds a
// small multiple of n at a time; [Stats] has the total number. Otherwise it is like [Walk], and
// returns partial results with an error.
func Newest(ctx context.Context, o Options, n int) ([]Found, Stats, error) {
	var kept [maxWorkers]newest
	stats, err := Walk(ctx, o, func(worker int, b *Batch) error {
		for _, e := range b.Files {
			info, err := b.Stat(e)
			switch {
			case err == nil:
				kept[worker].add(e.Path(), time.Unix(0, info.Modified), n)
			case !errors.Is(err, fs.ErrNotExist):
				kept[worker].add(e.Path(), time.Time{}, n)
			}
		}
		return nil
	})
	var all newest
	for i := range kept {
		all.files = append(all.files, kept[i].files...)
	}
	return all.best(n), stats, err
}

// A newest keeps the n newest files that it is given, and up to n more.
type newest struct {
	files []Found
	full  bool
	last  Found // valid when full: files that sort after it are not among the newest
}

func (k *newest) add(path string, modified time.Time, n int) {
	f := Found{path, modified}
	if n <= 0 || k.full && byAge(f, k.last) > 0 {
		return
	}
	f.Path = strings.Clone(path)
	k.files = append(k.files, f)
	if len(k.files) < 2*n {
		return
	}
	k.files = k.best(n)
	k.full, k.last = true, k.files[n-1]
}

// best returns the n newest files, newest first.
func (k *newest) best(n int) []Found {
	slices.SortFunc(k.files, byAge)
	n = max(0, min(n, len(k.files)))
	return slices.Delete(k.files, n, len(k.files))
}
