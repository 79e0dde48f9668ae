// Package modeltest is the conformance suite for providers of any dialect. It emulates the
// server in that dialect; provider-specific behavior is tested alongside the provider.
package modeltest

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"adze/internal/model"
	"adze/internal/model/wire"
	"adze/internal/msg"
)

// Run tests the provider returned by newProvider against servers of its dialect given as
// handlers. Each test runs in a synctest bubble, so newProvider must connect through
// [Transport]. The provider must not retry.
func Run(t *testing.T, d Dialect, newProvider func(t *testing.T, h http.Handler) model.Provider) {
	s := suite{d, newProvider}
	for _, test := range []struct {
		name string
		run  func(suite, *testing.T)
	}{
		{"Answers", suite.answers},
		{"Streams", suite.streams},
		{"Request", suite.request},
		{"Media", suite.media},
		{"NoStream", suite.noStream},
		{"Errors", suite.errors},
		{"ProxyErrors", suite.proxyErrors},
		{"RetryAfter", suite.retryAfter},
		{"Broken", suite.broken},
		{"Quirks", suite.quirks},
		{"Stalled", suite.stalled},
		{"Cancel", suite.cancel},
		{"CancelBeforeAnswer", suite.cancelBeforeAnswer},
		{"BreakOff", suite.breakOff},
		{"Concurrent", suite.concurrent},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(s, t) })
	}
}

type suite struct {
	Dialect
	newProvider func(*testing.T, http.Handler) model.Provider
}

// bubble runs a test with a provider connected to h.
func (s suite) bubble(t *testing.T, h http.HandlerFunc, test func(*testing.T, model.Provider)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(t, s.newProvider(t, h)) })
}

func ask(text string) *model.Request {
	return &model.Request{Model: "model-1", MaxTokens: 4000, Messages: []msg.Message{msg.UserText(text)}}
}

// collect gathers a complete answer and checks the order of its events.
func collect(t *testing.T, ctx context.Context, p model.Provider, req *model.Request) (Reply, error) {
	t.Helper()
	var a model.Accumulator
	var last model.Event
	for e, err := range p.Stream(ctx, req) {
		if err != nil {
			if e != nil {
				t.Errorf("event %v together with error %v", e, err)
			}
			var known *model.Error
			if !errors.As(err, &known) && ctx.Err() == nil {
				t.Errorf("error %v is a %T, not a *model.Error", err, err)
			}
			return Reply{Message: a.Message(), Start: a.Started(), Usage: a.Usage()}, err
		}
		if _, ok := e.(model.Start); ok != (last == nil) {
			t.Errorf("event %v after %v", e, last)
		}
		if _, ok := last.(model.Stop); ok {
			t.Errorf("event %v after the end", e)
		}
		a.Add(e)
		last = e
	}
	stop, done := a.Stop()
	if !done {
		t.Errorf("the answer ends with %v and without error", last)
	}
	return Reply{a.Message(), a.Started(), a.Usage(), stop}, nil
}

var wantStart = model.Start{ID: "msg_1", Model: "model-1-real", RequestID: "req_1"}

