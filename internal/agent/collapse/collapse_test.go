package collapse

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"adze/internal/agent/sidequery"
	"adze/internal/model"
	"adze/internal/model/messages"
	"adze/internal/msg"
	"adze/internal/platform/text/texts"
)

// A scribe is a model that answers after a delay and checks that every request is valid.
type scribe struct {
	t      *testing.T
	takes  time.Duration
	answer []msg.Part
	stop   model.StopReason
	err    error

	mu       sync.Mutex
	requests []*model.Request
}

func (s *scribe) Stream(ctx context.Context, req *model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		s.mu.Lock()
		s.requests = append(s.requests, req)
		s.mu.Unlock()
		check(s.t, req)
		select {
		case <-time.After(s.takes):
		case <-ctx.Done():
			yield(nil, ctx.Err())
			return
		}
		if s.err != nil {
			yield(nil, s.err)
			return
		}
		for i, p := range s.answer {
			if !yield(model.BlockDone{Block: i, Part: p}, nil) {
				return
			}
		}
		if s.stop == "" {
			s.stop = model.StopEnd
		}
		yield(model.Stop{Reason: s.stop}, nil)
	}
}

func check(t *testing.T, req *model.Request) {
	t.Helper()
	body, err := new(messages.Encoder).Encode(req, nil)
	if err == nil {
		err = messages.Check(body)
	}
	if err != nil {
		t.Error(err)
	}
}

func says(text string) []msg.Part { return []msg.Part{&msg.Text{Text: text}} }

func size(list ...msg.Message) int { return length(list) / 4 }

// talk returns a conversation of n answers with their results, interleaved with user messages.
func talk(n int) []msg.Message {
	list := []msg.Message{msg.UserText("begin")}
	for i := 1; i <= n; i++ {
		id := fmt.Sprint("use", i)
		next := msg.Message{Role: msg.User, Parts: []msg.Part{&msg.ToolResult{ID: id, Parts: says(strings.Repeat("result ", 600))}}}
		if i%3 == 0 {
			next.Parts = append(next.Parts, msg.Reminder("mind it"), &msg.Text{Text: fmt.Sprintf("words %d.", i)})
		}
		list = append(list, msg.Message{Role: msg.Assistant, Parts: []msg.Part{
			&msg.Thinking{Text: "Hm.", Signature: "s"}, &msg.ToolUse{ID: id, Name: "Read", Input: []byte("{}")},
		}}, next)
	}
	return list
}

func moment(list []msg.Message) Snapshot {
	return Snapshot{Messages: list, Sent: request(list), Size: size, Limit: 30_000}
}

func request(list []msg.Message) *model.Request {
	return &model.Request{Model: "m", MaxTokens: 1, Messages: list, Tools: []msg.ToolSpec{{Name: "Read", Schema: []byte(`{"type":"object"}`)}}}
}

