package messages

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"adze/internal/model"
	"adze/internal/model/wire"
	"adze/internal/msg"
)

// sse writes data lines as a stream, naming each event after its type.
func sse(lines ...string) string {
	var b strings.Builder
	for _, l := range lines {
		var e struct{ Type string }
		json.Unmarshal([]byte(l), &e) // ok: some lines are deliberately invalid
		b.WriteString("event: " + e.Type + "\ndata: " + l + "\n\n")
	}
	return b.String()
}

const (
	start = `{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","content":[],"model":"m-1","usage":{"input_tokens":10,"cache_read_input_tokens":5,"cache_creation_input_tokens":2,"output_tokens":1}}}`
	ping  = `{"type":"ping"}`
	text0 = `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`
	stop0 = `{"type":"content_block_stop","index":0}`
	delta = `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":12}}`
	stop  = `{"type":"message_stop"}`
)

func textDelta(s string) string {
	return `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":` + string(msg.AppendString(nil, s)) + `}}`
}

// started holds the events every response begins with.
var started = []model.Event{
	model.Start{ID: "msg_1", Model: "m-1", RequestID: "req_1"},
	model.Usage{Usage: msg.Usage{Input: 10, CacheRead: 5, CacheWrite: 2, Output: 1}},
}

// ended holds the events of [delta] and [stop].
var ended = []model.Event{
	model.Usage{Usage: msg.Usage{Input: 10, CacheRead: 5, CacheWrite: 2, Output: 12}},
	model.Stop{Reason: model.StopEnd},
}

func collect(seq iter.Seq2[model.Event, error]) (events []model.Event, err error) {
	for e, err := range seq {
		if err != nil {
			return events, err
		}
		events = append(events, e)
	}
	return events, nil
}

func events(parts ...any) (all []model.Event) {
	for _, p := range parts {
		switch p := p.(type) {
		case model.Event:
			all = append(all, p)
		case []model.Event:
			all = append(all, p...)
		}
	}
	return all
}

func read(stream string) ([]model.Event, error) {
	return collect(wire.ReadStream(context.Background(), Dialect{}, io.NopCloser(strings.NewReader(stream)), wire.StreamOptions{RequestID: "req_1"}))
}

