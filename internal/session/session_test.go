package session_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"adze/internal/agent"
	"adze/internal/agent/exec"
	"adze/internal/model"
	"adze/internal/model/cost"
	"adze/internal/model/replay"
	"adze/internal/msg"
	"adze/internal/session"
	"adze/internal/session/store"
	"adze/internal/tool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// journal records events in order.
type journal struct {
	mu    sync.Mutex
	lines []string
}

func (j *journal) add(format string, args ...any) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lines = append(j.lines, fmt.Sprintf(format, args...))
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return strings.Join(j.lines, "\n")
}

// memoryLog is a log in memory that fails while broken is set.
type memoryLog struct {
	*journal
	broken error

	mu      sync.Mutex
	entries []msg.Entry
	notes   []store.Note
}

func (l *memoryLog) Append(e msg.Entry) error {
	if l.broken != nil {
		return l.broken
	}
	l.add("log %s", e.Message.Role)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entries = append(l.entries, e)
	return nil
}

func (l *memoryLog) Note(n store.Note) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.notes = append(l.notes, n)
	return l.broken
}

func (l *memoryLog) Sync() error { return l.broken }

func (l *memoryLog) SaveResult(string, string, io.Reader) (string, int64, error) {
	return "", 0, errors.New("not kept")
}

// watched is a provider that records each request.
type watched struct {
	model.Provider
	*journal
}

func (w watched) Stream(ctx context.Context, req *model.Request) iter.Seq2[model.Event, error] {
	w.add("request to %s", req.Model)
	return w.Provider.Stream(ctx, req)
}

// rules allows every tool except four: it denies Deny, abstains on Ask, fails on Fail and
// panics on Panic.
type rules struct{ *journal }

func (r rules) Before(_ context.Context, u *tool.Use) error {
	r.add("permission for %s", u.Name)
	switch u.Name {
	case "Deny":
		u.Verdict.Decide(tool.Deny, "a rule", "")
	case "Ask":
	case "Fail":
		return errors.New("no rules")
	case "Panic":
		panic("boom")
	default:
		u.Verdict.Decide(tool.Allow, "a rule", "")
	}
	return nil
}

type input struct {
	Text string `json:"text,omitempty"`
}

const inputSchema = `{"type":"object","properties":{"text":{"type":"string"}},"additionalProperties":false}`

func newTool(name string, traits tool.Traits, run func(context.Context, string) error) tool.Tool {
	def := tool.Def{Name: name, Doc: name, Schema: json.RawMessage(inputSchema), Traits: traits}
	return tool.New(def, func(ctx context.Context, in input, _ func(tool.Progress)) (tool.Result, error) {
		if run != nil {
			if err := run(ctx, in.Text); err != nil {
				return tool.Result{}, err
			}
		}
		return tool.Text("did " + in.Text), nil
	})
}

// A bench is a session that plays a script.
type bench struct {
	*session.Session
	journal
	t      *testing.T
	player *replay.Player
	log    *memoryLog
}

// newBench returns a session; change, if not nil, can modify its configuration.
func newBench(t *testing.T, script string, change func(*bench, *session.Config)) *bench {
	t.Helper()
	s, err := replay.Parse("script", []byte(script))
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, player: replay.NewPlayer(s)}
	b.log = &memoryLog{journal: &b.journal}
	cfg := session.Config{
		ID:       "the-session",
		Provider: watched{b.player.Provider(), &b.journal},
		Gates:    []exec.Gate{{Name: "permission", Gate: rules{&b.journal}}},
		Models: session.Models{Main: "small", Resolve: func(name string) (agent.Model, error) {
			b.add("resolve %s", name)
			if name == "none" {
				return agent.Model{}, errors.New(`unknown model "none"`)
			}
			return agent.Model{ID: name, Window: 200_000, Output: 8000, MaxOutput: 8000}, nil
		}},
		Preamble: session.Preamble{Begin: func(_ context.Context, m agent.Model, tools []msg.ToolSpec) session.RequestHead {
			b.add("system prompt for %s", m.ID)
			return session.RequestHead{System: []msg.Part{&msg.Text{Text: fmt.Sprintf("You are %s with %d tools.", m.ID, len(tools))}}, Tools: tools}
		}},
		Records: session.Records{Log: b.log},
	}
	cfg.Tools.Registry = tool.NewRegistry(newTool("Do", tool.Traits{}, nil), newTool("Deny", tool.Traits{}, nil),
		newTool("Ask", tool.Traits{}, nil), newTool("Fail", tool.Traits{}, nil), newTool("Panic", tool.Traits{}, nil))
	if change != nil {
		change(b, &cfg)
	}
	b.Session = session.Open(t.Context(), cfg)
	return b
}

