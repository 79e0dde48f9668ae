package agent_test

import (
	"context"
	"flag"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"adze/internal/agent"
	"adze/internal/model"
	"adze/internal/model/replay"
	"adze/internal/msg"
	"adze/internal/tool"
)

// Proves LOOP-21, LOOP-40 and LOOP-41.
func TestAbortWhileStreaming(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, "say Some of it\nhang\n---\nsay ok")
		c, cancel := context.WithCancel(ctx())
		defer cancel()
		var events []agent.Event
		var cancelled time.Time
		for e := range b.Run(c, b.history) {
			events = append(events, e)
			if d, ok := e.(agent.Delta); ok {
				if _, ok := d.Event.(model.TextDelta); ok {
					cancelled = time.Now()
					cancel()
				}
			}
		}
		b.verify(events)
		if d := time.Since(cancelled); d > 200*time.Millisecond {
			t.Errorf("the turn ended %v after the abort", d)
		}
		if got := trace(events); got != "request, text, +assistant, +user, aborted_streaming" {
			t.Errorf("events: %s", got)
		}
		b.history.say("go on")
		b.run(ctx())
		last := string(b.player.Requests()[1])
		if !strings.Contains(last, "Some of it") || !strings.Contains(last, agent.InterruptedStream) {
			t.Errorf("the partial text or the notice is lost: %s", last)
		}
		b.played()
	})
}

// Proves LOOP-21, LOOP-40, LOOP-41 and EXEC-07.
func TestAbortWhileToolsRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, "use Safe {\"text\":\"quick\"}\nuse Unsafe {\"text\":\"slow\",\"sleep\":60000}\nuse Unsafe {\"text\":\"never\"}\n---\nsay ok")
		c, cancel := context.WithCancel(ctx())
		time.AfterFunc(time.Second, cancel)
		start := time.Now()
		events := b.run(c)
		if d := time.Since(start); d > 2*time.Second {
			t.Errorf("the turn ended %v after the abort", d-time.Second)
		}
		if reason(events) != agent.AbortedTools {
			t.Errorf("ended with %s", reason(events))
		}
		want := `user result "did quick"
user error "Interrupted by the user before it finished."
user error "Not run: the user interrupted the turn before it started."
user text "[Request interrupted by user for tool use]"
`
		if !strings.HasSuffix(b.history.String(), want) {
			t.Errorf("history:\n%s", b.history)
		}
		if strings.Contains(b.journal.String(), "never") {
			t.Error("a call was started after the abort")
		}
	})
}

// Proves LOOP-43.
func TestAbortReasons(t *testing.T) {
	for why, notice := range map[tool.Abort]bool{
		tool.AbortUser: true, tool.AbortNewMessage: false, tool.AbortShutdown: false, tool.AbortTimeout: false,
	} {
		b := newBench(t, "say Some\nhang")
		c, cancel := context.WithCancelCause(ctx())
		defer cancel(nil)
		for e := range b.Run(c, b.history) {
			if d, ok := e.(agent.Delta); ok {
				if _, ok := d.Event.(model.TextDelta); ok {
					cancel(why)
				}
			}
		}
		b.wellFormed()
		if got := strings.Contains(b.history.String(), agent.InterruptedStream); got != notice {
			t.Errorf("%s: notice in the history: %v, want %v", why, got, notice)
		}
	}
}

// TestAbortBeforeTheRequest checks that a request interrupted during preparation is not sent.
//
// Proves LOOP-40.
func TestAbortBeforeTheRequest(t *testing.T) {
	b := newBench(t, "say never")
	c, cancel := context.WithCancelCause(ctx())
	b.Steps = []agent.Step{{Name: "compact", Do: func(_ context.Context, v agent.View) (agent.View, error) {
		cancel(tool.AbortUser)
		return v, nil
	}}}
	events := b.run(c)
	if n := len(b.player.Requests()); n != 0 || strings.Contains(trace(events), "request") {
		t.Errorf("%d requests: %s", n, trace(events))
	}
}

