package confine

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"adze/internal/msg"
	"adze/internal/platform/proc/osproc"
	"adze/internal/platform/sandbox"
	"adze/internal/tool"
)

// TestMain lets the test binary act as the sandbox's helper.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == sandbox.HelperArg {
		os.Exit(sandbox.Help(os.Args[2:]))
	}
	os.Exit(m.Run())
}

// A fileInput is the input of a tool that writes a file.
type fileInput struct {
	File string `json:"file"`
}

// Path implements [tool.Pather].
func (in fileInput) Path() string { return in.File }

// A decision is a gate that makes the same decision about every call.
type decision tool.Decision

func (d decision) Before(_ context.Context, u *tool.Use) error {
	u.Verdict.Decide(tool.Decision(d), "test", "")
	return nil
}

// TestAllowedFilesAreNoStrays checks that a file that a call is allowed to write may appear
// under a protected name while a command runs, and that others may not.
//
// Proves PERM-61.
func TestAllowedFilesAreNoStrays(t *testing.T) {
	dir, home := t.TempDir(), t.TempDir()
	f := New(Config{Settings: Settings{Enabled: true}, Dir: dir, Home: home, Say: func(string) {}, Quarantine: filepath.Join(home, "quarantine")})
	defer f.Close()
	def := tool.Def{Name: "Put", Doc: "Puts.", Schema: json.RawMessage(`{"type":"object","properties":{"file":{"type":"string"}}}`)}
	put := tool.New(def, func(context.Context, fileInput, func(tool.Progress)) (tool.Result, error) {
		return tool.Text("put"), nil
	})
	_, end, err := f.Wrap(osproc.Cmd{Path: "/bin/true", Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	for name, d := range map[string]tool.Decision{".env": tool.Allow, ".npmrc": tool.Deny} {
		input := json.RawMessage(`{"file":"` + name + `"}`)
		call, err := put.Bind(input)
		if err != nil {
			t.Fatal(err)
		}
		u := &tool.Use{ToolUse: msg.ToolUse{Name: "Put", Input: input}, Tool: put, Call: call}
		if err := f.Guard(decision(d)).Before(t.Context(), u); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	_, undone := end("")
	if _, err := os.Stat(filepath.Join(dir, ".env")); err != nil {
		t.Errorf("%v: %s", err, undone)
	}
	if _, err := os.Stat(filepath.Join(dir, ".npmrc")); err == nil || !strings.Contains(undone, filepath.Join(dir, ".npmrc")+" appeared") {
		t.Errorf("it stays: %s", undone)
	}
}
