package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"adze/internal/agent"
	"adze/internal/agent/exec"
	"adze/internal/model"
	"adze/internal/msg"
	"adze/internal/tool"
)

// Proves LOOP-02, LOOP-12 and LOOP-20.
func TestOneToolThenText(t *testing.T) {
	b := newBench(t, `
use Safe {"text":"look"}
use Unsafe {"text":"change"}
stop end_turn
---
expect result toolu_1_1 "did look"
say All done.
`)
	events := b.run(ctx())
	// Events of the calls may be interleaved with others; events of one call keep their order.
	var order, unsafe []string
	for _, line := range strings.Split(trace(events), ", ") {
		switch line {
		case "start Safe", "done Safe":
		case "start Unsafe", "done Unsafe":
			unsafe = append(unsafe, line, order[len(order)-1])
		default:
			order = append(order, line)
		}
	}
	if got, want := strings.Join(order, ", "), "request, +assistant, +user, request, text, +assistant, completed"; got != want {
		t.Errorf("events: %s\nwant:   %s", got, want)
	}
	if got, want := strings.Join(unsafe, ", "), "start Unsafe, +assistant, done Unsafe, +assistant"; got != want {
		t.Errorf("the call with an effect: %s\nwant: %s", got, want)
	}
	wantHistory := `user text "do it"
assistant use Safe {"text":"look"}
assistant use Unsafe {"text":"change"}
user result "did look"
user result "did change"
assistant text "All done."
`
	if diff := cmp.Diff(wantHistory, b.history.String()); diff != "" {
		t.Error(diff)
	}
	b.played()
}

// Proves LOOP-03.
func TestSlowConsumerMissesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, "fragments 20\nsay one two three four five six seven eight nine ten\nuse Safe {\"text\":\"a\"}\n---\nsay end")
		var text strings.Builder
		var appended, results int
		for e := range b.Run(ctx(), b.history) {
			time.Sleep(50 * time.Millisecond)
			switch e := e.(type) {
			case agent.Delta:
				if d, ok := e.Event.(model.TextDelta); ok {
					text.WriteString(d.Text)
				}
			case agent.Appended:
				appended++
			case agent.ToolDone:
				results++
			}
		}
		if got := text.String(); got != "one two three four five six seven eight nine tenend" {
			t.Errorf("deltas spell %q", got)
		}
		if appended != 3 || results != 1 {
			t.Errorf("saw %d entries and %d results, want 3 and 1", appended, results)
		}
	})
}

// Proves LOOP-04 and LOOP-13.
func TestToolsStartWhileTheResponseStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, `
say First
use Safe {"text":"A","sleep":300}
delay 1s
use Safe {"text":"B","sleep":100}
use Beside {"text":"E"}
use Unsafe {"text":"C"}
use Safe {"text":"D"}
delay 1s
---
say end
`)
		start := time.Now()
		var firstText, streamEnd time.Duration
		for e := range b.Run(ctx(), b.history) {
			if d, ok := e.(agent.Delta); ok {
				switch d.Event.(type) {
				case model.TextDelta:
					if firstText == 0 {
						firstText = time.Since(start) + 1
					}
				case model.Stop:
					if streamEnd == 0 {
						streamEnd = time.Since(start)
						b.journal.add("stream ends")
					}
				}
			}
		}
		if firstText > time.Second {
			t.Errorf("the first text was seen after %v, although it came at once", firstText)
		}
		want := "A starts, A ends, B starts, B ends, stream ends, E starts, E ends, C starts, C ends, D starts, D ends"
		if got := b.journal.String(); got != want {
			t.Errorf("calls: %s\nwant:  %s", got, want)
		}
	})
}

