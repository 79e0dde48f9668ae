package agent_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"adze/internal/agent"
	"adze/internal/model"
	"adze/internal/model/tokens"
	"adze/internal/msg"
)

// Proves LOOP-22.
func TestOutputLimitIsRaisedOnce(t *testing.T) {
	b := newBench(t, "say cut off\nstop max_tokens\n---\nexpect max_tokens 64000\nsay whole")
	b.Model.MaxOutput = 128_000
	if got, want := trace(b.run(ctx())), "request, text, withdrawn, request, text, +assistant, completed"; got != want {
		t.Errorf("events: %s\nwant:   %s", got, want)
	}
	reqs := b.player.Requests()
	second := strings.Replace(string(reqs[1]), `"max_tokens":64000`, `"max_tokens":32000`, 1)
	if string(reqs[0]) != second {
		t.Errorf("the second request differs in more than the limit:\n%s\n%s", reqs[0], reqs[1])
	}
	if strings.Contains(b.history.String(), "cut off") {
		t.Errorf("the cut text is in the history:\n%s", b.history)
	}
	b.played()
}

// TestCallsResetOutputLimits checks that the output limit and the number of resumes are reset
// after calls have run.
//
// Proves LOOP-06.
func TestCallsResetOutputLimits(t *testing.T) {
	b := newBench(t, "say cut off\nstop max_tokens\n---\nexpect max_tokens 64000\nuse Safe {\"text\":\"a\"}\n---\nexpect max_tokens 32000\nsay end")
	b.Model.MaxOutput = 128_000
	b.run(ctx())
	b.played()

	cuts := "repeat 3\nsay part\nstop max_tokens\n---\n"
	b = newBench(t, cuts+"use Safe {\"text\":\"a\"}\n---\n"+cuts+"say end")
	b.MaxTokens = 1000
	if got := reason(b.run(ctx())); got != agent.Completed {
		t.Errorf("ended with %s", got)
	}
	b.played()
}

// Proves LOOP-22.
func TestExplicitOutputLimitIsNotRaised(t *testing.T) {
	b := newBench(t, "expect max_tokens 1000\nsay cut off\nstop max_tokens\n---\nexpect max_tokens 1000\nsay rest")
	b.Model.MaxOutput = 128_000
	b.MaxTokens = 1000
	b.run(ctx())
	if !strings.Contains(b.history.String(), "cut off") {
		t.Errorf("the text before the cut is lost:\n%s", b.history)
	}
	b.played()
}

// Proves LOOP-16 and LOOP-23.
func TestFiveCuts(t *testing.T) {
	b := newBench(t, "repeat 5\nsay part {n}\nstop max_tokens")
	b.Model.MaxOutput = 64_000
	events := b.run(ctx())
	want := "request, text, withdrawn, " + strings.Repeat("request, text, +assistant, +user, ", 3) + "request, text, +assistant, failed, model_error"
	if got := trace(events); got != want {
		t.Errorf("events: %s\nwant:   %s", got, want)
	}
	if n := len(b.player.Requests()); n != 5 {
		t.Errorf("%d requests, want 5", n)
	}
	for _, e := range b.history.Entries()[1:] {
		if e.Message.Role == msg.User && !e.Hidden {
			t.Errorf("a resume message is not hidden: %s", e.Message.Text())
		}
	}
	b.played()
}

// Proves LOOP-23.
func TestEmptyPartialIsNotKept(t *testing.T) {
	b := newBench(t, "stop max_tokens\n---\nexpect messages 1\nsay end")
	b.run(ctx())
	b.played()
}

// A fakeShortener returns preset results and records its calls.
type fakeShortener struct {
	history    *memory
	folds      int
	compactErr error
	truncates  int
	calls      []string
}

func (f *fakeShortener) TooLong(error) {}

func (f *fakeShortener) Drain(context.Context) (bool, error) {
	f.calls = append(f.calls, "drain")
	f.folds--
	return f.folds >= 0, nil
}

