package plan

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"adze/internal/msg"
	"adze/internal/tool"
	"adze/internal/tool/tooltest"
)

// testConfig returns a configuration with a plan in its file.
func testConfig(t *testing.T, plan string) (Config, *[]Prompt) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "plans", "calm-blue-lake.md")
	if plan != "" {
		write(t, file, plan)
	}
	left := new([]Prompt)
	return Config{
		File:  func() string { return file },
		Enter: func() (string, error) { return "Plan mode is on.", nil },
		Leave: func(p []Prompt) (string, error) { *left = p; return "acceptEdits", nil },
		Check: func(p []Prompt) error {
			if len(p) > 1 {
				return errors.New("too many")
			}
			return nil
		},
	}, left
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestContract(t *testing.T) {
	c, _ := testConfig(t, "1. Do it.")
	tooltest.Run(t, Enter(c), tooltest.Cases{Good: map[string]string{"plain": `{"reason":"there are two ways"}`}, Input: EntryInput{}})
	tooltest.Run(t, Exit(c), tooltest.Cases{
		Good:  map[string]string{"prompts": `{"allowedPrompts":[{"tool":"Bash","prompt":"run tests"}]}`},
		Input: Input{},
	})
}

func bind(t *testing.T, tl tool.Tool, input string) tool.Call {
	t.Helper()
	call, err := tl.Bind(json.RawMessage(input))
	if err != nil {
		t.Fatal(err)
	}
	return call
}

func TestBothNeedAPerson(t *testing.T) {
	c, _ := testConfig(t, "x")
	for _, tl := range []tool.Tool{Enter(c), Exit(c)} {
		call := bind(t, tl, `{}`)
		person, ok := tool.As[tool.UserOnly](call)
		planning, ok2 := tool.As[tool.Planning](call)
		if !ok || !person.NeedsPerson() || !ok2 || !planning.Planning() {
			t.Errorf("%s could be answered by a program, or not be used while planning", tl.Spec().Name)
		}
	}
}

