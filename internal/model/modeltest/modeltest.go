// Package modeltest is the contract suite that every provider speaking the Messages dialect passes. It
// plays the server; what only one provider does is tested beside that provider.
package modeltest

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"adze/internal/model"
	"adze/internal/msg"
)

// Run tests the provider that newProvider returns, against servers given as handlers. Each test runs
// in a synctest bubble, so newProvider must connect through [Transport]. The provider must not retry.
func Run(t *testing.T, newProvider func(t *testing.T, h http.Handler) model.Provider) {
	s := suite{newProvider}
	for _, test := range []struct {
		name string
		run  func(suite, *testing.T)
	}{
		{"Answers", suite.answers},
		{"Streams", suite.streams},
		{"Request", suite.request},
		{"NoStream", suite.noStream},
		{"Errors", suite.errors},
		{"RetryAfter", suite.retryAfter},
		{"Broken", suite.broken},
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

// A reply is what came of one request.
type reply struct {
	Message msg.Message
	Start   model.Start
	Usage   msg.Usage
	Stop    model.StopReason
}

// collect gathers a whole answer, and holds every provider to the order of its events.
func collect(t *testing.T, ctx context.Context, p model.Provider, req *model.Request) (reply, error) {
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
			return reply{Message: a.Message(), Start: a.Started(), Usage: a.Usage()}, err
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
	return reply{a.Message(), a.Started(), a.Usage(), stop}, nil
}

var wantStart = model.Start{ID: "msg_1", Model: "model-1-real", RequestID: "req_1"}

// answers covers text, tools, parallel tools, thinking, server tools, unknown blocks, cache usage and
// limits.
func (s suite) answers(t *testing.T) {
	for _, c := range conversations() {
		t.Run(c.name, func(t *testing.T) {
			s.bubble(t, stream(c.events[0], c.events[1:]...), func(t *testing.T, p model.Provider) {
				got, err := collect(t, t.Context(), p, ask("go"))
				if err != nil {
					t.Fatal(err)
				}
				c.want.Start = wantStart
				if diff := cmp.Diff(c.want, got); diff != "" {
					t.Errorf("reply (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// streams holds that text is handed on while the server still writes.
func (s suite) streams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seen := make(chan struct{})
		h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			begin(w, "text/event-stream")
			send(w, start(10), text("first"))
			select {
			case <-seen:
			case <-r.Context().Done():
				return
			}
			send(w, stopBlock(0), finish("end_turn", 5)...)
		})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		for e, err := range s.newProvider(t, h).Stream(ctx, ask("go")) {
			if err != nil {
				t.Fatalf("the first text was held back: %v", err)
			}
			if d, ok := e.(model.TextDelta); ok && d.Text == "first" {
				close(seen)
			}
		}
	})
}

// request holds that what is asked arrives, images included, and the same each time.
func (s suite) request(t *testing.T) {
	var bodies []string
	h := func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		bodies = append(bodies, string(b))
		stream(start(1), finish("end_turn", 1)...)(w, r)
	}
	s.bubble(t, h, func(t *testing.T, p model.Provider) {
		req := ask("look")
		req.System = []msg.Part{&msg.Text{Text: "Be brief."}}
		req.Tools = []msg.ToolSpec{{Name: "Read", Schema: json.RawMessage(`{"type":"object"}`)}}
		req.Messages[0].Parts = append(req.Messages[0].Parts, &msg.Image{MediaType: "image/png", Data: []byte("picture")})
		for range 2 {
			if _, err := collect(t, t.Context(), p, req); err != nil {
				t.Fatal(err)
			}
		}
		var got struct {
			Model     string
			MaxTokens int `json:"max_tokens"`
			Stream    bool
			Messages  []msg.Message
			Tools     []struct{ Name string }
		}
		if err := json.Unmarshal([]byte(bodies[0]), &got); err != nil {
			t.Fatalf("body %s: %v", bodies[0], err)
		}
		if got.Model != req.Model || got.MaxTokens != req.MaxTokens || !got.Stream || len(got.Tools) != 1 {
			t.Errorf("body %s", bodies[0])
		}
		if diff := cmp.Diff(req.Messages, got.Messages); diff != "" {
			t.Errorf("messages (-asked +sent):\n%s", diff)
		}
		if bodies[0] != bodies[1] {
			t.Errorf("the same request twice:\n%s\n%s", bodies[0], bodies[1])
		}
	})
}

// noStream holds that a whole answer gives the same reply.
func (s suite) noStream(t *testing.T) {
	h := func(w http.ResponseWriter, r *http.Request) {
		var asked struct{ Stream bool }
		json.NewDecoder(r.Body).Decode(&asked) // ok: a wrong body shows as a stream
		if asked.Stream {
			t.Error("a stream was asked for")
		}
		begin(w, "application/json")
		io.WriteString(w, `{"id":"msg_1","type":"message","role":"assistant","model":"model-1-real","stop_reason":"tool_use",
			"content":[{"type":"text","text":"Hello"},{"type":"tool_use","id":"toolu_1","name":"Read","input":{"a":1}}],
			"usage":{"input_tokens":3,"output_tokens":4}}`)
	}
	s.bubble(t, h, func(t *testing.T, p model.Provider) {
		req := ask("go")
		req.NoStream = true
		got, err := collect(t, t.Context(), p, req)
		want := reply{
			msg.Message{Role: msg.Assistant, Parts: []msg.Part{&msg.Text{Text: "Hello"}, msg.NewToolUse("toolu_1", "Read", `{"a":1}`)}},
			wantStart, msg.Usage{Input: 3, Output: 4}, model.StopTools,
		}
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
		stream(start(1), append([]string{text(word), stopBlock(0)}, finish("end_turn", 1)...)...)(w, r)
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