func (f *fakeShortener) Compact(context.Context) (agent.Compacted, error) {
	f.calls = append(f.calls, "compact")
	if f.compactErr != nil {
		return agent.Compacted{}, f.compactErr
	}
	f.history.entries = []msg.Entry{{ID: "summary", Message: msg.UserText("summary")}}
	return agent.Compacted{Before: 10, After: 1}, nil
}

func (f *fakeShortener) Truncate(context.Context) (bool, error) {
	f.calls = append(f.calls, "truncate")
	f.truncates--
	return f.truncates >= 0, nil
}

// Proves LOOP-06, LOOP-16, LOOP-24 and LOOP-25.
func TestTooLong(t *testing.T) {
	for _, tt := range []struct {
		name, script    string
		shortener       fakeShortener
		events, asked   string
		stopHooksCalled int
	}{
		{"nothing can shorten", "error too_long", fakeShortener{compactErr: errors.New("no")},
			"request, failed, prompt_too_long", "drain compact truncate", 0},
		{"compaction helps", "error too_long\n---\nexpect text \"summary\"\nsay ok", fakeShortener{},
			"request, compacted, request, text, +assistant, completed", "drain compact", 1},
		{"folds help", "error too_long\n---\nsay ok", fakeShortener{folds: 1},
			"request, request, text, +assistant, completed", "drain", 1},
		{"folds do not help", "error too_long\n---\nerror too_long\n---\nsay ok", fakeShortener{folds: 2},
			"request, request, compacted, request, text, +assistant, completed", "drain compact", 1},
		{"compaction fails", "error too_long\n---\nsay ok", fakeShortener{compactErr: errors.New("no"), truncates: 1},
			"request, request, text, +assistant, completed", "drain compact truncate", 1},
		{"one compaction for two errors in a row", "error too_long\n---\nerror too_long", fakeShortener{},
			"request, compacted, request, failed, prompt_too_long", "drain compact truncate", 0},
		{"again after success", "error too_long\n---\nuse Safe {\"text\":\"a\"}\n---\nerror too_long\n---\nsay ok", fakeShortener{},
			"request, compacted, request, start Safe, done Safe, +assistant, +user, request, compacted, request, text, +assistant, completed", "drain compact drain compact", 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t, tt.script)
			tt.shortener.history = b.history
			b.Shortener = &tt.shortener
			hook := &fakeStopper{}
			b.Stop = []agent.StopHook{hook}
			events := b.run(ctx())
			if got := calm(trace(events)); got != calm(tt.events) {
				t.Errorf("events: %s\nwant:   %s", got, tt.events)
			}
			if got := strings.Join(tt.shortener.calls, " "); got != tt.asked {
				t.Errorf("asked: %s\nwant:  %s", got, tt.asked)
			}
			if hook.asked != tt.stopHooksCalled {
				t.Errorf("stop hooks ran %d times, want %d", hook.asked, tt.stopHooksCalled)
			}
			b.played()
		})
	}
}

// calm removes call events, which may occur anywhere.
func calm(events string) string {
	var kept []string
	for _, e := range strings.Split(events, ", ") {
		if !strings.HasPrefix(e, "start ") && !strings.HasPrefix(e, "done ") {
			kept = append(kept, e)
		}
	}
	return strings.Join(kept, ", ")
}

// Proves LOOP-25.
func TestTooLongNamesWhatTakesTheRoom(t *testing.T) {
	b := newBench(t, "error too_long")
	b.System = []msg.Part{&msg.Text{Text: strings.Repeat("some words ", 4000)}}
	want := fmt.Sprintf("about %d tokens of system prompt", tokens.New("main").Request(b.System, nil, nil))
	events := b.run(ctx())
	if got := failures(events)[0].Error(); !strings.Contains(got, want) {
		t.Errorf("the error does not name the sizes: %s", got)
	}
}

// A fakeStopper gives its verdicts in order, then lets the turn end.
type fakeStopper struct {
	verdicts []agent.StopResult
	always   agent.StopResult
	err      error
	panics   bool
	asked    int
	active   []bool
}

