package compact_test

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"testing"
	"time"

	"adze/internal/agent/compact"
	"adze/internal/agent/sidequery"
	"adze/internal/model"
	"adze/internal/model/messages"
	"adze/internal/msg"
)

var began = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// A say is a model's answer.
type say struct {
	text string
	use  bool
	stop model.StopReason
	err  error
}

// A scribe is a model that writes summaries. It gives the answers in order, repeating the last,
// and checks that every request is valid.
type scribe struct {
	t        testing.TB
	answers  []say
	requests []*model.Request
	// fits, if non-nil, reports whether a request fits the window.
	fits func(*model.Request) bool
}

func (s *scribe) Stream(ctx context.Context, req *model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		s.requests = append(s.requests, req)
		check(s.t, req)
		if s.fits != nil && !s.fits(req) {
			yield(nil, &model.Error{Kind: model.TooLong})
			return
		}
		a := s.answers[min(len(s.requests), len(s.answers))-1]
		if a.err != nil {
			yield(nil, a.err)
			return
		}
		events := []model.Event{model.Start{ID: "r"}}
		if a.text != "" {
			events = append(events, model.BlockDone{Part: &msg.Text{Text: a.text}})
		}
		if a.use {
			events = append(events, model.BlockDone{Block: 1, Part: &msg.ToolUse{ID: "u", Name: "Read", Input: []byte("{}")}})
		}
		if a.stop == "" {
			a.stop = model.StopEnd
		}
		for _, ev := range append(events, model.Usage{Usage: msg.Usage{Input: 10, Output: 5}}, model.Stop{Reason: a.stop}) {
			if !yield(ev, nil) {
				return
			}
		}
	}
}

func check(t testing.TB, req *model.Request) {
	t.Helper()
	body, err := new(messages.Encoder).Encode(req, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := messages.Check(body); err != nil {
		t.Fatalf("invalid request: %v\n%.2000s", err, body)
	}
}

const good = "<analysis>I look back.</analysis>\n<summary>\nWe fixed the parser.\n</summary>"

func newCompactor(s *scribe, change func(*compact.Config)) *compact.Compactor {
	n := 0
	cfg := compact.Config{
		Asker:      sidequery.Asker{Provider: s},
		ReadTool:   "Read",
		Clearable:  func(u *msg.ToolUse) bool { return u.Name != "Todo" },
		Transcript: func() string { return "/logs/s.jsonl" },
		NewID:      func() string { n++; return fmt.Sprintf("new-%d", n) },
		Now:        func() time.Time { return began.Add(time.Hour) },
	}
	if change != nil {
		change(&cfg)
	}
	return compact.New(cfg)
}

// A talk builds a conversation.
type talk struct {
	entries []msg.Entry
	uses    int
}

func (t *talk) add(role msg.Role, parts ...msg.Part) *talk {
	n := len(t.entries)
	e := msg.Entry{ID: fmt.Sprint("e", n), Time: began.Add(time.Duration(n) * time.Second), Message: msg.Message{Role: role, Parts: parts}}
	if role == msg.Assistant {
		e.Model, e.ResponseID = "m", fmt.Sprint("resp", n)
	}
	t.entries = append(t.entries, e)
	return t
}

func (t *talk) say(text string) *talk    { return t.add(msg.User, &msg.Text{Text: text}) }
func (t *talk) answer(text string) *talk { return t.add(msg.Assistant, &msg.Text{Text: text}) }

// call adds a call and its result.
func (t *talk) call(tool, result string) *talk {
	t.uses++
	id := fmt.Sprint("use", t.uses)
	t.add(msg.Assistant, &msg.Thinking{Text: "Hm.", Signature: "s"}, &msg.ToolUse{ID: id, Name: tool, Input: []byte(`{"path":"f"}`)})
	return t.add(msg.User, &msg.ToolResult{ID: id, Parts: []msg.Part{&msg.Text{Text: result}}})
}

// of returns a text of about n tokens.
func of(n int) string { return strings.Repeat("some word ", n*1000/2064) }

func job(t *talk, window int) compact.Job {
	j := compact.Job{
		Model: "m", Limits: compact.Limits{Window: window, MaxOutput: window / 10}, Entries: t.entries, Trigger: compact.Auto,
		System: []msg.Part{&msg.Text{Text: "You are a test."}},
		Tools:  []msg.ToolSpec{{Name: "Read", Schema: []byte(`{"type":"object"}`)}, {Name: "Bash", Schema: []byte(`{"type":"object"}`)}},
	}
	for i, e := range t.entries {
		if e.Message.Role == msg.Assistant {
			j.SentEntries = i // the last answer's request
		}
	}
	j.Sent = request(j, t.entries[:j.SentEntries])
	j.Sent.Thinking, j.Sent.Cache = model.Thinking{Mode: model.ThinkingAdaptive}, []model.Mark{{Place: model.InMessages}}
	return j
}

// request returns the request for entries.
func request(j compact.Job, entries []msg.Entry) *model.Request {
	var list []msg.Message
	for _, e := range entries {
		list = append(list, e.Message)
	}
	list, _ = msg.Repair(list)
	return &model.Request{Model: j.Model, System: j.System, Tools: j.Tools, Messages: list, MaxTokens: max(1, j.Limits.MaxOutput)}
}
