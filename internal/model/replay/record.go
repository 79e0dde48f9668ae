package replay

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// A Recorder is a transport that writes what passes through it: each request to a model as
// 001-request.json, its response as 001-response.sse or .json, and script.replay, a script that plays
// the responses again. It writes bodies only, and of the headers the few that clients act on: no
// credentials, and not in a response that repeats them. Requests to other endpoints pass unrecorded, and so do those in another dialect than the first.
//
// A failure to write never disturbs the run; see [Recorder.Err].
type Recorder struct {
	dir    string
	next   http.RoundTripper
	script *os.File

	mu      sync.Mutex
	begun   int
	dialect string // of the first request
	// turns are those of requests whose answer is known, until the ones before are known too.
	turns   map[int]string
	written int
	err     error
}

// ScriptName is the file in the directory of a recording that replays it.
const ScriptName = "script.replay"

// NewRecorder returns a recorder that sends requests on to next. It creates dir,
// but no directory above it, and refuses one that it cannot write to or that has a recording already.
func NewRecorder(dir string, next http.RoundTripper) (*Recorder, error) {
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return nil, fmt.Errorf("recording requests: %w", err)
	}
	script, err := os.OpenFile(filepath.Join(dir, ScriptName), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	switch {
	case errors.Is(err, os.ErrExist):
		return nil, fmt.Errorf("recording requests: %s already has a recording; name another directory", dir)
	case err != nil:
		return nil, fmt.Errorf("recording requests: %w", err)
	}
	r := &Recorder{dir: dir, next: next, script: script, turns: make(map[int]string)}
	_, err = script.WriteString("# Replays a recorded run.\n")
	r.note(err)
	return r, nil
}

// Err returns what went wrong in writing, or nil.
func (r *Recorder) Err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// Close ends the recording. Requests that have no answer yet are replayed as hanging.
func (r *Recorder) Close() error {
	r.mu.Lock()
	begun := r.begun
	r.mu.Unlock()
	for n := 1; n <= begun; n++ {
		r.turn(n, "hang\n")
	}
	r.note(r.script.Close())
	return r.Err()
}

// RoundTrip sends req and records the exchange.
func (r *Recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Method != http.MethodPost || req.Body == nil || !r.records(req.URL.Path) {
		return r.next.RoundTrip(req)
	}
	body, err := io.ReadAll(req.Body)
	req.Body.Close() // ok: it has been read
	if err != nil {
		return nil, fmt.Errorf("recording a request: %w", err)
	}
	n := r.begin(body)
	sent := req.Clone(req.Context())
	sent.Body = io.NopCloser(bytes.NewReader(body))
	resp, err := r.next.RoundTrip(sent)
	switch {
	case err == nil:
		resp.Body = r.response(n, resp, secretsOf(req.Header))
	case req.Context().Err() != nil:
		r.turn(n, "hang\n")
	default:
		r.turn(n, "error network\n")
	}
	return resp, err
}

// records reports whether what is posted to path is recorded. The first request says in which dialect.
func (r *Recorder) records(path string) bool {
	i := slices.IndexFunc(dialects[:], func(d dialect) bool {
		return slices.ContainsFunc(d.paths, func(end string) bool { return strings.HasSuffix(path, end) })
	})
	if i < 0 || strings.Contains(path, "/count-tokens:") {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.dialect == "" {
		r.dialect = dialects[i].name
		if i > 0 && r.err == nil {
			_, r.err = r.script.WriteString("dialect " + r.dialect + "\n")
		}
	}
	return r.dialect == dialects[i].name
}

// begin writes a request and returns its number.
func (r *Recorder) begin(body []byte) int {
	r.mu.Lock()
	r.begun++
	n := r.begun
	r.mu.Unlock()
	r.note(os.WriteFile(filepath.Join(r.dir, fmt.Sprintf("%03d-request.json", n)), body, 0o600))
	return n
}

// response writes the turn of request n and returns the body of resp, which is recorded as it is read.
func (r *Recorder) response(n int, resp *http.Response, secrets [][]byte) io.ReadCloser {
	ext := "json"
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		ext = "sse"
	}
	name := fmt.Sprintf("%03d-response.%s", n, ext)
	var turn strings.Builder
	for _, h := range []string{"request-id", "retry-after", "retry-after-ms", "x-should-retry"} {
		if v := resp.Header.Get(h); v != "" {
			fmt.Fprintf(&turn, "header %s: %s\n", h, v)
		}
	}
	if resp.StatusCode == http.StatusOK {
		fmt.Fprintf(&turn, "file %s\n", name)
	} else {
		fmt.Fprintf(&turn, "file status=%d %s\n", resp.StatusCode, name)
	}
	r.turn(n, turn.String())

	file, err := os.OpenFile(filepath.Join(r.dir, name), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		r.note(err)
		return resp.Body
	}
	return &recording{ReadCloser: resp.Body, file: mask{file: file, secrets: secrets}, recorder: r}
}

// turn adds the turn of request n to the script, where it stands in the order of requests. The first
// word on a request counts.
func (r *Recorder) turn(n int, text string) {
	r.mu.Lock()
	if _, known := r.turns[n]; !known && n > r.written {
		r.turns[n] = text
	}
	var due strings.Builder
	for {
		text, ok := r.turns[r.written+1]
		if !ok {
			break
		}
		delete(r.turns, r.written+1)
		if r.written > 0 {
			due.WriteString("---\n")
		}
		due.WriteString(text)
		r.written++
	}
	_, err := r.script.WriteString(due.String())
	r.mu.Unlock()
	r.note(err)
}

// note keeps the first error. A body may be closed while it is read, and after the recording: that
// is none.
func (r *Recorder) note(err error) {
	if err == nil || errors.Is(err, os.ErrClosed) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		r.err = fmt.Errorf("recording requests: %w", err)
	}
}

// A recording is a response body that is written to a file as it is read.
type recording struct {
	io.ReadCloser
	file     mask
	recorder *Recorder
}

func (b *recording) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.recorder.note(b.file.Write(p[:n]))
	return n, err
}

func (b *recording) Close() error {
	b.recorder.note(b.file.Close())
	return b.ReadCloser.Close()
}