// submit submits an operation that must be accepted.
func (b *bench) submit(op session.Op) {
	b.t.Helper()
	if err := b.Submit(b.t.Context(), op); err != nil {
		b.t.Error(err)
	}
}

// say returns a prompt.
func say(text string) session.Prompt {
	return session.Prompt{Parts: []msg.Part{&msg.Text{Text: text}}}
}

// prompt runs a turn and returns the loop's events; the last one is the outcome.
func (b *bench) prompt(text string) []agent.Event {
	b.t.Helper()
	p := say(text)
	p.ID = msg.NewID()
	return slices.Collect(b.turn(p))
}

// turn submits a prompt and yields the events of its turn.
func (b *bench) turn(p session.Prompt) iter.Seq[agent.Event] {
	return func(yield func(agent.Event) bool) {
		after := b.Last()
		b.submit(p)
		mine := false
		for e := range b.Entries(b.t.Context(), after, session.Every) {
			switch ev := e.Event.(type) {
			case session.Started:
				mine = ev.Prompt == p.ID
			case session.Loop:
				if mine && !yield(ev.Event) {
					return
				}
			case session.Finished:
				if mine {
					yield(ev.Ended)
					return
				}
			}
		}
	}
}

// completed runs a turn that must complete.
func (b *bench) completed(text string) []agent.Event {
	b.t.Helper()
	events := b.prompt(text)
	if got := reason(events); got != agent.Completed {
		b.t.Errorf("%s: the turn ended with %q", text, got)
	}
	return events
}

// played checks that the script was used up and that every request was valid.
func (b *bench) played() {
	b.t.Helper()
	if err := b.player.Err(); err != nil {
		b.t.Error(err)
	}
}

func reason(events []agent.Event) agent.Reason {
	if len(events) == 0 {
		return "nothing"
	}
	ended, _ := events[len(events)-1].(agent.Ended)
	return ended.Reason
}

func notices(events []agent.Event) []string {
	var texts []string
	for _, e := range events {
		if n, ok := e.(agent.Notice); ok {
			texts = append(texts, n.Text)
		}
	}
	return texts
}

// Proves SESS-01, SESS-04.
func TestTurnsAccumulate(t *testing.T) {
	b := newBench(t, `
expect messages 1
use Deny {"text":"one"}
usage input=10 output=5
---
say First answer
usage input=20 output=7
---
expect messages 5
expect text "first question"
expect text "First answer"
expect last "second question"
use Do {"text":"fine"}
use Ask {"text":"two"}
use Fail {"text":"three"}
use Panic {"text":"four"}
usage input=30 output=9
---
say Second answer
usage input=40 output=11
`, nil)
	b.completed("first question")
	want := []session.Denial{{Tool: "Deny", UseID: "toolu_1_1", Input: json.RawMessage(`{"text":"one"}`)}}
	if diff := cmp.Diff(want, b.Denials()); diff != "" {
		t.Errorf("denials after one turn (-want +got):\n%s", diff)
	}
	if u := b.Totals().Usage; u.Input != 30 || u.Output != 12 {
		t.Errorf("usage after one turn: %+v", u)
	}
	b.completed("second question")
	want = append(want,
		session.Denial{Tool: "Ask", UseID: "toolu_3_2", Input: json.RawMessage(`{"text":"two"}`)},
		session.Denial{Tool: "Fail", UseID: "toolu_3_3", Input: json.RawMessage(`{"text":"three"}`)},
		session.Denial{Tool: "Panic", UseID: "toolu_3_4", Input: json.RawMessage(`{"text":"four"}`)})
	if diff := cmp.Diff(want, b.Denials()); diff != "" {
		t.Errorf("denials after two turns (-want +got):\n%s", diff)
	}
	if u := b.Totals().Usage; u.Input != 100 || u.Output != 32 {
		t.Errorf("usage after two turns: %+v", u)
	}
	if n := len(b.Conversation()); n != 8 || b.ID() != "the-session" {
		t.Errorf("session %s has %d entries", b.ID(), n)
	}
	b.played()
}

