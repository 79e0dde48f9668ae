package replay

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"adze/internal/model"
	"adze/internal/model/messages"
	"adze/internal/model/wire"
	"adze/internal/msg"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func mustParse(t testing.TB, src string) *Script {
	t.Helper()
	s, err := Parse("model.txt", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func hello() *model.Request {
	return &model.Request{Model: "test-model", MaxTokens: 1000, Messages: []msg.Message{msg.UserText("hello")}}
}

// lines returns the events and the final error, one line each.
func lines(events iter.Seq2[model.Event, error]) []string {
	var out []string
	for e, err := range events {
		out = append(out, line(e, err))
	}
	return out
}

func line(e model.Event, err error) string {
	var bad *model.Error
	switch {
	case errors.As(err, &bad):
		s := fmt.Sprintf("error %s status=%d request=%s message=%q", bad.Kind, bad.Status, bad.RequestID, bad.Message)
		if bad.HasRetryAfter {
			s += " after=" + bad.RetryAfter.String()
		}
		if bad.ShouldRetry != 0 {
			s += fmt.Sprintf(" retry=%+d", bad.ShouldRetry)
		}
		return s
	case err != nil:
		return "error " + err.Error()
	}
	switch e := e.(type) {
	case model.Start:
		return fmt.Sprintf("start %s %s %s", e.ID, e.Model, e.RequestID)
	case model.TextDelta:
		return fmt.Sprintf("text %d %q", e.Block, e.Text)
	case model.ThinkingDelta:
		return fmt.Sprintf("thinking %d %q %q", e.Block, e.Text, e.Signature)
	case model.InputDelta:
		return fmt.Sprintf("input %d %s %s %q", e.Block, e.ID, e.Name, e.JSON)
	case model.BlockDone:
		return fmt.Sprintf("done %d %T %s", e.Block, e.Part, msg.AppendPart(nil, e.Part))
	case model.Usage:
		return fmt.Sprintf("usage input=%d output=%d cache_read=%d cache_write=%d web_searches=%d estimated=%t",
			e.Input, e.Output, e.CacheRead, e.CacheWrite, e.WebSearches, e.Estimated)
	case model.Stop:
		return "stop " + string(e.Reason)
	case model.Raw:
		return "raw " + string(e.JSON)
	default:
		return fmt.Sprintf("%T", e)
	}
}

// playAll calls ask for as many answers as s has turns for.
func playAll(s *Script, ask func(*model.Request) []string) []string {
	var out []string
	for _, t := range s.turns {
		for range t.times {
			out = append(out, ask(hello())...)
			out = append(out, "")
		}
	}
	return out
}

// inProcess returns a function that calls the player's provider.
func inProcess(t testing.TB, p *Player) func(*model.Request) []string {
	return func(req *model.Request) []string { return lines(p.Provider().Stream(t.Context(), req)) }
}

// overHTTP returns a function that calls the handler like a network client.
func overHTTP(t testing.TB, h http.Handler, transport http.RoundTripper) func(*model.Request) []string {
	server := httptest.NewServer(h)
	if transport == nil {
		transport = server.Client().Transport
	}
	client := &http.Client{Transport: transport}
	t.Cleanup(func() {
		client.CloseIdleConnections()
		server.Close()
	})
	return func(req *model.Request) []string { return lines(send(t.Context(), client, server.URL, req)) }
}

func send(ctx context.Context, c *http.Client, url string, req *model.Request) iter.Seq2[model.Event, error] {
	fail := func(err error) iter.Seq2[model.Event, error] {
		return func(yield func(model.Event, error) bool) { yield(nil, err) }
	}
	body, err := new(messages.Encoder).Encode(req, nil)
	if err != nil {
		return fail(err)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/v1/messages", strings.NewReader(string(body)))
	if err != nil {
		return fail(err)
	}
	r.Header.Set("X-Api-Key", secret)
	r.Header.Set("Anthropic-Version", "2023-06-01")
	r.Header.Set("Content-Type", "application/json")
	resp, err := c.Do(r)
	if err != nil {
		return fail(&model.Error{Kind: model.Network, Err: err})
	}
	o := wire.StreamOptions{RequestID: resp.Header.Get("Request-Id"), Raw: req.Raw}
	if resp.StatusCode == http.StatusOK && !req.NoStream {
		return wire.ReadStream(ctx, messages.Dialect{}, resp.Body, o)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	switch {
	case resp.StatusCode != http.StatusOK:
		return fail(wire.ErrorFrom(messages.Dialect{}, resp.StatusCode, resp.Header, data))
	case err != nil:
		return fail(&model.Error{Kind: model.Broken, RequestID: o.RequestID, Err: err})
	}
	return wire.ReadMessage(messages.Dialect{}, data, o.RequestID)
}

const secret = "sk-very-secret"

// TestPlay plays the scripts in testdata in process, streamed and whole.
func TestPlay(t *testing.T) {
	eachScript(t, func(t *testing.T, path string, s *Script) {
		for _, variant := range []struct {
			golden   string
			noStream bool
		}{{".streamed.golden", false}, {".whole.golden", true}} {
			p := NewPlayer(s)
			got := playAll(s, func(req *model.Request) []string {
				req.NoStream = variant.noStream
				return inProcess(t, p)(req)
			})
			if err := p.Err(); err != nil {
				t.Error(err)
			}
			compare(t, strings.TrimSuffix(path, ".replay")+variant.golden, strings.Join(got, "\n"))
		}
	})
}

func compare(t *testing.T, golden, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", golden, diff)
	}
}

// TestSameOverHTTP checks that the provider and the handler produce the same events.
func TestSameOverHTTP(t *testing.T) {
	eachScript(t, func(t *testing.T, _ string, s *Script) {
		for _, noStream := range []bool{false, true} {
			variant := func(ask func(*model.Request) []string) func(*model.Request) []string {
				return func(req *model.Request) []string {
					req.NoStream, req.Raw = noStream, !noStream
					return ask(req)
				}
			}
			want := playAll(s, variant(inProcess(t, NewPlayer(s))))
			p := NewPlayer(s)
			got := playAll(s, variant(overHTTP(t, p.Handler(), nil)))
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("noStream=%t: handler differs from provider (-provider +handler):\n%s", noStream, diff)
			}
			if err := p.Err(); err != nil {
				t.Error(err)
			}
		}
	})
}

func eachScript(t *testing.T, f func(t *testing.T, path string, s *Script)) {
	paths, err := filepath.Glob("testdata/play/*.replay")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".replay"), func(t *testing.T) {
			s, err := Load(path)
			if err != nil {
				t.Fatal(err)
			}
			f(t, path, s)
		})
	}
}

