package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"adze/internal/app/apptest"
	"adze/internal/app/wire"
	"adze/internal/settings"
	"adze/internal/tool"
	"adze/internal/ui/console"
)

// A client is another program that uses adze's tools in a workspace.
type client struct {
	*sdk.ClientSession
	*apptest.Place
	done chan error
	end  func()
}

// open starts the server as its user would, and a client that claims to work in all
// directories.
func open(t *testing.T, o ServeOptions) *client {
	t.Helper()
	p := apptest.New(t)
	p.Write("outside/secret", "outside")
	p.Write("work/a.txt", "one\ntwo\n")
	p.Write("work/private/key", "hidden words")
	p.Write("work/Makefile", "made:\n\ttouch made\n")
	p.Write("home/.adze/settings.json", `{"permissions":{"deny":["Read(private/**)","Bash(curl *)"]}}`)
	if out, err := exec.Command("git", "init", "-q", p.Path("work")).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	project, _ := settings.Open(settings.Source{Dir: p.Path("work"), Managed: p.Path("etc"), Getenv: p.Getenv}) // ok: the test reports problems
	say := func(text string) { t.Log(text) }
	w := wire.Open(wire.Env{Dir: p.Path("work"), Now: time.Now, Version: "test", Getenv: p.Getenv, Say: say}, project)
	fromClient, in := io.Pipe()
	out, toClient := io.Pipe()
	o.Session.Ephemeral = true
	c := &client{Place: p, done: make(chan error, 1), end: func() { in.Close() }}
	go func() {
		c.done <- Serve(context.Background(), &console.Console{Stdin: fromClient, Stdout: toClient, Say: say}, w, o)
		toClient.Close()
	}()
	other := sdk.NewClient(&sdk.Implementation{Name: "other", Version: "1"}, nil)
	//lint:ignore SA1019 clients of older revisions have roots
	other.AddRoots(&sdk.Root{URI: "file:///", Name: "everything"})
	session, err := other.Connect(t.Context(), &sdk.IOTransport{Reader: out, Writer: in}, nil)
	if err != nil {
		t.Fatal(err)
	}
	c.ClientSession = session
	t.Cleanup(func() {
		in.Close()
		select {
		case <-c.done:
		case <-time.After(time.Minute):
			t.Error("the server does not end")
		}
		w.Close()
	})
	return c
}