func (f *fakeStopper) Stop(_ context.Context, c agent.StopInput) (agent.StopResult, error) {
	f.asked++
	f.active = append(f.active, c.Active)
	if f.panics {
		panic("boom")
	}
	if f.err != nil {
		return agent.StopResult{}, f.err
	}
	if f.asked <= len(f.verdicts) {
		return f.verdicts[f.asked-1], nil
	}
	return f.always, nil
}

// Proves LOOP-26.
func TestStopHooks(t *testing.T) {
	block := agent.StopResult{Hook: "tests", Block: "the tests fail"}
	for _, tt := range []struct {
		name     string
		hook     fakeStopper
		requests int
		reason   agent.Reason
		notice   string
	}{
		{"passes", fakeStopper{}, 1, agent.Completed, ""},
		{"blocks once", fakeStopper{verdicts: []agent.StopResult{block}}, 2, agent.Completed, ""},
		{"always blocks", fakeStopper{always: block}, 9, agent.Completed, "The stop hook tests blocked 8 times"},
		{"prevents", fakeStopper{always: agent.StopResult{Prevent: "enough"}}, 1, agent.StopHookPrevented, ""},
		{"fails", fakeStopper{err: errors.New("no such file")}, 1, agent.Completed, "no such file"},
		{"panics", fakeStopper{panics: true}, 1, agent.Completed, "boom"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t, "forever\nsay done")
			b.Stop = []agent.StopHook{&tt.hook}
			events := b.run(ctx())
			if n := len(b.player.Requests()); n != tt.requests {
				t.Errorf("%d requests, want %d", n, tt.requests)
			}
			if got := reason(events); got != tt.reason {
				t.Errorf("ended with %s, want %s", got, tt.reason)
			}
			if got := notices(events); !strings.Contains(got, tt.notice) || (got != "") != (tt.notice != "") {
				t.Errorf("notices %q, want %q", got, tt.notice)
			}
			for i, active := range tt.hook.active {
				if active != (i > 0) {
					t.Errorf("round %d: active is %v", i+1, active)
				}
			}
			if tt.requests > 1 && !strings.Contains(b.history.String(), "the tests fail") {
				t.Errorf("the hook's reason is not in the history:\n%s", b.history)
			}
		})
	}
}

// Proves LOOP-27.
func TestMediaError(t *testing.T) {
	image := &msg.Image{MediaType: "image/png", Data: []byte("png")}
	for _, tt := range []struct {
		name, script, events string
		media                msg.Part
	}{
		{"stripped", "error media_too_large\n---\nexpect text \"[image left out\"\nsay ok", "request, request, text, +assistant, completed", image},
		{"a document", "error media_too_large\n---\nexpect text \"[document left out\"\nsay ok", "request, request, text, +assistant, completed",
			&msg.Document{MediaType: "application/pdf", Data: []byte("pdf")}},
		{"in a result", "error media_too_large\n---\nexpect result call \"[image left out\"\nsay ok", "request, request, text, +assistant, completed",
			&msg.ToolResult{ID: "call", Parts: []msg.Part{image}}},
		{"rejected twice", "error media_too_large\n---\nerror media_too_large", "request, request, failed, image_error", image},
		{"nothing to strip", "error media_too_large", "request, failed, image_error", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t, tt.script)
			switch m := tt.media.(type) {
			case nil:
			case *msg.ToolResult:
				b.history.entries = append(b.history.entries,
					msg.Entry{ID: "1", Message: msg.Message{Role: msg.Assistant, Parts: []msg.Part{&msg.ToolUse{ID: m.ID, Name: "Safe", Input: []byte("{}")}}}},
					msg.Entry{ID: "2", Message: msg.Message{Role: msg.User, Parts: []msg.Part{m}}})
			default:
				b.history.entries[0].Message.Parts = append(b.history.entries[0].Message.Parts, m)
			}
			if got := trace(b.run(ctx())); got != tt.events {
				t.Errorf("events: %s\nwant:   %s", got, tt.events)
			}
			b.played()
		})
	}
}

