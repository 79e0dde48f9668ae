package extensions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"adze/internal/commands"
	"adze/internal/mcp"
	"adze/internal/mcp/roster"
	"adze/internal/session"
	"adze/internal/tool"
	"adze/internal/tools/mcptool"
)

// Proves MCP-05.
func TestServersPage(t *testing.T) {
	entry := func(name, raw string) *roster.Entry {
		return roster.Source{Scope: roster.User, File: "/mcp.json", Getenv: func(string) string { return "s3cret" }}.Entry(name, json.RawMessage(raw))
	}
	same := entry("twin", `{"command":"x"}`)
	same.Disabled, same.Same = true, "files"
	theirs := entry("theirs", `{"command":"y"}`)
	theirs.Scope, theirs.Unapproved = roster.Project, true
	files := mcp.Status{
		Entry: entry("files", `{"command":"x","args":["--token","${T}"]}`), State: mcp.Connected,
		About: mcp.ServerInfo{Name: "f", Title: "Files", Version: "1", Protocol: "2025-11-25"},
		Tools: []mcp.Tool{{Name: "read", Description: "Reads a file.\nMore."}}, Prompts: []mcp.Prompt{{Name: "review"}}, Log: "one\ntwo\n",
	}
	list := []mcp.Status{
		files,
		{Entry: entry("slow", `{"url":"https://a.example/?key=${T}"}`), State: mcp.Pending},
		{Entry: entry("bad", `{"command":"z"}`), State: mcp.Failed, Err: errors.New("it ended"), Cut: []string{"left out: a tool"}},
		{Entry: entry("closed", `{"url":"https://b.example"}`), State: mcp.NeedsAuth},
		{Entry: theirs, State: mcp.Unapproved},
		{Entry: same, State: mcp.Disabled},
	}
	r := commands.New(commands.Config{Extensions: commands.Extensions{Servers: commands.Servers{Problems: func() []string { return []string{"/x.json: is not JSON"} }}}})
	want := commands.Page{Blocks: []commands.Block{
		commands.Table{
			Columns: []commands.Column{{Name: "Server"}, {Name: "state"}, {Name: "tools", Right: true}, {Name: "from"}, {Name: "what", Cut: true}},
			Rows: [][]string{
				{"files", "connected", "1", "user", "x --token ${T}"},
				{"slow", "connecting", "-", "user", "https://a.example/?key=${T}"},
				{"bad", "failed", "-", "user", "z"},
				{"closed", "needs a login", "-", "user", "https://b.example"},
				{"theirs", "pending approval", "-", "project", "y"},
				{"twin", "disabled", "-", "user", "x"},
			},
		},
		commands.Notice("bad: it ended; /mcp reconnect bad tries again"),
		commands.Notice("bad: left out: a tool"),
		commands.Notice("closed: /mcp auth closed signs in"),
		commands.Notice("theirs: /mcp approve theirs starts it, now and in the future; /mcp theirs shows its configuration"),
		commands.Text("twin is the same server as files, which is used."),
		commands.Notice("/x.json: is not JSON"),
		commands.Text("/mcp NAME shows the tools of a server and more."),
	}}
	if diff := cmp.Diff(want, serversPage(r, list)); diff != "" {
		t.Error(diff)
	}
	want = commands.Page{Blocks: []commands.Block{
		commands.Fields{{Name: "Server", Value: "files"}, {Name: "State", Value: "connected"}, {Name: "From", Value: "/mcp.json"}, {Name: "Type", Value: "stdio"}, {Name: "Runs", Value: "x --token ${T}"}, {Name: "About", Value: "Files 1"}, {Name: "Protocol", Value: "2025-11-25"}},
		commands.Text("1 tool:"), commands.Terms{{Name: "read", Text: "Reads a file."}},
		commands.Text("1 prompt:"), commands.Items{"/mcp__files__review"},
		commands.Text("Its standard error ends with:"), commands.Items{"one", "two"},
	}}
	if diff := cmp.Diff(want, serverPage(t.Context(), r, nil, &files)); diff != "" {
		t.Error(diff)
	}
}

