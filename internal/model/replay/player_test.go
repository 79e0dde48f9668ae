package replay

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"adze/internal/model"
	"adze/internal/msg"
)

// conversation returns a request with something for every condition.
func conversation() *model.Request {
	return &model.Request{
		Model:     "test-model",
		MaxTokens: 1000,
		System:    []msg.Part{&msg.Text{Text: "Be brief."}},
		Tools:     []msg.ToolSpec{{Name: "Read", Schema: []byte(`{"type":"object"}`)}},
		Messages: []msg.Message{
			msg.UserText("read both files"),
			{Role: msg.Assistant, Parts: []msg.Part{
				msg.NewToolUse("toolu_a", "Read", `{"file_path":"a"}`),
				msg.NewToolUse("toolu_b", "Read", `{"file_path":"b"}`),
			}},
			{Role: msg.User, Parts: []msg.Part{
				&msg.ToolResult{ID: "toolu_a", Parts: []msg.Part{&msg.Text{Text: "content of a"}}},
				&msg.ToolResult{ID: "toolu_b", Parts: []msg.Part{&msg.Text{Text: "no such file"}}, IsError: true},
			}},
		},
	}
}

func TestConditions(t *testing.T) {
	for _, test := range []struct {
		condition string
		had       string // empty if the condition holds
	}{
		{`text "both files"`, ""},
		{`text "content of a"`, ""},
		{`text "files to"`, `the texts are "read both files\ncontent of a\nno such file\n"`},
		{`no-text "absent"`, ""},
		{`no-text "both"`, `the texts are "read both files\ncontent of a\nno such file\n"`},
		{`last "no such"`, ""},
		{`last "both"`, `the last message is "content of a\nno such file\n"`},
		{`system "brief"`, ""},
		{`no-system "brief"`, `the system prompt is "Be brief.\n"`},
		{`tool Read`, ""},
		{`tool Write`, `the tools are Read`},
		{`no-tool Read`, `the tools are Read`},
		{`result toolu_a "content"`, ""},
		{`result toolu_b`, ""},
		{`result toolu_c`, `no result for toolu_c`},
		{`result toolu_a "no"`, `the result is "content of a\n"`},
		{`error-result toolu_b "such"`, ""},
		{`error-result toolu_a`, `the result is not an error: "content of a\n"`},
		{`model test-model`, ""},
		{`model other`, `the model is test-model`},
		{`max_tokens 1000`, ""},
		{`max_tokens 1`, `max_tokens is 1000`},
		{`messages 3`, ""},
		{`messages 4`, `there are 3 messages`},
		{`json messages.0.content.0.text "read both files"`, ""},
		{`json tools.0 {"name":"Read"}`, `tools.0 is`},
		{`json tools.0.input_schema {"type": "object"}`, ""},
		{`json max_tokens 1000`, ""},
		{`json messages.0`, ""},
		{`json messages.x.y`, `messages.x.y is not there`},
		{`json messages.3`, `messages.3 is not there`},
		{`no-json messages.3`, ""},
		{`no-json model "test-model"`, `model is "test-model"`},
		{`stream`, ""},
		{`nostream`, `stream is true`},
	} {
		t.Run(test.condition, func(t *testing.T) {
			p := NewPlayer(mustParse(t, "# first line\nexpect "+test.condition+"\nsay ok"))
			var failure error
			for _, err := range p.Provider().Stream(t.Context(), conversation()) {
				failure = errors.Join(failure, err)
			}
			if test.had == "" {
				if err := errors.Join(failure, p.Err()); err != nil {
					t.Error(err)
				}
				return
			}
			want := "model.txt:2: expected " + test.condition + ", but " + test.had
			if err := p.Err(); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("recorded %v, want %s", err, want)
			}
			if model.KindOf(failure) != model.Invalid || !strings.Contains(failure.Error(), want) {
				t.Errorf("answered %v, want %s", failure, want)
			}
		})
	}
}

// TestRefusalIsInvalid checks that a rejection by the player is not recoverable, regardless of
// the text it quotes.
func TestRefusalIsInvalid(t *testing.T) {
	p := NewPlayer(mustParse(t, `expect text "x"`+"\nsay ok"))
	req := hello()
	req.Messages = []msg.Message{msg.UserText("why is the prompt is too long error shown?")}
	for _, err := range p.Provider().Stream(t.Context(), req) {
		if model.KindOf(err) != model.Invalid {
			t.Errorf("answered %v", err)
		}
	}
}