// A meter records usage at a price per output token.
type meter struct {
	price  float64
	spent  float64
	booked map[string]int
}

func (m *meter) Book(id string, u msg.Usage, _, _ time.Duration) {
	if m.booked == nil {
		m.booked = map[string]int{}
	}
	m.booked[id] += u.Output
	m.spent += m.price * float64(u.Output)
}

func (m *meter) Exhausted(limit float64) (float64, bool) { return m.spent, m.spent >= limit }

// Proves LOOP-28 and PROV-41.
func TestFallback(t *testing.T) {
	b := newBench(t, `
think Deep thought. 
use Safe {"text":"a"}
usage input=1 output=5
---
error overloaded
---
expect model spare
usage input=1 output=7
say from the spare
`)
	b.Fallback = agent.Model{ID: "spare", Window: 200_000, Output: 8000, MaxOutput: 8000}
	m := &meter{}
	b.Meter = m
	events := b.run(ctx())
	if got, want := calm(trace(events)), "request, +assistant, +user, request, notice, request, text, +assistant, completed"; got != want {
		t.Errorf("events: %s\nwant:   %s", got, want)
	}
	if got := notices(events); !strings.Contains(got, "main") || !strings.Contains(got, "spare") || !strings.Contains(got, "high demand") {
		t.Errorf("notice %q names not both models and the cause", got)
	}
	reqs := b.player.Requests()
	if !strings.Contains(string(reqs[1]), "Deep thought") || strings.Contains(string(reqs[2]), "Deep thought") {
		t.Error("thinking must go back to the model that wrote it, and to no other")
	}
	if m.booked["main"] != 5 || m.booked["spare"] != 7 {
		t.Errorf("booked %v", m.booked)
	}
	b.played()
}

// Proves LOOP-28.
func TestFallbackHappensOnce(t *testing.T) {
	b := newBench(t, "error overloaded\n---\nexpect model spare\nerror overloaded")
	b.Fallback = agent.Model{ID: "spare", Window: 200_000, Output: 8000, MaxOutput: 8000}
	if got, want := trace(b.run(ctx())), "request, notice, request, failed, model_error"; got != want {
		t.Errorf("events: %s\nwant:   %s", got, want)
	}
	b.played()
}

// Proves LOOP-29.
func TestMainModelIsTriedAgainNextTurn(t *testing.T) {
	b := newBench(t, "error overloaded\n---\nexpect model spare\nsay spare\n---\nexpect model main\nsay main")
	b.Fallback = agent.Model{ID: "spare", Window: 200_000, Output: 8000, MaxOutput: 8000}
	b.Memo = &agent.Memo{}
	b.run(ctx())
	b.history.say("more")
	if got := notices(b.run(ctx())); !strings.Contains(got, "main is available again") {
		t.Errorf("notices %q", got)
	}
	b.played()
}

// Proves PROV-41.
func TestRejectedSignatureRecoversOnce(t *testing.T) {
	b := newBench(t, "think Deep.\nuse Safe {}\n---\nerror bad_signature\n---\nexpect no-text \"Deep\"\nsay ok")
	if got := reason(b.run(ctx())); got != agent.Completed {
		t.Errorf("ended with %s", got)
	}
	if strings.Contains(string(b.player.Requests()[2]), "Deep.") {
		t.Error("thinking was sent again after its signature was rejected")
	}
	b.played()

	b = newBench(t, "error bad_signature")
	if got := trace(b.run(ctx())); got != "request, failed, model_error" {
		t.Errorf("events, where nothing was thought: %s", got)
	}
}