// Proves PROV-11, PROV-14, PROV-10.
func TestReadStream(t *testing.T) {
	use := func(id string) string {
		return `{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"` + id + `","name":"Read","input":{}}}`
	}
	input := func(s string) string {
		return `{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":` + string(msg.AppendString(nil, s)) + `}}`
	}
	typing := func(s string) model.Event { return model.InputDelta{ID: "toolu_1", Name: "Read", JSON: s} }

	tests := []struct {
		name string
		in   []string
		want []model.Event
	}{
		{"text", []string{start, ping, text0, textDelta("Hel"), ping, textDelta("lo"), stop0, delta, stop},
			events(started, model.TextDelta{Text: "Hel"}, model.TextDelta{Text: "lo"},
				model.BlockDone{Part: &msg.Text{Text: "Hello"}}, ended)},
		{"thinking", []string{start,
			`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Hm."}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"abc"}}`, stop0,
			`{"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"xyz"}}`,
			`{"type":"content_block_stop","index":1}`, delta, stop},
			events(started, model.ThinkingDelta{Text: "Hm."}, model.ThinkingDelta{Signature: "abc"},
				model.BlockDone{Part: &msg.Thinking{Text: "Hm.", Signature: "abc"}},
				model.BlockDone{Block: 1, Part: &msg.Redacted{Data: "xyz"}}, ended)},
		{"tool input in fragments", []string{start, use("toolu_1"), input(""), input(`{"a"`), input(`: 1}`), stop0, delta, stop},
			events(started, typing(""), typing(`{"a"`), typing(`: 1}`),
				model.BlockDone{Part: &msg.ToolUse{ID: "toolu_1", Name: "Read", Input: json.RawMessage(`{"a": 1}`)}}, ended)},
		{"no tool input", []string{start, use("toolu_1"), stop0, delta, stop},
			events(started, typing(""), model.BlockDone{Part: &msg.ToolUse{ID: "toolu_1", Name: "Read", Input: json.RawMessage(`{}`)}}, ended)},
		{"malformed tool input", []string{start, use("toolu_1"), input(`{"a":`), stop0, delta, stop},
			events(started, typing(""), typing(`{"a":`),
				model.BlockDone{Part: &msg.ToolUse{ID: "toolu_1", Name: "Read", Input: json.RawMessage(`{}`), Malformed: `{"a":`}}, ended)},
		{"tool input at once", []string{start,
			`{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"toolu_1","name":"Read","input":{"a":1}}}`, stop0, delta, stop},
			events(started, typing(`{"a":1}`),
				model.BlockDone{Part: &msg.ToolUse{ID: "toolu_1", Name: "Read", Input: json.RawMessage(`{"a":1}`)}}, ended)},
		{"server tool", []string{start,
			`{"type":"content_block_start","index":0,"content_block":{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{}}}`,
			input(`{"query":`), input(`"go"}`), stop0,
			`{"type":"content_block_start","index":1,"content_block":{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[{"type":"web_search_result","url":"https://go.dev","title":"Go"}]}}`,
			`{"type":"content_block_stop","index":1}`,
			`{"type":"content_block_start","index":2,"content_block":{"type":"web_search_tool_result","tool_use_id":"x","content":{"type":"web_search_tool_result_error","error_code":"max_uses_exceeded"}}}`,
			`{"type":"content_block_stop","index":2}`, delta, stop},
			events(started, model.SearchQuery{Query: "go"},
				model.BlockDone{Part: &msg.Server{Raw: json.RawMessage(`{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"query":"go"}}`)}},
				model.BlockDone{Block: 1, Part: &msg.Server{Raw: json.RawMessage(`{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[{"type":"web_search_result","url":"https://go.dev","title":"Go"}]}`)}},
				model.SearchResult{Query: "go", Found: []model.Page{{Title: "Go", URL: "https://go.dev"}}},
				model.BlockDone{Block: 2, Part: &msg.Server{Raw: json.RawMessage(`{"type":"web_search_tool_result","tool_use_id":"x","content":{"type":"web_search_tool_result_error","error_code":"max_uses_exceeded"}}`)}},
				model.SearchResult{Failure: "max_uses_exceeded"}, ended)},
		{"unknown block, delta and event", []string{start, `{"type":"message_weather","sun":1}`,
			`{"type":"content_block_start","index":0,"content_block":{"type":"hologram","depth":3}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"beam","w":1}}`, stop0, delta, stop},
			events(started, model.BlockDone{Part: &msg.Opaque{Raw: json.RawMessage(`{"type":"hologram","depth":3}`)}}, ended)},
		{"our names for other things", []string{start, `{"type":"message_weather","delta":[1],"index":"x"}`,
			`{"type":"content_block_start","index":0,"content_block":{"type":"hologram","text":{},"input":"x"}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"beam","text":7}}`, stop0, delta, stop},
			events(started, model.BlockDone{Part: &msg.Opaque{Raw: json.RawMessage(`{"type":"hologram","text":{},"input":"x"}`)}}, ended)},
		{"blocks left open", []string{start, text0, textDelta("a"), delta, stop},
			events(started, model.TextDelta{Text: "a"}, ended[0], model.BlockDone{Part: &msg.Text{Text: "a"}}, ended[1])},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := read(sse(tt.in...))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
		})
	}
}

// Proves PROV-11.
func TestStopReasons(t *testing.T) {
	for wire, want := range map[string]model.StopReason{
		`"end_turn"`: model.StopEnd, `"tool_use"`: model.StopTools, `"max_tokens"`: model.StopMaxTokens,
		`"stop_sequence"`: model.StopSequence, `"refusal"`: model.StopRefusal, `"pause_turn"`: model.StopPause,
		`"model_context_window_exceeded"`: model.StopContextExceeded, `"whim"`: model.StopEnd, `null`: model.StopEnd,
	} {
		got, err := read(sse(start, `{"type":"message_delta","delta":{"stop_reason":`+wire+`},"usage":{"output_tokens":1}}`, stop))
		if err != nil || len(got) == 0 || got[len(got)-1] != (model.Stop{Reason: want}) {
			t.Errorf("%s: got %v, %v, want stop %s", wire, got, err, want)
		}
	}
}

