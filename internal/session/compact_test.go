package session_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"adze/internal/agent"
	"adze/internal/agent/compact"
	"adze/internal/msg"
	"adze/internal/session"
	"adze/internal/session/store"
	"adze/internal/session/window"
	"adze/internal/tool"
)

// big is a tool whose result has about as many tokens as its input requests.
func big() tool.Tool {
	type input struct {
		N int `json:"n"`
	}
	def := tool.Def{Name: "Big", Doc: "Big", Schema: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}},"additionalProperties":false}`), Traits: tool.Traits{Clearable: true}}
	return tool.New(def, func(_ context.Context, in input, _ func(tool.Progress)) (tool.Result, error) {
		return tool.Text(fmt.Sprintf("result %d %s", in.N, sized(in.N))), nil
	})
}

// of returns a text of about n tokens.
func of(n int) string { return strings.Repeat("some word ", n*1000/2064) }

const summary = "<analysis>I look back.</analysis><summary>We looked at the parser.</summary>"

// A dwelling is a session with its own window and a log on disk.
type dwelling struct {
	*bench
	opt store.Options
	log *store.Log
}

// newDwelling opens the session at opt, which may have a history.
func newDwelling(t *testing.T, script string, opt store.Options, change func(*session.Config)) *dwelling {
	t.Helper()
	log, contents, err := store.Resume(opt, store.LoadOptions{})
	if err != nil {
		log, err = store.Open(opt)
		contents = nil
	}
	if err != nil {
		t.Fatal(err)
	}
	d := &dwelling{opt: opt, log: log}
	d.bench = newBench(t, script, func(b *bench, c *session.Config) {
		c.Records.Log = log
		c.Tools.Registry = tool.NewRegistry(big())
		c.Models.Resolve = func(name string) (agent.Model, error) {
			m := agent.Model{ID: name, Window: 20_000, Output: 1000, MaxOutput: 2000}
			if name == "wide" {
				m.Window = 200_000
			}
			return m, nil
		}
		c.Window = &window.Config{
			Transcript: log.Path, Tools: window.ToolNames{Read: "Read"},
			Steps: []window.Step{window.Clear(compact.ClearPolicy{})},
		}
		if contents != nil {
			c.Records.History, c.Window.State = contents.Entries, contents.State.Last
		}
		if change != nil {
			change(c)
		}
	})
	return d
}

func place(t *testing.T) store.Options {
	dir := t.TempDir()
	return store.Options{Home: dir, Dir: dir, Session: "s"}
}

func (d *dwelling) close() {
	d.t.Helper()
	d.Close()
	if err := d.log.Close(); err != nil {
		d.t.Error(err)
	}
}

// asked returns the messages of request n, counting from the end.
func (d *dwelling) asked(n int) []byte {
	d.t.Helper()
	all := d.player.Requests()
	if n >= len(all) {
		d.t.Fatalf("only %d requests", len(all))
	}
	_, after, ok := bytes.Cut(all[len(all)-1-n], []byte(`"messages":`))
	if !ok {
		d.t.Fatal("a request without messages")
	}
	return regexp.MustCompile(`,"cache_control":\{[^}]*\}`).ReplaceAll(after, nil)
}

func compactions(events []agent.Event) (n int) {
	for _, e := range events {
		if _, ok := e.(agent.Compacted); ok {
			n++
		}
	}
	return n
}

// Proves CTX-30, CTX-44, CTX-45, LOOP-07 and LOOP-25.
func TestCompactExitResume(t *testing.T) {
	for name, tt := range map[string]struct {
		size   int // size of the results
		script string
	}{
		"before a request":   {6500, "expect text \"Summarise this conversation\"\nexpect no-text \"third\"\ntext \"" + summary + "\"\n---\nexpect text \"We looked at the parser\"\nsay Three"},
		"when it is refused": {3000, "error too_long\n---\nexpect text \"Summarise this conversation\"\ntext \"" + summary + "\"\n---\nexpect text \"We looked at the parser\"\nsay Three"},
		"without a summary":  {3000, "error too_long\n---\nerror invalid_request\n---\nexpect text \"dropped without a summary\"\nsay Three"},
	} {
		t.Run(name, func(t *testing.T) {
			call := fmt.Sprintf("use Big {\"n\":%d}\nusage none\n---\n", tt.size)
			opt := place(t)
			d := newDwelling(t, call+"say One\nusage none\n---\n"+call+"say Two\nusage none\n---\n"+tt.script, opt, nil)
			d.completed("first some word")
			d.completed("second")
			events := d.completed("third " + of(3000))
			if n := compactions(events); n != 1 && name != "without a summary" {
				t.Errorf("%d compactions", n)
			}
			want, before := d.asked(0), d.Conversation()
			d.close()
			d.played()
			if !bytes.Contains(want, []byte("first some word")) {
				t.Errorf("the person's words did not survive:\n%.500s", want)
			}

			again := newDwelling(t, "say Three", opt, nil)
			if diff := cmp.Diff(before, again.Conversation(), cmp.Comparer(func(a, b time.Time) bool { return a.Sub(b).Abs() < time.Second })); diff != "" {
				t.Errorf("resumed state (-before +after):\n%.3000s", diff)
			}
			again.completed("fourth")
			after := again.asked(0)
			if start := bytes.TrimSuffix(want, []byte("]}")); !bytes.HasPrefix(after, start) {
				t.Errorf("the request after resuming does not go on where the last one was:\n%.3000s\n%.3000s", want, after)
			}
			again.close()
			again.played()
		})
	}
}

// Proves CTX-44.
func TestOnlyTheLastBoundaryCounts(t *testing.T) {
	const call = "use Big {\"n\":3000}\n---\n"
	d := newDwelling(t, call+"say One\n---\ntext \"<summary>The first.</summary>\"\n---\n"+call+"say Two\n---\nexpect text \"The first.\"\ntext \"<summary>The second.</summary>\"\n---\nexpect text \"The second.\"\nexpect no-text \"The first.\"\nsay Three", place(t), nil)
	d.completed("alpha")
	d.submit(session.Compact{})
	d.idle()
	d.completed("beta")
	d.submit(session.Compact{Focus: "the tests"})
	d.idle()
	d.completed("gamma")
	if last := d.asked(1); !bytes.Contains(last, []byte("focus on this: the tests")) {
		t.Errorf("the request lacks the focus: %.500s", last)
	}
	c, err := store.Load(d.log.Path(), store.LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if b := c.Boundary; b == nil || b.Trigger != "manual" || b.Instructions != "the tests" || b.PreTokens <= b.PostTokens || b.Last == "" {
		t.Errorf("the boundary is %+v", c.Boundary)
	}
	d.close()
	d.played()
}

func (d *dwelling) idle() {
	d.t.Helper()
	if err := d.Idle(d.t.Context()); err != nil {
		d.t.Error(err)
	}
}

// all returns the events so far.
func (d *dwelling) all() (events []agent.Event) {
	last := d.Last()
	for e := range d.Entries(d.t.Context(), 0, session.Every) {
		if l, ok := e.Event.(session.Loop); ok {
			events = append(events, l.Event)
		}
		if e.Seq >= last {
			break
		}
	}
	return events
}

// Proves CTX-32.
func TestNothingToCompact(t *testing.T) {
	d := newDwelling(t, "say One", place(t), nil)
	d.submit(session.Compact{})
	d.idle()
	if got := notices(d.all()); !slices.Contains(got, "There is nothing to compact yet.") || len(d.Conversation()) != 0 {
		t.Errorf("notices %q, %d entries", got, len(d.Conversation()))
	}
	d.completed("alpha")
	d.close()
	d.played()
}

// TestCircuitBreaker checks that a conversation continues when compaction keeps failing, and
// that the user is notified.
//
// Proves CTX-30, CTX-47.
func TestCircuitBreaker(t *testing.T) {
	const refuse, rounds = "when text \"Summarise this conversation\"\nrepeat 20\nerror invalid_request\n---\n", 12
	d := newDwelling(t, refuse+strings.Repeat("when no-text \"Summarise this conversation\"\nsay ok\n---\n", rounds)+"say end", place(t), nil)
	for i := range rounds {
		d.completed(fmt.Sprintf("prompt %d %s", i, of(5000)))
	}
	asked := 0
	for _, r := range d.player.Requests() {
		if bytes.Contains(r, []byte("Summarise this conversation")) {
			asked++
		}
	}
	told := 0
	for _, n := range notices(d.all()) {
		if strings.Contains(n, "could not be summarised") {
			told++
		}
	}
	if asked != 3 || told != 1 {
		t.Errorf("%d requests for a summary, %d notices about its end", asked, told)
	}
	d.close()
}

// Proves CTX-48.
func TestAbortLeavesTheConversation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDwelling(t, "say One\n---\ndelay 1h\nsay late", place(t), nil)
		d.completed("alpha " + of(1000))
		before := d.Conversation()
		d.submit(session.Compact{})
		synctest.Wait()
		d.submit(session.Interrupt{})
		d.idle()
		if diff := cmp.Diff(before, d.Conversation()); diff != "" {
			t.Errorf("the conversation changed (-before +after):\n%s", diff)
		}
		d.close()
	})
}

// TestEverythingIsTooLong checks that a model that rejects every request as too long ends the
// turn with advice, and that another model can continue the conversation.
//
// Proves LOOP-25.
func TestEverythingIsTooLong(t *testing.T) {
	script := "say One\n---\nsay Two" + strings.Repeat("\n---\nerror too_long", 12)
	d := newDwelling(t, script, place(t), nil)
	d.completed("first " + of(3000))
	d.completed("second " + of(3000))
	events := d.prompt("third " + of(100))
	if got := reason(events); got != agent.PromptTooLong {
		t.Errorf("the turn ended with %q", got)
	}
	if last := d.asked(0); !bytes.Contains(last, []byte("third some word")) {
		t.Errorf("the person's last words are gone: %.500s", last)
	}
	d.close()
}

// Proves SESS-50.
func TestSwitchToASmallerModel(t *testing.T) {
	d := newDwelling(t, "say One\n---\nexpect text \"Summarise this conversation\"\ntext \""+summary+"\"\n---\nexpect text \"We looked at the parser\"\nsay Two", place(t), func(c *session.Config) { c.Models.Main = "wide" })
	d.completed("first " + of(30_000))
	d.submit(session.SetModel{Name: "small"})
	events := d.completed("second")
	if n := compactions(events); n != 1 {
		t.Errorf("%d compactions", n)
	}
	if got := notices(events); len(got) != 1 || !strings.Contains(got[0], "summarised") {
		t.Errorf("unexpected notices %q", got)
	}
	d.close()
	d.played()
}

// TestMicroCompaction checks that old results are cleared from requests permanently, including
// after a restart.
//
// Proves CTX-33, CTX-34, CTX-36.
func TestMicroCompaction(t *testing.T) {
	var script []string
	for range 12 {
		script = append(script, `use Big {"n":900}`)
	}
	opt := place(t)
	change := func(c *session.Config) {
		c.Window.Steps = []window.Step{window.Clear(compact.ClearPolicy{Keep: 3, Total: 4000, Gain: 2000, Idle: time.Hour})}
	}
	d := newDwelling(t, strings.Join(script, "\n---\n")+"\n---\nsay end\n---\nsay again", opt, change)
	d.completed("go")
	d.completed("and")
	requests := d.player.Requests()
	breaks, cleared := 0, 0
	for i := 1; i < len(requests); i++ {
		_, a, _ := bytes.Cut(requests[i-1], []byte(`"messages":`))
		_, b, _ := bytes.Cut(requests[i], []byte(`"messages":`))
		if !bytes.HasPrefix(b, bytes.TrimSuffix(a, []byte("]}"))) {
			breaks++
		}
		n := bytes.Count(b, []byte(compact.Cleared))
		if n < cleared {
			t.Errorf("request %d has %d cleared results, after %d", i+1, n, cleared)
		}
		cleared = n
	}
	if breaks == 0 || breaks > 5 || cleared < 6 {
		t.Errorf("%d results were cleared in %d requests of %d", cleared, breaks, len(requests))
	}
	if stored := msg.PlainText(d.Conversation()[2].Message.Parts[0].(*msg.ToolResult).Parts); !strings.HasPrefix(stored, "result 900") {
		t.Errorf("the stored result was changed: %.100s", stored)
	}
	want := d.asked(0)
	d.close()
	d.played()

	again := newDwelling(t, "say more", opt, change)
	again.completed("more")
	if after := again.asked(0); !bytes.HasPrefix(after, bytes.TrimSuffix(want, []byte("]}"))) {
		t.Error("after resuming the request does not go on where the last one was")
	}
	again.close()
}

// Proves LOOP-10.
func TestCompactionOff(t *testing.T) {
	d := newDwelling(t, "say One", place(t), func(c *session.Config) { c.Window.Off = true })
	d.completed("first " + of(3000))
	events := d.prompt("second " + of(16_000))
	if got := reason(events); got != agent.BlockingLimit || len(d.player.Requests()) != 1 {
		t.Errorf("the turn ended with %q after %d requests", got, len(d.player.Requests()))
	}
	d.close()
}