// call calls a tool and returns its text.
func (c *client) call(name string, input map[string]any) (*sdk.CallToolResult, string) {
	c.T.Helper()
	r, err := c.CallTool(c.T.Context(), &sdk.CallToolParams{Name: name, Arguments: input})
	if err != nil {
		c.T.Fatalf("%s %v: %v", name, input, err)
	}
	var b strings.Builder
	for _, part := range r.Content {
		if text, ok := part.(*sdk.TextContent); ok {
			b.WriteString(text.Text)
		}
	}
	return r, b.String()
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// TestAttack checks that another client has no more rights than a model: calls that need
// approval are denied, naming the rule that would allow them.
//
// Proves MCP-50.
func TestAttack(t *testing.T) {
	c := open(t, ServeOptions{Access: wire.AccessSpec{Mode: "acceptEdits", Allow: []string{"Write", "Bash(echo *)"}}})
	outside, work := c.Path("outside"), c.Path("work")
	if err := os.Symlink(outside, filepath.Join(work, "link")); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name  string
		tool  string
		input map[string]any
		want  string
	}{
		{"outside", "Edit", map[string]any{"file_path": outside + "/secret", "old_string": "outside", "new_string": "x"}, ""},
		{"through a link", "Edit", map[string]any{"file_path": "link/secret", "old_string": "outside", "new_string": "x"}, ""},
		{"a hook of git", "Write", map[string]any{"file_path": ".git/hooks/pre-commit", "content": "#!/bin/sh\ntouch owned"}, ""},
		{"settings of git", "Write", map[string]any{"file_path": ".git/config", "content": "[core]\n\tfsmonitor = touch owned"}, ""},
		{"settings of adze", "Write", map[string]any{"file_path": ".adze/settings.json", "content": "{}"}, ""},
		{"adze's own settings", "Write", map[string]any{"file_path": c.Path("home/.adze/settings.json"), "content": "{}"}, ""},
		{"a denied call", "Read", map[string]any{"file_path": "private/key"}, "den"},
		{"the same by a command", "Bash", map[string]any{"command": "cat private/key"}, ""},
		{"a denied command", "Bash", map[string]any{"command": "curl http://127.0.0.1:1"}, ""},
		{"a command that writes", "Bash", map[string]any{"command": "make made"}, "--allowed-tools 'Bash(make made:*)'"},
		{"hidden in an allowed one", "Bash", map[string]any{"command": "echo $(make made)"}, ""},
		{"after an allowed one", "Bash", map[string]any{"command": "echo a; make made"}, ""},
		{"into a file outside", "Bash", map[string]any{"command": "echo a > " + outside + "/made"}, ""},
		{"a file replaced without a look", "Write", map[string]any{"file_path": "a.txt", "content": "x"}, "ead"},
		{"the wrong input", "Read", map[string]any{"path": 17}, ""},
		{"a page of this machine", "WebFetch", map[string]any{"url": "http://127.0.0.1:1/", "prompt": "x"}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, text := c.call(tt.tool, tt.input)
			if !r.IsError || !strings.Contains(text, tt.want) || strings.Contains(text, "hidden words") || r.StructuredContent != nil {
				t.Errorf("error %v: %s", r.IsError, text)
			}
		})
	}
	for _, made := range []string{"work/made", "outside/made", "work/owned", "work/.git/hooks/pre-commit", "work/.adze/settings.json"} {
		if exists(c.Path(made)) {
			t.Errorf("%s was made", made)
		}
	}
	if data, err := os.ReadFile(outside + "/secret"); string(data) != "outside" {
		t.Errorf("%q, %v", data, err)
	}
	if _, text := c.call("Grep", map[string]any{"pattern": "hidden"}); strings.Contains(text, "hidden words") {
		t.Error("a search shows denied tools")
	}
	if r, text := c.call("Bash", map[string]any{"command": "echo still here"}); r.IsError || !strings.Contains(text, "still here") {
		t.Errorf("after all that: %s", text)
	}
}

// TestWork checks that a file that was read can be changed by a later call, that pictures are
// returned as such, and that results with a schema are structured.
func TestWork(t *testing.T) {
	c := open(t, ServeOptions{Access: wire.AccessSpec{Mode: "acceptEdits"}})
	if r, text := c.call("Read", map[string]any{"file_path": "a.txt"}); r.IsError || !strings.Contains(text, "two") || r.StructuredContent == nil {
		t.Errorf("%s", text)
	}
	if r, text := c.call("Edit", map[string]any{"file_path": "a.txt", "old_string": "two", "new_string": "three"}); r.IsError {
		t.Errorf("%s", text)
	}
	if data, err := os.ReadFile(c.Path("work/a.txt")); string(data) != "one\nthree\n" {
		t.Errorf("%q, %v", data, err)
	}
	f, err := os.Create(c.Path("work/p.png"))
	if err != nil {
		t.Fatal(err)
	}
	if err := png.Encode(f, image.NewRGBA(image.Rect(0, 0, 2, 2))); err != nil {
		t.Fatal(err)
	}
	f.Close()
	r, text := c.call("Read", map[string]any{"file_path": "p.png"})
	if r.IsError || !slices.ContainsFunc(r.Content, func(part sdk.Content) bool { p, ok := part.(*sdk.ImageContent); return ok && p.MIMEType == "image/png" }) {
		t.Errorf("%s %v", text, r.Content)
	}
}