// Proves LOOP-13 and EXEC-10.
func TestSafeCallsOverlapUnsafeOnesDoNot(t *testing.T) {
	for _, after := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t, `
use Safe {"text":"A","sleep":300}
use Safe {"text":"B","sleep":100}
use Unsafe {"text":"C","sleep":10}
use Safe {"text":"D"}
---
say end
`)
			b.ToolsAfterStream = after
			b.run(ctx())
			got := b.journal.String()
			got = strings.Replace(got, "B starts, A starts", "A starts, B starts", 1) // both start concurrently
			want := "A starts, B starts, B ends, A ends, C starts, C ends, D starts, D ends"
			if got != want {
				t.Errorf("calls: %s\nwant:  %s", got, want)
			}
			wantHistory := "user result \"did A\"\nuser result \"did B\"\nuser result \"did C\"\nuser result \"did D\"\n"
			if !strings.Contains(b.history.String(), wantHistory) {
				t.Errorf("results out of order:\n%s", b.history)
			}
		})
	}
}

// Proves LOOP-13, EXEC-10.
func TestConcurrencyIsCapped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		script := ""
		for i := range 25 {
			script += fmt.Sprintf("use Safe {\"text\":\"%d\",\"sleep\":1000}\n", i)
		}
		b := newBench(t, script+"---\nsay end")
		start := time.Now()
		b.run(ctx())
		if got := time.Since(start); got != 3*time.Second {
			t.Errorf("25 calls of 1 s took %v, want 3 s at 10 at once", got)
		}
		b = newBench(t, script+"---\nsay end")
		b.Concurrency = 25
		start = time.Now()
		b.run(ctx())
		if got := time.Since(start); got != time.Second {
			t.Errorf("25 calls of 1 s took %v, want 1 s at 25 at once", got)
		}
	})
}

// TestDelegatedCallsAreNotCapped checks that calls that wait for agents do not count toward the
// concurrency limit.
//
// Proves AGENT-05, EXEC-10.
func TestDelegatedCallsAreNotCapped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		script := ""
		for i := range 25 {
			script += fmt.Sprintf("use Delegate {\"text\":\"%d\",\"sleep\":1000}\n", i)
		}
		for i := range 10 {
			script += fmt.Sprintf("use Safe {\"text\":\"%d\",\"sleep\":1000}\n", i)
		}
		b := newBench(t, script+"---\nsay end")
		start := time.Now()
		b.run(ctx())
		if got := time.Since(start); got != time.Second {
			t.Errorf("25 agents and 10 calls of 1 s took %v", got)
		}
	})
}

// TestPrepare checks that a tool prepares while the input of its first call arrives, and other
// tools do not.
func TestPrepare(t *testing.T) {
	b := newBench(t, `
use Prepared {"text":"A"}
use Prepared {"text":"B"}
---
say end
`)
	b.run(ctx())
	if got, n := b.journal.String(), b.journal.prepared.Load(); n != 1 || !strings.Contains(got, "B ends") {
		t.Errorf("prepared %d times: %s", n, got)
	}
	b = newBench(t, "use Safe {\"text\":\"A\"}\n---\nsay end")
	if b.run(ctx()); b.journal.prepared.Load() != 0 {
		t.Error("a tool gets ready that is not called")
	}
}

// Proves LOOP-14.
func TestBothExecutorsGiveTheSameTranscript(t *testing.T) {
	script := `
think Hm.
use Safe {"text":"A"}
use Unsafe {"text":"B"}
use Safe {"text":"C","fail":true}
badjson Safe {"text":
---
say end
`
	var got [2]string
	for i, after := range []bool{false, true} {
		b := newBench(t, script)
		b.ToolsAfterStream = after
		b.run(ctx())
		got[i] = b.history.String()
	}
	if diff := cmp.Diff(got[0], got[1]); diff != "" {
		t.Error(diff)
	}
}