// TestRefusedThinkingIsRemembered checks that rejected reasoning is never sent again in any
// later turn, and that later reasoning always is.
//
// Proves PROV-41.
func TestRefusedThinkingIsRemembered(t *testing.T) {
	b := newBench(t, "think Old.\nuse Safe {}\n---\nerror bad_signature\n---\nthink New.\nuse Safe {}\n---\nsay ok\n---\nsay and on")
	b.Memo = &agent.Memo{}
	b.run(ctx())
	b.history.say("more")
	if got := trace(b.run(ctx())); strings.Count(got, "request") != 1 {
		t.Errorf("events of the next turn: %s", got)
	}
	b.played()
	for i, want := range []struct{ before, since bool }{{}, {true, false}, {false, false}, {false, true}, {false, true}} {
		sent := string(b.player.Requests()[i])
		if strings.Contains(sent, "Old.") != want.before || strings.Contains(sent, "New.") != want.since {
			t.Errorf("request %d: %.2000s", i+1, sent)
		}
	}
}

// Proves LOOP-30.
func TestTokenBudget(t *testing.T) {
	answers := func(tokens ...int) string {
		var turns []string
		for _, n := range tokens {
			turns = append(turns, fmt.Sprintf("usage input=1 output=%d\nsay more", n))
		}
		return strings.Join(turns, "\n---\n")
	}
	for _, tt := range []struct {
		name, script string
		reason       agent.Reason
		closing      int
	}{
		{"until 90 %, then one closing nudge", answers(1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000), agent.Completed, 1},
		{"over the budget at once", answers(20_000), agent.Completed, 0},
		{"diminishing returns", answers(1000, 1000, 400, 400), agent.TokenBudgetDone, 0},
		{"one small answer", answers(1000, 1000, 1000, 400, 1000, 1000, 1000, 1000, 1000, 1000, 1000), agent.Completed, 1},
		{"small answers at the start", answers(100, 100, 100, 100), agent.TokenBudgetDone, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t, tt.script)
			b.TokenBudget = 10_000
			events := b.run(ctx())
			if got := reason(events); got != tt.reason {
				t.Errorf("ended with %s, want %s", got, tt.reason)
			}
			if n := strings.Count(b.history.String(), "Finish the work now"); n != tt.closing {
				t.Errorf("%d closing nudges, want %d:\n%s", n, tt.closing, b.history)
			}
			b.played()
		})
	}
}

// Proves LOOP-31.
func TestMaxTurns(t *testing.T) {
	b := newBench(t, "repeat 2\nuse Unsafe {\"text\":\"a{n}\"}")
	b.MaxTurns = 2
	if got := reason(b.run(ctx())); got != agent.MaxTurnsReached {
		t.Errorf("ended with %s", got)
	}
	if !strings.Contains(b.history.String(), "did a2") {
		t.Errorf("the calls of the last iteration were not run:\n%s", b.history)
	}
	b.played()
}

// Proves SESS-43.
func TestMoneyBudget(t *testing.T) {
	b := newBench(t, "repeat 2\nusage input=0 output=6\nuse Safe {}")
	b.Meter, b.MaxBudgetUSD = &meter{price: 0.001}, 0.01
	events := b.run(ctx())
	end := events[len(events)-1].(agent.Ended)
	if end.Reason != agent.BudgetExhausted || !strings.Contains(end.Detail, "0.0120") || !strings.Contains(end.Detail, "0.0100") {
		t.Errorf("ended with %v", end)
	}
	b.played()
}

func TestRefusalIsAnError(t *testing.T) {
	b := newBench(t, "say I\nstop refusal")
	events := b.run(ctx())
	if reason(events) != agent.ModelError || model.KindOf(failures(events)[0]) != model.Refused {
		t.Errorf("events: %s", trace(events))
	}
}

func TestFullWindow(t *testing.T) {
	b := newBench(t, "say half\nstop model_context_window_exceeded")
	if got, want := trace(b.run(ctx())), "request, text, +assistant, failed, prompt_too_long"; got != want {
		t.Errorf("events: %s\nwant:   %s", got, want)
	}
}

func TestPausedTurnGoesOn(t *testing.T) {
	b := newBench(t, "block {\"type\":\"server_tool_use\",\"id\":\"srvtoolu_1\",\"name\":\"web_search\",\"input\":{}}\nstop pause_turn\n---\nsay end")
	if got := trace(b.run(ctx())); got != "request, +assistant, request, text, +assistant, completed" {
		t.Errorf("events: %s", got)
	}
}
