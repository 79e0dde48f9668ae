package search

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"adze/internal/platform/search/walk"
)

// A reader is a file whose reads are controlled by the test.
type reader struct {
	file
	read func([]byte) (int, error)
}

func (r reader) Read(p []byte) (int, error) { return r.read(p) }

// slowly makes the nth opened file block until release is closed.
func slowly(e *Engine, n int32, release chan struct{}) {
	var opened atomic.Int32
	e.open = func(b *walk.Batch, entry walk.Entry) (file, error) {
		f, err := b.Open(entry)
		if err != nil || opened.Add(1) != n {
			return f, err
		}
		return reader{f, func(p []byte) (int, error) {
			<-release
			return f.Read(p)
		}}, nil
	}
}

// Proves ENG-07.
func TestDefaultTimeout(t *testing.T) {
	want := 20 * time.Second
	if onWSL() {
		want = time.Minute
	}
	if got := new(Engine).timeout(); got != want {
		t.Errorf("a search may take %v", got)
	}
}

// Proves ENG-07.
func TestTimeout(t *testing.T) {
	dir := fixture(t, map[string]string{"a": "foo\n", "b": "foo\n", "c": "foo\n"})
	for slow, want := range map[int32]int{1: 0, 3: 2} {
		synctest.Test(t, func(t *testing.T) {
			e := engine(t, Config{Cold: true})
			release := make(chan struct{})
			slowly(e, slow, release)
			began := time.Now()
			r, err := e.Grep(t.Context(), GrepOptions{Root: dir, Pattern: "foo"})
			if err != nil || r.Stopped != TimedOut || len(r.Files) != want {
				t.Errorf("got %+v, %v; want %d files", r, err, want)
			}
			limit := e.timeout()
			if took := time.Since(began); took < limit || took > limit+50*time.Millisecond {
				t.Errorf("it took %v", took)
			}
			close(release)
			synctest.Wait()
		})
	}
	want := 20 * time.Second
	if onWSL() {
		want = time.Minute
	}
	if d := New(Config{}).timeout(); d != want {
		t.Errorf("by default a search may take %v, want %v", d, want)
	}
}

// Proves ENG-07.
func TestInterrupt(t *testing.T) {
	dir := fixture(t, map[string]string{"a": "foo\n", "b": "foo\n"})
	synctest.Test(t, func(t *testing.T) {
		e := engine(t, Config{Cold: true})
		release := make(chan struct{})
		slowly(e, 2, release)
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		began := time.Now()
		r, err := e.Grep(ctx, GrepOptions{Root: dir, Pattern: "foo"})
		if err != nil || r.Stopped != Interrupted || len(r.Files) != 1 {
			t.Errorf("got %+v, %v", r, err)
		}
		if took := time.Since(began); took > time.Second+50*time.Millisecond {
			t.Errorf("it took %v", took)
		}
		close(release)
		synctest.Wait()
	})
}

// TestInterruptBusy cancels searches of an endless file while they are busy. scripts/bench
// measures how quickly they react.
//
// Proves ENG-07.
func TestInterruptBusy(t *testing.T) {
	dir := fixture(t, map[string]string{"a": "text\n"})
	for _, tt := range []struct {
		text string
		o    GrepOptions
	}{
		{"abcdefgh 1234 ", GrepOptions{Pattern: `[a-z]+\d[a-z]+\d`, Mode: Count}},
		{"aaaaaaaaaaaaaaa\n", GrepOptions{Pattern: `(a|aa)+b`, Mode: Count}},
		{"aaaaaaaaaaaaaaa\n", GrepOptions{Pattern: `a+`, Mode: Content, Only: true}},
		{"aaaaaaaaaaaaaaa\n", GrepOptions{Pattern: `(?s)a.*z`, Mode: Count, Multiline: true}},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		e := engine(t, Config{Cold: true})
		piece := []byte(strings.Repeat(tt.text, 1000))
		closed := make(chan struct{})
		reads := 0
		e.open = func(b *walk.Batch, entry walk.Entry) (file, error) {
			f, err := b.Open(entry)
			return endless{reader{f, func(p []byte) (int, error) {
				if reads++; reads == 20 {
					cancel()
				}
				return copy(p, piece), nil
			}}, closed}, err
		}
		tt.o.Root = dir
		r, err := e.Grep(ctx, tt.o)
		if err != nil || r.Stopped != Interrupted {
			t.Errorf("%s: got %+v, %v", tt.o.Pattern, r, err)
		}
		<-closed
		if reads > 21 {
			t.Errorf("%s: the file was read %d times more", tt.o.Pattern, reads-20)
		}
	}
}

// An endless is a file without end that reports when it is closed.
type endless struct {
	reader
	closed chan struct{}
}

func (f endless) Close() error {
	close(f.closed)
	return f.file.Close()
}

// failing makes the first opens fail with err, the given number of times. It returns the number
// of attempts.
func failing(e *Engine, err error, times int) *atomic.Int32 {
	var n atomic.Int32
	e.open = func(b *walk.Batch, entry walk.Entry) (file, error) {
		if int(n.Add(1)) <= times {
			return nil, err
		}
		return b.Open(entry)
	}
	return &n
}