// answers covers text, tools, parallel tools, thinking, cache usage and limits.
func (s suite) answers(t *testing.T) {
	for _, a := range s.answerList() {
		t.Run(a.Name, func(t *testing.T) {
			s.bubble(t, s.serve(a), func(t *testing.T, p model.Provider) {
				got, err := collect(t, t.Context(), p, ask("go"))
				if err != nil {
					t.Fatal(err)
				}
				a.Want.Start = wantStart
				if diff := cmp.Diff(a.Want, got); diff != "" {
					t.Errorf("reply (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// streams checks that text is delivered while the server is still writing.
func (s suite) streams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seen := make(chan struct{})
		h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			sp := s.half(w)
			select {
			case <-seen:
			case <-r.Context().Done():
				return
			}
			w.Write(sp.Event(model.BlockDone{Part: &msg.Text{Text: "half"}}))
			w.Write(sp.Close(model.StopEnd, nil))
		})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		for e, err := range s.newProvider(t, h).Stream(ctx, ask("go")) {
			if err != nil {
				t.Fatalf("the first text was held back: %v", err)
			}
			if d, ok := e.(model.TextDelta); ok && d.Text == "half" {
				close(seen)
			}
		}
	})
}

// request checks that requests arrive complete, including images, and the same each time.
func (s suite) request(t *testing.T) {
	req := ask("look")
	req.System = []msg.Part{&msg.Text{Text: "Be brief."}}
	req.Tools = []msg.ToolSpec{{Name: "Read", Schema: json.RawMessage(`{"type":"object"}`)}}
	req.Messages[0].Parts = append(req.Messages[0].Parts, &msg.Image{MediaType: "image/png", Data: []byte("picture")})
	var bodies []string
	h := func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		bodies = append(bodies, string(body))
		asked, err := s.Admit(r.URL.Path, r.Header, body)
		if err != nil || asked != (wire.RequestInfo{Model: req.Model, Stream: true}) {
			t.Errorf("asked %+v at %s, error %v", asked, r.URL.Path, err)
		}
		if err := s.Check(r.Header, body); err != nil {
			t.Error(err)
		}
		s.serve(Answer{Spell: Events(), Want: Reply{Stop: model.StopEnd}})(w, r)
	}
	s.bubble(t, h, func(t *testing.T, p model.Provider) {
		for range 2 {
			if _, err := collect(t, t.Context(), p, req); err != nil {
				t.Fatal(err)
			}
		}
		got, err := s.Read([]byte(bodies[0]))
		if err != nil {
			t.Fatalf("body %s: %v", bodies[0], err)
		}
		if got.MaxTokens != req.MaxTokens || len(got.Tools) != 1 || got.Tools[0].Name != "Read" {
			t.Errorf("body %s", bodies[0])
		}
		if diff := cmp.Diff([][]msg.Part{req.System, req.Messages[0].Parts}, [][]msg.Part{got.System, got.Messages[0].Parts}); diff != "" {
			t.Errorf("parts (-asked +sent):\n%s", diff)
		}
		if bodies[0] != bodies[1] {
			t.Errorf("the same request twice:\n%s\n%s", bodies[0], bodies[1])
		}
	})
}

// media checks that images and documents, including in tool results, arrive or are reported as
// missing, and that no result is lost with them.
func (s suite) media(t *testing.T) {
	files := []msg.Part{
		&msg.Image{MediaType: "image/png", Data: []byte("picture")},
		&msg.Document{MediaType: "application/pdf", Title: "a paper", Data: []byte("%PDF-paper")},
	}
	req := ask("look")
	req.Messages[0].Parts = append(req.Messages[0].Parts, files...)
	req.Messages = append(req.Messages,
		msg.Message{Role: msg.Assistant, Parts: []msg.Part{msg.NewToolUse("call_1", "Read", "{}"), msg.NewToolUse("call_2", "Read", "{}")}},
		msg.Message{Role: msg.User, Parts: []msg.Part{
			&msg.ToolResult{ID: "call_1", Parts: append([]msg.Part{&msg.Text{Text: "said"}}, files...)},
			&msg.ToolResult{ID: "call_2", Parts: []msg.Part{&msg.Text{Text: "failed"}}, IsError: true},
		}})
	req.Tools = []msg.ToolSpec{{Name: "Read", Schema: json.RawMessage(`{"type":"object"}`)}}
	body := ""
	h := func(w http.ResponseWriter, r *http.Request) {
		sent, _ := io.ReadAll(r.Body)
		body = string(sent)
		s.serve(Answer{Spell: Events(), Want: Reply{Stop: model.StopEnd}})(w, r)
	}
	s.bubble(t, h, func(t *testing.T, p model.Provider) {
		if _, err := collect(t, t.Context(), p, req); err != nil {
			t.Fatal(err)
		}
		if err := s.Check(nil, []byte(body)); err != nil {
			t.Errorf("%v\n%s", err, body)
		}
		for mediaType, data := range map[string]string{"image/png": "cGljdHVyZQ==", "application/pdf": "JVBERi1wYXBlcg=="} {
			missing := regexp.MustCompile(mediaType + `[^"]{0,20}left out`)
			if n := strings.Count(body, data) + len(missing.FindAllString(body, -1)); n < 2 {
				t.Errorf("of two parts of type %s, %d arrived or were reported missing: %s", mediaType, n, body)
			}
		}
		got, err := s.Read([]byte(body))
		if err != nil {
			t.Fatal(err)
		}
		results := map[string]string{}
		for _, m := range got.Messages {
			for _, p := range m.Parts {
				if r, ok := p.(*msg.ToolResult); ok {
					results[r.ID] += msg.PlainText(r.Parts)
				}
			}
		}
		if len(results) != 2 || !strings.Contains(results["call_1"], "said") || !strings.Contains(results["call_2"], "failed") {
			t.Errorf("results %q in %s", results, body)
		}
	})
}

// noStream checks that a whole answer gives the same reply.
func (s suite) noStream(t *testing.T) {
	parts := []msg.Part{&msg.Text{Text: "Hello"}, msg.NewToolUse("call_1", "Read", `{"a":1}`)}
	h := func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if asked, err := s.Admit(r.URL.Path, r.Header, body); err != nil || asked.Stream {
			t.Errorf("asked %+v, error %v; want no stream", asked, err)
		}
		begin(w, "application/json")
		sp := s.NewResponseEncoder(false)
		w.Write(open(sp))
		for i, p := range parts {
			w.Write(sp.Event(model.BlockDone{Block: i, Part: p}))
		}
		w.Write(sp.Close(model.StopTools, wire.Counts{wire.InputTokens: 3, wire.OutputTokens: 4}))
	}
	s.bubble(t, h, func(t *testing.T, p model.Provider) {
		req := ask("go")
		req.NoStream = true
		got, err := collect(t, t.Context(), p, req)
		want := Reply{msg.Message{Role: msg.Assistant, Parts: parts}, wantStart, msg.Usage{Input: 3, Output: 4}, model.StopTools}
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("error %v, reply (-want +got):\n%s", err, diff)
		}
	})
}

func (s suite) concurrent(t *testing.T) {
	h := func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		word := "one"
		if strings.Contains(string(b), "two") {
			word = "two"
		}
		spell := Events(model.TextDelta{Text: word}, model.BlockDone{Part: &msg.Text{Text: word}})
		s.serve(Answer{Spell: spell, Want: Reply{Stop: model.StopEnd}})(w, r)
	}
	s.bubble(t, h, func(t *testing.T, p model.Provider) {
		replies := make(chan string)
		for _, word := range []string{"one", "two", "one", "two"} {
			go func() {
				got, err := collect(t, t.Context(), p, ask(word))
				if err != nil {
					t.Error(err)
				}
				replies <- word + " " + got.Message.Text()
			}()
		}
		for range 4 {
			if got := <-replies; got != "one one" && got != "two two" {
				t.Errorf("asked and answered: %s", got)
			}
		}
	})
}