func TestProblems(t *testing.T) {
	t.Run("no more turns", func(t *testing.T) {
		p := NewPlayer(mustParse(t, "say a\n# the end"))
		ask := inProcess(t, p)
		ask(hello())
		want := []string{`error invalid_request status=400 request=req_2 message="model.txt:2: the script has no more turns: it ends here, and request 2 came"`}
		if diff := cmp.Diff(want, ask(hello())); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if len(p.Problems()) != 1 || p.Unplayed() != nil {
			t.Errorf("problems %v, unplayed %v", p.Problems(), p.Unplayed())
		}
	})
	t.Run("unplayed", func(t *testing.T) {
		p := NewPlayer(mustParse(t, "say a\n---\nrepeat 3\nsay b\n---\nsay c\n---\nforever\nsay d"))
		ask := inProcess(t, p)
		ask(hello())
		ask(hello())
		want := "model.txt: turns not played: line 3 (1 of 3), line 6"
		if err := p.Err(); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
		if len(p.Problems()) != 0 {
			t.Errorf("problems: %v", p.Problems())
		}
	})
	t.Run("rules of the protocol", func(t *testing.T) {
		p := NewPlayer(mustParse(t, "say a"))
		req := hello()
		req.MaxTokens = 0
		got := inProcess(t, p)(req)
		if len(got) != 1 || !strings.Contains(got[0], "error invalid_request status=400") || !strings.Contains(got[0], "max_tokens") {
			t.Errorf("answered %q", got)
		}
		if len(p.Problems()) != 1 || p.Unplayed() == nil {
			t.Errorf("problems %v, unplayed %v", p.Problems(), p.Unplayed())
		}
	})
}

// TestWhen checks that turns with conditions serve the matching requests in any order.
func TestWhen(t *testing.T) {
	p := NewPlayer(mustParse(t, `
when system "title"
forever
say Title
---
say one
---
say two
`))
	titles := hello()
	titles.System = []msg.Part{&msg.Text{Text: "Make a title."}}
	var got []string
	for _, req := range []*model.Request{hello(), titles, hello(), titles, titles} {
		var a model.Accumulator
		for e, err := range p.Provider().Stream(t.Context(), req) {
			if err != nil {
				t.Fatal(err)
			}
			a.Add(e)
		}
		got = append(got, a.Message().Text())
	}
	if diff := cmp.Diff([]string{"one", "Title", "two", "Title", "Title"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if err := p.Err(); err != nil {
		t.Error(err)
	}
	if got := inProcess(t, p)(hello()); !strings.Contains(got[0], "no turn is left for request 6: the 1 that are left wait for others") {
		t.Errorf("answered %q", got)
	}
}

func TestConcurrent(t *testing.T) {
	p := NewPlayer(mustParse(t, "repeat 40\nsay {n}"))
	var wg sync.WaitGroup
	var mu sync.Mutex
	seen := make(map[string]bool)
	for range 40 {
		wg.Go(func() {
			var a model.Accumulator
			for e, err := range p.Provider().Stream(t.Context(), hello()) {
				if err != nil {
					t.Error(err)
					return
				}
				a.Add(e)
			}
			mu.Lock()
			defer mu.Unlock()
			seen[a.Message().Text()] = true
		})
	}
	wg.Wait()
	if len(seen) != 40 || p.Err() != nil {
		t.Errorf("%d different answers, %v", len(seen), p.Err())
	}
}

func TestTime(t *testing.T) {
	for _, test := range []struct {
		name, src string
		noStream  bool
		want      []string // events with their times
	}{
		{"delays", "delay 200ms\nsay a\ndelay 1s\ndelay 500ms\nsay+ b", false, []string{
			"200ms start", "200ms usage", "200ms text", "1.7s text", "1.7s done", "1.7s usage", "1.7s stop",
		}},
		{"fragments", "fragments 3 every=1s\nsay abc", false, []string{
			"0s start", "0s usage", "0s text", "1s text", "2s text", "2s done", "2s usage", "2s stop",
		}},
		{"whole", "fragments 3 every=1s\nsay abc\ndelay 1s", true, []string{
			"3s start", "3s text", "3s done", "3s usage", "3s stop",
		}},
		{"error", "delay 3s\nerror overloaded", false, []string{"3s error"}},
		{"hang", "say a\nhang", false, []string{"0s start", "0s usage", "0s text", "1m30s usage", "1m30s error"}},
		{"hang at once", "hang", false, []string{"1m30s error"}},
		{"late cut", "say a\ndelay 4s\ncut", false, []string{"0s start", "0s usage", "0s text", "4s usage", "4s error"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				req := hello()
				req.NoStream = test.noStream
				var got []string
				for e, err := range NewPlayer(mustParse(t, test.src)).Provider().Stream(t.Context(), req) {
					kind, _, _ := strings.Cut(line(e, err), " ")
					got = append(got, time.Since(began).String()+" "+kind)
				}
				if diff := cmp.Diff(test.want, got); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			})
		})
	}
}