// Proves ENG-07.
func TestShortOfDescriptors(t *testing.T) {
	dir := fixture(t, map[string]string{"a": "foo\n", "b": "foo\n"})
	o := GrepOptions{Root: dir, Pattern: "foo", Mode: Count}
	for _, err := range []error{syscall.EMFILE, syscall.ENFILE, syscall.EAGAIN} {
		e := engine(t, Config{Cold: true})
		failing(e, err, 1)
		if got := grepText(t, e, o); got != "a:1\nb:1\n" {
			t.Errorf("%v once: %q", err, got)
		}
		failing(e, err, 1000)
		if got := grepText(t, e, o); got != "(more false, unreadable 2, stopped 3)\n" {
			t.Errorf("%v always: %q", err, got)
		}
	}
}

// Proves ENG-07.
func TestUnreadable(t *testing.T) {
	dir := fixture(t, map[string]string{"a": "foo\n", "b": "foo\n"})
	tests := []struct {
		err  error
		want string
	}{
		{syscall.EACCES, "b:1\n(more false, unreadable 1, stopped 0)\n"},
		{syscall.EIO, "b:1\n(more false, unreadable 1, stopped 0)\n"},
		{syscall.ENOENT, "b:1\n"},
		{syscall.EISDIR, "b:1\n"},
		{syscall.ELOOP, "b:1\n"},
	}
	for _, tt := range tests {
		for _, late := range []bool{false, true} {
			e := engine(t, Config{Cold: true})
			e.open = func(b *walk.Batch, entry walk.Entry) (file, error) {
				f, err := b.Open(entry)
				switch {
				case err != nil || entry.Name() != "a":
					return f, err
				case late:
					return reader{f, func([]byte) (int, error) { return 0, tt.err }}, nil
				}
				f.Close()
				return nil, tt.err
			}
			if got := grepText(t, e, GrepOptions{Root: dir, Pattern: "foo", Mode: Count}); got != tt.want {
				t.Errorf("%v (late %v): %q", tt.err, late, got)
			}
		}
	}
	e := engine(t, Config{Cold: true})
	failing(e, syscall.EACCES, 1)
	if _, err := e.Grep(t.Context(), GrepOptions{Root: filepath.Join(dir, "a"), Pattern: "foo"}); !errors.Is(err, syscall.EACCES) {
		t.Errorf("the only file there is: %v", err)
	}
}

// Proves ENG-07.
func TestOutputIsBounded(t *testing.T) {
	line := strings.Repeat("x", 99) + "\n"
	dir := fixture(t, map[string]string{
		"a": strings.Repeat(line, 200_000),
		"b": strings.Repeat(line, 200_000),
		"c": "x\n",
	})
	e := engine(t, Config{Cold: true})
	r, err := e.Grep(t.Context(), GrepOptions{Root: dir, Pattern: "x", Mode: Content, Show: func(rel string) string { return rel }})
	if err != nil {
		t.Fatal(err)
	}
	text := bytes.Join(r.Lines, nil)
	if !r.Cut || !r.More || len(text) > maxOutput || len(text) < maxOutput-200 || !bytes.HasSuffix(text, []byte("x\n")) || r.Entries != bytes.Count(text, []byte{'\n'}) {
		t.Errorf("cut %v, more %v, %d bytes, %d entries, at the end %q", r.Cut, r.More, len(text), r.Entries, text[len(text)-10:])
	}
	for i, line := range bytes.SplitAfterN(text, []byte{'\n'}, 200_010)[:200_005] {
		if want := byte('a' + i/200_000); line[0] != want {
			t.Fatalf("line %d is of %c", i, line[0])
		}
	}
}

// Proves GREP-04.
func TestLongLines(t *testing.T) {
	dir := fixture(t, map[string]string{
		"min.js": strings.Repeat("é", 300_000) + "needle" + strings.Repeat("y", 400_000) + "\nshort\n",
		"end.js": strings.Repeat("é", 600) + "needle\n",
	})
	want := "end.js:1:[106 characters before] " + strings.Repeat("é", 494) + "needle\n" +
		"min.js:1:[299900 characters before] " + strings.Repeat("é", 100) + "needle" + strings.Repeat("y", 394) + " [399606 characters after]\n" +
		"min.js-2-short\n"
	for kind, e := range engines(t) {
		if got := grepText(t, e, GrepOptions{Root: dir, Pattern: "needle", Mode: Content, Numbers: true, After: 1}); got != strings.Replace(want, "min.js:1", "--\nmin.js:1", 1) {
			t.Errorf("%s: %.3000s", kind, got)
		}
		if got := grepText(t, e, GrepOptions{Root: dir, Pattern: "needle", Mode: Content, Only: true}); got != "end.js:needle\nmin.js:needle\n" {
			t.Errorf("%s: %.3000s", kind, got)
		}
	}
}

// Proves ENG-08.
func TestListStops(t *testing.T) {
	defer goleak.VerifyNone(t)
	files := map[string]string{}
	for i := range 500 {
		files[fmt.Sprintf("%d/%d", i%20, i)] = ""
	}
	dir := fixture(t, files)
	e := New(Config{Cold: true})
	defer e.Close()
	var all int
	if err := e.List(t.Context(), ListOptions{Root: dir}, func(rels []string) error { all += len(rels); return nil }); err != nil || all != 500 {
		t.Errorf("%d names, %v", all, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	some := 0
	err := e.List(ctx, ListOptions{Root: dir}, func(rels []string) error {
		if some += len(rels); some >= 50 {
			cancel()
		}
		return nil
	})
	if !errors.Is(err, context.Canceled) || some == 500 {
		t.Errorf("cancelled after %d names: %v", some, err)
	}
	broken := errors.New("broken")
	if err := e.List(t.Context(), ListOptions{Root: dir}, func([]string) error { return broken }); err != broken {
		t.Errorf("the consumer's error came back as %v", err)
	}
}
