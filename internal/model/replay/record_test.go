package replay

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"adze/internal/model"
)

// TestRecordAndReplay checks that a recording replays the run with the same events and errors,
// in process and over HTTP, and that it contains the requests as sent and no credentials.
//
// Proves PROV-61.
func TestRecordAndReplay(t *testing.T) {
	src := `
think Let me see.
use Read {"file_path":"a.txt"}
---
error overloaded retry-after=3 should-retry=true Busy.
---
error network
---
say half
cut
---
expect nostream
usage input=3 output=4
say whole
---
html
---
status 503 gone
`
	dir := filepath.Join(t.TempDir(), "recording")
	transport := &http.Transport{DisableKeepAlives: true}
	recorder, err := NewRecorder(dir, transport)
	if err != nil {
		t.Fatal(err)
	}
	run := func(s *Script, ask func(*model.Request) []string) []string {
		var out []string
		for i := range s.turns {
			req := hello()
			req.NoStream = i == 4
			out = append(out, ask(req)...)
		}
		return out
	}
	s := mustParse(t, src)
	original := NewPlayer(s)
	want := run(s, overHTTP(t, original.Handler(), recorder))
	if err := errors.Join(original.Err(), recorder.Close()); err != nil {
		t.Fatal(err)
	}

	recorded, err := Load(filepath.Join(dir, ScriptName))
	if err != nil {
		t.Fatal(err)
	}
	for name, ask := range map[string]func(*Player) func(*model.Request) []string{
		"in process": func(p *Player) func(*model.Request) []string { return inProcess(t, p) },
		"over HTTP":  func(p *Player) func(*model.Request) []string { return overHTTP(t, p.Handler(), nil) },
	} {
		p := NewPlayer(recorded)
		if diff := cmp.Diff(want, run(recorded, ask(p))); diff != "" {
			t.Errorf("%s: replay differs from the run (-run +replay):\n%s", name, diff)
		}
		if err := p.Err(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}

	first, err := os.ReadFile(filepath.Join(dir, "001-request.json"))
	if err != nil || !bytes.Equal(first, original.Requests()[0]) {
		t.Errorf("the first request was recorded as %s (%v)", first, err)
	}
	err = fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(filepath.Join(dir, path))
		if bytes.Contains(text, []byte(secret)) {
			t.Errorf("%s has the key", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// Proves PROV-61.
func TestRecorderRefuses(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := NewRecorder(filepath.Join(file, "sub"), nil); err == nil {
		t.Error("a directory below a file is accepted")
	}
	r, err := NewRecorder(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if _, err := NewRecorder(dir, nil); err == nil || !strings.Contains(err.Error(), "already has a recording") {
		t.Errorf("a second recording: %v", err)
	}
}

type transportFunc func(*http.Request) (*http.Response, error)

func (f transportFunc) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestRecordingOrder checks that the script has the turns in the order of the requests, even if
// answers overtake each other.
func TestRecordingOrder(t *testing.T) {
	dir := t.TempDir()
	var recorder *Recorder
	ask := func(path, body string) {
		r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
		resp, err := recorder.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, resp.Body); err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
	}
	recorder, err := NewRecorder(dir, transportFunc(func(r *http.Request) (*http.Response, error) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		if string(body) == "outer" { // another request runs during this one
			ask("/v1/messages", "inner")
			ask("/v1/messages/count_tokens", "count")
		}
		w := httptest.NewRecorder()
		w.WriteString("answer to " + string(body))
		return w.Result(), nil
	}))
	if err != nil {
		t.Fatal(err)
	}
	ask("/v1/messages", "outer")
	if err := recorder.Close(); err != nil {
		t.Fatal(err)
	}
	script, err := os.ReadFile(filepath.Join(dir, ScriptName))
	if err != nil {
		t.Fatal(err)
	}
	want := "# Replays a recorded run.\nfile 001-response.json\n---\nfile 002-response.json\n"
	if diff := cmp.Diff(want, string(script)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for name, want := range map[string]string{"001": "answer to outer", "002": "answer to inner"} {
		got, err := os.ReadFile(filepath.Join(dir, name+"-response.json"))
		if err != nil || string(got) != want {
			t.Errorf("response %s is %q (%v), want %q", name, got, err, want)
		}
	}
}

// TestRecordedKeyIsMasked checks that a response that repeats the key does not bring it into
// the recording, wherever it is split.
func TestRecordedKeyIsMasked(t *testing.T) {
	const key = "sk-secret-0123456789"
	body := "no: Bearer " + key + ", or sk-secret-01234, or " + key
	for _, size := range []int{1, 3, 7, 1000} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			for chunk := range slices.Chunk([]byte(body), size) {
				w.Write(chunk)
				w.(http.Flusher).Flush()
			}
		}))
		dir := filepath.Join(t.TempDir(), "recording")
		r, err := NewRecorder(dir, http.DefaultTransport)
		if err != nil {
			t.Fatal(err)
		}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+"/v1/messages", strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+key)
		req.Header.Set("X-Api-Key", key)
		res, err := r.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(res.Body)
		res.Body.Close()
		if string(got) != body || err != nil {
			t.Errorf("the caller got %q, %v", got, err)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		data, err := os.ReadFile(filepath.Join(dir, "001-response.json"))
		if want := "no: ***, or sk-secret-01234, or ***"; string(data) != want || err != nil {
			t.Errorf("in pieces of %d: %q, %v", size, data, err)
		}
		server.Close()
	}
}
