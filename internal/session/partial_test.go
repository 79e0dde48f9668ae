package session_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"adze/internal/agent"
	"adze/internal/session"
	"adze/internal/session/store"
)

// blocks returns the content blocks of a request as they are on the wire.
func (d *dwelling) blocks() []string {
	d.t.Helper()
	var list []struct {
		Role    string
		Content []json.RawMessage
	}
	if err := json.NewDecoder(strings.NewReader(string(d.asked(0)))).Decode(&list); err != nil {
		d.t.Fatal(err)
	}
	var all []string
	for _, m := range list {
		for _, b := range m.Content {
			all = append(all, m.Role+" "+string(b))
		}
	}
	return all
}

// TestCompactOneSide checks that a compaction at any message summarizes one part and keeps the
// other byte for byte, including after a resume.
//
// Proves CTX-45, CTX-50.
func TestCompactOneSide(t *testing.T) {
	const turns = 4
	var script []string
	for i := range turns {
		script = append(script, fmt.Sprintf("think sig=unbound Let me see.\nuse Big {\"n\":%d}\n---\nsay Answer %d.", 300+i, i))
	}
	const sum = "\n---\nexpect text \"Summarise this conversation\"\nsay <summary>One side of it.</summary>\n---\nsay More."
	for n := 1; n <= turns; n++ {
		for _, from := range []bool{false, true} {
			name := fmt.Sprintf("up to %d from the end", n)
			if from {
				name = fmt.Sprintf("from %d from the end on", n)
			}
			t.Run(name, func(t *testing.T) {
				if n == turns && !from {
					nothingBefore(t)
					return
				}
				opt := place(t)
				d := newDwelling(t, strings.Join(script, "\n---\n")+sum, opt, nil)
				for i := range turns {
					d.completed(fmt.Sprintf("prompt %d", i))
				}
				before := append(d.blocks(), `assistant {"type":"text","text":"Answer 3."}`)
				if got := len(d.Turns()); got != turns {
					t.Fatalf("%d turns", got)
				}
				id := d.Turns()[n-1].ID
				at := slices.IndexFunc(before, func(b string) bool { return strings.Contains(b, fmt.Sprintf(`"prompt %d"`, turns-n)) })
				op := session.Compact{UpTo: id}
				kept := before[at:]
				if from {
					op = session.Compact{From: id}
					kept = before[:at]
				}
				d.submit(op)
				d.idle()
				d.completed("more")
				after := d.blocks()
				summary := slices.IndexFunc(after, func(b string) bool { return strings.Contains(b, "One side of it.") })
				var got []string
				switch {
				case summary < 0:
					t.Fatalf("no summary in\n%s", strings.Join(after, "\n"))
				case from:
					got = after[:summary]
				default:
					got = after[summary+1 : min(len(after), summary+1+len(kept))]
				}
				if diff := cmp.Diff(kept, got); diff != "" {
					t.Errorf("the side that stays (-before +after):\n%.3000s", diff)
				}
				want, conversation := d.asked(0), d.Conversation()
				d.close()
				d.played()

				c, err := store.Load(d.log.Path(), store.LoadOptions{})
				if err != nil || c.Boundary == nil || c.Boundary.Behind != from || c.Boundary.Trigger != "manual" {
					t.Fatalf("%v, the boundary is %+v", err, c.Boundary)
				}
				again := newDwelling(t, "say Still.", opt, nil)
				if diff := cmp.Diff(conversation, again.Conversation(), cmp.Comparer(func(a, b time.Time) bool { return a.Sub(b).Abs() < time.Second })); diff != "" {
					t.Errorf("resumed state (-before +after):\n%.3000s", diff)
				}
				again.completed("still")
				if start := strings.TrimSuffix(string(want), "]}"); !strings.HasPrefix(string(again.asked(0)), start) {
					t.Error("the request after resuming does not go on where the last one was")
				}
				again.close()
			})
		}
	}
}

// nothingBefore checks that compacting an empty part does nothing.
func nothingBefore(t *testing.T) {
	d := newDwelling(t, "say One\n---\nsay Two", place(t), nil)
	d.completed("first")
	before := d.Conversation()
	for _, op := range []session.Compact{{UpTo: before[0].ID}, {UpTo: "nobody"}, {From: "x", UpTo: "y"}} {
		d.submit(op)
	}
	d.idle()
	if got := notices(d.all()); !slices.Equal(got, []string{"There is nothing to compact yet."}) {
		t.Errorf("notices %q", got)
	}
	failed := 0
	for _, ev := range d.all() {
		if _, ok := ev.(agent.Failed); ok {
			failed++
		}
	}
	if diff := cmp.Diff(before, d.Conversation()); diff != "" || failed != 2 {
		t.Errorf("%d failures; the conversation (-before +after):\n%s", failed, diff)
	}
	d.completed("second")
	d.close()
	d.played()
}