// TestServersPageLeftOut checks that a tool with the same name as another server's tool is
// omitted, and that both pages report it; many are only counted.
//
// Proves REG-05.
func TestServersPageLeftOut(t *testing.T) {
	outer, inner := &roster.Entry{Name: "a__b"}, &roster.Entry{Name: "a"}
	offered := []mcp.OfferedTool{{Server: outer, Tool: mcp.Tool{Name: "c"}}, {Server: inner, Tool: mcp.Tool{Name: "b__c"}}, {Server: inner, Tool: mcp.Tool{Name: "d"}}}
	for i := range shownLeftOut + 1 {
		name := fmt.Sprint("many_", i)
		offered = append(offered, mcp.OfferedTool{Server: &roster.Entry{Name: "a.b"}, Tool: mcp.Tool{Name: name}}, mcp.OfferedTool{Server: &roster.Entry{Name: "a_b"}, Tool: mcp.Tool{Name: name}})
	}
	tools := mcptool.NewSet(mcptool.Config{})
	s := session.Open(t.Context(), session.Config{Tools: session.Tools{Registry: tool.NewRegistry(), Dynamic: func() []tool.Tool { return tools.Tools(offered) }}})
	t.Cleanup(s.Close)
	r := commands.New(commands.Config{Session: s})
	notices := func(p commands.Page) (all []string) {
		for _, b := range p.Blocks {
			if n, ok := b.(commands.Notice); ok {
				all = append(all, string(n))
			}
		}
		return all
	}
	list := []mcp.Status{{Entry: outer, State: mcp.Connected}, {Entry: inner, State: mcp.Connected}}
	want := []string{"a: the tool mcp__a__b__c is left out: the name is taken by mcp:a__b"}
	if diff := cmp.Diff(want, notices(serversPage(r, list))); diff != "" {
		t.Errorf("list (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want, notices(serverPage(t.Context(), r, nil, &list[1]))); diff != "" {
		t.Errorf("page (-want +got):\n%s", diff)
	}
	many := notices(serverPage(t.Context(), r, nil, &mcp.Status{Entry: &roster.Entry{Name: "a_b"}, State: mcp.Connected}))
	if len(many) != shownLeftOut+1 || many[shownLeftOut] != "a_b: 1 more tool is left out because of its name" {
		t.Errorf("many: %q", many)
	}
}

func TestServersCommand(t *testing.T) {
	all := mcp.New(mcp.Config{})
	defer all.Close()
	bad := roster.Source{Scope: roster.User}.Entry("bad", json.RawMessage(`{}`))
	var done []string
	r := commands.New(commands.Config{Terminal: true, Env: commands.Env{Sections: Sections()}, Extensions: commands.Extensions{Servers: commands.Servers{
		All:     func() *mcp.Servers { return all },
		Approve: func(_ context.Context, name string) error { done = append(done, "approve "+name); return nil },
		Enable: func(_ context.Context, name string, on bool) error {
			done = append(done, map[bool]string{true: "enable ", false: "disable "}[on]+name)
			return nil
		},
		SignIn: func(_ context.Context, name string) (string, error) { return "https://sign.in/" + name, nil },
	}}})
	run := func(arg string) string {
		a, err := r.Run(t.Context(), "mcp", arg)
		if err != nil {
			return "error: " + err.Error()
		}
		var texts []string
		for _, b := range a.(commands.Page).Blocks {
			if text, ok := b.(commands.Text); ok {
				texts = append(texts, string(text))
			}
		}
		return strings.Join(texts, " ")
	}
	if got := run(""); !strings.Contains(got, "adze mcp add NAME") {
		t.Error(got)
	}
	all.Start([]*roster.Entry{bad})
	for arg, want := range map[string]string{
		"approve bad":   "bad: failed",
		"enable bad":    "bad: failed",
		"disable bad":   "bad: failed",
		"auth bad":      "https://sign.in/bad",
		"reconnect bad": "error: the server bad cannot be used: command is missing",
		"bda":           `error: no server "bda"; did you mean bad?`,
		"enable nope":   `error: no server "nope"; there is bad`,
		"reconnect":     "error: usage: /mcp",
		"explode bad":   "error: usage: /mcp",
		"a b c":         "error: usage: /mcp",
	} {
		if got := run(arg); !strings.Contains(got, want) {
			t.Errorf("/mcp %s: %s, want %s", arg, got, want)
		}
	}
	if len(done) != 3 {
		t.Errorf("done: %q", done)
	}
	r.Terminal = false
	if got := run("approve bad"); !strings.Contains(got, "terminal") || len(done) != 3 {
		t.Errorf("approved without a terminal: %s, %q", got, done)
	}
	if got := completeServers(r, "enable "); !cmp.Equal(got, []string{"enable bad"}) {
		t.Errorf("completes %q", got)
	}
	if got := completeServers(r, ""); len(got) != 6 {
		t.Errorf("completes %q", got)
	}
}