// Proves LOOP-15, EXEC-11.
func TestFailingShellCancelsWaitingSiblings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, `
use SafeShell {"text":"running","sleep":500}
use Safe {"text":"reading","sleep":500}
use SafeShell {"text":"failing","fail":true}
use Shell {"text":"waiting"}
use SafeShell {"text":"looking"}
use Unsafe {"text":"other"}
---
say end
`)
		b.run(ctx())
		want := `user result "did running"
user result "did reading"
user error "it failed"
user error "Not run, because it may change something and an earlier call failed: SafeShell."
user result "did looking"
user result "did other"
`
		if !strings.Contains(b.history.String(), want) {
			t.Errorf("got\n%s", b.history)
		}
	})
}

// TestDeniedShellCancelsNothing checks that a denied call does not count as failed.
//
// Proves LOOP-15.
func TestDeniedShellCancelsNothing(t *testing.T) {
	b := newBench(t, "use DeniedShell {\"text\":\"no\"}\nuse Shell {\"text\":\"next\"}\n---\nsay end")
	b.run(ctx())
	if got := b.journal.String(); got != "next starts, next ends" {
		t.Errorf("calls: %s\n%s", got, b.history)
	}
}

// TestSyncBeforeSideEffects checks that the response is on disk before its calls change
// anything.
//
// Proves SESS-12.
func TestSyncBeforeSideEffects(t *testing.T) {
	b := newBench(t, "use Unsafe {\"text\":\"write\"}\n---\nsay end")
	b.history.journal = b.journal
	b.run(ctx())
	if got := b.journal.String(); !strings.HasPrefix(got, "sync after 2, write starts, write ends") {
		t.Errorf("got %s", got)
	}
}

// A contextGate adds a text for the model to every call.
type contextGate struct{}

func (contextGate) Before(_ context.Context, u *tool.Use) error {
	u.Verdict.Context = append(u.Verdict.Context, &msg.Text{Text: "mind the " + u.Name})
	return nil
}

// Proves HOOK-22.
func TestContextOfGatesFollowsTheResults(t *testing.T) {
	b := newBench(t, "use Safe {\"text\":\"a\"}\n---\nexpect last \"mind the Safe\"\nsay end")
	b.Executor.Gates = append(b.Executor.Gates, exec.Gate{Name: "hooks", Gate: contextGate{}})
	b.run(ctx())
	b.played()
}

// A rejecter is a user who rejects the first call of a tool.
type rejecter struct {
	name  string
	stops bool // also stops the turn
}

func (r rejecter) Before(_ context.Context, u *tool.Use) error {
	if u.Name == r.name {
		u.Verdict.Rejected = true
		u.Verdict.Decide(tool.Deny, "", "Not now.")
		if r.stops {
			u.Verdict.Reason, u.Verdict.Stop = "", "the user refused a call and stopped the turn"
		}
		return nil
	}
	u.Verdict.Decide(tool.Allow, "test", "")
	return nil
}

// Proves EXEC-05.
func TestRejectionCancelsLaterExclusiveCalls(t *testing.T) {
	b := newBench(t, `
use Unsafe {"text":"first"}
use Shell {"text":"rejected"}
use Unsafe {"text":"second"}
use Safe {"text":"reading"}
---
say end
`)
	b.Executor.Gates[0].Gate = rejecter{name: "Shell"}
	b.run(ctx())
	want := `user result "did first"
user error "The user rejected this call and says: «Not now.». Take that into account, and do not repeat the identical call."
user error "Not run: the user rejected an earlier call of this message. Ask the user how to proceed."
user result "did reading"
`
	if !strings.Contains(b.history.String(), want) {
		t.Errorf("got\n%s", b.history)
	}
}

