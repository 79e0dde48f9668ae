package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"adze/internal/agent"
	"adze/internal/agent/exec"
	"adze/internal/model"
	"adze/internal/model/messages"
	"adze/internal/model/replay"
	"adze/internal/msg"
	"adze/internal/tool"
)

// Proves LOOP-51.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// memory is an in-memory History.
type memory struct {
	mu      sync.Mutex
	entries []msg.Entry
	journal *journal // records syncs; may be nil
}

func newMemory(prompt string) *memory {
	return &memory{entries: []msg.Entry{{ID: "prompt", Message: msg.UserText(prompt)}}}
}

func (h *memory) Entries() []msg.Entry {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.entries[:len(h.entries):len(h.entries)]
}

func (h *memory) Append(_ context.Context, e msg.Entry) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.entries = append(h.entries, e)
	return nil
}

func (h *memory) Sync() error {
	if h.journal != nil {
		h.journal.add("sync after %d", len(h.Entries()))
	}
	return nil
}

// say adds another prompt.
func (h *memory) say(text string) {
	h.Append(context.Background(), msg.Entry{ID: fmt.Sprint("prompt", len(h.entries)), Message: msg.UserText(text)})
}

// String renders the conversation with one line per part.
func (h *memory) String() string {
	var b strings.Builder
	for _, e := range h.Entries() {
		for _, p := range e.Message.Parts {
			fmt.Fprintf(&b, "%s %s\n", e.Message.Role, render(p))
		}
	}
	return b.String()
}

func render(p msg.Part) string {
	switch p := p.(type) {
	case *msg.Text:
		return fmt.Sprintf("text %q", p.Text)
	case *msg.Thinking:
		return fmt.Sprintf("thinking %q", p.Text)
	case *msg.ToolUse:
		return fmt.Sprintf("use %s %s", p.Name, p.Input)
	case *msg.ToolResult:
		kind := "result"
		if p.IsError {
			kind = "error"
		}
		return fmt.Sprintf("%s %q", kind, msg.PlainText(p.Parts))
	case *msg.Image:
		return "image"
	}
	return fmt.Sprintf("%T", p)
}

// allow allows all calls except to tools whose names begin with Denied.
type allow struct{}

func (allow) Before(_ context.Context, u *tool.Use) error {
	if strings.HasPrefix(u.Name, "Denied") {
		u.Verdict.Decide(tool.Deny, "a rule", "")
		return nil
	}
	u.Verdict.Decide(tool.Allow, "test", "")
	return nil
}

// An input controls a test tool call's behavior.
type input struct {
	Text  string `json:"text,omitempty"`
	Sleep int    `json:"sleep,omitempty"` // milliseconds
	Fail  bool   `json:"fail,omitempty"`
	Panic bool   `json:"panic,omitempty"`
}

type safeInput struct{ input }

func (safeInput) Concurrent() bool { return true }
func (safeInput) ReadOnly() bool   { return true }

// A besideInput changes something but may run concurrently with others.
type besideInput struct{ input }

func (besideInput) Concurrent() bool { return true }

const inputSchema = `{"type":"object","properties":{"text":{"type":"string"},"sleep":{"type":"integer"},"fail":{"type":"boolean"},"panic":{"type":"boolean"}},"additionalProperties":false}`

// journal records when calls start and end.
type journal struct {
	prepared atomic.Int32

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
	return strings.Join(j.lines, ", ")
}

func (j *journal) do(ctx context.Context, in input) (tool.Result, error) {
	j.add("%s starts", in.Text)
	defer j.add("%s ends", in.Text)
	if in.Panic {
		panic("boom")
	}
	if in.Sleep > 0 {
		select {
		case <-time.After(time.Duration(in.Sleep) * time.Millisecond):
		case <-ctx.Done():
			return tool.Result{}, ctx.Err()
		}
	}
	if in.Fail {
		return tool.Result{}, errors.New("it failed")
	}
	return tool.Text("did " + in.Text), nil
}

// tools returns Safe (read-only, concurrent), Unsafe (alone), Shell (alone, cancels siblings)
// and Denied.
func (j *journal) tools() []tool.Tool {
	def := func(name string, t tool.Traits) tool.Def {
		return tool.Def{Name: name, Doc: name, Schema: json.RawMessage(inputSchema), Traits: t}
	}
	safe := func(ctx context.Context, in safeInput, _ func(tool.Progress)) (tool.Result, error) {
		return j.do(ctx, in.input)
	}
	plain := func(ctx context.Context, in input, _ func(tool.Progress)) (tool.Result, error) { return j.do(ctx, in) }
	return []tool.Tool{
		tool.New(def("Safe", tool.Traits{Waits: true}), safe),
		tool.New(def("Prepared", tool.Traits{Prepare: func() { j.prepared.Add(1) }}), safe),
		tool.New(def("Delegate", tool.Traits{Delegates: true}), safe),
		tool.New(def("SafeShell", tool.Traits{Shell: true}), safe),
		tool.New(def("Unsafe", tool.Traits{}), plain),
		tool.New(def("UnsafeWait", tool.Traits{Waits: true}), plain),
		tool.New(def("Shell", tool.Traits{Shell: true}), plain),
		tool.New(def("Denied", tool.Traits{}), plain),
		tool.New(def("DeniedShell", tool.Traits{Shell: true}), plain),
		tool.New(def("Beside", tool.Traits{}), func(ctx context.Context, in besideInput, _ func(tool.Progress)) (tool.Result, error) {
			return j.do(ctx, in.input)
		}),
	}
}

