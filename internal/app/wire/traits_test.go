package wire

import (
	"testing"

	"adze/internal/tool"
)

// Proves TOOL-15 and TOOL-20.
func TestTraitsOfTheTools(t *testing.T) {
	type fixed struct {
		chars     int
		never     bool
		clearable bool
	}
	want := map[string]fixed{
		"Bash":             {30_000, false, true},
		"Edit":             {100_000, false, true},
		"EnterPlanMode":    {100_000, false, false},
		"ExitPlanMode":     {100_000, false, false},
		"Glob":             {100_000, false, true},
		"Grep":             {100_000, false, true},
		"NotebookEdit":     {100_000, false, false},
		"PowerShell":       {30_000, false, true},
		"Read":             {100_000, true, true},
		"StructuredOutput": {100_000, false, false},
		"TaskOutput":       {100_000, false, false},
		"TaskStop":         {100_000, false, false},
		"Write":            {100_000, false, true},
	}
	for _, present := range presentTools(t) {
		name, traits := present.Spec().Name, present.Traits()
		if _, known := want[name]; !known {
			continue
		}
		got := fixed{traits.MaxChars, traits.NeverPersist, traits.Clearable}
		if got.chars == 0 {
			got.chars = tool.DefaultMaxChars
		}
		if got != want[name] {
			t.Errorf("%s: %+v, want %+v", name, got, want[name])
		}
		delete(want, name)
	}
	for name := range want {
		t.Errorf("%s is missing", name)
	}
}

// TestOnlyWaitsEndWithAMessage checks that a new user message does not end a running command,
// search or write.
//
// Proves TOOL-09.
func TestOnlyWaitsEndWithAMessage(t *testing.T) {
	for _, present := range presentTools(t) {
		if name := present.Spec().Name; present.Traits().Waits != (name == "TaskOutput") {
			t.Errorf("%s: ends with a new message: %v", name, present.Traits().Waits)
		}
	}
}
