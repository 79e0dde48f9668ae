package wire

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"adze/internal/msg"
	"adze/internal/permission"
	"adze/internal/tool"
	toolcommand "adze/internal/tool/command"
	"adze/internal/tools/bash"
)

// TestSwappedPathsAreNotRead checks that a file replaced by a link out of the project, after a
// read-only command was approved, is not read.
//
// Proves SH-02, SHRO-07.
func TestSwappedPathsAreNotRead(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir, outside := filepath.Join(top, "work"), filepath.Join(top, "secret")
	write := func(path, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	link := func(to, path string) {
		t.Helper()
		os.RemoveAll(path) // ok: creating the link fails if it still exists
		if err := os.Symlink(to, path); err != nil {
			t.Fatal(err)
		}
	}
	elsewhere := filepath.Join(top, "elsewhere")
	write(filepath.Join(outside, "key.txt"), "top secret\n")
	write(filepath.Join(elsewhere, "key.txt"), "other secret\n")
	const denied = "Permission denied"
	tests := []struct {
		command string
		asked   bool
		swap    func()
		want    string
	}{
		{command: "cat *.txt", want: "harmless"},
		{command: "cat *.txt", swap: func() { link(outside+"/key.txt", dir+"/a.txt") }, want: denied},
		{command: "cat *.txt", swap: func() { link(outside+"/key.txt", dir+"/new.txt") }, want: denied},
		{command: "cat a.txt", swap: func() { link(outside+"/key.txt", dir+"/a.txt") }, want: denied},
		{command: "cat a.txt | cat", swap: func() { link(outside+"/key.txt", dir+"/a.txt") }, want: denied},
		{command: "cat sub/*", swap: func() { link(outside, dir+"/sub") }, want: "No such file"},
		{command: "cat < a.txt", swap: func() { link(outside+"/key.txt", dir+"/a.txt") }, want: denied},
		{command: "cd sub && cat *", swap: func() { link(outside, dir+"/sub") }, want: "No such file"},
		{command: "grep -r secret sub", swap: func() { link(outside, dir+"/sub") }, want: denied},
		{command: "cat a.txt", swap: func() { link("b.txt", dir+"/a.txt") }, want: "also harmless"},
		{command: "cat a.txt nosuch", want: "harmless"},
		{command: "cat a.txt", swap: func() { link("a.txt", dir+"/a.txt") }, want: "Too many levels"}, // links to itself
		// Paths the user approved are read as they were at the prompt.
		{command: "cat " + outside + "/*.txt", asked: true, want: "top secret"},
		{command: "cat link.txt", asked: true, want: "top secret"},
		{command: "cat link.txt", asked: true, swap: func() { link(elsewhere+"/key.txt", dir+"/link.txt") }, want: denied},
	}
	for _, tt := range tests {
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		write(filepath.Join(dir, "a.txt"), "harmless\n")
		write(filepath.Join(dir, "b.txt"), "also harmless\n")
		write(filepath.Join(dir, "sub/c"), "c\n")
		link(outside+"/key.txt", dir+"/link.txt")
		if !tt.asked {
			os.Remove(dir + "/link.txt") // ok: the user is prompted then
		}
		asked := false
		g := permission.NewGate(permission.GateConfig{Config: permission.Config{Dir: dir, Dirs: []string{dir}}})
		g.SetAsk(func(context.Context, permission.Question) (permission.Answer, error) {
			asked = true
			return permission.Answer{Behavior: permission.Allow}, nil
		})
		tl := bash.New(bash.Config{Config: toolcommand.Config{Dir: func() string { return dir }, TempDir: t.TempDir()}, MayRead: func(path string) bool { return g.Policy().MayRead(path) }})
		input, _ := json.Marshal(bash.Input{Command: tt.command}) // ok: cannot fail
		call, err := tl.Bind(input)
		if err != nil {
			t.Fatal(err)
		}
		u := &tool.Use{ToolUse: msg.ToolUse{ID: "u", Name: "Bash", Input: input}, Tool: tl, Call: call}
		if err := g.Before(t.Context(), u); err != nil || u.Verdict.Decision != tool.Allow || asked != tt.asked {
			t.Fatalf("%q: %v, %+v, asked %v", tt.command, err, u.Verdict, asked)
		}
		if tt.swap != nil {
			tt.swap()
		}
		res, err := call.Run(t.Context(), func(tool.Progress) {})
		if err != nil {
			t.Fatal(err)
		}
		text := msg.PlainText(res.Parts)
		if !strings.Contains(text, tt.want) || tt.want == denied && strings.Contains(text, "secret") {
			t.Errorf("%q: %q, want %q", tt.command, text, tt.want)
		}
	}
}