// TestEntriesAreAChain checks that every entry names its parent, and that the log matches
// memory.
func TestEntriesAreAChain(t *testing.T) {
	old := append(make([]msg.Entry, 0, 9), msg.Entry{ID: "old", Message: msg.UserText("before")})
	b := newBench(t, "expect text \"before\"\nuse Do {}\n---\nsay ok", func(_ *bench, c *session.Config) { c.Records.History = old })
	b.completed("go on")
	entries := b.Conversation()
	for i, e := range entries[1:] {
		if e.Parent != entries[i].ID || e.ID == "" || e.Time.IsZero() {
			t.Errorf("entry %d: id %q, parent %q, want %q", i+1, e.ID, e.Parent, entries[i].ID)
		}
	}
	if diff := cmp.Diff(entries[1:], b.log.entries); diff != "" {
		t.Errorf("the log (-memory +log):\n%s", diff)
	}
	if old[:2][1].ID != "" {
		t.Error("the caller's history was written to")
	}
	b.played()
}

// Proves SESS-01.
func TestTurnsWaitForEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, "expect last \"first\"\ndelay 5s\nsay One\n---\nexpect messages 3\nexpect last \"second\"\nsay Two", nil)
		var turns sync.WaitGroup
		turns.Go(func() { b.completed("first") })
		synctest.Wait()
		turns.Go(func() { b.completed("second") })
		synctest.Wait()
		if n := len(b.player.Requests()); n != 1 {
			t.Errorf("%d requests while the first turn runs", n)
		}

		b.submit(session.Prompt{ID: "impatient", Parts: say("impatient").Parts})
		if got := b.Waiting(); len(got) != 2 || got[1] != "impatient" {
			t.Errorf("waiting: %q", got)
		}
		b.submit(session.Withdraw{ID: "impatient"})
		if err := b.Submit(t.Context(), session.Withdraw{ID: "impatient"}); err == nil {
			t.Error("a prompt was withdrawn twice")
		}
		turns.Wait()
		b.played()
	})
}

