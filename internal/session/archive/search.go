package archive

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"adze/internal/msg"
	"adze/internal/platform/fs/filestate"
	"adze/internal/platform/search/regex"
	"adze/internal/session/store"
)

// Query is a full-text search over sessions.
type Query struct {
	// Text is matched literally, except that any whitespace matches any other.
	Text string
	// MatchCase makes the search case-sensitive.
	MatchCase bool
	// Dir restricts the search to the project in this folder; empty means all projects.
	Dir string
	// Limit is the maximum number of hits per session; 0 means 1.
	Limit int
}

// A Hit is a match in a session.
type Hit struct {
	Session Info
	// Message, Role and Time are the matching message's ID, author and time.
	Message string
	Role    msg.Role
	Time    time.Time
	// Snippet is the text around the match on one line. Start and End delimit the match in it.
	Snippet    string
	Start, End int
}

// Search yields the hits, starting with the most recently changed sessions. A session that
// cannot be read is yielded as an error, and the search continues.
func Search(ctx context.Context, home string, q Query) iter.Seq2[Hit, error] {
	return func(yield func(Hit, error) bool) {
		s, err := newSearch(q)
		if err != nil {
			yield(Hit{}, err)
			return
		}
		files, err := byAge(home, q.Dir)
		if err != nil {
			yield(Hit{}, err)
			return
		}
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		s.run(ctx, files, openIndex(home), yield)
	}
}

// byAge returns the files, newest first.
func byAge(home, dir string) ([]file, error) {
	files, err := find(home, dir)
	if err != nil {
		return nil, err
	}
	for i := range files {
		if info, err := os.Stat(files[i].path()); err == nil && info.Mode().IsRegular() {
			files[i].stamp = filestate.StampOf(info)
		}
	}
	files = slices.DeleteFunc(files, func(f file) bool { return f.stamp == filestate.Stamp{} })
	slices.SortFunc(files, func(a, b file) int {
		return cmp.Or(cmp.Compare(b.stamp.MTime, a.stamp.MTime), strings.Compare(a.key, b.key))
	})
	return files, nil
}

// A search has two stages: a prefilter on the raw bytes of a log, and a check of the decoded
// text.
type search struct {
	raw, text *regex.Query
	limit     int
}

func newSearch(q Query) (*search, error) {
	if strings.TrimSpace(q.Text) == "" || !utf8.ValidString(q.Text) {
		return nil, errors.New("searching sessions: give a text to look for")
	}
	raw, text := patterns(strings.TrimSpace(q.Text))
	s := &search{limit: max(1, q.Limit)}
	var err error
	if s.raw, err = regex.Compile(raw, regex.Options{IgnoreCase: !q.MatchCase}); err == nil {
		s.text, err = regex.Compile(text, regex.Options{IgnoreCase: !q.MatchCase, Multiline: true})
	}
	if err != nil {
		return nil, fmt.Errorf("searching sessions: %w", err)
	}
	return s, nil
}

// found is the result for a file.
type found struct {
	hits []Hit
	err  error
	done chan struct{}
}

// run searches the files in parallel and yields the hits in the order of the files.
func (s *search) run(ctx context.Context, files []file, x *diskIndex, yield func(Hit, error) bool) {
	ctx, cancel := context.WithCancel(ctx)
	results := make([]found, len(files))
	for i := range results {
		results[i].done = make(chan struct{})
	}
	next := make(chan int)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	for range min(runtime.GOMAXPROCS(0), len(files)) {
		wg.Go(func() {
			w := s.worker(x)
			for i := range next {
				results[i].hits, results[i].err = w.search(ctx, &files[i])
				close(results[i].done)
			}
		})
	}
	wg.Go(func() {
		defer close(next)
		for i := range files {
			select {
			case next <- i:
			case <-ctx.Done():
				return
			}
		}
	})
	for i := range results {
		select {
		case <-results[i].done:
		case <-ctx.Done():
			yield(Hit{}, ctx.Err())
			return
		}
		if err := results[i].err; err != nil && !yield(Hit{}, err) {
			return
		}
		for _, hit := range results[i].hits {
			if !yield(hit, nil) {
				return
			}
		}
		results[i] = found{} // free the memory early
	}
}

// A worker searches one file at a time.
type worker struct {
	s         *search
	x         *diskIndex
	raw, text *regex.Matcher
	buf       []byte
	reader    reader
}

func (s *search) worker(x *diskIndex) *worker {
	return &worker{s: s, x: x, raw: s.raw.NewMatcher(), text: s.text.NewMatcher(), buf: make([]byte, 1<<20)}
}

// search returns the hits in a file.
func (w *worker) search(ctx context.Context, f *file) ([]Hit, error) {
	in, err := os.Open(f.path())
	if err != nil {
		return nil, fmt.Errorf("searching sessions: %w", err)
	}
	defer in.Close()
	var hits []Hit
	err = w.chunks(in, func(lines []byte) bool {
		w.raw.Start(ctx, lines)
		for {
			start, end, ok := w.raw.Next()
			if !ok {
				return ctx.Err() == nil
			}
			hits = w.verify(ctx, hits, lines[start:end])
			if len(hits) >= w.s.limit {
				return false
			}
		}
	})
	if err != nil {
		return nil, fmt.Errorf("searching %s: %w", f.path(), err)
	}
	if len(hits) > 0 {
		info := w.reader.describe(f, w.x)
		for i := range hits {
			hits[i].Session = info
		}
	}
	return hits, nil
}

// maxLine is the maximum size of a line that is searched.
const maxLine = 64 << 20

// chunks passes the file to each in pieces of whole lines, until it returns false. Text after
// the last newline is not a record.
func (w *worker) chunks(in io.Reader, each func(lines []byte) bool) error {
	held, size := 0, 64<<10 // start small: matches are often near the start
	for {
		if held == len(w.buf) {
			if len(w.buf) >= maxLine {
				held = 0 // too long for a record
			} else {
				w.buf = append(w.buf, make([]byte, len(w.buf))...)
			}
		}
		n, err := in.Read(w.buf[held:min(len(w.buf), held+size)])
		size = len(w.buf)
		end := bytes.LastIndexByte(w.buf[held:held+n], '\n') + 1
		if end > 0 {
			end += held
			if !each(w.buf[:end]) {
				return nil
			}
		}
		held = copy(w.buf, w.buf[end:held+n])
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// verify adds a hit if the decoded text of a record matches.
func (w *worker) verify(ctx context.Context, hits []Hit, line []byte) []Hit {
	rec, err := store.ParseRecord(line)
	if err != nil || !rec.Message() {
		return hits
	}
	e, err := rec.Entry()
	if err != nil {
		return hits
	}
	for _, text := range texts(e.Message.Parts, nil) {
		start, end, ok := w.text.Find(ctx, []byte(text), 0)
		if !ok {
			continue
		}
		hit := Hit{Message: e.ID, Role: e.Message.Role, Time: e.Time}
		hit.Snippet, hit.Start, hit.End = snippet(text, start, end)
		return append(hits, hit)
	}
	return hits
}

// texts returns the readable text in parts: text, reasoning, tool input and results.
func texts(parts []msg.Part, to []string) []string {
	for _, p := range parts {
		switch p := p.(type) {
		case *msg.Text:
			to = append(to, p.Text)
		case *msg.Thinking:
			to = append(to, p.Text)
		case *msg.ToolUse:
			to = append(to, p.Name+" "+inputText(p))
		case *msg.ToolResult:
			to = texts(p.Parts, to)
		}
	}
	return to
}
