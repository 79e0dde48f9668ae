package prompt

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"adze/internal/model"
	"adze/internal/msg"
)

// asking returns a request with newly created parts.
func asking(messages ...string) *model.Request {
	req := &model.Request{
		Model: "m", System: []msg.Part{&msg.Text{Text: "You are a test."}},
		Tools: []msg.ToolSpec{{Name: "Read", Description: "Reads.", Schema: []byte(`{"type":"object"}`)}},
	}
	for _, m := range messages {
		req.Messages = append(req.Messages, msg.UserText(m))
	}
	return req
}

// Proves CTX-16.
func TestWatch(t *testing.T) {
	read := func(n int) msg.Usage { return msg.Usage{Input: 10, CacheRead: n, CacheWrite: 9000 - n} }
	lost := func(message int, changed ...string) *Break {
		return &Break{Request: 3, Changed: changed, Message: message, Lost: 9000}
	}
	tests := []struct {
		name   string
		change func(*model.Request)
		usage  msg.Usage
		want   *Break
	}{
		{"nothing, and all was read", func(*model.Request) {}, read(8900), nil},
		{"nothing, but all was lost", func(*model.Request) {}, read(0), lost(0)},
		{"tools", func(r *model.Request) { r.Tools[0].Description = "Reads files." }, read(0), lost(0, "tools")},
		{"a tool more", func(r *model.Request) { r.Tools = append(r.Tools, msg.ToolSpec{Name: "Do"}) }, read(0), lost(0, "tools")},
		{"system", func(r *model.Request) { r.System[0] = &msg.Text{Text: "You are another."} }, read(0), lost(0, "system")},
		{"model", func(r *model.Request) { r.Model = "n" }, read(0), lost(0, "model")},
		{"thinking", func(r *model.Request) { r.Thinking.Mode = model.ThinkingAdaptive }, read(0), lost(0, "thinking")},
		{"a message", func(r *model.Request) { r.Messages[1] = msg.UserText("other") }, read(0), lost(2, "messages")},
		{"a new conversation", func(r *model.Request) { r.Messages = r.Messages[:1] }, read(0), lost(2, "messages")},
		{"both ends", func(r *model.Request) { r.Tools = nil; r.Messages[0].Role = msg.Assistant }, read(0), lost(1, "tools", "messages")},
		{"a change that cost nothing", func(r *model.Request) { r.Tools = nil }, read(8900), nil},
		{"a change, and nothing was reported", func(r *model.Request) { r.Tools = nil }, msg.Usage{Estimated: true}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var w Watch
			if req, _ := w.Last(); req != nil {
				t.Error("no request yet")
			}
			for i, req := range []*model.Request{asking("a"), asking("a", "b")} {
				if b, ok := w.Answered(req, read(i*8000)); ok {
					t.Errorf("request %d: %v", i+1, b)
				}
			}
			req := asking("a", "b", "c")
			tt.change(req)
			b, ok := w.Answered(req, tt.usage)
			if ok != (tt.want != nil) || ok && cmp.Diff(*tt.want, b) != "" {
				t.Errorf("got %v %v, want %v", ok, b, tt.want)
			}
			if got := len(w.Breaks()); got != map[bool]int{true: 1}[tt.want != nil] {
				t.Errorf("%d breaks are kept", got)
			}
			last, u := w.Last()
			if diff := cmp.Diff(req.Messages, last.Messages); diff != "" || u != tt.usage {
				t.Errorf("the last request: %s", diff)
			}
		})
	}
}

func TestWatchKeepsTheLastBreaks(t *testing.T) {
	var w Watch
	for i := range 2 * maxBreaks {
		w.Answered(asking(fmt.Sprint(i)), msg.Usage{CacheWrite: 5000})
	}
	breaks := w.Breaks()
	if len(breaks) != maxBreaks || breaks[maxBreaks-1].Request != 2*maxBreaks {
		t.Errorf("%d breaks, the last is %v", len(breaks), breaks[len(breaks)-1])
	}
	if got, want := breaks[0].String(), "request 21 read 5000 tokens again; changed: messages (from 1 on)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := (Break{Request: 2, Lost: 7}).String(), "request 2 read 7 tokens again; nothing changed; it may have expired"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// BenchmarkWatch checks a request of a long conversation, which costs only a comparison of
// addresses.
func BenchmarkWatch(b *testing.B) {
	req := asking()
	for i := range 500 {
		req.Messages = append(req.Messages, msg.UserText(fmt.Sprint(i, string(make([]byte, 4000)))))
	}
	var w Watch
	for b.Loop() {
		w.Answered(req, msg.Usage{CacheRead: 100_000})
	}
}