// TestUsage checks that usage is cumulative and that missing and absurd numbers are estimated.
//
// Proves SESS-40, PROV-23, PROV-30.
func TestUsage(t *testing.T) {
	use := func(s string) string { return `{"type":"message_delta","delta":{},"usage":` + s + `}` }
	begin := func(s string) string {
		return `{"type":"message_start","message":{"id":"m","model":"m","usage":` + s + `}}`
	}
	tests := []struct {
		name string
		in   []string
		want msg.Usage
	}{
		{"later replaces", []string{start, use(`{"output_tokens":10}`), use(`{"output_tokens":20}`), use(`{"output_tokens":30}`)},
			msg.Usage{Input: 10, CacheRead: 5, CacheWrite: 2, Output: 30}},
		{"zero does not replace input", []string{start, use(`{"input_tokens":0,"cache_read_input_tokens":0,"cache_creation_input_tokens":0,"output_tokens":3}`)},
			msg.Usage{Input: 10, CacheRead: 5, CacheWrite: 2, Output: 3}},
		{"later input replaces", []string{start, use(`{"input_tokens":11,"output_tokens":3,"server_tool_use":{"web_search_requests":2}}`)},
			msg.Usage{Input: 11, CacheRead: 5, CacheWrite: 2, Output: 3, WebSearches: 2}},
		{"negative is unknown", []string{start, use(`{"input_tokens":-1,"output_tokens":3}`)},
			msg.Usage{Input: 10, CacheRead: 5, CacheWrite: 2, Output: 3, Estimated: true}},
		{"input missing", []string{begin(`{"output_tokens":1}`), use(`{"output_tokens":3}`)}, msg.Usage{Output: 3, Estimated: true}},
		{"caches may be missing", []string{begin(`{"input_tokens":4,"output_tokens":1}`), use(`{"output_tokens":3}`)}, msg.Usage{Input: 4, Output: 3}},
		{"no final usage", []string{start, text0, textDelta("twelve bytes"), stop0},
			msg.Usage{Input: 10, CacheRead: 5, CacheWrite: 2, Output: 3, Estimated: true}},
		{"none at all", []string{`{"type":"message_start","message":{}}`, text0, textDelta("abcd"), stop0}, msg.Usage{Output: 1, Estimated: true}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := read(sse(append(tt.in, stop)...))
			if err != nil {
				t.Fatal(err)
			}
			var a model.Accumulator
			for _, e := range got {
				a.Add(e)
			}
			if diff := cmp.Diff(tt.want, a.Usage()); diff != "" {
				t.Errorf("usage (-want +got):\n%s", diff)
			}
		})
	}
}

