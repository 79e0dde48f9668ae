package notes

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"adze/internal/agent/sidequery"
	"adze/internal/model"
	"adze/internal/model/messages"
	"adze/internal/model/tokens"
	"adze/internal/msg"
	"adze/internal/platform/text/texts"
)

// A writer is a model that answers with a text, and optionally a call, after a delay.
type writer struct {
	t     *testing.T
	text  string // sections; empty means no changes
	calls bool
	stop  model.StopReason
	takes time.Duration
	fails error

	mu       sync.Mutex
	requests []*model.Request
}

func (w *writer) Stream(ctx context.Context, req *model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		w.mu.Lock()
		w.requests = append(w.requests, req)
		w.mu.Unlock()
		body, err := new(messages.Encoder).Encode(req, nil)
		if err == nil {
			err = messages.Check(body)
		}
		if err != nil {
			w.t.Error(err)
		}
		select {
		case <-time.After(w.takes):
		case <-ctx.Done():
			yield(nil, ctx.Err())
			return
		}
		if w.fails != nil {
			yield(nil, w.fails)
			return
		}
		parts := []msg.Part{&msg.Text{Text: cmp.Or(w.text, "<notes></notes>")}}
		if w.calls {
			parts = append(parts, msg.NewToolUse("u", "Edit", "{}"))
		}
		for i, p := range parts {
			if !yield(model.BlockDone{Block: i, Part: p}, nil) {
				return
			}
		}
		yield(model.Stop{Reason: cmp.Or(w.stop, model.StopEnd)}, nil)
	}
}

const state = "_Open work, and what comes next._"