func TestRaw(t *testing.T) {
	req := hello()
	req.Raw = true
	got := inProcess(t, NewPlayer(mustParse(t, "say a")))(req)
	want := `raw {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}}`
	if !slices.Contains(got, want) {
		t.Errorf("no %s among %q", want, got)
	}
}

func TestErrorKinds(t *testing.T) {
	for k := model.Network; k <= model.Invalid; k++ {
		if k == model.Broken {
			continue
		}
		p := NewPlayer(mustParse(t, "error "+k.String()))
		for _, err := range p.Provider().Stream(t.Context(), hello()) {
			if got := model.KindOf(err); got != k {
				t.Errorf("error %s plays as %s", k, got)
			}
		}
		if err := p.Err(); err != nil {
			t.Error(err)
		}
	}
}

func TestRequests(t *testing.T) {
	s := mustParse(t, "forever\nsay ok")
	p := NewPlayer(s)
	dir := filepath.Join(t.TempDir(), "requests")
	if err := p.SaveRequests(dir); err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, text := range []string{"hello", "help", "hello, and more", "x"} {
		req := hello()
		req.Messages = []msg.Message{msg.UserText(text)}
		inProcess(t, p)(req)
		body, err := new(messages.Encoder).Encode(req, nil)
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, string(body))
	}
	var got []string
	for _, b := range p.Requests() {
		got = append(got, string(b))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
	saved, err := os.ReadFile(filepath.Join(dir, "002-request.json"))
	if err != nil {
		t.Fatal(err)
	}
	var a, b any
	if err := errors.Join(json.Unmarshal(saved, &a), json.Unmarshal([]byte(want[1]), &b)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(b, a); diff != "" {
		t.Errorf("saved request (-want +got):\n%s", diff)
	}
}