// TestReadStreamBroken checks that every incomplete or malformed stream is reported as broken,
// with the reason.
//
// Proves PROV-11.
func TestReadStreamBroken(t *testing.T) {
	half := sse(start, text0, textDelta("half"))
	tests := []struct {
		name, in string
		kind     model.Kind
		says     string
	}{
		{"cut in a block", half, model.Broken, "stopped before its end"},
		{"cut after the last block", sse(start, text0, stop0, delta), model.Broken, "stopped before its end"},
		{"cut in an event", half + `data: {"type":"content_bl`, model.Broken, "not JSON"},
		{"garbled", half + "data: {nope\n\n", model.Broken, "not JSON"},
		{"known event, wrong member", half + `data: {"type":"content_block_stop","index":"x"}` + "\n\n", model.Broken, "not JSON"},
		{"wrong type", half + `data: {"type":7}` + "\n\n", model.Broken, "not JSON"},
		{"nothing", "", model.Broken, "no event stream"},
		{"a page", "\n<!DOCTYPE html><html><body>Login</body></html>", model.Broken, "web page"},
		{"plain text", "no healthy upstream", model.Broken, "no event stream"},
		{"delta without start", sse(start, textDelta("x")), model.Broken, "before it starts"},
		{"stop without start", sse(start, stop0), model.Broken, "before it starts"},
		{"start twice", sse(start, text0, text0), model.Broken, "starts twice"},
		{"tool use without id", sse(start, `{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","name":"Read"}}`), model.Broken, "without an id"},
		{"block without type", sse(start, `{"type":"content_block_start","index":0,"content_block":{}}`), model.Broken, "no type"},
		{"error first", sse(`{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`), model.Overloaded, "Overloaded"},
		{"error before content", sse(start, ping, `{"type":"error","error":{"type":"rate_limit_error","message":"Slow"}}`), model.RateLimited, "Slow"},
		{"error after content", sse(start, text0, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`), model.Broken, "Overloaded"},
		{"strange error", sse(`{"type":"error","error":{"type":"whim","message":"Who knows"}}`), model.ServerFault, "Who knows"},
		{"endless line", "data: " + strings.Repeat("x", 16<<20+10), model.Broken, "16 MB"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := read(tt.in)
			var e *model.Error
			if !errors.As(err, &e) || e.Kind != tt.kind || !strings.Contains(e.Error(), tt.says) || e.RequestID != "req_1" {
				t.Errorf("error %#v, want kind %v, request id, and %q", err, tt.kind, tt.says)
			}
			if tt.kind != model.Broken && len(got) > 0 {
				t.Errorf("events %v before an error that can be retried", got)
			}
		})
	}
	_, err := read(sse(start, text0, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`))
	var cause *model.Error
	if !errors.As(errors.Unwrap(err), &cause) || cause.Kind != model.Overloaded {
		t.Errorf("an answer broken off has cause %v, want overload", errors.Unwrap(err))
	}
}

// TestBrokenUsage checks that the usage of a broken answer is reported as estimated.
//
// Proves PROV-23.
func TestBrokenUsage(t *testing.T) {
	got, err := read(sse(start, text0, textDelta("eight by")))
	want := events(started, model.TextDelta{Text: "eight by"},
		model.Usage{Usage: msg.Usage{Input: 10, CacheRead: 5, CacheWrite: 2, Output: 2, Estimated: true}})
	if diff := cmp.Diff(want, got); diff != "" || model.KindOf(err) != model.Broken {
		t.Errorf("error %v, events (-want +got):\n%s", err, diff)
	}
}

// pipe returns a connection and a function that sends events on it until the other side has
// closed it.
func pipe() (body *io.PipeReader, send func(...string) error) {
	r, w := io.Pipe()
	return r, func(lines ...string) error {
		_, err := io.WriteString(w, sse(lines...))
		return err
	}
}

// TestWatchdog checks that silence for 90 s, or only keep-alives for 5 minutes, breaks the
// stream.
//
// Proves PROV-21.
func TestWatchdog(t *testing.T) {
	tests := []struct {
		name string
		o    wire.StreamOptions
		ping time.Duration // keep-alive interval; zero for none
		want time.Duration
		says string
	}{
		{"silence", wire.StreamOptions{}, 0, 90 * time.Second, "no data for 90 s"},
		{"shorter", wire.StreamOptions{Idle: 5 * time.Second}, 0, 5 * time.Second, "no data for 5 s"},
		{"keep-alives", wire.StreamOptions{}, 7 * time.Second, 5 * time.Minute, "nothing but keep-alives for 300 s"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				body, send := pipe()
				began := time.Now()
				closed := false
				tt.o.Close = func() { closed = true }
				var server sync.WaitGroup
				server.Go(func() {
					err := send(start, text0, textDelta("x"))
					for tt.ping > 0 && err == nil {
						time.Sleep(tt.ping)
						err = send(ping)
					}
				})
				defer server.Wait()
				_, err := collect(wire.ReadStream(t.Context(), Dialect{}, body, tt.o))
				if model.KindOf(err) != model.Broken || !strings.Contains(err.Error(), tt.says) {
					t.Errorf("error %v, want %q", err, tt.says)
				}
				if took := time.Since(began); took != tt.want {
					t.Errorf("took %v, want %v", took, tt.want)
				}
				if !closed {
					t.Error("the connection is still open")
				}
			})
		})
	}
}