// Proves SESS-02.
func TestOrderOfATurn(t *testing.T) {
	b := newBench(t, "use Do {}\n---\nsay ok", nil)
	b.completed("hello")
	want := `resolve small
log user
system prompt for small
request to small
log assistant
permission for Do
log user
request to small
log assistant`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Proves LOOP-02, SESS-02.
func TestEmptyPromptStartsNothing(t *testing.T) {
	b := newBench(t, "say never", nil)
	for _, parts := range [][]msg.Part{nil, {&msg.Text{}}, {&msg.Text{Text: " \n\t"}, &msg.Text{Text: "\u00a0"}}} {
		b.submit(session.Prompt{Parts: parts})
		b.submit(session.Steer{Parts: parts})
		b.submit(session.Note{Parts: parts})
	}
	if b.String() != "" || b.Last() != 0 {
		t.Errorf("something happened: %s", &b.journal)
	}
	image := session.Prompt{ID: "image", Parts: []msg.Part{&msg.Image{MediaType: "image/png", Data: []byte("x")}}}
	if events := slices.Collect(b.turn(image)); reason(events) != agent.Completed {
		t.Errorf("an image alone: %s", reason(events))
	}
}

// Proves SESS-03.
func TestPromptIsRebuiltEveryTurn(t *testing.T) {
	var dynamic []tool.Tool
	b := newBench(t, `
expect model small
expect system "You are small with 1 tools."
use Switch {}
---
expect model small
expect system "You are small with 1 tools."
say one
---
expect model large
expect system "You are large with 2 tools."
expect text "one"
say two
`, func(b *bench, c *session.Config) {
		c.Tools.Registry = tool.NewRegistry(newTool("Switch", tool.Traits{}, func(ctx context.Context, _ string) error { return b.Submit(ctx, session.SetModel{Name: "large"}) }))
		c.Tools.Dynamic = func() []tool.Tool { return dynamic }
	})
	b.completed("first")
	if b.Model() != "large" {
		t.Errorf("the next model is %s", b.Model())
	}
	dynamic = []tool.Tool{newTool("mcp__db__q", tool.Traits{Origin: "mcp:db"}, nil)}
	b.completed("second")
	b.played()
}

func TestUnknownModel(t *testing.T) {
	b := newBench(t, "say ok", nil)
	if err := b.Submit(t.Context(), session.SetModel{Name: "none"}); err == nil || b.Model() != "small" {
		t.Errorf("SetModel: %v, model %s", err, b.Model())
	}
	b.completed("hello")

	b = newBench(t, "say never", func(_ *bench, c *session.Config) { c.Models.Fallback = "none" })
	events := b.prompt("hello")
	failed, ok := events[0].(agent.Failed)
	if len(events) != 2 || !ok || failed.Err.Error() != `unknown model "none"` || reason(events) != agent.ModelError {
		t.Errorf("events %v", events)
	}
	if len(b.Conversation()) != 0 || len(b.player.Requests()) != 0 {
		t.Error("the turn was started all the same")
	}
}

// Proves SESS-12.
func TestFailingLogWarnsOnce(t *testing.T) {
	b := newBench(t, "use Do {}\n---\nuse Mend {}\n---\nsay ok\n---\nsay again", func(b *bench, c *session.Config) {
		c.Tools.Registry = tool.NewRegistry(newTool("Do", tool.Traits{}, nil), newTool("Mend", tool.Traits{}, func(context.Context, string) error {
			b.log.broken = nil
			return nil
		}))
	})
	b.log.broken = errors.New("disk full")
	events := b.completed("hello")
	got := notices(events)
	if len(got) != 2 || !strings.Contains(got[0], "not saved: disk full") || !strings.Contains(got[1], "saved again") {
		t.Errorf("notices %q", got)
	}
	if n := len(b.Conversation()); n != 6 {
		t.Errorf("the conversation has %d entries", n)
	}
	if got := notices(b.completed("and?")); len(got) > 0 {
		t.Errorf("more notices: %q", got)
	}
	b.played()
}

// Proves SESS-12.
func TestBrokenLogKeepsTheSessionAlive(t *testing.T) {
	b := newBench(t, "use Do {}\n---\nsay one\n---\nexpect text \"one\"\nsay two", nil)
	b.log.broken = errors.New("read-only file system")
	var got []string
	for _, text := range []string{"first", "second"} {
		got = append(got, notices(b.completed(text))...)
	}
	if len(got) != 1 || !strings.Contains(got[0], "read-only file system") {
		t.Errorf("notices %q", got)
	}
	b.played()
}

func TestSessionWithoutALog(t *testing.T) {
	b := newBench(t, "use Do {}\n---\nsay ok", func(_ *bench, c *session.Config) { c.Records.Log, c.Preamble.Begin, c.ID = nil, nil, "" })
	if events := b.completed("hello"); len(notices(events)) > 0 || b.ID() == "" {
		t.Errorf("session %q, notices %q", b.ID(), notices(events))
	}
	b.played()
}

func TestQueueAndSteer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		wait := func(ctx context.Context, _ string) error {
			select {
			case <-time.After(time.Minute):
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		b := newBench(t, `
expect last "hello"
use Block {"text":"A"}
---
expect result toolu_1_1 "did A"
expect last "queued"
use Yield {"text":"B"}
---
expect error-result toolu_2_1 "new message"
expect last "steered"
say ok
`, func(_ *bench, c *session.Config) {
			c.Tools.Registry = tool.NewRegistry(newTool("Block", tool.Traits{}, wait), newTool("Yield", tool.Traits{Waits: true}, wait))
		})
		time.AfterFunc(time.Second, func() { b.submit(session.FollowUp(say("queued"))) })
		time.AfterFunc(90*time.Second, func() { b.submit(session.Steer(say("steered"))) })
		start := time.Now()
		b.completed("hello")
		if d := time.Since(start); d != 90*time.Second {
			t.Errorf("the turn took %v", d)
		}
		if got := b.Totals().Tool; got != 90*time.Second {
			t.Errorf("tools ran for %v", got)
		}
		b.played()
	})
}