func newKeeper(t *testing.T, w *writer) (*Keeper, string) {
	path := filepath.Join(t.TempDir(), "session-memory", "notes.md")
	w.t = t
	k, err := New(Config{Asker: sidequery.Asker{Provider: w}, Path: func() string { return path }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(k.Close)
	return k, path
}

func moment(size int) Snapshot {
	return Snapshot{Tokens: size, Usable: 40_000, Room: 40_000 - size, Last: "e1", Said: sidequery.Conversation{Request: &model.Request{
		Model: "m", System: []msg.Part{&msg.Text{Text: "You are a test."}}, MaxTokens: 32_000,
		Tools:    []msg.ToolSpec{{Name: "Edit", Schema: json.RawMessage(`{"type":"object"}`)}, {Name: "Read", Schema: json.RawMessage(`{"type":"object"}`)}},
		Messages: []msg.Message{msg.UserText("hello")}, Cache: []model.Mark{{Place: model.InMessages}},
		Thinking: model.Thinking{Mode: model.ThinkingAdaptive}, Effort: model.EffortHigh,
	}}}
}

// Proves CTX-56.
func TestTemplates(t *testing.T) {
	for _, language := range []texts.Language{texts.English, texts.Chinese} {
		all := parse(template(language))
		if len(all) != 10 {
			t.Errorf("%s: %d sections", language, len(all))
		}
		for _, s := range all {
			if s.heading == "" || s.about == "" || s.content != "" {
				t.Errorf("%s: the section %+v", language, s)
			}
		}
	}
}

// TestUpdate checks that the model answers with sections, and that only their content gets into
// the page.
//
// Proves CTX-55, CTX-57.
func TestUpdate(t *testing.T) {
	const old = "Reading it."
	for _, tt := range []struct {
		name   string
		writer *writer
		want   string // expected in the page
		not    string
		err    string
	}{
		{"a section", &writer{text: "<notes>\n# Current state\nFixing it.\n</notes>"}, state + "\nFixing it.\n", old, ""},
		{"with its description", &writer{text: "<notes>\n# Current state\n" + state + "\nFixing it.\n</notes>"}, state + "\nFixing it.\n", old, ""},
		{"without tags", &writer{text: "# Current state\nFixing it."}, state + "\nFixing it.\n", old, ""},
		{"with words around the tags", &writer{text: "Here:\n<notes>\n# Current state\nFixing it.\n</notes>\nThat is all."}, state + "\nFixing it.\n", "That", ""},
		{"two sections", &writer{text: "<notes>\n# Worklog\n- One.\n- Two.\n\n# Current state\nFixing it.\n</notes>"}, "- One.\n- Two.\n", old, ""},
		{"other sections stay", &writer{text: "<notes>\n# Worklog\n- One.\n</notes>"}, state + "\n" + old + "\n", "", ""},
		{"a section emptied", &writer{text: "<notes>\n# Current state\n</notes>"}, state + "\n\n# Task", old, ""},
		{"nothing", &writer{}, state + "\n" + old + "\n", "", ""},
		{"a call", &writer{text: "<notes>\n# Worklog\n- One.\n</notes>", calls: true}, old, "- One", "calls tools"},
		{"cut off", &writer{text: "<notes>\n# Worklog\n- One.", stop: model.StopMaxTokens}, old, "- One", "cut off"},
		{"no end", &writer{text: "<notes>\n# Worklog\n- One."}, old, "- One", "form"},
		{"words alone", &writer{text: "I have no news."}, old, "no news", "form"},
		{"another heading", &writer{text: "<notes>\n# Current state\nFixing it.\n# More\nx\n</notes>"}, old, "# More", "form"},
		{"a heading twice", &writer{text: "<notes>\n# Worklog\n- One.\n# Worklog\n- Two.\n</notes>"}, old, "- One", "form"},
		{"a description changed", &writer{text: "<notes>\n# Current state\n_Else._\nFixing it.\n</notes>"}, old, "Else", "form"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := tt.writer
			k, path := newKeeper(t, w)
			before := strings.Replace(template(texts.English), state, state+"\n"+old, 1)
			if err := write(path, before); err != nil {
				t.Fatal(err)
			}
			m := moment(0)
			_, err := k.Update(t.Context(), m)
			if tt.err == "" && err != nil || tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) {
				t.Errorf("error %v, want %q", err, tt.err)
			}
			page, err := os.ReadFile(path)
			if err != nil || !strings.Contains(string(page), tt.want) || tt.not != "" && strings.Contains(string(page), tt.not) {
				t.Errorf("%v, the page is\n%s", err, page)
			}
			if !sameShape(string(page), template(texts.English)) || tt.err != "" && string(page) != before {
				t.Errorf("the page has become\n%s", page)
			}
			req, said := w.requests[0], m.Said.Request
			if !slices.EqualFunc(req.Tools, said.Tools, func(a, b msg.ToolSpec) bool { return a.Name == b.Name }) ||
				!slices.Equal(req.System, said.System) || req.Thinking != said.Thinking || req.Effort != said.Effort ||
				!slices.Equal(req.Cache, said.Cache) || req.Messages[0].Parts[0] != said.Messages[0].Parts[0] ||
				len(req.Messages) != 1 || req.Passing != 1 || !req.Background {
				t.Errorf("the request is %+v", req)
			}
			if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".*")); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

// Proves CTX-59.
func TestWhen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &writer{takes: time.Second}
		k, _ := newKeeper(t, w)
		for i, tt := range []struct {
			tokens, calls int
			ended         bool
			want          int // number of requests so far
		}{
			{9_999, 9, true, 0},
			{10_000, 0, false, 1},
			{13_999, 3, true, 1},
			{14_000, 0, false, 2}, // earlier calls count
			{18_000, 2, false, 2},
			{18_000, 0, true, 3},
			{22_000, 1, true, 3},
			{26_000, 2, false, 4},
			{8_000, 3, false, 4}, // compacted
			{12_000, 3, false, 5},
			{36_001, 3, false, 5}, // no room for the prompt
			{36_000, 3, false, 6},
		} {
			m := moment(tt.tokens)
			m.Calls, m.Ended = tt.calls, tt.ended
			k.See(m)
			m.Calls, m.Ended = 0, false
			k.See(m) // never two concurrently
			time.Sleep(2 * time.Second)
			synctest.Wait()
			if len(w.requests) != tt.want {
				t.Fatalf("step %d: %d updates, want %d", i, len(w.requests), tt.want)
			}
		}
		if _, err := k.Update(t.Context(), moment(41_000_000)); err != ErrTooLong || len(w.requests) != 6 {
			t.Errorf("a conversation that is far too long: %v", err) // D16
		}
		k.Close()
	})
}

