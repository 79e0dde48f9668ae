package workflow

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"adze/internal/tool/schema/draft"
)

const review = `
description: Review a change
inputs: [change]
steps:
  - name: find
    agent: Explore
    prompt: "List the files of {{inputs.change}}."
    schema:
      type: object
      properties: {files: {type: array, items: {type: string}}, risky: {type: boolean}}
      required: [files, risky]
    retries: 1
  - name: look
    when: {value: steps.find.output.risky, equals: "true"}
    parallel:
      - {name: security, prompt: "Look for holes in {{steps.find.output.files.0}}.", worktree: true}
      - {name: speed, prompt: "Look for waste in {{ steps.find.output.files }}.", model: small}
  - name: praise
    prompt: Say that it is fine.
    when: {value: steps.security.output, exists: false}
  - name: sum
    prompt: "{{steps.security.output}} / {{steps.speed.output}} / {{steps.praise.output}}"
`

// A fakeAgents simulates agents: it answers with the answer function and records its calls.
type fakeAgents struct {
	mu     sync.Mutex
	calls  []Call
	answer func(n int, c Call) (Result, error)
}

func (c *fakeAgents) Run(_ context.Context, call Call) (Result, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls = append(c.calls, call)
	return c.answer(len(c.calls), call)
}

// asked returns the prompts by step.
func (c *fakeAgents) asked() map[string]string {
	all := map[string]string{}
	for _, call := range c.calls {
		all[call.Step] = call.Prompt
	}
	return all
}