// TestInterrupt checks that a turn interrupted at any point leaves a valid conversation.
func TestInterrupt(t *testing.T) {
	for after := range 8 {
		b := newBench(t, "forever\nwhen no-text \"again\"\nuse Do {}\n---\nforever\nsay ok", nil)
		n := 0
		if after == 0 { // before the start
			b.submit(say("hello"))
			b.submit(session.Interrupt{})
		} else {
			p := say("hello")
			p.ID = "p"
			for range b.turn(p) {
				if n++; n == after {
					b.submit(session.Interrupt{})
				}
			}
		}
		b.completed("again")
		for _, err := range b.player.Problems() {
			t.Errorf("after %d events: %v", after, err)
		}
	}
}

func TestBudgetIsTheSessions(t *testing.T) {
	b := newBench(t, "say one\nusage input=0 output=3\n---\nsay two\nusage input=0 output=3", func(_ *bench, c *session.Config) {
		c.Loop.MaxBudgetUSD = 5
		c.Records.Ledger = cost.New(func(string) cost.Facts { return cost.Facts{Price: &model.Price{Output: 1e6}} })
	})
	b.completed("first")
	b.completed("second")
	if got := reason(b.prompt("third")); got != agent.BudgetExhausted {
		t.Errorf("after 6 of 5 USD the turn ended with %s", got)
	}
	b.played()
}

// Proves LOOP-33.
func TestQueuedTooLateStartsTheNextTurn(t *testing.T) {
	b := newBench(t, "say done\n---\nexpect last \"one more thing\"\nsay that too", nil)
	p := say("go")
	p.ID = "p"
	once := false
	for e := range b.turn(p) {
		if d, ok := e.(agent.Delta); ok && !once {
			if _, ok := d.Event.(model.TextDelta); ok {
				once = true
				b.submit(session.FollowUp(say("one more thing")))
			}
		}
	}
	if err := b.Idle(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := len(b.Conversation()); n != 4 {
		t.Errorf("%d messages: queued input is lost", n)
	}
	b.played()
}

// TestTwoSessions checks that two sessions in a process are independent: each has its own
// questions, denials, model and cost.
func TestTwoSessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one := newBench(t, "use Deny {}\n---\nexpect model small\nsay one", nil)
		two := newBench(t, "delay 1s\nsay two", nil)
		two.submit(session.SetModel{Name: "large"})
		done := make(chan []agent.Event)
		go func() { done <- two.prompt("there") }()
		one.completed("here")
		if got := reason(<-done); got != agent.Completed {
			t.Errorf("the second session ended with %q", got)
		}
		if one.Model() != "small" || two.Model() != "large" || len(one.Denials()) != 1 || len(two.Denials()) != 0 {
			t.Errorf("models %s and %s, denials %v and %v", one.Model(), two.Model(), one.Denials(), two.Denials())
		}
		if a, b := len(one.Conversation()), len(two.Conversation()); a != 4 || b != 2 {
			t.Errorf("%d and %d messages", a, b)
		}
		one.Close()
		if err := two.Submit(t.Context(), session.SetEffort{}); err != nil {
			t.Errorf("the second session ended with the first: %v", err)
		}
		two.Close()
	})
}
