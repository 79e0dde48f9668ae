package lsp

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"adze/internal/lsp"
)

// TestList checks the text for the model: errors and warnings are counted, and the list is bounded.
func TestList(t *testing.T) {
	bad := func(line int, severity lsp.Severity, code string) lsp.Problem {
		return lsp.Problem{Line: line, Column: 2, Severity: severity, Message: "no " + strings.Repeat("x", line), Code: code}
	}
	for _, tt := range []struct {
		problems []lsp.Problem
		old      int
		compared bool
		want     string
	}{
		{nil, 3, true, ""},
		{[]lsp.Problem{bad(1, lsp.Error, "E1")}, 0, false, "1 error (s):\na.go:1:2: error: no x [E1]"},
		{[]lsp.Problem{bad(1, lsp.Error, ""), bad(2, lsp.Warning, "")}, 1, true, "1 new error, 1 new warning (s):\na.go:1:2: error: no x\na.go:2:2: warning: no xx\n1 other problem in the file was there before this change."},
		{[]lsp.Problem{bad(1, lsp.Warning, ""), bad(2, lsp.Warning, "")}, 2, true, "2 new warnings (s):\na.go:1:2: warning: no x\na.go:2:2: warning: no xx\n2 other problems in the file were there before this change."},
	} {
		if diff := cmp.Diff(tt.want, list(tt.problems, tt.old, tt.compared, "a.go", "s")); diff != "" {
			t.Error(diff)
		}
	}
	var many []lsp.Problem
	for range 200 {
		many = append(many, bad(300, lsp.Error, "C"))
	}
	got := list(many, 0, true, "a.go", "s")
	if !strings.HasPrefix(got, "200 new errors (s):") || !strings.HasSuffix(got, "\nand 190 more") || len(got) > maxText+100 {
		t.Errorf("%d bytes: %s", len(got), got)
	}
}

// TestDefinitions checks how the settings, plugins and the built-in table are merged.
//
// Proves X-072.
func TestDefinitions(t *testing.T) {
	plugin := []lsp.Server{{Name: "gopls", Command: "/p/gopls", Origin: "plugin p"}, {Name: "zig", Command: "/p/zig", Origin: "plugin p"}, {Name: "clangd", Origin: "plugin p"}}
	settings := json.RawMessage(`{
		"clangd": {"disabled": true},
		"own": {"command": "own", "args": ["--stdio"], "extensionToLanguage": {".own": "own"}, "settings": {"a": 1}},
		"pyright": {"settings": {"python": {}}},
		"wrong": {"command": "x"}, "worse": 3, "path": {"command": "bin/x", "extensionToLanguage": {".x": "x"}},
		"socket": {"command": "x", "transport": "socket", "extensionToLanguage": {".x": "x"}}, "ext": {"command": "x", "extensionToLanguage": {"a/b": "x"}}
	}`)
	servers, problems := Definitions(settings, plugin)
	var got []string
	for _, s := range servers[:6] {
		got = append(got, fmt.Sprintf("%s %s %s %d %s", s.Name, s.Command, s.Args, len(s.Languages), s.Origin))
	}
	want := []string{
		"own own [--stdio] 1 settings", "pyright pyright-langserver [--stdio] 2 settings", "gopls /p/gopls [] 0 plugin p",
		"zig /p/zig [] 0 plugin p", "typescript tsc [--lsp --stdio] 8 ", "typescript-language-server typescript-language-server [--stdio] 8 ",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for _, s := range servers {
		if s.Name == "clangd" {
			t.Error("clangd is disabled")
		}
	}
	wantProblems := []string{
		`ext: extensionToLanguage: "a/b" is not an extension such as .go`, `path: the command "bin/x" is a relative path`,
		`socket: the transport "socket" is not supported`, "worse: it is not a valid definition", "wrong: extensionToLanguage is missing",
	}
	for i, p := range problems {
		if i >= len(wantProblems) || !strings.HasPrefix(p, "languageServers.servers."+wantProblems[i]) {
			t.Errorf("problem %d: %s", i, p)
		}
	}
}