// Proves CTX-37.
func TestSummary(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &writer{takes: 10 * time.Second}
		k, path := newKeeper(t, w)
		if text, _ := k.Summary(t.Context()); text != "" {
			t.Errorf("without notes: %s", text)
		}
		k.See(moment(10_000))
		if text, last := k.Summary(t.Context()); text != "" || last != "" {
			t.Errorf("of an empty page: %q up to %q", text, last)
		}
		w.text = "<notes>\n# Current state\nFixing it.\n</notes>"
		first := moment(14_000)
		first.Calls = 3
		k.See(first)
		if text, last := k.Summary(t.Context()); text != "# Current state\nFixing it." || last != "e1" {
			t.Errorf("after a wait: %q up to %s", text, last)
		}
		w.takes = time.Minute
		m := moment(20_000)
		m.Calls = 3
		k.See(m)
		began := time.Now()
		if text, _ := k.Summary(t.Context()); text != "" || time.Since(began) != 15*time.Second {
			t.Errorf("after %s: %q", time.Since(began), text)
		}
		k.Close()
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(path, 0o700); err != nil {
			t.Fatal(err)
		}
		if text, _ := k.Summary(t.Context()); text != "" {
			t.Errorf("of an unreadable file: %q", text)
		}
	})
}

// Proves CTX-58.
func TestLimits(t *testing.T) {
	line := strings.Repeat("word ", 79) + "end\n"
	page := strings.Replace(template(texts.English), state, state+"\n"+strings.Repeat(line, 200), 1)
	g := tokens.New("m")
	got := reminders(texts.English, page, g)
	if !strings.Contains(got, `The section "Current state" has about`) || !strings.Contains(got, "The notes have about") || strings.Count(got, "\n") != 1 {
		t.Errorf("the reminders are %s", got)
	}
	if reminders(texts.English, template(texts.English), g) != "" {
		t.Error("an empty page is too long")
	}
	short := summary(texts.English, page, g)
	if n := g.Text(short); !strings.HasSuffix(short, "end\n[cut off here]") || n > 2050 || n < 1800 {
		t.Errorf("%d tokens, which end in %q", g.Text(short), short[len(short)-40:])
	}
	if one := parse("no headings\nat all"); len(one) != 1 || summary(texts.English, "no headings\nat all", g) != "no headings\nat all" {
		t.Errorf("a page without headings is %+v", one)
	}
}

// Proves CTX-55.
func TestCustomTexts(t *testing.T) {
	w := &writer{t: t}
	path := filepath.Join(t.TempDir(), "notes.md")
	cfg := Config{Asker: sidequery.Asker{Provider: w}, Path: func() string { return path }, Template: "no heading", Prompt: "Note it."}
	k, err := New(cfg)
	if err != ErrTemplate || k.template != template(texts.English) {
		t.Errorf("a template without headings: %v", err)
	}
	k.Close()
	cfg.Template = "# Mine\n_What is mine._\n"
	if k, err = New(cfg); err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	page, err := k.Update(t.Context(), moment(0))
	if err != nil || page != cfg.Template {
		t.Errorf("%q, %v", page, err)
	}
	if got := fmt.Sprint(msg.PlainText(w.requests[0].Messages[0].Parts)); !strings.Contains(got, "Note it.") || !strings.Contains(got, "# Mine") {
		t.Errorf("requested with %s", got)
	}
}

func TestCatalogue(t *testing.T) {
	for _, problem := range catalogue.Check() {
		t.Error(problem)
	}
}