// TestAbortReasonsWhileToolsRun checks that the model is notified after the results only if the
// user interrupted.
//
// Proves LOOP-43.
func TestAbortReasonsWhileToolsRun(t *testing.T) {
	for why, notice := range map[tool.Abort]bool{tool.AbortUser: true, tool.AbortShutdown: false} {
		b := newBench(t, "use Unsafe {\"text\":\"work\",\"sleep\":60000}")
		c, cancel := context.WithCancelCause(ctx())
		defer cancel(nil)
		for e := range b.Run(c, b.history) {
			if _, ok := e.(agent.ToolStarted); ok {
				cancel(why)
			}
		}
		b.wellFormed()
		if got := strings.Contains(b.history.String(), agent.InterruptedTools); got != notice {
			t.Errorf("%s: notice in the history: %v, want %v", why, got, notice)
		}
	}
}

// TestNewMessageEndsOnlyWaits checks that a message typed during a turn ends only calls that
// merely wait, never a command (second-look 2.3).
//
// Proves LOOP-42 and TOOL-09.
func TestNewMessageEndsOnlyWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, tt := range []struct{ tool, result string }{
			{"Unsafe", `user result "did work"`},
			{"UnsafeWait", `user error "The wait ended because the user sent a new message; the awaited task continues. Read the message before deciding how to continue."`},
		} {
			b := newBench(t, "use "+tt.tool+" {\"text\":\"work\",\"sleep\":60000}\n---\nexpect last \"wait, not that\"\nsay ok")
			b.Inbox = &agent.Inbox{}
			time.AfterFunc(time.Second, func() { b.Inbox.Steer(&msg.Text{Text: "wait, not that"}) })
			b.run(ctx())
			if got := b.history.String(); !strings.Contains(got, tt.result) {
				t.Errorf("%s:\n%s", tt.tool, got)
			}
			b.played()
		}
	})
}

// Proves LOOP-33.
func TestQueuedInputFollowsTheResults(t *testing.T) {
	b := newBench(t, "use Safe {\"text\":\"a\"}\n---\nsay ok")
	b.Inbox = &agent.Inbox{News: func() []string { return []string{"a server came"} }} // news alone does not continue a turn
	b.Inbox.Notify("task 1 ended")
	b.Inbox.Say(&msg.Text{Text: "also look at b"})
	b.run(ctx())
	var got []string
	for _, m := range parseBody(t, b.player.Requests()[1]).Messages {
		got = append(got, string(m))
	}
	last := got[len(got)-1]
	result, said, note, news := strings.Index(last, "did a"), strings.Index(last, "also look at b"), strings.Index(last, "task 1 ended"), strings.Index(last, "a server came")
	if result < 0 || said < result || note < said || news < note || len(b.player.Requests()) != 2 {
		t.Errorf("last message: %s", last)
	}
}

// Proves LOOP-33.
func TestInboxMergesOldNotifications(t *testing.T) {
	var in agent.Inbox
	for i := range 150 {
		in.Say(&msg.Text{Text: fmt.Sprint("said ", i)})
	}
	for i := range 250 {
		in.Notify(fmt.Sprint("note ", i))
	}
	parts := in.Take()
	text := msg.PlainText(parts)
	if len(parts) != 151 || !strings.Contains(text, "said 149") || !strings.Contains(text, "250 earlier notifications") {
		t.Errorf("%d parts: %s", len(parts), text)
	}
	in.Notify("a")
	if got := len(in.Take()); got != 1 {
		t.Errorf("%d parts after the inbox was emptied, want 1", got)
	}
}

// Proves LOOP-34.
func TestPrefetchIsAttachedWhenReady(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, "use Safe {\"sleep\":1000}\n---\nexpect text \"ready\"\nexpect no-text \"late\"\nsay ok")
		b.Prefetch = []func(context.Context) []msg.Part{
			func(context.Context) []msg.Part { return []msg.Part{msg.Reminder("ready")} },
			func(c context.Context) []msg.Part {
				select {
				case <-time.After(5 * time.Second):
				case <-c.Done():
				}
				return []msg.Part{msg.Reminder("late")}
			},
			func(context.Context) []msg.Part { panic("boom") },
		}
		start := time.Now()
		b.run(ctx())
		if d := time.Since(start); d > 1100*time.Millisecond {
			t.Errorf("the turn took %v", d)
		}
		b.played()
	})
}

