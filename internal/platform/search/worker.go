package search

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"runtime"
	"syscall"

	"adze/internal/platform/search/regex"
	"adze/internal/platform/search/scan"
	"adze/internal/platform/search/walk"
)

// A file is what a worker opens.
type file interface {
	io.ReadCloser
	io.ReaderAt
	Stat() (walk.Info, error)
}

// An opener opens a file of a batch. Tests replace it by one that fails or hangs.
type opener func(*walk.Batch, walk.Entry) (file, error)

func openEntry(b *walk.Batch, e walk.Entry) (file, error) { return b.Open(e) }

// A worker searches one file after the other.
type worker struct {
	*grep
	searcher *scan.Searcher
	sink     scan.Sink
	place    *regex.Matcher // finds where in a long line a match is; nil until there is one

	yielded int // files since the last time others got their turn
	reader  patient

	// These are about the file at hand.
	ctx     context.Context
	again   func() (io.ReadCloser, error) // opens it a second time
	batch   *walk.Batch
	entry   walk.Entry
	shown   string
	text    []byte
	entries int // in text
	given   int // entries in pieces before
	piece   int
	checked bool // it is known to hold no null byte
	binary  bool
	item    item
}

// visit searches the files of a batch that may have a match.
func (w *worker) visit(ctx context.Context, b *walk.Batch) error {
	candidates := w.warm.candidates(b, w.found)
	for i, e := range b.Files {
		if err := ctx.Err(); err != nil {
			return err
		}
		if candidates != nil && !candidates[i] || w.found.past(e.Path(), false) {
			continue
		}
		if err := w.search(ctx, b, e); err != nil {
			return err
		}
		// Otherwise the rest of the program would have to wait for a whole batch.
		if w.yielded++; w.yielded == yieldEvery {
			w.yielded = 0
			runtime.Gosched()
		}
	}
	return nil
}

// A patient reader lets others have their turn while a large file is searched. It is a [scan.Large].
type patient struct {
	file
	last int // bytes that were read
}

const largeRead = 32 << 10

func (r *patient) Read(p []byte) (n int, err error) {
	if r.last >= largeRead {
		runtime.Gosched()
	}
	r.last, err = r.file.Read(p)
	return r.last, err
}

// ReadAt reads at a place of a large file.
func (r *patient) ReadAt(p []byte, at int64) (int, error) {
	runtime.Gosched()
	return r.file.ReadAt(p, at)
}

// Size returns how large the file is, or 0 if that is not known.
func (r *patient) Size() int64 {
	info, err := r.file.Stat()
	if err != nil {
		return 0
	}
	return info.Size
}

// yieldEvery is after how many files others get their turn.
const yieldEvery = 4

// search searches one file. Only an error that ends the search is returned.
func (w *worker) search(ctx context.Context, b *walk.Batch, e walk.Entry) error {
	f, err := w.engine.open(b, e)
	if err != nil {
		return w.couldNot(err)
	}
	defer f.Close()
	w.ctx, w.batch, w.entry = ctx, b, e
	w.start(e.Path())
	w.reader = patient{file: f}
	stats, err := w.searcher.Search(ctx, &w.reader, w.sink)
	switch {
	case stats.Binary || w.binary:
		w.found.addBinary()
		return nil
	case err != nil && ctx.Err() == nil:
		return w.couldNot(err)
	case !stats.Matched():
		return nil
	}
	w.item.Lines = stats.Lines
	if w.Mode == Files {
		if info, err := f.Stat(); err == nil {
			w.item.Modified = info.Modified
		}
	}
	w.finish()
	return nil
}

// couldNot counts a file that could not be read. What is no longer there, or no longer a file, is not
// missed. If the system ran out of descriptors, all is begun again. If there is no other file, that is
// the end.
func (w *worker) couldNot(err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.EISDIR), errors.Is(err, syscall.ELOOP), errors.Is(err, syscall.ENOTDIR):
		return nil
	case walk.IsShort(err):
		if w.tree.walk.Workers != 1 {
			return errShort
		}
		w.found.short.Store(true)
	case w.tree.file:
		return fmt.Errorf("reading %s: %w", w.tree.root, reason(err))
	}
	w.found.addUnreadable()
	return nil
}

// start begins with a file.
func (w *worker) start(rel string) {
	w.item = item{Hit: Hit{Path: rel}}
	w.text, w.shown = w.text[:0], ""
	w.entries, w.given, w.piece = 0, 0, 0
	w.checked, w.binary = false, false
}

// pieceSize is how much of a file's lines a worker holds. More is handed over while the file is still
// being searched, if it is certain that it holds no null byte: that would make all of it void.
const pieceSize = 1 << 20

// line takes a line of the file and reports whether more of them are of use.
func (w *worker) line(l *scan.Line) bool {
	if w.shown == "" {
		w.shown = w.Show(w.item.Path)
	}
	w.format(l)
	if w.found.need > 0 && w.given+w.entries >= w.found.need {
		return false
	}
	if len(w.text) < pieceSize {
		return true
	}
	if !w.checked {
		w.checked, w.binary = true, w.holdsNull()
	}
	return !w.binary && w.handOver()
}

// handOver gives the lines at hand to the collector, and reports whether it wants more.
func (w *worker) handOver() bool {
	it := w.item
	it.piece, it.entries, it.text = w.piece, w.entries, bytes.Clone(w.text)
	w.given += w.entries
	w.piece++
	w.text, w.entries = w.text[:0], 0
	return w.found.add(it)
}

// finish gives what is left of a file with a match to the collector.
func (w *worker) finish() {
	if w.Mode == Content {
		if w.entries > 0 {
			w.handOver()
		}
		return
	}
	w.item.entries = 1
	w.found.add(w.item)
}

// holdsNull reads the file at hand once more, to its end.
func (w *worker) holdsNull() bool {
	f, err := w.again()
	if err != nil {
		return false
	}
	defer f.Close()
	return holdsNull(w.ctx, f)
}

func (w *worker) reopen() (io.ReadCloser, error) { return w.engine.open(w.batch, w.entry) }

// holdsNull reports whether a text with lines is binary.
func holdsNull(ctx context.Context, src io.Reader) bool {
	everyLine, err := regex.Compile("^", regex.Options{})
	if err != nil {
		panic("search: " + err.Error())
	}
	stats, _ := scan.NewSearcher(everyLine, scan.Options{}).Search(ctx, src, nil) // ok: what was read counts
	return stats.Binary
}