// TestWatchdogPatience checks that time spent by the caller does not count against the server,
// and that slow progress is accepted.
func TestWatchdogPatience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		body, send := pipe()
		go func() {
			send(start, text0)
			for range 10 {
				time.Sleep(80 * time.Second)
				send(textDelta("x"))
			}
			send(stop0, delta, stop)
		}()
		for _, err := range wire.ReadStream(t.Context(), Dialect{}, body, wire.StreamOptions{}) {
			if err != nil {
				t.Error(err)
			}
			time.Sleep(10 * time.Minute)
		}
	})
}

// TestReadStreamCancel checks that a done context closes the connection immediately and that
// its cause is the error.
//
// Proves PROV-22.
func TestReadStreamCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cause := errors.New("enough")
		ctx, cancel := context.WithCancelCause(t.Context())
		body, send := pipe()
		go send(start, text0, textDelta("x"))
		go func() {
			time.Sleep(time.Second)
			cancel(cause)
		}()
		began := time.Now()
		got, err := collect(wire.ReadStream(ctx, Dialect{}, body, wire.StreamOptions{}))
		if err != cause || time.Since(began) != time.Second {
			t.Errorf("error %v after %v, want the cause after 1s", err, time.Since(began))
		}
		last, ok := got[len(got)-1].(model.Usage)
		if !ok || !last.Estimated {
			t.Errorf("last event %v, want estimated usage", got[len(got)-1])
		}
		if _, err := body.Read(nil); err != io.ErrClosedPipe {
			t.Errorf("the body is open: %v", err)
		}
	})
}

// TestReadStreamCancelled checks that an already done context is noticed even if the whole
// answer is available.
func TestReadStreamCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	got, err := collect(wire.ReadStream(ctx, Dialect{}, io.NopCloser(strings.NewReader(sse(start, text0, delta, stop))), wire.StreamOptions{}))
	if err != context.Canceled || len(got) > 0 {
		t.Errorf("got %v, %v", got, err)
	}
}

// TestReadStreamBreak checks that breaking off anywhere closes the connection.
func TestReadStreamBreak(t *testing.T) {
	whole := sse(start, text0, textDelta("x"), stop0, delta, stop)
	all, _ := read(whole)
	for n := range all {
		closed := false
		i := 0
		for range wire.ReadStream(t.Context(), Dialect{}, io.NopCloser(strings.NewReader(whole)), wire.StreamOptions{Close: func() { closed = true }}) {
			if i == n {
				break
			}
			i++
		}
		if !closed {
			t.Errorf("not closed after breaking off at event %d", n)
		}
	}
}

// endless yields the same byte forever.
type endless byte

func (e endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(e)
	}
	return len(p), nil
}

// TestReadStreamDrains checks that the body is read to its end after the message, so that the
// connection can be reused, without waiting for a server that does not end it.
func TestReadStreamDrains(t *testing.T) {
	rest := strings.NewReader("\n\n: bye\n")
	body := io.MultiReader(strings.NewReader(sse(start, delta, stop)), rest)
	if _, err := collect(wire.ReadStream(t.Context(), Dialect{}, io.NopCloser(body), wire.StreamOptions{})); err != nil || rest.Len() > 0 {
		t.Errorf("%d bytes left, error %v", rest.Len(), err)
	}
	synctest.Test(t, func(t *testing.T) {
		body, send := pipe()
		go send(start, delta, stop)
		began := time.Now()
		if _, err := collect(wire.ReadStream(t.Context(), Dialect{}, body, wire.StreamOptions{})); err != nil || time.Since(began) > time.Second {
			t.Errorf("ended after %v with %v", time.Since(began), err)
		}
	})
	endless := io.MultiReader(strings.NewReader(sse(start, delta, stop)), endless('x'))
	if _, err := collect(wire.ReadStream(t.Context(), Dialect{}, io.NopCloser(endless), wire.StreamOptions{})); err != nil {
		t.Error(err)
	}
}

