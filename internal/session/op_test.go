package session_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"adze/internal/agent"
	"adze/internal/model"
	"adze/internal/msg"
	"adze/internal/session"
	"adze/internal/tool"
)

// story returns the entries of a closed session as lines.
func (b *bench) story(after session.Seq) []string {
	var lines []string
	for e := range b.Entries(b.t.Context(), after, session.Latest) {
		switch ev := e.Event.(type) {
		case session.Started:
			lines = append(lines, "started "+ev.Prompt)
		case session.Finished:
			lines = append(lines, fmt.Sprintf("finished %s", ev.Reason))
		case session.Changed:
			lines = append(lines, "changed "+ev.Model+ev.Mode)
		case session.Loop:
			switch ev := ev.Event.(type) {
			case agent.Appended:
				lines = append(lines, fmt.Sprintf("%s %s: %s", ev.Entry.Message.Role, ev.Entry.ID, ev.Entry.Message.Text()))
			case agent.Notice:
				lines = append(lines, "notice "+ev.Text)
			}
		}
	}
	return lines
}

func prompt(id, text string) session.Prompt {
	return session.Prompt{ID: id, Parts: []msg.Part{&msg.Text{Text: text}}}
}

// numbered gives the entries of b predictable IDs.
func numbered(c *session.Config) {
	n := 0
	c.NewID = func() string { n++; return fmt.Sprint("id", n) }
}