// A bench is an agent with a scripted model and its history.
type bench struct {
	*agent.Agent
	t       testing.TB
	player  *replay.Player
	history *memory
	journal *journal
}

func newBench(t testing.TB, script string) *bench {
	t.Helper()
	s, err := replay.Parse("script", []byte(script))
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, player: replay.NewPlayer(s), history: newMemory("do it"), journal: &journal{}}
	registry := tool.NewRegistry(b.journal.tools()...)
	n := 0
	b.Agent = &agent.Agent{
		Provider: b.player.Provider(),
		Executor: &exec.Executor{Gates: []exec.Gate{{Name: "permission", Gate: allow{}}}},
		Pool:     func() *tool.Pool { p, _ := registry.Assemble(nil, nil); return p },
		Model:    agent.Model{ID: "main", Window: 200_000, Output: 32_000, MaxOutput: 32_000},
		NewID:    func() string { n++; return fmt.Sprint("id", n) },
		Now:      func() time.Time { return time.Unix(0, 0) },
	}
	return b
}

// run plays the turn to its end and checks the invariants of every turn.
func (b *bench) run(ctx context.Context) []agent.Event {
	b.t.Helper()
	var events []agent.Event
	for e := range b.Run(ctx, b.history) {
		events = append(events, e)
	}
	b.verify(events)
	return events
}

// verify checks Run's guarantees.
func (b *bench) verify(events []agent.Event) {
	b.t.Helper()
	ends := 0
	for _, e := range events {
		if _, ok := e.(agent.Ended); ok {
			ends++
		}
	}
	if _, last := events[len(events)-1].(agent.Ended); ends != 1 || !last {
		b.t.Errorf("Ended came %d times, last event %T", ends, events[len(events)-1])
	}
	b.wellFormed()
}

// wellFormed checks that the history needs no repair and that a request built from it is valid.
func (b *bench) wellFormed() {
	b.t.Helper()
	if err := checkHistory(b.history.Entries()); err != nil {
		b.t.Errorf("%v\n%s", err, b.history)
	}
	for _, err := range b.player.Problems() {
		b.t.Error(err)
	}
}

func checkHistory(entries []msg.Entry) error {
	open := map[string]bool{}
	var ms []msg.Message
	for _, e := range entries {
		ms = append(ms, e.Message)
		for _, p := range e.Message.Parts {
			switch p := p.(type) {
			case *msg.ToolUse:
				open[p.ID] = true
			case *msg.ToolResult:
				if !open[p.ID] {
					return fmt.Errorf("result %s answers no open use", p.ID)
				}
				delete(open, p.ID)
			}
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("uses without a result: %v", open)
	}
	ms = append(ms, msg.UserText("and now?"))
	repaired, problems := msg.Repair(ms)
	if len(problems) > 0 {
		return fmt.Errorf("history needs mending: %v", problems)
	}
	var enc messages.Encoder
	body, err := enc.Encode(&model.Request{Model: "m", MaxTokens: 10, Messages: repaired}, nil)
	if err != nil {
		return err
	}
	return messages.Check(body)
}

// played checks that the script was used up.
func (b *bench) played() {
	b.t.Helper()
	if err := b.player.Err(); err != nil {
		b.t.Error(err)
	}
}

// trace renders events, omitting the kinds that are irrelevant to ordering tests.
func trace(events []agent.Event) string {
	var lines []string
	for _, e := range events {
		switch e := e.(type) {
		case agent.Requesting:
			lines = append(lines, "request")
		case agent.Delta:
			if _, ok := e.Event.(model.TextDelta); ok && lines[len(lines)-1] != "text" {
				lines = append(lines, "text")
			}
		case agent.Withdrawn:
			lines = append(lines, "withdrawn")
		case agent.Appended:
			lines = append(lines, "+"+string(e.Entry.Message.Role))
		case agent.ToolStarted:
			lines = append(lines, "start "+e.Use.Name)
		case agent.ToolDone:
			lines = append(lines, "done "+e.Use.Name)
		case agent.Notice:
			lines = append(lines, "notice")
		case agent.Retrying:
			lines = append(lines, "retrying")
		case agent.Failed:
			lines = append(lines, "failed")
		case agent.Compacted:
			lines = append(lines, "compacted")
		case agent.Ended:
			lines = append(lines, string(e.Reason))
		}
	}
	return strings.Join(lines, ", ")
}

func reason(events []agent.Event) agent.Reason { return events[len(events)-1].(agent.Ended).Reason }

func notices(events []agent.Event) string {
	var out []string
	for _, e := range events {
		if n, ok := e.(agent.Notice); ok {
			out = append(out, n.Text)
		}
	}
	return strings.Join(out, "\n")
}

func failures(events []agent.Event) []error {
	var out []error
	for _, e := range events {
		if f, ok := e.(agent.Failed); ok {
			out = append(out, f.Err)
		}
	}
	return out
}

func ctx() context.Context { return context.Background() }