// TestNoEndsTheTurn checks that a rejection returns control to the user (model-side 13): the
// turn ends without another request, later calls are not run, and each call has its result.
//
// Proves PERM-17.
func TestNoEndsTheTurn(t *testing.T) {
	b := newBench(t, `
use Unsafe {"text":"first"}
use Shell {"text":"rejected"}
use Unsafe {"text":"second"}
use Safe {"text":"reading"}
---
expect last "make it so"
say end
`)
	b.Executor.Gates[0].Gate = rejecter{"Shell", true}
	if got := reason(b.run(ctx())); got != agent.AbortedTools {
		t.Errorf("ended with %s", got)
	}
	want := `user result "did first"
user error "The user rejected this call and stopped the turn: it was not run. Wait for their next message, and do not repeat the call unless they ask for it."
user error "Not run: the user rejected an earlier call of this message. Ask the user how to proceed."
user error "Not run: the user rejected an earlier call of this message. Ask the user how to proceed."
user text "[Request interrupted by user for tool use]"
`
	if !strings.HasSuffix(b.history.String(), want) {
		t.Errorf("got\n%s", b.history)
	}
	b.wellFormed()
	b.history.say("make it so")
	if got := reason(b.run(ctx())); got != agent.Completed {
		t.Errorf("ended with %s", got)
	}
	b.played()
}

// Proves LOOP-12, LOOP-17, EXEC-02 and PROV-14.
func TestEveryUseGetsAResult(t *testing.T) {
	b := newBench(t, `
use Saef {"text":"A"}
use Safe {"text":5,"colour":1}
use Denied {}
badjson Safe {"text":"A
use Safe
use Safe {"panic":true}
---
say end
`)
	b.run(ctx())
	got := b.history.String()
	for _, want := range []string{
		`error "unknown tool \"Saef\". Did you mean Safe`,
		`colour`, `text`,
		`error "Not allowed: refused by a rule. Do not repeat the identical call."`,
		`error "the input of Safe is not valid JSON: unexpected end of JSON input.`,
		`result "did "`,
		`error "internal error in Safe at stage \"call\"`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("history lacks %s:\n%s", want, got)
		}
	}
	b.played()
}

// Proves LOOP-18.
func TestPanicInAToolIsAnErrorResult(t *testing.T) {
	b := newBench(t, "use Unsafe {\"panic\":true}\n---\nexpect error-result toolu_1_1\nuse Unsafe {\"text\":\"again\"}\n---\nsay alive")
	if got := reason(b.run(ctx())); got != agent.Completed {
		t.Errorf("ended with %s", got)
	}
	if !strings.Contains(b.history.String(), "did again") {
		t.Errorf("the next call did not work:\n%s", b.history)
	}
	b.played()
}

// Proves LOOP-19.
func TestBrokenStream(t *testing.T) {
	for _, tt := range []struct {
		name, script, events string
	}{
		{"once", "say Half a\ncut\n---\nsay Whole.", "request, text, withdrawn, request, text, +assistant, completed"},
		{"twice", "say Half a\ncut\n---\nsay Half a\ngarble\n---\nexpect nostream\nsay Whole.",
			"request, text, withdrawn, request, text, withdrawn, request, text, +assistant, completed"},
		{"before anything", "html\n---\nsay Whole.", "request, request, text, +assistant, completed"},
		{"for good", "say Half a\ncut\n---\nsay Half a\ncut\n---\nhtml",
			"request, text, withdrawn, request, text, withdrawn, request, failed, model_error"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t, tt.script)
			if got := trace(b.run(ctx())); got != tt.events {
				t.Errorf("events: %s\nwant:   %s", got, tt.events)
			}
			if strings.Contains(b.history.String(), "Half") {
				t.Errorf("a withdrawn text is in the history:\n%s", b.history)
			}
			b.played()
		})
	}
}

// Proves LOOP-19, PROV-21.
func TestIdleStreamCountsAsBroken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, "say Half\nhang\n---\nsay Whole.")
		start := time.Now()
		b.run(ctx())
		if got := time.Since(start); got != 90*time.Second {
			t.Errorf("the idle stream was given up after %v, want 90 s", got)
		}
		b.played()
	})
}

