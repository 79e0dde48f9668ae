package memdir

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"adze/internal/msg"
	"adze/internal/tool"
)

// A call writes a file, or reads it.
type call struct {
	Path_ string
	Lines []string // resulting diff
	Reads bool
}

func (c call) Input() any     { return c }
func (c call) Path() string   { return c.Path_ }
func (c call) ReadOnly() bool { return c.Reads }
func (c call) Run(context.Context, func(tool.Progress)) (tool.Result, error) {
	return tool.Result{}, nil
}
func (c call) Preview(context.Context) (tool.Display, error) {
	if c.Lines == nil {
		return nil, errors.New("nothing to show")
	}
	return tool.Diff{Hunks: []tool.Hunk{{Lines: c.Lines}}}, nil
}

// Proves MEM-23.
func TestGateRefusesSecrets(t *testing.T) {
	f := folder(t, "a.md", "x")
	claimed := 0
	g := &Gate{
		Folder: func() (Folder, bool) { return f, true },
		Claim:  func() error { claimed++; return nil },
	}
	const key = "AKIAQ7RSTUVWXYZ2K4L9"
	const pem = "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEAvh5v3Zk8b2a9Q\n-----END RSA PRIVATE KEY-----"
	inside, outside := f.Path("new.md"), filepath.Join(t.TempDir(), "x.md")
	tests := []struct {
		name    string
		call    call
		input   map[string]string
		refused bool
	}{
		{"nothing secret", call{Path_: inside}, map[string]string{"content": "Deploys happen on Tuesdays."}, false},
		{"a key", call{Path_: inside}, map[string]string{"content": "The key: " + key}, true},
		{"a private key", call{Path_: inside}, map[string]string{"content": pem}, true},
		{"a token", call{Path_: inside}, map[string]string{"new_string": "ghp_a8B3k9Zq1W2e3R4t5Y6u7I8o9P0aSdFgHjKl"}, true},
		{"where texts meet", call{Path_: inside, Lines: []string{" a", "+" + key}}, map[string]string{"new_string": key[:8]}, true},
		{"taking one away", call{Path_: inside, Lines: []string{"-" + key, "+gone"}}, map[string]string{"old_string": key, "new_string": "gone"}, false},
		{"elsewhere", call{Path_: outside}, map[string]string{"content": key}, false},
		{"reading", call{Path_: inside, Reads: true}, map[string]string{"content": key}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			input, err := json.Marshal(tt.input)
			if err != nil {
				t.Fatal(err)
			}
			u := judged(tool.Allow, tt.call, input)
			before := claimed
			if err := g.Before(t.Context(), u); err != nil {
				t.Fatal(err)
			}
			if refused := u.Verdict.Decision == tool.Deny; refused != tt.refused || refused && !strings.Contains(u.Verdict.Reason, "seems to contain a secret") {
				t.Errorf("%+v", u.Verdict)
			}
			if writes := tt.call.Path_ == inside && !tt.call.Reads && !tt.refused; (claimed > before) != writes {
				t.Error("the folder was claimed for no reason, or not at all")
			}
		})
	}
	before := claimed
	u := judged(tool.Deny, call{Path_: inside}, json.RawMessage(`{"content":"`+key+`"}`))
	if err := g.Before(t.Context(), u); err != nil || u.Verdict.By != "test" || claimed > before {
		t.Errorf("a call that is denied anyway: %+v, %v", u.Verdict, err)
	}
	g.Folder = func() (Folder, bool) { return f, false }
	u = judged(tool.Allow, call{Path_: inside}, json.RawMessage(`{"content":"`+key+`"}`))
	if err := g.Before(t.Context(), u); err != nil || u.Verdict.Decision != tool.Allow {
		t.Errorf("without memory: %+v, %v", u.Verdict, err)
	}
}

// judged returns a use as the permission check returns it.
func judged(d tool.Decision, c call, input json.RawMessage) *tool.Use {
	u := &tool.Use{ToolUse: msg.ToolUse{Name: "Write", Input: input}, Call: c}
	u.Verdict.Decide(d, "test", "")
	return u
}

// Proves MEM-24.
func TestGateForgets(t *testing.T) {
	f := folder(t, "a.md", "", "full.md", "x", IndexName, "", "x.txt", "")
	outside := filepath.Join(t.TempDir(), "o.md")
	if err := os.WriteFile(outside, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	g := &Gate{Folder: func() (Folder, bool) { return f, true }}
	there := func(path string) bool { _, err := os.Lstat(path); return err == nil }
	for path, stays := range map[string]bool{
		f.Path("a.md"): false, f.Path("full.md"): true, f.Path(IndexName): true, f.Path("x.txt"): true, outside: true, f.Path("none.md"): false,
	} {
		if err := g.After(t.Context(), &tool.Use{Call: call{Path_: path}}, &tool.Result{}); err != nil || there(path) != stays {
			t.Errorf("%s: %v, %v", path, there(path), err)
		}
	}
	f = folder(t, "a.md", "")
	if err := g.After(t.Context(), &tool.Use{Call: call{Path_: f.Path("a.md")}}, &tool.Result{IsError: true}); err != nil || !there(f.Path("a.md")) {
		t.Error("a call that failed has taken a memory away")
	}
}