// TestLabels checks that labels arrive while the next request streams, or not at all: the turn
// never waits for them.
//
// Proves LOOP-32.
func TestLabels(t *testing.T) {
	for _, tt := range []struct {
		name  string
		label func(context.Context, []*msg.ToolUse) string
		want  string
	}{
		{"quick", func(_ context.Context, uses []*msg.ToolUse) string { return fmt.Sprintf("Ran %d calls", len(uses)) }, "[toolu_1_1 toolu_1_2] Ran 2 calls, [toolu_2_1] Ran 1 calls"},
		{"long", func(context.Context, []*msg.ToolUse) string { return strings.Repeat("x", 79) + "\n" + "yy" }, "[toolu_1_1 toolu_1_2] " + strings.Repeat("x", 79) + "…, [toolu_2_1] " + strings.Repeat("x", 79) + "…"},
		{"silent", func(context.Context, []*msg.ToolUse) string { return "" }, ""},
		{"never", func(ctx context.Context, _ []*msg.ToolUse) string { <-ctx.Done(); return "late" }, ""},
		{"broken", func(context.Context, []*msg.ToolUse) string { panic("boom") }, ""},
	} {
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t, "use Safe {}\nuse Safe {}\n---\ndelay 500ms\nuse Safe {}\n---\ndelay 500ms\nsay ok")
			b.Label = tt.label
			start := time.Now()
			var got []string
			for ev := range b.Run(ctx(), b.history) {
				if l, ok := ev.(agent.Labelled); ok {
					got = append(got, fmt.Sprint(l.IDs, " ", l.Text))
				}
			}
			if text := strings.Join(got, ", "); text != tt.want || time.Since(start) != time.Second {
				t.Errorf("%s: %s after %v", tt.name, text, time.Since(start))
			}
			b.played()
		})
	}
}

// Proves EXEC-06.
func TestProgressIsDroppedButNeverTheLast(t *testing.T) {
	b := newBench(t, "use Busy {}\n---\nsay ok")
	busy := tool.New(tool.Def{Name: "Busy", Doc: "x", Schema: []byte(inputSchema)},
		func(_ context.Context, _ input, report func(tool.Progress)) (tool.Result, error) {
			for i := range 10_000 {
				report(tool.Progress{Display: tool.Plain{Text: fmt.Sprint(i)}})
			}
			b.journal.add("reported")
			return tool.Text("ok"), nil
		})
	registry := tool.NewRegistry(busy)
	b.Pool = func() *tool.Pool { p, _ := registry.Assemble(nil, nil); return p }
	var n int
	var last string
	for e := range b.Run(ctx(), b.history) {
		if p, ok := e.(agent.ToolProgress); ok {
			n++
			last = p.Display.(tool.Plain).Text
		}
		if s, ok := e.(agent.ToolStarted); ok && s.Use.Name == "Busy" {
			for b.journal.String() == "" { // the front end is blocked while the tool reports
				time.Sleep(time.Millisecond)
			}
		}
	}
	if last != "9999" || n > 100 {
		t.Errorf("saw %d reports, the last one %s", n, last)
	}
}

// cutScripts are turns with an event at every point where a turn can be cut off.
var cutScripts = []string{
	"say hello world",
	"think Hm.\nfragments 3\nsay some longer text\nuse Safe {\"text\":\"A\"}\nuse Unsafe {\"text\":\"B\"}\nuse Safe {\"text\":\"C\",\"fail\":true}\n---\nsay end",
	"use Unsafe {\"text\":\"A\",\"panic\":true}\nbadjson Safe {\"te\nuse Nope {}\nuse Denied {}\n---\nuse Safe {}\n---\nsay end",
	"say half\nuse Safe {}\ncut\n---\nsay half\nuse Unsafe {}\ngarble\n---\nuse Unsafe {\"text\":\"A\"}\n---\nsay end",
	"error overloaded\n---\nthink x\nuse Safe {}\n---\nsay cut\nstop max_tokens\n---\nsay end",
	"use id=same Safe {}\nuse id=same Safe {}\n---\nuse id=same Unsafe {}\n---\nsay end",
	"use Safe {}\n---\nerror invalid_request",
}

// A cutter ends a turn from outside in a particular way.
type cutter struct {
	name string
	run  func(b *bench, after int) (seen int, cut bool)
}