func TestReadStreamRaw(t *testing.T) {
	var raw []string
	for e, err := range wire.ReadStream(t.Context(), Dialect{}, io.NopCloser(strings.NewReader(sse(start, ping, text0, textDelta("x"), stop0, delta, stop))), wire.StreamOptions{Raw: true}) {
		if err != nil {
			t.Fatal(err)
		}
		if r, ok := e.(model.Raw); ok {
			raw = append(raw, string(r.JSON))
		}
	}
	if diff := cmp.Diff([]string{start, text0, textDelta("x"), stop0, delta, stop}, raw); diff != "" {
		t.Errorf("raw events (-want +got):\n%s", diff)
	}
}

// TestReadMessage checks that a whole answer yields the same message as a streamed one.
func TestReadMessage(t *testing.T) {
	body := `{"id":"msg_1","type":"message","role":"assistant","model":"m-1","stop_reason":"tool_use",
		"content":[{"type":"thinking","thinking":"Hm.","signature":"abc"},{"type":"text","text":"Hello"},
		{"type":"tool_use","id":"toolu_1","name":"Read","input":{"a": 1}},{"type":"hologram"}],
		"usage":{"input_tokens":10,"cache_read_input_tokens":5,"cache_creation_input_tokens":2,"output_tokens":12}}`
	got, err := collect(wire.ReadMessage(Dialect{}, []byte(body), "req_1"))
	if err != nil {
		t.Fatal(err)
	}
	want := events(started[0],
		model.ThinkingDelta{Text: "Hm."}, model.ThinkingDelta{Signature: "abc"},
		model.BlockDone{Part: &msg.Thinking{Text: "Hm.", Signature: "abc"}},
		model.TextDelta{Block: 1, Text: "Hello"}, model.BlockDone{Block: 1, Part: &msg.Text{Text: "Hello"}},
		model.InputDelta{Block: 2, ID: "toolu_1", Name: "Read", JSON: `{"a": 1}`},
		model.BlockDone{Block: 2, Part: &msg.ToolUse{ID: "toolu_1", Name: "Read", Input: json.RawMessage(`{"a": 1}`)}},
		model.BlockDone{Block: 3, Part: &msg.Opaque{Raw: json.RawMessage(`{"type":"hologram"}`)}},
		ended[0], model.Stop{Reason: model.StopTools})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	for body, want := range map[string]model.Kind{
		`<html>`: model.Broken, `{}`: model.Broken, ``: model.Broken,
		`{"type":"error","error":{"type":"overloaded_error"}}`: model.Overloaded,
		`{"type":"message","content":[{}]}`:                    model.Broken,
	} {
		got, err := collect(wire.ReadMessage(Dialect{}, []byte(body), ""))
		if model.KindOf(err) != want || len(got) > 0 {
			t.Errorf("%s: got %v, %v, want %v", body, got, err, want)
		}
	}
}

func FuzzReadStream(f *testing.F) {
	f.Add(sse(start, ping, text0, textDelta("x"), stop0, delta, stop))
	f.Add(sse(start, `{"type":"content_block_start","index":3,"content_block":{"type":"tool_use","id":"a","name":"b","input":[1]}}`, stop))
	f.Add(sse(`{"type":"error","error":{"type":"overloaded_error","message":"x"}}`))
	f.Add("<html>")
	f.Fuzz(func(t *testing.T, in string) {
		var last model.Event
		var failed error
		for e, err := range wire.ReadStream(t.Context(), Dialect{}, io.NopCloser(strings.NewReader(in)), wire.StreamOptions{}) {
			if failed != nil || (e == nil) == (err == nil) {
				t.Fatalf("pair %v, %v after error %v", e, err, failed)
			}
			last, failed = e, err
		}
		if _, stopped := last.(model.Stop); !stopped && failed == nil {
			t.Fatalf("ends with %v and no error", last)
		}
		var known *model.Error
		if failed != nil && !errors.As(failed, &known) {
			t.Fatalf("error %v of type %T", failed, failed)
		}
	})
}