// TestStory checks that the history, the user's input and its results form a single sequence
// that every front end can read from the start or from any number.
func TestStory(t *testing.T) {
	b := newBench(t, "say one\n---\nexpect last \"more\"\nexpect text \"by the way\"\nsay two", func(b *bench, c *session.Config) {
		numbered(c)
		c.Records.History = []msg.Entry{{ID: "old", Message: msg.UserText("before")}}
		c.Controls.SetMode = func(mode string) (string, error) {
			if mode == "odd" {
				return "", errors.New("no such mode")
			}
			return mode, nil
		}
	})
	b.submit(prompt("a", "first"))
	b.submit(session.Note(prompt("n", "by the way")))
	b.submit(prompt("a", "more")) // duplicate ID
	if err := b.Idle(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.submit(session.SetModel{Name: "large"})
	b.submit(session.SetMode{Mode: "plan"})
	if err := b.Submit(t.Context(), session.SetMode{Mode: "odd"}); err == nil {
		t.Error("an unknown mode was set")
	}
	b.Close()
	if err := b.Submit(t.Context(), prompt("", "late")); !errors.Is(err, session.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
	want := []string{
		"user old: before",
		"started a", "user a: first", "assistant id1: one", "finished completed",
		"started n", "user n: by the way", "finished completed",
		"started id2", "user id2: more", "assistant id3: two", "finished completed",
		"changed large", "changed plan",
	}
	if diff := cmp.Diff(want, b.story(0)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want[12:], b.story(b.Last()-2)); diff != "" {
		t.Errorf("the end (-want +got):\n%s", diff)
	}
	b.played()
}

// discreet returns a prompt hook that blocks secrets and adds context to other prompts.
func discreet() []session.PromptHook {
	return []session.PromptHook{{Name: "discreet", Run: func(_ context.Context, p session.Prompt) session.HookResult {
		if strings.Contains(p.Parts[0].(*msg.Text).Text, "secret") {
			return session.HookResult{Blocked: "that is a secret"}
		}
		return session.HookResult{Context: []msg.Part{&msg.Text{Text: "context"}}}
	}}}
}

// TestHeard checks that prompt hooks run in order, and that a blocked prompt is not passed to
// the next.
//
// Proves SESS-02.
func TestHeard(t *testing.T) {
	b := newBench(t, "expect last \"fine\"\nexpect last \"context\"\nsay ok", func(b *bench, c *session.Config) {
		numbered(c)
		c.PromptHooks = append(discreet(), session.PromptHook{Name: "second", Run: func(_ context.Context, p session.Prompt) session.HookResult {
			b.add("second hears %s", msg.PlainText(p.Parts))
			return session.HookResult{Context: []msg.Part{&msg.Text{Text: ", more"}}}
		}})
	})
	b.submit(prompt("a", "a secret"))
	b.submit(prompt("b", "fine"))
	b.Close()
	want := []string{
		"started a", "finished hook_stopped",
		"started b", "user b: finecontext, more", "assistant id1: ok", "finished completed",
	}
	if diff := cmp.Diff(want, b.story(0)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, e := range b.log.entries {
		if strings.Contains(e.Message.Text(), "secret") {
			t.Error("a blocked prompt is in the log")
		}
	}
	b.played()
}

func TestInterruptTakesBackWhatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, "delay 1h\nsay never", func(_ *bench, c *session.Config) { numbered(c) })
		b.submit(prompt("a", "first"))
		synctest.Wait()
		b.submit(prompt("b", "second"))
		b.submit(session.Interrupt{Queued: true})
		b.Close()
		if diff := cmp.Diff([]string{"started a", "user a: first", "user id1: [Request interrupted by user]", "finished aborted_streaming"}, b.story(0)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// TestEndOfLife checks that the end of the session's context ends its turns with the same
// cause.
func TestEndOfLife(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		life, end := context.WithCancelCause(t.Context())
		var cfg session.Config
		b := newBench(t, "delay 1h\nsay never", func(_ *bench, c *session.Config) { numbered(c); cfg = *c })
		b.Session = session.Open(life, cfg)
		b.submit(prompt("a", "first"))
		b.submit(prompt("b", "second"))
		synctest.Wait()
		end(tool.AbortShutdown)
		b.Close()
		if diff := cmp.Diff([]string{"started a", "user a: first", "finished aborted_streaming"}, b.story(0)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// TestHeardWhileATurnRuns checks that prompt hooks see input for a running turn like any other
// prompt, and that a waking notification that is too late for its turn starts another.
func TestHeardWhileATurnRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, "delay 10s\nsay one\n---\nexpect last \"fine\"\nexpect last \"context\"\nsay two\n---\nexpect last \"wake up\"\nsay three", func(b *bench, c *session.Config) {
			numbered(c)
			c.PromptHooks = discreet()
		})
		b.submit(prompt("a", "go"))
		synctest.Wait()
		b.submit(session.Steer(prompt("", "a secret")))
		b.submit(session.FollowUp(prompt("", "fine")))
		if err := b.Idle(t.Context()); err != nil {
			t.Fatal(err)
		}
		b.submit(session.Notify{Text: "wake up", Wake: true})
		b.Close()
		story := strings.Join(b.story(0), "\n")
		if !strings.Contains(story, "notice that is a secret") || strings.Contains(story, ": a secret") {
			t.Error(story)
		}
		b.played()
	})
}

// Proves SESS-53.
func TestEffortAndThinking(t *testing.T) {
	b := newBench(t, "forever\nsay ok", nil)
	b.completed("as it is")
	b.submit(session.SetEffort{Effort: model.EffortHigh})
	b.submit(session.SetThinking{Thinking: model.Thinking{Mode: model.ThinkingAdaptive}})
	b.completed("harder")
	requests := b.player.Requests()
	if got := string(requests[0]); strings.Contains(got, `"effort"`) || strings.Contains(got, `"thinking"`) {
		t.Errorf("the first request: %s", got)
	}
	if got := string(requests[1]); !strings.Contains(got, `"effort":"high"`) || !strings.Contains(got, `"thinking":{"type":"adaptive"}`) {
		t.Errorf("the second request: %s", got)
	}
}

// TestRewind checks that the conversation goes back to before a message, regardless of later
// messages. A rewind can be undone until the next prompt, and persists when the session is
// resumed. Files are restored first; if that fails, the conversation is unchanged.
//
// Proves SESS-31.
func TestRewind(t *testing.T) {
	opt := place(t)
	d := newDwelling(t, "say One\n---\nsay Two\n---\nsay Three\n---\nexpect no-text \"second\"\nexpect text \"first\"\nsay Four\n---\nexpect no-text \"fourth\"\nsay Five", opt, nil)
	rewind := func(d *dwelling, op session.Rewind) *session.Outcome {
		t.Helper()
		after := d.Last()
		d.submit(op)
		if err := d.Idle(t.Context()); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		for e := range d.Entries(ctx, after, session.Latest) {
			if end, ok := e.Event.(session.Finished); ok {
				return end.Local
			}
		}
		return nil
	}
	said := func(d *dwelling) (texts []string) {
		for _, e := range d.Conversation() {
			if e.Message.Role == msg.User {
				texts = append(texts, e.Message.Text())
			}
		}
		return texts
	}
	check := func(d *dwelling, want ...string) {
		t.Helper()
		if diff := cmp.Diff(want, said(d)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	for _, text := range []string{"first", "second", "third"} {
		d.completed(text)
	}
	turns := d.Turns()
	if o := rewind(d, session.Rewind{To: "nothing"}); o.Err == nil {
		t.Error("an unknown message")
	}
	broken := func(context.Context) (string, error) { return "", errors.New("the disk is full") }
	if o := rewind(d, session.Rewind{To: turns[1].ID, Files: broken}); o.Err == nil || o.Err.Error() != "the disk is full" {
		t.Errorf("%+v", o)
	}
	check(d, "first", "second", "third")
	files := func(context.Context) (string, error) { return "Files.", nil }
	if o := rewind(d, session.Rewind{To: turns[1].ID, Files: files}); o.Err != nil || o.Text != "Back to before that message.\nFiles." {
		t.Errorf("%+v", o)
	}
	check(d, "first")
	rewind(d, session.Rewind{Undo: true})
	check(d, "first", "second", "third")
	rewind(d, session.Rewind{Undo: true}) // nothing to undo
	check(d, "first", "second", "third")
	rewind(d, session.Rewind{To: turns[1].ID})
	d.completed("fourth")
	rewind(d, session.Rewind{Undo: true}) // too late
	check(d, "first", "fourth")
	rewind(d, session.Rewind{To: d.Turns()[0].ID})
	d.close()

	again := newDwelling(t, "expect no-text \"fourth\"\nexpect text \"first\"\nsay Five", opt, nil)
	check(again, "first")
	again.completed("fifth")
	rewind(again, session.Rewind{To: again.Turns()[1].ID})
	check(again)
	again.close()
	empty := newDwelling(t, "expect no-text \"first\"\nsay Six", opt, nil)
	check(empty)
	empty.completed("sixth")
	empty.close()
	last := newDwelling(t, "say Seven", opt, nil)
	check(last, "sixth")
	last.close()
}
