package session_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"adze/internal/agent"
	"adze/internal/model/tokens"
	"adze/internal/session"
)

// sized returns a text estimated at slightly less than n tokens.
func sized(n int) string {
	const word = "some word "
	return strings.Repeat(word, n*1000/tokens.New("small").Text(strings.Repeat(word, 1000)))
}

// fixed is the approximate size of these tests' requests without the prompts, in tokens.
const fixed = 90

// warnings returns the texts of warning notices.
func warnings(events []agent.Event) (texts []string) {
	for _, e := range events {
		if n, ok := e.(agent.Notice); ok && n.Warning {
			texts = append(texts, n.Text)
		}
	}
	return texts
}

// TestThresholds checks the thresholds for a usable window of 18,000 tokens: a warning from
// 13,500, compaction from 15,300, and, without compaction, no requests from 15,000.
//
// Proves CTX-30.
func TestThresholds(t *testing.T) {
	type outcome struct {
		Warned, Compacted bool
		Reason            agent.Reason
	}
	off := func(c *session.Config) { c.Window.Off = true }
	for _, tt := range []struct {
		name   string
		size   int
		change func(*session.Config)
		want   outcome
	}{
		{"below the warning", 13_400, nil, outcome{Reason: agent.Completed}},
		{"above the warning", 13_600, nil, outcome{Warned: true, Reason: agent.Completed}},
		{"below the threshold", 15_200, nil, outcome{Warned: true, Reason: agent.Completed}},
		{"above the threshold", 15_400, nil, outcome{Compacted: true, Reason: agent.Completed}},
		{"off, below the limit", 14_900, off, outcome{Warned: true, Reason: agent.Completed}},
		{"off, above the limit", 15_100, off, outcome{Warned: true, Reason: agent.BlockingLimit}},
		{"reactive only", 15_400, func(c *session.Config) { c.Window.Reactive = true }, outcome{Warned: true, Reason: agent.Completed}},
		{"another percentage, below", 8_900, func(c *session.Config) { c.Window.Percent = 50 }, outcome{Reason: agent.Completed}},
		{"another percentage, above", 9_100, func(c *session.Config) { c.Window.Percent = 50 }, outcome{Compacted: true, Reason: agent.Completed}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			script := "when text \"Summarise this conversation\"\nforever\nsay <summary>It was short.</summary>\n---\nforever\nsay Yes.\nusage none"
			d := newDwelling(t, script, place(t), tt.change)
			events := d.completed("first " + sized(tt.size-4000-fixed))
			events = append(events, d.prompt("second "+sized(4000))...)
			got := outcome{Warned: len(warnings(events)) > 0, Compacted: compactions(events) > 0, Reason: reason(events)}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			d.close()
		})
	}
}

// Proves CTX-30.
func TestWarnedOncePerCrossing(t *testing.T) {
	script := "when text \"Summarise this conversation\"\nforever\nsay <summary>It was short.</summary>\n---\nforever\nsay Yes.\nusage none"
	d := newDwelling(t, script, place(t), nil)
	for round := range 2 {
		var events []agent.Event
		for i := range 4 {
			events = append(events, d.completed(fmt.Sprintf("prompt %d %s", i, sized([]int{11_000 - 2_000*round, 400, 2000, 300}[i])))...)
		}
		got := warnings(events)
		const want = "of the 18000 tokens that small can take in. It will be summarised when it has 15300; /compact does it now."
		if len(got) != 1 || !strings.Contains(got[0], want) || compactions(events) > 0 {
			t.Errorf("round %d: warnings %q", round, got)
		}
		d.submit(session.Compact{Focus: "nothing"})
		d.idle()
	}
	d.close()
}

// TestReactiveOnly checks that compaction starts only after the provider rejects a request as
// too long.
//
// Proves CTX-32.
func TestReactiveOnly(t *testing.T) {
	script := `
when text "Summarise this conversation"
say <summary>It was short.</summary>
---
repeat 2
say Yes.
usage none
---
error too_long
---
expect text "It was short."
say Then so.
`
	d := newDwelling(t, script, place(t), func(c *session.Config) { c.Window.Reactive = true })
	d.completed("first " + sized(14_000))
	if events := d.completed("second " + sized(1500)); compactions(events) != 0 {
		t.Error("summed up before anybody asked for it")
	}
	if events := d.completed("third " + sized(2000)); compactions(events) != 1 {
		t.Error("not summed up when it was too long")
	}
	d.close()
	d.played()
}

// TestBadSummaries checks that the turn completes and keeps the user's prompt even if the
// summary is unusable.
//
// Proves CTX-42, CTX-48.
func TestBadSummaries(t *testing.T) {
	for name, answer := range map[string]string{
		"empty":                    "say <summary></summary>",
		"nothing but a draft":      "say <analysis>I think.</analysis>",
		"cut off":                  "say <summary>It was\nstop max_tokens",
		"longer than the original": "say <summary>" + sized(16_000) + "</summary>",
		"a call":                   "use Big {\"n\":1}",
		"refused":                  "say I will not.\nstop refusal",
		"broken":                   "say <summary>It\ncut",
	} {
		t.Run(name, func(t *testing.T) {
			script := "when text \"Summarise this conversation\"\nforever\n" + answer + "\n---\nforever\nsay Yes.\nusage none"
			d := newDwelling(t, script, place(t), nil)
			d.completed("alpha " + sized(13_000))
			before := d.Conversation()
			d.submit(session.Compact{})
			d.idle()
			if diff := cmp.Diff(before, d.Conversation()); diff != "" {
				t.Errorf("the conversation changed (-before +after):\n%.1000s", diff)
			}
			d.completed("beta " + sized(2400)) // needs shortening, or fits without a summary
			d.completed("gamma " + sized(2400))
			last := d.asked(0)
			for _, said := range []string{"beta some word", "gamma some word"} {
				if !bytes.Contains(last, []byte(said)) {
					t.Errorf("%s is not in the last request", said)
				}
			}
			d.close()
		})
	}
}

// TestTooLongForEverything checks that a provider that rejects everything ends the turn with
// advice, and that the user can continue with another.
//
// Proves CTX-47, LOOP-25.
func TestTooLongForEverything(t *testing.T) {
	script := "repeat 3\nsay Yes.\n---\nwhen model small\nforever\nerror too_long\n---\nwhen model wide\nexpect text \"delta\"\nexpect text \"alpha\"\nsay Here I am."
	d := newDwelling(t, script, place(t), nil)
	for _, word := range []string{"alpha", "beta", "gamma"} {
		d.completed(word + " " + sized(1000))
	}
	events := d.prompt("delta")
	if got := reason(events); got != agent.PromptTooLong {
		t.Fatalf("the turn ended with %q", got)
	}
	at := slices.IndexFunc(events, func(e agent.Event) bool { _, ok := e.(agent.Failed); return ok })
	if at < 0 || !strings.Contains(events[at].(agent.Failed).Err.Error(), "tokens of system prompt") {
		t.Errorf("no advice in %v", events)
	}
	d.submit(session.SetModel{Name: "wide"})
	d.completed("epsilon")
	d.close()
	d.played()
}