func TestCancel(t *testing.T) {
	for _, src := range []string{"hang", "say a\nhang", "delay 1h\nsay a", "delay 1h\nerror overloaded"} {
		for _, noStream := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				why := errors.New("enough")
				ctx, cancel := context.WithCancelCause(t.Context())
				time.AfterFunc(time.Second, func() { cancel(why) })
				began := time.Now()
				req := hello()
				req.NoStream = noStream
				var last error
				for _, err := range NewPlayer(mustParse(t, src)).Provider().Stream(ctx, req) {
					last = err
				}
				if took := time.Since(began); last != why || took != time.Second {
					t.Errorf("%q, noStream=%t: ended after %s with %v", src, noStream, took, last)
				}
			})
		}
	}
}

// TestDisconnect checks that a client that disconnects ends the handler, both in a pause and in
// a hang.
func TestDisconnect(t *testing.T) {
	for _, src := range []string{"say a\nhang", "say a\ndelay 1h\nsay b"} {
		p := NewPlayer(mustParse(t, src))
		left := make(chan struct{})
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			p.Handler().ServeHTTP(w, r)
			close(left)
		}))
		for e, err := range send(t.Context(), server.Client(), server.URL, hello()) {
			if err != nil {
				t.Error(err)
			}
			if _, ok := e.(model.TextDelta); ok {
				break
			}
		}
		<-left
		server.Close()
	}
}

func TestHandlerRejects(t *testing.T) {
	const body = `{"model":"m","max_tokens":10,"messages":[{"role":"user","content":"hi"}]}`
	for _, test := range []struct {
		name, method, path, drop, contentType, body string
		status                                      int
		want                                        string
		recorded                                    bool
	}{
		{"fine", "POST", "/v1/messages", "", "application/json; charset=utf-8", body, 200, `"stop_reason":"end_turn"`, false},
		{"count", "POST", "/v1/messages/count_tokens", "", "application/json", body, 200, `{"input_tokens":18}`, false},
		{"path", "POST", "/v1/complete", "", "application/json", body, 404, "there is nothing at /v1/complete", false},
		{"method", "GET", "/v1/messages", "", "application/json", "", 405, "only POST", false},
		{"key", "POST", "/v1/messages", "X-Api-Key", "application/json", body, 401, "authentication_error", true},
		{"version", "POST", "/v1/messages", "Anthropic-Version", "application/json", body, 400, "anthropic-version", true},
		{"content type", "POST", "/v1/messages", "", "text/plain", body, 400, "content-type", true},
		{"no json", "POST", "/v1/messages", "", "application/json", "hi", 400, "not a JSON object", true},
		{"rules", "POST", "/v1/messages", "", "application/json", `{"model":"m"}`, 400, "max_tokens", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := NewPlayer(mustParse(t, "say ok"))
			r := httptest.NewRequest(test.method, test.path, strings.NewReader(test.body))
			r.Header.Set("X-Api-Key", secret)
			r.Header.Set("Anthropic-Version", "2023-06-01")
			r.Header.Set("Content-Type", test.contentType)
			r.Header.Del(test.drop)
			w := httptest.NewRecorder()
			p.Handler().ServeHTTP(w, r)
			got, err := io.ReadAll(w.Result().Body)
			if err != nil {
				t.Fatal(err)
			}
			if w.Code != test.status || !strings.Contains(string(got), test.want) {
				t.Errorf("status %d, body %s; want %d with %s", w.Code, got, test.status, test.want)
			}
			if recorded := len(p.Problems()) > 0; recorded != test.recorded {
				t.Errorf("problems: %v", p.Problems())
			}
		})
	}
}

// TestPause checks that a caller can take the place of all pauses, and that everything before a
// pause has been read by then.
func TestPause(t *testing.T) {
	p := NewPlayer(mustParse(t, "delay 1h\nfragments 3 every=2h\nsay one two three"))
	var pauses []time.Duration
	read := ""
	p.Pause(func(d time.Duration) {
		pauses = append(pauses, d)
		read += "|"
	})
	for ev, err := range p.Provider().Stream(t.Context(), hello()) {
		if err != nil {
			t.Fatal(err)
		}
		if d, ok := ev.(model.TextDelta); ok {
			read += d.Text
		}
	}
	if diff := cmp.Diff([]time.Duration{time.Hour, 2 * time.Hour, 2 * time.Hour}, pauses); diff != "" {
		t.Error(diff)
	}
	if strings.Count(read, "|") != 3 || read[0] != '|' || read[len(read)-1] == '|' {
		t.Errorf("read %q", read)
	}
}