// TestStageAndDrain checks that staging does not change requests and draining does.
//
// Proves CTX-52.
func TestStageAndDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &scribe{t: t, takes: time.Minute, answer: says("We read files.")}
		f := New(Config{Asker: sidequery.Asker{Provider: s}})
		short, long := talk(5), talk(14)
		f.Stage(moment(short))
		f.Stage(moment(long))
		f.Stage(moment(long)) // only one runs at a time
		if f.Drain() || !strings.Contains(f.Report(), "being summarised") {
			t.Error("something is staged already:", f.Report())
		}
		time.Sleep(2 * time.Minute)
		if len(s.requests) != 1 || !s.requests[0].Background || len(s.requests[0].Tools) != 1 {
			t.Fatalf("%d requests", len(s.requests))
		}
		last := len(s.requests[0].Messages) - 1 // the instructions follow the conversation
		if diff := cmp.Diff(long[:last], s.requests[0].Messages[:last]); diff != "" || last != 18 || s.requests[0].Passing != 1 {
			t.Errorf("%d messages do not begin as the conversation does:\n%s", last, diff)
		}
		if diff := cmp.Diff(long, f.Project(long)); diff != "" {
			t.Errorf("staging changed what is sent:\n%s", diff)
		}
		if !strings.Contains(f.Report(), "Messages 2 to 19: staged.") {
			t.Error(f.Report())
		}
		if !f.Drain() || f.Drain() {
			t.Error("the staged fold was not committed exactly once")
		}
		folded := f.Project(long)
		check(t, request(folded))
		text := folded[0].Text()
		for _, want := range []string{"begin<conversation-fold>", "We read files.", "<said>\nwords 3.\n</said>", "words 6.", "words 9."} {
			if !strings.Contains(text, want) {
				t.Errorf("%q is not in\n%s", want, text)
			}
		}
		if len(folded) != len(long)-18 || strings.Contains(text, "mind it") || strings.Contains(text, "words 12.") || size(folded...) > size(long...)/2 {
			t.Errorf("%d messages:\n%s", len(folded), text)
		}

		longer := talk(22)
		again := moment(longer)
		again.Sent = request(f.Project(longer))
		f.Stage(again)
		time.Sleep(2 * time.Minute)
		if next := s.requests[1].Messages; len(next) != 17 || !strings.Contains(next[0].Text(), "<conversation-fold>") {
			t.Errorf("second fold requested after %d messages", len(next))
		}
		if diff := cmp.Diff(folded, f.Project(longer)[:len(folded)]); diff != "" {
			t.Errorf("a second fold that is staged changed what is sent:\n%s", diff)
		}
		f.Drain()
		twice := f.Project(longer)
		check(t, request(twice))
		if text := twice[0].Text(); strings.Count(text, "<conversation-fold>") != 2 || !strings.Contains(text, "words 12.") {
			t.Errorf("after two folds:\n%s", text)
		}
		later := New(Config{Asker: sidequery.Asker{Provider: s}})
		later.Restore(f.Committed())
		if diff := cmp.Diff(twice, later.Project(longer)); diff != "" {
			t.Errorf("another process sends otherwise:\n%s", diff)
		}
		if !f.Restart() || f.Restart() || len(f.Project(longer)) != len(longer) {
			t.Error("the folds outlive the conversation")
		}
		f.Close()
		later.Close()
	})
}

// TestBadFolds checks that an invalid summary is not used and that staging stops after three
// failures.
func TestBadFolds(t *testing.T) {
	for name, s := range map[string]*scribe{
		"empty":   {answer: says(" ")},
		"a call":  {answer: []msg.Part{&msg.ToolUse{ID: "u", Name: "Read", Input: []byte("{}")}}, stop: model.StopTools},
		"cut off": {answer: says("We"), stop: model.StopMaxTokens},
		"long":    {answer: says(strings.Repeat("longer ", 9*700))},
		"failing": {err: errors.New("no")},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s.t = t
				f := New(Config{Asker: sidequery.Asker{Provider: s}, Language: texts.Chinese})
				for range 5 {
					f.Stage(moment(talk(14)))
					synctest.Wait()
				}
				if f.Drain() || len(s.requests) != 3 || !strings.Contains(f.Report(), "failed") {
					t.Errorf("%d requests: %s", len(s.requests), f.Report())
				}
				f.Close()
			})
		})
	}
}

// TestRestartWhileStaging checks that a fold in preparation is dropped when the conversation is
// restarted.
func TestRestartWhileStaging(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &scribe{t: t, takes: time.Minute, answer: says("We read files.")}
		f := New(Config{Asker: sidequery.Asker{Provider: s}})
		f.Stage(moment(talk(14)))
		f.Restart()
		time.Sleep(2 * time.Minute)
		if f.Drain() {
			t.Error("a fold of the conversation before is staged")
		}
		f.Stage(moment(talk(14)))
		f.Close() // does not wait for the model
		if len(s.requests) != 2 {
			t.Errorf("%d requests", len(s.requests))
		}
	})
}

// TestRestore checks that invalid folds from an earlier process are ignored.
func TestRestore(t *testing.T) {
	for _, folds := range [][]Fold{
		{{From: 0, To: 5, Text: "x"}}, {{From: 1, To: 4, Text: "x"}}, {{From: 1, To: 1, Text: "x"}}, {{From: 1, To: 5}}, {{From: 3, To: 5, Text: "x"}},
		{{From: 1, To: 99, Text: "x"}},
	} {
		f := New(Config{})
		f.Restore(folds)
		if got := f.Project(talk(5)); len(got) != 11 {
			t.Errorf("%v: %d messages", folds, len(got))
		}
		f.Close()
	}
}

func TestCatalogue(t *testing.T) {
	for _, problem := range catalogue.Check() {
		t.Error(problem)
	}
}
