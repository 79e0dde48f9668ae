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

// A file is a file opened by a worker.
type file interface {
	io.ReadCloser
	io.ReaderAt
	Stat() (walk.Info, error)
}

// An opener opens a file of a batch. Tests replace it by a function that fails or blocks.
type opener func(*walk.Batch, walk.Entry) (file, error)

func openEntry(b *walk.Batch, e walk.Entry) (file, error) { return b.Open(e) }

// A worker searches files one at a time.
type worker struct {
	*grep
	searcher *scan.Searcher
	sink     scan.Sink
	place    *regex.Matcher // locates the match in a long line; nil until needed

	yielded int // files since the last yield
	reader  yieldingReader

	// State of the current file.
	ctx     context.Context
	again   func() (io.ReadCloser, error) // reopens the file
	batch   *walk.Batch
	entry   walk.Entry
	shown   string
	text    []byte
	entries int // number in text
	given   int // number in previous pieces
	piece   int
	checked bool // known to contain no null byte
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

// A yieldingReader is a reader that yields the processor while a large file is searched. It is a
// [scan.Large].
type yieldingReader struct {
	file
	last int // number of bytes read
}

const largeRead = 32 << 10

func (r *yieldingReader) Read(p []byte) (n int, err error) {
	if r.last >= largeRead {
		runtime.Gosched()
	}
	r.last, err = r.file.Read(p)
	return r.last, err
}

// ReadAt implements io.ReaderAt.
func (r *yieldingReader) ReadAt(p []byte, at int64) (int, error) {
	runtime.Gosched()
	return r.file.ReadAt(p, at)
}

// Size returns the file's size, or 0 if unknown.
func (r *yieldingReader) Size() int64 {
	info, err := r.file.Stat()
	if err != nil {
		return 0
	}
	return info.Size
}

// yieldEvery is the number of files between two yields.
const yieldEvery = 4

// search searches one file. It returns only errors that end the search.
func (w *worker) search(ctx context.Context, b *walk.Batch, e walk.Entry) error {
	f, err := w.engine.open(b, e)
	if err != nil {
		return w.couldNot(err)
	}
	defer f.Close()
	w.ctx, w.batch, w.entry = ctx, b, e
	w.start(e.Path())
	w.reader = yieldingReader{file: f}
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

// couldNot counts an unreadable file. It ignores removed files and files replaced by something
// else. If the system ran out of descriptors, it restarts the search. If the root itself is the
// file, it returns an error.
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

// start starts a file.
func (w *worker) start(rel string) {
	w.item = item{Hit: Hit{Path: rel}}
	w.text, w.shown = w.text[:0], ""
	w.entries, w.given, w.piece = 0, 0, 0
	w.checked, w.binary = false, false
}

// pieceSize is the amount of a file's lines that a worker holds. More is handed over while the
// file is still being searched, if it certainly contains no null byte, which would make the
// file binary.
const pieceSize = 1 << 20

// line adds a line of the file and reports whether more are needed.
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

// handOver passes the current lines to the collector, and reports whether it needs more.
func (w *worker) handOver() bool {
	it := w.item
	it.piece, it.entries, it.text = w.piece, w.entries, bytes.Clone(w.text)
	w.given += w.entries
	w.piece++
	w.text, w.entries = w.text[:0], 0
	return w.found.add(it)
}

// finish passes the rest of a file with a match to the collector.
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

// holdsNull rereads the current file to its end.
func (w *worker) holdsNull() bool {
	f, err := w.again()
	if err != nil {
		return false
	}
	defer f.Close()
	return holdsNull(w.ctx, f)
}

func (w *worker) reopen() (io.ReadCloser, error) { return w.engine.open(w.batch, w.entry) }

// holdsNull reports whether a text is binary.
func holdsNull(ctx context.Context, src io.Reader) bool {
	everyLine, err := regex.Compile("^", regex.Options{})
	if err != nil {
		panic("search: " + err.Error())
	}
	stats, _ := scan.NewSearcher(everyLine, scan.Options{}).Search(ctx, src, nil) // ok: the part that was read counts
	return stats.Binary
}
