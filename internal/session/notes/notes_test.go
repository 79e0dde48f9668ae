package notes

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"adze/internal/agent/aside"
	"adze/internal/model"
	"adze/internal/model/messages"
	"adze/internal/model/tokens"
	"adze/internal/msg"
	"adze/internal/platform/texts"
)

// A writer answers with the given uses, after a while.
type writer struct {
	t     *testing.T
	uses  []*msg.ToolUse
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
		for i, u := range w.uses {
			if !yield(model.BlockDone{Block: i, Part: u}, nil) {
				return
			}
		}
		yield(model.Stop{Reason: model.StopTools}, nil)
	}
}

func edit(name, path, old, text string) *msg.ToolUse {
	input, _ := json.Marshal(map[string]string{"file_path": path, "old_string": old, "new_string": text}) // ok: strings
	return &msg.ToolUse{ID: "u", Name: name, Input: input}
}

const state = "_Open work, and what comes next._"

func newKeeper(t *testing.T, w *writer) (*Keeper, string) {
	path := filepath.Join(t.TempDir(), "session-memory", "notes.md")
	w.t = t
	k, err := New(Config{Asker: aside.Asker{Provider: w}, Path: func() string { return path }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(k.Close)
	return k, path
}

func moment(size int) Moment {
	return Moment{
		Model: "m", Tokens: size, Edit: msg.ToolSpec{Name: "Edit", Schema: json.RawMessage(`{"type":"object"}`)},
		Messages: func() []msg.Message { return []msg.Message{msg.UserText("hello")} }, Last: "e1",
	}
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

// Proves CTX-55, CTX-57.
func TestUpdate(t *testing.T) {
	for _, tt := range []struct {
		name string
		uses func(path string) []*msg.ToolUse
		want string // in the page
		not  string
		err  string
	}{
		{"an edit", func(p string) []*msg.ToolUse { return []*msg.ToolUse{edit("Edit", p, state, state+"\nFixing it.")} }, "Fixing it.", "", ""},
		{"two edits", func(p string) []*msg.ToolUse {
			return []*msg.ToolUse{edit("Edit", p, state, state+"\nOne."), edit("Edit", p, "# Worklog", "# Worklog"), edit("Edit", p, "One.", "Two.")}
		}, "Two.", "One.", ""},
		{"nothing", func(string) []*msg.ToolUse { return nil }, "# Title", "", ""},
		{"another tool", func(p string) []*msg.ToolUse { return []*msg.ToolUse{edit("Write", p, state, "x")} }, state, "", ""},
		{"another file", func(p string) []*msg.ToolUse { return []*msg.ToolUse{edit("Edit", p+"x", state, "x")} }, state, "", ""},
		{"text that is not there", func(p string) []*msg.ToolUse { return []*msg.ToolUse{edit("Edit", p, "nowhere", "x")} }, state, "", ""},
		{"text that is there twice", func(p string) []*msg.ToolUse { return []*msg.ToolUse{edit("Edit", p, "# ", "x")} }, state, "", ""},
		{"a heading removed", func(p string) []*msg.ToolUse { return []*msg.ToolUse{edit("Edit", p, "# Title", "")} }, "# Title", "", "form"},
		{"a heading added", func(p string) []*msg.ToolUse { return []*msg.ToolUse{edit("Edit", p, state, state+"\n# More\n")} }, state, "# More", "form"},
		{"a description changed", func(p string) []*msg.ToolUse { return []*msg.ToolUse{edit("Edit", p, state, "_Else._")} }, state, "Else", "form"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := &writer{}
			k, path := newKeeper(t, w)
			if err := write(path, template(texts.English)); err != nil {
				t.Fatal(err)
			}
			w.uses = tt.uses(path)
			_, err := k.Update(t.Context(), moment(0))
			if tt.err == "" && err != nil || tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) {
				t.Errorf("error %v, want %q", err, tt.err)
			}
			page, err := os.ReadFile(path)
			if err != nil || !strings.Contains(string(page), tt.want) || tt.not != "" && strings.Contains(string(page), tt.not) {
				t.Errorf("%v, the page is\n%s", err, page)
			}
			if req := w.requests[0]; len(req.Tools) != 1 || req.Tools[0].Name != "Edit" || !req.Background {
				t.Errorf("the request offers %v", req.Tools)
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
			want          int // requests so far
		}{
			{9_999, 9, true, 0},
			{10_000, 0, false, 1},
			{14_999, 3, true, 1},
			{15_000, 0, false, 2}, // the calls before count, too
			{20_000, 2, false, 2},
			{20_000, 0, true, 3},
			{26_000, 1, true, 3},
			{30_000, 2, false, 4},
			{8_000, 3, false, 4}, // compacted
			{13_000, 3, false, 5},
		} {
			m := moment(tt.tokens)
			m.Calls, m.Ended = tt.calls, tt.ended
			k.See(m)
			m.Calls, m.Ended = 0, false
			k.See(m) // never two at once
			time.Sleep(2 * time.Second)
			synctest.Wait()
			if len(w.requests) != tt.want {
				t.Fatalf("step %d: %d updates, want %d", i, len(w.requests), tt.want)
			}
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
		w.uses = []*msg.ToolUse{edit("Edit", path, state, state+"\nFixing it.")}
		k.See(moment(10_000))
		if text, last := k.Summary(t.Context()); text != "# Current state\nFixing it." || last != "e1" {
			t.Errorf("after a wait: %q up to %s", text, last)
		}
		w.takes = time.Minute
		m := moment(20_000)
		m.Calls = 3
		k.See(m)
		began := time.Now()
		if text, _ := k.Summary(t.Context()); text != "" || time.Since(began) != wait {
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
	if !strings.HasSuffix(short, "end\n[cut off here]") || g.Text(short) > maxSection+50 {
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
	cfg := Config{Asker: aside.Asker{Provider: w}, Path: func() string { return path }, Template: "no heading", Prompt: "Note it."}
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
		t.Errorf("it was asked for with %s", got)
	}
}

func TestCatalogue(t *testing.T) {
	for _, problem := range catalogue.Check() {
		t.Error(problem)
	}
}