// TestOffers checks that the tool annotations hold for their calls, and that --tools narrows
// the list.
func TestOffers(t *testing.T) {
	c := open(t, ServeOptions{})
	list, err := c.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, tl := range list.Tools {
		hints := "depends"
		if a := tl.Annotations; a != nil {
			hints = fmt.Sprintf("read-only %v, open world %v", a.ReadOnlyHint, *a.OpenWorldHint)
		}
		got = append(got, fmt.Sprintf("%s: %s, structured %v", tl.Name, hints, tl.OutputSchema != nil))
	}
	want := []string{
		"Bash: depends, structured true", "Edit: read-only false, open world false, structured true",
		"Glob: read-only true, open world false, structured true", "Grep: read-only true, open world false, structured true",
		"NotebookEdit: read-only false, open world false, structured true", "Read: read-only true, open world false, structured true",
		"TaskOutput: depends, structured true", "TaskStop: depends, structured true",
		"WebFetch: read-only true, open world true, structured true", "WebSearch: read-only true, open world true, structured true",
		"Write: read-only false, open world false, structured true",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s", strings.Join(got, "\n"))
	}
	c = open(t, ServeOptions{Access: wire.AccessSpec{Chosen: true, Tools: []string{"Read", "Glob"}}})
	if list, err := c.ListTools(t.Context(), nil); err != nil || len(list.Tools) != 2 {
		t.Errorf("%v, %v", list, err)
	}
	if _, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: "Bash", Arguments: map[string]any{"command": "ls"}}); err == nil {
		t.Error("a tool that is not offered was called")
	}
}

// TestReadTwice checks that a file is sent again on a second read, since another client may be
// asking.
func TestReadTwice(t *testing.T) {
	c := open(t, ServeOptions{})
	for range 2 {
		if r, text := c.call("Read", map[string]any{"file_path": "a.txt"}); r.IsError || !strings.Contains(text, "two") {
			t.Error(text)
		}
	}
}

// TestFacts checks that the facts announced to clients hold for any call.
func TestFacts(t *testing.T) {
	p := apptest.New(t)
	project, _ := settings.Open(settings.Source{Dir: p.Path("work"), Managed: p.Path("etc"), Getenv: p.Getenv}) // ok: see open
	w := wire.Open(wire.Env{Dir: p.Path("work"), Now: time.Now, Getenv: p.Getenv, Say: func(string) {}}, project)
	defer w.Close()
	conv, err := w.Converse(t.Context(), wire.Spec{Calls: wire.FromClient, Session: wire.SessionSpec{Ephemeral: true}})
	if err != nil {
		t.Fatal(err)
	}
	defer conv.Close()
	inputs := map[string][]string{
		"Read":         {`{"file_path":"a"}`, `{"file_path":"/etc/passwd","offset":3}`},
		"Glob":         {`{"pattern":"*"}`, `{"pattern":"/**"}`},
		"Grep":         {`{"pattern":"a"}`, `{"pattern":"a","path":"/","multiline":true}`},
		"Edit":         {`{"file_path":"a","old_string":"b","new_string":"c"}`, `{"file_path":"a","old_string":"","new_string":"c"}`},
		"Write":        {`{"file_path":"a","content":""}`},
		"NotebookEdit": {`{"notebook_path":"/a.ipynb","new_source":"x","cell_id":"1"}`},
		"WebFetch":     {`{"url":"https://example.com/","prompt":"x"}`},
		"WebSearch":    {`{"query":"weather"}`},
	}
	for _, tl := range conv.Session.Pool().Callable() {
		name, told := tl.Spec().Name, tl.Traits().Served
		if told == nil || !told.Fixed {
			continue
		}
		if len(inputs[name]) == 0 {
			t.Errorf("%s: no inputs", name)
		}
		for _, input := range inputs[name] {
			call, err := tl.Bind(json.RawMessage(input))
			if err != nil {
				t.Fatalf("%s %s: %v", name, input, err)
			}
			if f := tool.FactsOf(call); f.ReadOnly != told.ReadOnly || f.OpenWorld && !told.OpenWorld {
				t.Errorf("%s %s: %+v, told %+v", name, input, f, *told)
			}
		}
		delete(inputs, name)
	}
	for name := range inputs {
		t.Errorf("%s is not offered", name)
	}
}