// Proves PLAN-05.
func TestExit(t *testing.T) {
	c, left := testConfig(t, "1. Do it.\n")
	call := bind(t, Exit(c), `{"allowedPrompts":[{"tool":"Bash","prompt":"run tests"}]}`)
	r, err := call.Run(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	text := msg.PlainText(r.Parts)
	for _, part := range []string{"approved", c.File(), "acceptEdits", "1. Do it."} {
		if !strings.Contains(text, part) {
			t.Errorf("%q is not in %q", part, text)
		}
	}
	if diff := cmp.Diff([]Prompt{{"Bash", "run tests"}}, *left); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(Output{Plan: "1. Do it.\n", FilePath: c.File(), Mode: "acceptEdits"}, r.Structured); diff != "" {
		t.Error(diff)
	}
	c.Leave = func([]Prompt) (string, error) { return "", errors.New("plan mode is not on") }
	if _, err := bind(t, Exit(c), `{}`).Run(t.Context(), nil); err == nil {
		t.Error("left a mode that was not on")
	}
	if _, err := Exit(c).Bind(json.RawMessage(`{"allowedPrompts":[{"tool":"Bash","prompt":"a"},{"tool":"Bash","prompt":"b"}]}`)); err == nil {
		t.Error("prompts that do not pass their check were taken")
	}
	// Models know a field for the plan: its content is shown, approved, and saved in the file
	// (model-side D8).
	c, _ = testConfig(t, "")
	given := bind(t, Exit(c), `{"plan":"2. Say it.\n","allowedPrompts":[]}`)
	if shown, err := given.(tool.Previewer).Preview(t.Context()); err != nil || shown.(tool.Plain).Text != "2. Say it.\n" {
		t.Errorf("%+v, %v", shown, err)
	}
	r, err = given.Run(t.Context(), nil)
	if err != nil || r.Structured.(Output).Plan != "2. Say it.\n" {
		t.Errorf("%+v, %v", r.Structured, err)
	}
	if kept, err := os.ReadFile(c.File()); err != nil || string(kept) != "2. Say it.\n" {
		t.Errorf("the file has %q, %v", kept, err)
	}
	if _, err := Exit(c).Bind(json.RawMessage(`{"allowedPrompts":[{"tool":"Write","prompt":"a"}]}`)); err == nil || !strings.Contains(err.Error(), `"Bash"`) {
		t.Errorf("another tool: %v", err)
	}
	// Clearing the context is the user's choice.
	c, _ = testConfig(t, "1. Do it.\n")
	amended, err := bind(t, Exit(c), `{}`).(tool.Amender).Amend(json.RawMessage(`{"clearContext":true}`))
	if err != nil {
		t.Fatal(err)
	}
	if r, err := amended.Run(t.Context(), nil); err != nil || !r.Structured.(Output).ClearContext {
		t.Errorf("%+v, %v", r.Structured, err)
	}
}

// TestPlanDraft checks that the user can edit the plan and sees the permissions that it
// requests.
func TestPlanDraft(t *testing.T) {
	c, _ := testConfig(t, "1. Do it.\n")
	c.Next = func() string { return "auto" }
	d, ok := tool.As[tool.Drafter](bind(t, Exit(c), `{"allowedPrompts":[{"tool":"Bash","prompt":"run\nthe tests"}]}`))
	if !ok {
		t.Fatal("the plan cannot be edited")
	}
	want := tool.Draft{Field: "plan", Plan: &tool.Plan{File: c.File(), Next: "auto", Asks: []string{"run the tests"}}}
	if diff := cmp.Diff(want, d.Draft()); diff != "" {
		t.Error(diff)
	}
}

// Proves PLAN-04.
func TestPlanFile(t *testing.T) {
	c, _ := testConfig(t, "")
	for _, text := range []string{"", " \n"} {
		if text != "" {
			write(t, c.File(), text)
		}
		if _, err := bind(t, Exit(c), `{}`).Run(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "write it to "+c.File()) {
			t.Errorf("with the plan %q: %v", text, err)
		}
	}
	write(t, c.File(), "mine")
	call := bind(t, Exit(c), `{}`)
	seen, err := json.Marshal(tool.ObservedInput(call))
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"plan":"mine","planFilePath":` + quote(t, c.File()) + `}`; string(seen) != want {
		t.Errorf("observed as %s, want %s", seen, want)
	}
	// The user edits the file while the question is open.
	write(t, c.File(), "theirs")
	r, err := call.Run(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if text := msg.PlainText(r.Parts); !strings.Contains(text, "theirs") || !strings.Contains(text, "plan_was_edited") || !r.Structured.(Output).Edited {
		t.Errorf("%q %+v", text, r.Structured)
	}
	// The user, or a host, edits it in the answer.
	call = bind(t, Exit(c), `{}`)
	tool.ObservedInput(call)
	amended, err := call.(tool.Amender).Amend(json.RawMessage(`{"plan":"host's","planFilePath":"x"}`))
	if err != nil {
		t.Fatal(err)
	}
	if r, err = amended.Run(t.Context(), nil); err != nil || !r.Structured.(Output).Edited {
		t.Errorf("%+v, %v", r.Structured, err)
	}
	if data, err := os.ReadFile(c.File()); err != nil || string(data) != "host's" {
		t.Errorf("the file has %q, %v", data, err)
	}
}

func quote(t *testing.T, s string) string {
	t.Helper()
	data, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestFileName(t *testing.T) {
	names := map[string]bool{}
	form := regexp.MustCompile(`^/p/[a-z]+-[a-z]+-[a-z]+\.md$`)
	for _, id := range []string{"a", "b", "c", "d", "e", "f"} {
		file := File("/p", id, "")
		if !form.MatchString(filepath.ToSlash(file)) || file != File("/p", id, "") {
			t.Errorf("%s", file)
		}
		names[file] = true
	}
	if len(names) < 6 {
		t.Errorf("only %d names for six sessions", len(names))
	}
	if got := File("/p", "a", "x1"); !strings.HasSuffix(got, "-agent-x1.md") {
		t.Errorf("%s", got)
	}
}

// Proves PLAN-08.
func TestEagerness(t *testing.T) {
	c, _ := testConfig(t, "x")
	eager := Enter(c).Spec().Description
	c.Restrained = true
	restrained := Enter(c).Spec().Description
	if eager == restrained || strings.Contains(eager, "When in doubt") || !strings.Contains(restrained, "When in doubt, go ahead") {
		t.Errorf("eager %q, restrained %q", eager, restrained)
	}
	for _, text := range []string{eager, restrained} {
		for _, part := range []string{"what the user", "architectur", "unclear", "instructions", "find something out"} {
			if !strings.Contains(text, part) {
				t.Errorf("%q does not mention %q", text, part)
			}
		}
	}
}

// TestForesight checks that a missing plan or the wrong time fails without a prompt, and that a
// plan may be given with the call (second-look 2.18).
//
// Proves PLAN-04.
func TestForesight(t *testing.T) {
	c, _ := testConfig(t, "")
	wrong := errors.New("plan mode is on already")
	foresee := func(tl tool.Tool, input string) error {
		f, ok := tool.As[tool.FailurePredictor](bind(t, tl, input))
		if !ok {
			t.Fatal("nothing is foreseen")
		}
		return f.Foresee(true)
	}
	if err := foresee(Exit(c), `{}`); err == nil || !strings.Contains(err.Error(), "no plan yet") {
		t.Errorf("without a plan: %v", err)
	}
	if err := errors.Join(foresee(Exit(c), `{"plan":"1. Do it."}`), foresee(Enter(c), `{}`)); err != nil {
		t.Error(err)
	}
	c.MayEnter = func() error { return wrong }
	c.MayLeave = c.MayEnter
	for _, tl := range []tool.Tool{Enter(c), Exit(c)} {
		if err := foresee(tl, `{}`); !errors.Is(err, wrong) {
			t.Errorf("%s: %v", tl.Spec().Name, err)
		}
	}
	c.Next = func() string { return "acceptEdits" }
	call := bind(t, Exit(c), `{"plan":"1. Do it.","allowedPrompts":[{"tool":"Bash","prompt":"run tests"}]}`)
	if said := call.(tool.Consenter).Consent(); !strings.Contains(said, "in mode acceptEdits") || !strings.Contains(said, "run tests") {
		t.Errorf("%q", said)
	}
	if d, err := call.(tool.Previewer).Preview(t.Context()); err != nil || d != (tool.Plain{Text: "1. Do it."}) {
		t.Errorf("%v, %v", d, err)
	}
	if r, err := call.Run(t.Context(), nil); err != nil || r.Structured.(Output).Plan != "1. Do it." || r.Structured.(Output).Edited {
		t.Errorf("%+v, %v", r.Structured, err)
	}
	if data, err := os.ReadFile(c.File()); err != nil || string(data) != "1. Do it." {
		t.Errorf("the file has %q, %v", data, err)
	}
}