// Proves LOOP-19, EXEC-09.
func TestBrokenStreamLeavesNoEffect(t *testing.T) {
	b := newBench(t, "use Safe {\"text\":\"read\"}\nuse Unsafe {\"text\":\"write\"}\ncut\n---\nsay Whole.")
	b.run(ctx())
	if got := b.journal.String(); strings.Contains(got, "write") {
		t.Errorf("a call of a discarded response ran: %s", got)
	}
	if got := b.history.String(); strings.Contains(got, "read") {
		t.Errorf("a result of a discarded response is in the history:\n%s", got)
	}
}

// Proves LOOP-05.
func TestStatesAreNotChangedLater(t *testing.T) {
	b := newBench(t, "use Safe {\"text\":\"a\"}\n---\nsay cut\nstop max_tokens\n---\nsay end")
	var states, copies []agent.State
	for range b.Watch(ctx(), b.history, func(s agent.State) {
		states = append(states, s)
		c := s
		c.Entries = append([]msg.Entry(nil), s.Entries...)
		copies = append(copies, c)
	}) {
	}
	if !reflect.DeepEqual(states, copies) {
		t.Error("an earlier state changed")
	}
	var got []string
	for _, s := range states {
		got = append(got, fmt.Sprintf("%d:%s", s.Iteration, s.Transition))
	}
	if want := "1: 2:tool_use 3:output_limit_resume"; strings.Join(got, " ") != want {
		t.Errorf("iterations %v, want %s", got, want)
	}
}

// Proves LOOP-08 and LOOP-07.
func TestStepsOfTheView(t *testing.T) {
	b := newBench(t, "use Safe {\"text\":\"a\"}\n---\nexpect result toolu_1_1 \"cleared\"\nsay end")
	var order []string
	step := func(name string, f func(agent.View) (agent.View, error)) agent.Step {
		return agent.Step{Name: name, Do: func(_ context.Context, v agent.View) (agent.View, error) {
			order = append(order, name)
			return f(v)
		}}
	}
	same := func(v agent.View) (agent.View, error) { return v, nil }
	var seen []bool // per run of the last step: did it see cleared results
	b.Steps = []agent.Step{
		step("budget", same),
		step("snip", func(v agent.View) (agent.View, error) { return agent.View{}, fmt.Errorf("broken") }),
		step("micro", func(v agent.View) (agent.View, error) {
			v.Messages = append([]msg.Message(nil), v.Messages...)
			for i, m := range v.Messages {
				if r, ok := m.Parts[0].(*msg.ToolResult); ok {
					v.Messages[i].Parts = []msg.Part{&msg.ToolResult{ID: r.ID, Parts: []msg.Part{&msg.Text{Text: "cleared"}}}}
				}
			}
			return v, nil
		}),
		step("collapse", func(v agent.View) (agent.View, error) { panic("boom") }),
		step("compact", func(v agent.View) (agent.View, error) {
			seen = append(seen, strings.Contains(fmt.Sprint(resultTexts(v.Messages)), "cleared"))
			return v, nil
		}),
	}
	b.run(ctx())
	if got := strings.Join(order, " "); got != "budget snip micro collapse compact budget snip micro collapse compact" {
		t.Errorf("order: %s", got)
	}
	if !reflect.DeepEqual(seen, []bool{false, true}) {
		t.Errorf("steps see cleared content: %v, want false and true", seen)
	}
	if !strings.Contains(b.history.String(), "did a") {
		t.Errorf("the stored result was changed:\n%s", b.history)
	}
	b.played()
}

// resultTexts returns the texts of the results in messages.
func resultTexts(messages []msg.Message) (texts []string) {
	for _, m := range messages {
		for _, p := range m.Parts {
			if r, ok := p.(*msg.ToolResult); ok {
				texts = append(texts, msg.PlainText(r.Parts))
			}
		}
	}
	return texts
}