func parse(t testing.TB, text string) *Workflow {
	t.Helper()
	w, err := Parse("test", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func newRun(t testing.TB, w *Workflow, path string, c *fakeAgents) *Run {
	t.Helper()
	inputs := map[string]string{"change": "{{inputs.change}} $(rm)"}
	j, err := OpenJournal(path, w, inputs)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	return &Run{Workflow: w, Inputs: inputs, Runner: c, Journal: j}
}

// answers simulates the agents of the review.
func answers(risky bool) func(int, Call) (Result, error) {
	return func(_ int, c Call) (Result, error) {
		if c.Step == "find" {
			return Result{Value: json.RawMessage(fmt.Sprintf(`{"files":["a.go {{steps.find.output}}","b.go"],"risky":%v}`, risky))}, nil
		}
		return Result{Text: "did " + c.Step}, nil
	}
}

// TestRun checks that steps get earlier results as data, run concurrently or are skipped, and
// that the last output is the run's result.
//
// Proves X-130.
func TestRun(t *testing.T) {
	w := parse(t, review)
	c := &fakeAgents{answer: answers(true)}
	var mu sync.Mutex
	states := map[string]State{}
	r := newRun(t, w, filepath.Join(t.TempDir(), "journal"), c)
	r.Report = func(p Progress) { mu.Lock(); defer mu.Unlock(); states[p.Step] = p.State }
	result, err := r.Do(t.Context())
	if err != nil || result.Text != "did sum" {
		t.Fatalf("%+v, %v", result, err)
	}
	want := map[string]string{
		"find":     "List the files of {{inputs.change}} $(rm).",
		"security": "Look for holes in a.go {{steps.find.output}}.",
		"speed":    `Look for waste in ["a.go {{steps.find.output}}","b.go"].`,
		"sum":      "did security / did speed / ",
	}
	if diff := cmp.Diff(want, c.asked()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]State{"find": Done, "security": Done, "speed": Done, "praise": Skipped, "sum": Done}, states); diff != "" {
		t.Error(diff)
	}

	c = &fakeAgents{answer: answers(false)}
	if _, err := newRun(t, w, filepath.Join(t.TempDir(), "journal"), c).Do(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := c.asked(); got["security"] != "" || got["sum"] != " /  / did praise" {
		t.Errorf("%v", got)
	}
}

// TestRetries checks that an output that does not match is requested again, as often as the
// step allows, and that schemas are compiled by the caller's cache.
//
// Proves X-130.
func TestRetries(t *testing.T) {
	w := parse(t, review)
	compiled := 0
	for name, tt := range map[string]struct {
		answer func(n int, c Call) (Result, error)
		want   string
	}{
		"second try": {func(n int, c Call) (Result, error) {
			if n == 1 {
				return Result{Value: json.RawMessage(`{"files":"a.go"}`)}, nil
			}
			return answers(false)(n, c)
		}, ""},
		"never fits": {func(int, Call) (Result, error) { return Result{Text: "no value"}, nil }, "no value for the schema"},
		"fails":      {func(int, Call) (Result, error) { return Result{}, errors.New("out of order") }, `step "find": out of order`},
	} {
		c := &fakeAgents{answer: tt.answer}
		r := newRun(t, w, filepath.Join(t.TempDir(), "journal"), c)
		r.Compile = func(s json.RawMessage) (*draft.Schema, error) { compiled++; return draft.Compile(s) }
		_, err := r.Do(t.Context())
		if (err == nil) != (tt.want == "") || err != nil && (!strings.Contains(err.Error(), tt.want) || len(c.calls) != 2) {
			t.Errorf("%s: %v after %d calls", name, err, len(c.calls))
		}
	}
	if compiled == 0 {
		t.Error("the cache was not used")
	}
}

// Proves X-130.
func TestLimitOfCalls(t *testing.T) {
	var b strings.Builder
	b.WriteString("steps:\n")
	for i := range 30 {
		fmt.Fprintf(&b, "  - {name: s%d, prompt: go, retries: 3, schema: {type: object}}\n", i)
	}
	c := &fakeAgents{answer: func(n int, _ Call) (Result, error) {
		if n%4 != 0 {
			return Result{}, errors.New("again")
		}
		return Result{Value: json.RawMessage(`{}`)}, nil
	}}
	_, err := newRun(t, parse(t, b.String()), filepath.Join(t.TempDir(), "journal"), c).Do(t.Context())
	if err == nil || !strings.Contains(err.Error(), "which is the limit") || len(c.calls) != MaxCalls {
		t.Errorf("%v after %d calls", err, len(c.calls))
	}
}

// TestJournalCutAnywhere checks that a run continues from a journal truncated anywhere: no
// recorded step is repeated, and the outcome is the same.
//
// Proves X-130.
func TestJournalCutAnywhere(t *testing.T) {
	w := parse(t, review)
	path := filepath.Join(t.TempDir(), "journal")
	if _, err := newRun(t, w, path, &fakeAgents{answer: answers(true)}).Do(t.Context()); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for cut := range len(whole) + 1 {
		if err := os.WriteFile(path, whole[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		var done []string
		for line := range bytes.Lines(whole[:bytes.LastIndexByte(whole[:cut], '\n')+1]) {
			var e entry
			if err := json.Unmarshal(line, &e); err != nil {
				t.Fatal(err)
			}
			done = append(done, e.Step)
		}
		c := &fakeAgents{answer: answers(true)}
		r := newRun(t, w, path, c)
		result, err := r.Do(t.Context())
		if err != nil || result.Text != "did sum" {
			t.Fatalf("cut at %d: %+v, %v", cut, result, err)
		}
		for _, call := range c.calls {
			if slices.Contains(done, call.Step) {
				t.Errorf("cut at %d: %s was repeated", cut, call.Step)
			}
		}
		if err := r.Journal.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(path, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenJournal(path, w, map[string]string{"change": "another"}); err == nil {
		t.Error("the journal of another run was taken")
	}
	notes := []byte("my notes\nof today\n")
	if err := os.WriteFile(path, notes, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenJournal(path, w, nil); err == nil {
		t.Error("a file that is not a journal was accepted")
	}
	if kept, err := os.ReadFile(path); err != nil || !bytes.Equal(kept, notes) {
		t.Errorf("%q, %v", kept, err)
	}
}

// TestCancelled checks that a canceled run keeps its finished steps.
//
// Proves X-130.
func TestCancelled(t *testing.T) {
	w := parse(t, review)
	path := filepath.Join(t.TempDir(), "journal")
	ctx, cancel := context.WithCancel(t.Context())
	c := &fakeAgents{answer: func(n int, c Call) (Result, error) {
		if c.Step == "sum" {
			cancel()
			return Result{}, ctx.Err()
		}
		return answers(true)(n, c)
	}}
	if _, err := newRun(t, w, path, c).Do(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	c = &fakeAgents{answer: answers(true)}
	if _, err := newRun(t, w, path, c).Do(t.Context()); err != nil || len(c.calls) != 1 {
		t.Errorf("%v, %+v", err, c.calls)
	}
}

// Proves X-130.
func TestBadWorkflows(t *testing.T) {
	for text, want := range map[string]string{
		"description: x":                                      "steps is empty",
		"steps: go":                                           "steps is empty",
		"steps: [{name: a, prompt: x}]\nrun: rm":              `unknown field "run"`,
		"steps: [{name: a, prompt: x, command: rm}]":          `unknown field "command"`,
		"steps: [{name: a}]":                                  "no prompt",
		"steps: [{name: ../a, prompt: x}]":                    "its name",
		"steps: [{name: a, prompt: x}, {name: a, prompt: x}]": "the same name",
		"steps: [{name: a, prompt: '{{steps.b.output}}'}, {name: b, prompt: x}]":                        "no step of that name runs before",
		"steps: [{name: a, prompt: '{{steps.a.output}}'}]":                                              "no step of that name runs before",
		"steps: [{name: a, prompt: '{{inputs.x}}'}]":                                                    "no such input",
		"steps: [{name: a, prompt: '{{env.HOME}}'}]":                                                    "write inputs.NAME",
		"steps: [{name: a, prompt: x, retries: 99}]":                                                    "from 0 to 5",
		"steps: [{name: a, prompt: x, worktree: perhaps}]":                                              "true or false",
		"steps: [{name: a, prompt: x, schema: {type: 7}}]":                                              "its schema",
		"steps: [{name: a, prompt: x, when: {value: inputs.x, exists: true}}]":                          "no such input",
		"steps: [{name: a, prompt: x, when: {value: inputs.x}}]":                                        "equals, contains or exists",
		"steps: [{name: a, parallel: [{name: b, parallel: [{name: c, prompt: x}]}]}]":                   "another group",
		"steps: [{name: g, parallel: [{name: a, prompt: x}, {name: b, prompt: '{{steps.a.output}}'}]}]": "no step of that name runs before",
		`{"steps":[{"name":"a","prompt":"x","agent":1,"x":2}]}`:                                         `unknown field "x"`,
		strings.Repeat("#", maxFile+1):                                                                  "at most",
	} {
		if _, err := Parse("test", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.80s: %v", text, err)
		}
	}
	if _, err := Parse("a b", []byte(`{"steps":[{"name":"a","prompt":"x"}]}`)); err == nil {
		t.Error("a name with a space was taken")
	}
}

// FuzzParse checks that any file is either refused or runnable: every prompt can be expanded.
func FuzzParse(f *testing.F) {
	f.Add(review)
	f.Add(`{"steps":[{"name":"a","prompt":"{{inputs.x}}"}],"inputs":["x"]}`)
	f.Add("steps: [{name: a, prompt: x, when: {value: steps.b.output, equals: 1}}]")
	f.Fuzz(func(t *testing.T, text string) {
		w, err := Parse("test", []byte(text))
		if err != nil {
			return
		}
		v := values{inputs: map[string]string{}, results: map[string]Result{}}
		for _, s := range w.Steps {
			for _, inner := range append(s.Parallel, s) {
				v.expand(inner.Prompt)
				v.holds(inner.When)
				v.results[inner.Name] = Result{Value: json.RawMessage(`{"a":[1]}`)}
			}
		}
	})
}

// TestJournalHead checks that a journal's head identifies its workflow and whether the run has
// ended, even if the last line is truncated, and that other files are refused.
//
// Proves X-130.
func TestJournalHead(t *testing.T) {
	w := parse(t, "steps: [{name: a, prompt: b}]")
	path := filepath.Join(t.TempDir(), "j.jsonl")
	for _, inputs := range []map[string]string{nil, {}} { // the same run
		j, err := OpenJournal(path, w, inputs)
		if err != nil {
			t.Fatal(err)
		}
		j.Close()
	}
	if h, ended, err := ReadHead(path); err != nil || ended || h.Name != "test" {
		t.Errorf("begun: %v %v %v", h, ended, err)
	}
	j, err := OpenJournal(path, w, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Finish(); err != nil {
		t.Fatal(err)
	}
	j.Close()
	if _, ended, err := ReadHead(path); err != nil || !ended {
		t.Errorf("ended: %v %v", ended, err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data[:len(data)-1], 0o600); err != nil {
		t.Fatal(err)
	}
	if _, ended, err := ReadHead(path); err != nil || ended {
		t.Errorf("cut: %v %v", ended, err)
	}
	for _, text := range []string{"", "x\n", "{}\n", `{"run":"a"`} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, _, err := ReadHead(path); err == nil {
			t.Errorf("%q is a journal", text)
		}
	}
}
