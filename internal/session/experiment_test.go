package session_test

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"

	"adze/internal/agent/collapse"
	"adze/internal/agent/sidequery"
	"adze/internal/agent/snip"
	"adze/internal/session"
	"adze/internal/session/store"
	"adze/internal/session/window"
	"adze/internal/tool"
)

const foldOrder = "when text \"Summarise this part of a conversation\"\n"

// extends reports whether request a starts with everything that b sent.
func extends(a, b []byte) bool {
	_, a, _ = bytes.Cut(a, []byte(`"messages":`))
	_, b, _ = bytes.Cut(b, []byte(`"messages":`))
	return bytes.HasPrefix(b, bytes.TrimSuffix(a, []byte("]}")))
}

// mainRequests returns all requests except summaries.
func (d *dwelling) mainRequests() (requests [][]byte) {
	for _, r := range d.player.Requests() {
		if !bytes.Contains(r, []byte("Summarise this")) {
			requests = append(requests, r)
		}
	}
	return requests
}

// TestDrain checks that folds staged in the background are committed when the provider rejects
// the conversation as too long, and that the whole conversation is summarized if it still is.
//
// Proves CTX-52, LOOP-24.
func TestDrain(t *testing.T) {
	for name, tt := range map[string]struct {
		script string
		want   int // number of compactions
	}{
		"it is enough":     {"expect text \"<conversation-fold>\"\nexpect text \"We looked around.\"\nsay Done.", 0},
		"it is not enough": {"expect text \"<conversation-fold>\"\nerror too_long\n---\nexpect text \"All of it.\"\nexpect no-text \"<conversation-fold>\"\nsay Done.", 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				script := foldOrder + "say We looked around.\n---\nwhen text \"Summarise this conversation\"\nforever\nsay <summary>All of it.</summary>\n---\n" +
					"repeat 12\nexpect no-text \"<conversation-fold>\"\ndelay 1s\nuse Big {\"n\":700}\nusage none\n---\nerror too_long\n---\n" + tt.script
				opt := place(t)
				d := newDwelling(t, script, opt, func(c *session.Config) {
					c.Window.Steps = []window.Step{window.Fold(collapse.New(collapse.Config{Asker: sidequery.Asker{Provider: c.Provider}}))}
				})
				events := d.completed("look around")
				if n := compactions(events); n != tt.want {
					t.Errorf("%d compactions", n)
				}
				requests := d.mainRequests()
				for i := 1; i < 13; i++ {
					if !extends(requests[i-1], requests[i]) {
						t.Errorf("request %d does not begin with the one before: staging changed it", i+1)
					}
				}
				if len(requests[13]) > len(requests[12])*3/4 {
					t.Errorf("%d bytes were drained to %d", len(requests[12]), len(requests[13]))
				}
				d.close()
				c, err := store.Load(d.log.Path(), store.LoadOptions{})
				if err != nil {
					t.Fatal(err)
				}
				var kept struct{ Folds []collapse.Fold }
				if err := json.Unmarshal(c.State.Last[window.FoldedKind], &kept); err != nil || (len(kept.Folds) == 0) != (tt.want > 0) {
					t.Errorf("%v, kept %+v", err, kept)
				}
			})
		})
	}
}

// TestFoldInsteadOfASummary checks that prepared folds are used before the whole conversation
// is summarized.
//
// Proves CTX-52.
func TestFoldInsteadOfASummary(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		script := foldOrder + "forever\nsay We looked around.\n---\nrepeat 25\ndelay 1s\nuse Big {\"n\":700}\nusage none\n---\nexpect text \"<conversation-fold>\"\nsay Done."
		d := newDwelling(t, script, place(t), func(c *session.Config) {
			c.Window.Steps = []window.Step{window.Fold(collapse.New(collapse.Config{Asker: sidequery.Asker{Provider: c.Provider}}))}
		})
		if n := compactions(d.completed("look around")); n != 0 {
			t.Errorf("%d compactions", n)
		}
		d.close()
		d.played()
	})
}

func snipTool(s *snip.Snipper) tool.Tool {
	type input struct {
		Steps []int `json:"steps"`
	}
	def := tool.Def{Name: "Snip", Doc: "Snip", Schema: json.RawMessage(`{"type":"object","properties":{"steps":{"type":"array","items":{"type":"integer"}}},"additionalProperties":false}`)}
	return tool.New(def, func(_ context.Context, in input, _ func(tool.Progress)) (tool.Result, error) {
		return tool.Text("marked"), s.Mark(in.Steps...)
	})
}

// TestSnip checks that the model can cut stale messages, and that a resumed session sends the
// same request. Without the tool nothing is numbered.
//
// Proves CTX-51.
func TestSnip(t *testing.T) {
	opt := place(t)
	on := func(c *session.Config) {
		s := new(snip.Snipper)
		c.Window.Steps = append([]window.Step{window.Snip(s, "Snip")}, c.Window.Steps...)
		c.Tools.Registry = tool.NewRegistry(big(), snipTool(s))
		c.Models.Main = "wide"
	}
	calls := strings.Repeat("use Big {\"n\":2000}\n---\n", 6)
	d := newDwelling(t, calls+"expect text \"[step 6]\"\nuse Snip {\"steps\":[1,2,3]}\n---\nexpect text \""+snip.Gone[1:20]+"\"\nexpect no-text \"[step 1]\"\nsay Cut.\n---\nuse Snip {\"steps\":[4]}\n---\nexpect text \"[step 4]\"\nsay Marked.\n---\nexpect no-text \"[step 4]\"\nsay Forced.", opt, on)
	d.completed("look around")
	requests := d.player.Requests()
	if last := requests[len(requests)-1]; len(last) > len(requests[len(requests)-2])*2/3 && !bytes.Contains(last, []byte(snip.Gone)) {
		t.Error("nothing was cut out")
	}
	d.submit(session.Snip{})
	d.completed("and one more")
	d.submit(session.Snip{})
	d.idle()
	d.completed("again")
	got := strings.Join(notices(d.all()), "\n")
	if !strings.Contains(got, "The model has named nothing") || !strings.Contains(got, "1 step will be omitted") {
		t.Errorf("unexpected notices %s", got)
	}
	want := d.player.Requests()[len(d.player.Requests())-1]
	d.close()
	d.played()

	again := newDwelling(t, "say Still.\n", opt, on)
	again.completed("more")
	if !extends(want, again.player.Requests()[0]) {
		t.Error("the request after resuming does not go on where the last one was")
	}
	again.close()

	off := newDwelling(t, "use Big {\"n\":1}\n---\nexpect no-text \"[step\"\nsay Fine.", place(t), func(c *session.Config) {
		c.Window.Steps = append(c.Window.Steps, window.Snip(new(snip.Snipper), "Snip")) // the step without the tool
	})
	off.completed("look around")
	off.close()
	off.played()
}
