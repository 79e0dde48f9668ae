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

// A Recorder is a transport that records exchanges: each request to a model as
// 001-request.json, its response as 001-response.sse or .json, and script.replay, a script that
// replays the responses. It writes only bodies and the few headers that clients act on, without
// credentials, even if a response repeats them. Requests to other endpoints, or in a dialect
// other than the first, are not recorded.
//
// A write error never disturbs the run; see [Recorder.Err].
type Recorder struct {
	dir    string
	next   http.RoundTripper
	script *os.File

	mu      sync.Mutex
	begun   int
	dialect string // dialect of the first request
	// turns holds the turns of answered requests that wait for earlier ones.
	turns   map[int]string
	written int
	err     error
}

// ScriptName is the script file in a recording's directory.
const ScriptName = "script.replay"

// NewRecorder returns a recorder that forwards requests to next. It creates dir, but not its
// parents, and rejects a directory that is not writable or already has a recording.
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

// Err returns the first write error, or nil.
func (r *Recorder) Err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// Close ends the recording. Unanswered requests are replayed as hanging.
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
	req.Body.Close() // ok: fully read
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

// records reports whether requests posted to path are recorded. The first request determines
// the dialect.
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

// response writes the turn for request n and returns resp's body, which is recorded as it is
// read.
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

// turn adds the turn for request n to the script, in the order of requests. Only the first call
// for a request counts.
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

// note stores the first error. It ignores os.ErrClosed, since a body may be closed while it is
// read and after the recording.
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