// Proves LOOP-09 and LOOP-11.
func TestRequestsExtendEachOther(t *testing.T) {
	b := newBench(t, `
think sig=unbound Hm.
use Safe {  "text" : "a" }
---
use Unsafe {"text":"b"}
---
say end
`)
	registry := tool.NewRegistry(b.journal.tools()...)
	var dynamic []tool.Tool
	b.Pool = func() *tool.Pool { p, _ := registry.Assemble(dynamic, nil); return p }
	for range b.Watch(ctx(), b.history, func(s agent.State) {
		if s.Iteration == 3 {
			dynamic = []tool.Tool{tool.New(tool.Def{Name: "aaa", Doc: "x", Schema: json.RawMessage(inputSchema), Traits: tool.Traits{Origin: "mcp:x"}},
				func(context.Context, input, func(tool.Progress)) (tool.Result, error) { return tool.Result{}, nil })}
		}
	}) {
	}
	reqs := b.player.Requests()
	for i := 1; i < len(reqs); i++ {
		before, after := parseBody(t, reqs[i-1]), parseBody(t, reqs[i])
		for part, pair := range map[string][2][]json.RawMessage{
			"system": {before.System, after.System}, "tools": {before.Tools, after.Tools}, "messages": {before.Messages, after.Messages},
		} {
			for j := range pair[0] {
				if string(pair[0][j]) != string(pair[1][j]) {
					t.Errorf("request %d changed %s %d:\n%s\n%s", i+1, part, j, pair[0][j], pair[1][j])
				}
			}
		}
	}
	last := parseBody(t, reqs[2])
	if n := len(last.Tools); !strings.Contains(string(last.Tools[n-1]), `"aaa"`) {
		t.Errorf("the new tool is not last: %s", last.Tools[n-1])
	}
	if !strings.Contains(string(reqs[2]), `"input":{  "text" : "a" }`) {
		t.Errorf("the model's own bytes were changed: %s", reqs[2])
	}
}

type body struct {
	System, Tools, Messages []json.RawMessage
	MaxTokens               int `json:"max_tokens"`
	Model                   string
}

func parseBody(t testing.TB, data []byte) (b body) {
	t.Helper()
	if err := json.Unmarshal(data, &b); err != nil {
		t.Fatal(err)
	}
	return b
}

// Proves LOOP-10.
func TestHardLimit(t *testing.T) {
	b := newBench(t, "say never")
	b.Model.Window = 30_000
	b.history.say(strings.Repeat("word ", 40_000))
	events := b.run(ctx())
	if got := trace(events); got != "failed, blocking_limit" {
		t.Errorf("events: %s", got)
	}
	if n := len(b.player.Requests()); n != 0 {
		t.Errorf("%d requests were sent", n)
	}
	text := failures(events)[0].Error()
	if !strings.Contains(text, "about 41") || !strings.Contains(text, "7000") {
		t.Errorf("the error names neither estimate nor limit: %s", text)
	}
}

// Proves LOOP-50.
func TestDeterminism(t *testing.T) {
	script := `
think Hm.
say Some text
use Safe {"text":"A","sleep":3}
use Safe {"text":"B"}
use Unsafe {"text":"C"}
use Safe {"text":"D","fail":true}
---
cut
---
say end
`
	var first string
	for i := range 100 {
		b := newBench(t, script)
		events := b.run(ctx())
		got := b.history.String() + "\n"
		for _, id := range []string{"toolu_1_1", "toolu_1_2", "toolu_1_3", "toolu_1_4"} {
			for _, e := range events {
				switch e := e.(type) {
				case agent.ToolStarted:
					if e.Use.ID == id {
						got += id + " started " + e.Title + "\n"
					}
				case agent.ToolDone:
					if e.Use.ID == id {
						got += id + " done " + render(e.Result) + "\n"
					}
				}
			}
		}
		for _, e := range b.history.Entries() {
			got += e.ID + "<" + e.Parent + " "
		}
		if i == 0 {
			first = got
		} else if diff := cmp.Diff(first, got); diff != "" {
			t.Fatalf("run %d differs:\n%s", i, diff)
		}
	}
}