var cutters = []cutter{
	{"cancel", func(b *bench, after int) (int, bool) {
		c, cancel := context.WithCancel(ctx())
		defer cancel()
		n := 0
		for range b.Run(c, b.history) {
			if n++; n == after {
				cancel()
			}
		}
		return n, n >= after
	}},
	{"leave", func(b *bench, after int) (int, bool) {
		n := 0
		for range b.Run(ctx(), b.history) {
			if n++; n == after {
				return n, true
			}
		}
		return n, false
	}},
	{"panic", func(b *bench, after int) (n int, cut bool) {
		defer func() { recover() }()
		for range b.Run(ctx(), b.history) {
			if n++; n == after {
				cut = true
				panic("consumer")
			}
		}
		return n, false
	}},
}

// Proves LOOP-03, LOOP-17, LOOP-41 and EXEC-08.
func TestCutAfterEveryEvent(t *testing.T) {
	for i, script := range cutScripts {
		for _, c := range cutters {
			t.Run(fmt.Sprintf("%d/%s", i, c.name), func(t *testing.T) {
				for after := 1; ; after++ {
					b := newBench(t, script)
					b.Fallback = agent.Model{ID: "spare", Window: 200_000, Output: 8000, MaxOutput: 8000}
					_, cut := c.run(b, after)
					b.wellFormed()
					// In any state, the provider accepts the next turn's request.
					next, err := replay.Parse("next", []byte("forever\nsay fine"))
					if err != nil {
						t.Fatal(err)
					}
					player := replay.NewPlayer(next)
					b.Provider = player.Provider()
					b.history.say("again")
					for range b.Run(ctx(), b.history) {
					}
					for _, err := range player.Problems() {
						t.Errorf("cut after %d: %v\n%s", after, err, b.history)
					}
					if !cut || t.Failed() {
						break
					}
					if after > 500 {
						t.Fatal("the turn does not end")
					}
				}
			})
		}
	}
}

// Proves LOOP-17 and EXEC-08.
func TestRandomTurnsKeepTheRules(t *testing.T) {
	line := rapid.SampledFrom([]string{
		`say some text`, `use Safe {"text":"a"}`, `use Unsafe {"text":"b"}`, `use Safe {"fail":true}`,
		`use Unsafe {"panic":true}`, `use Shell {"fail":true}`, `use Nope {"x":1}`, `use Denied {}`, `use Safe {"text":7}`,
		`badjson Safe {"text"`, `block {"type":"future_block","x":1}`, `ping`, `use id=dup Safe {}`,
	})
	ending := rapid.SampledFrom([]string{"", "", "", "stop max_tokens", "cut", "garble", "stop end_turn", "stop refusal"})
	turn := rapid.Custom(func(t *rapid.T) string {
		if rapid.IntRange(0, 9).Draw(t, "kind") == 0 {
			return rapid.SampledFrom([]string{"error overloaded", "error invalid_request", "html", "error bad_signature", "error media_too_large"}).Draw(t, "error")
		}
		lines := rapid.SliceOfN(line, 1, 5).Draw(t, "lines")
		if rapid.Bool().Draw(t, "thinks") {
			lines = append([]string{"think sig=unbound a thought"}, lines...)
		}
		return strings.Join(append(lines, ending.Draw(t, "ending")), "\n")
	})
	if err := flag.Set("rapid.checks", "1000"); err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(rt *rapid.T) {
		turns := rapid.SliceOfN(turn, 1, 6).Draw(rt, "turns")
		script := strings.Join(turns, "\n---\n") + "\n---\nforever\nsay the end"
		b := newBench(t, script)
		b.Fallback = agent.Model{ID: "spare", Window: 200_000, Output: 8000, MaxOutput: 8000}
		b.MaxTurns = 20
		b.ToolsAfterStream = rapid.Bool().Draw(rt, "after")
		stopAt := rapid.IntRange(1, 200).Draw(rt, "stopAt")
		leave := rapid.Bool().Draw(rt, "leave")
		c, cancel := context.WithCancel(ctx())
		defer cancel()
		n := 0
		for range b.Run(c, b.history) {
			if n++; n == stopAt && leave {
				break
			} else if n == stopAt {
				cancel()
			}
		}
		b.history.say("next")
		for range b.Run(ctx(), b.history) {
		}
		if err := checkHistory(b.history.Entries()); err != nil {
			rt.Fatalf("%v\n%s", err, b.history)
		}
		if problems := b.player.Problems(); len(problems) > 0 {
			rt.Fatalf("%v\nscript:\n%s\nhistory:\n%s", problems, script, b.history)
		}
	})
}
