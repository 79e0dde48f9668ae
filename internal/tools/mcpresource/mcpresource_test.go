package mcpresource

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"adze/internal/mcp"
	"adze/internal/mcp/content"
	"adze/internal/mcp/roster"
	"adze/internal/msg"
	"adze/internal/permission"
	"adze/internal/permission/rule"
	"adze/internal/tool"
	"adze/internal/tool/tooltest"
)

// fakes are servers with predefined answers.
type fakes struct {
	list []mcp.Status
	read []string
}

func (f *fakes) List() []mcp.Status { return f.list }

func (f *fakes) WithResources() (names []string) {
	for _, s := range f.list {
		if s.State == mcp.Connected && s.About.Resources {
			names = append(names, s.Name)
		}
	}
	return names
}

func (f *fakes) Resources(_ context.Context, server string) ([]mcp.Resource, error) {
	switch server {
	case "broken":
		return nil, errors.New("the server broken has exited")
	case "many":
		var all []mcp.Resource
		for i := range 60 {
			all = append(all, mcp.Resource{URI: fmt.Sprintf("x://%d", i)})
		}
		return all, nil
	}
	return []mcp.Resource{
		{URI: "file:///a.txt", Name: "a.txt", Title: "The first", MIME: "text/plain", Size: 2048, Description: "what\nit is"},
		{URI: "file:///b", Name: "b"},
	}, nil
}

func (f *fakes) Templates(_ context.Context, server string) ([]mcp.Resource, error) {
	if server != "db" {
		return nil, errors.New("method not found")
	}
	return []mcp.Resource{{URI: "users://{id}", Name: "user"}}, nil
}

func (f *fakes) Read(_ context.Context, server, uri string) ([]mcp.Content, error) {
	f.read = append(f.read, server+" "+uri)
	switch uri {
	case "file:///a.txt":
		return []mcp.Content{{Kind: mcp.ResourceText, Text: "hello", URI: uri, MIME: "text/plain"}}, nil
	case "file:///blob":
		return []mcp.Content{{Kind: mcp.ResourceBlob, Data: []byte("%PDF-1.7"), URI: uri, MIME: "text/plain"}}, nil
	case "file:///long":
		return []mcp.Content{{Kind: mcp.ResourceText, Text: strings.Repeat("a line\n", 100_000), URI: uri}}, nil
	case "file:///two":
		return []mcp.Content{{Kind: mcp.ResourceText, Text: "one", URI: "file:///1"}, {Kind: mcp.ResourceText, Text: "two", URI: "file:///2"}}, nil
	case "file:///none":
		return nil, nil
	}
	return nil, errors.New("no resource " + uri)
}

func status(name string, state mcp.State, resources bool) mcp.Status {
	return mcp.Status{Entry: &roster.Entry{Name: name}, State: state, About: mcp.ServerInfo{Resources: resources}}
}

func newConfig(names ...string) (Config, *fakes) {
	f := &fakes{list: []mcp.Status{status("plain", mcp.Connected, false), status("away", mcp.Failed, true), status("secret", mcp.Connected, true)}}
	for _, name := range names {
		f.list = append(f.list, status(name, mcp.Connected, true))
	}
	return Config{
		Servers: f, Denied: func(server string) bool { return server == "secret" },
		Content: content.Config{Save: func(name, ext string, r io.Reader) (string, error) {
			_, err := io.Copy(io.Discard, r)
			return "/results/" + name + "." + ext, err
		}},
	}, f
}

func call(t *testing.T, tl tool.Tool, input string) (string, error) {
	t.Helper()
	c, err := tl.Bind(json.RawMessage(input))
	if err != nil {
		return "", err
	}
	r, err := c.Run(t.Context(), func(tool.Progress) {})
	return msg.PlainText(r.Parts), err
}

func TestContract(t *testing.T) {
	c, _ := newConfig("db")
	tooltest.Run(t, NewList(c), tooltest.Cases{Input: ListInput{}, Dir: t.TempDir(), Good: map[string]string{"all": `{}`, "one": `{"server":"db"}`}})
	tooltest.Run(t, NewRead(c), tooltest.Cases{Input: ReadInput{}, Dir: t.TempDir(), Good: map[string]string{
		"text": `{"server":"db","uri":"file:///a.txt"}`, "blob": `{"server":"db","uri":"file:///blob"}`, "long": `{"server":"db","uri":"file:///long"}`,
		"none": `{"server":"db","uri":"file:///none"}`, "two": `{"server":"db","uri":"file:///two"}`,
	}})
}

// Proves MCP-46, X-019.
func TestList(t *testing.T) {
	const db = "Server db: 2 resources, 1 template\n- file:///a.txt The first (text/plain, 2.0 KB): what it is\n- file:///b b\n- users://{id} user (template: replace the names in braces)"
	tests := []struct{ name, servers, input, want, err string }{
		{"one", "db", `{"server":"db"}`, db, ""},
		{"all", "db broken", `{}`, db + "\nServer broken: its resources could not be listed: the server broken has exited", ""},
		{"many", "db many", `{}`, "… 10 more; name the server to list all", ""},
		{"all of many", "many", `{"server":"many"}`, "x://59", ""},
		{"unknown", "db", `{"server":"bd"}`, "", "no server bd; servers with resources: db; did you mean db?"},
		{"without resources", "db", `{"server":"plain"}`, "", "the server plain has no resources; servers with resources: db"},
		{"not connected", "db", `{"server":"away"}`, "", "the server away is not connected (failed)"},
		{"denied", "db", `{"server":"secret"}`, "", "a permission rule denies the server secret"},
		{"none", "", `{}`, "", "no connected MCP server has resources"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, _ := newConfig(strings.Fields(tt.servers)...)
			got, err := call(t, NewList(c), tt.input)
			if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) || !strings.Contains(got, tt.want) || strings.Contains(got, "secret") {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
}

// Proves MCP-46, X-019.
func TestRead(t *testing.T) {
	tests := []struct{ name, input, want, err string }{
		{"text", `{"server":"db","uri":"file:///a.txt"}`, "The server db returned:\nhello", ""},
		{"two", `{"server":"db","uri":"file:///two"}`, "Resource file:///1:\none\nResource file:///2:\ntwo", ""},
		{"blob", `{"server":"db","uri":"file:///blob"}`, "[Resource file:///blob (8 bytes, text/plain) is in /results/mcp-db-file----blob-", ""},
		{"long", `{"server":"db","uri":"file:///long"}`, "All of it is in /results/", ""},
		{"empty", `{"server":"db","uri":"file:///none"}`, "an empty resource", ""},
		{"missing", `{"server":"db","uri":"file:///x"}`, "", "no resource file:///x"},
		{"unknown server", `{"server":"x","uri":"file:///x"}`, "", "no server x; servers with resources: db"},
		{"denied", `{"server":"secret","uri":"file:///x"}`, "", "a permission rule denies the server secret"},
		{"no URI", `{"server":"db","uri":" "}`, "", "name the server and the URI"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, f := newConfig("db")
			var told []string
			c.Read = func(server, uri string) { told = append(told, server+" "+uri) }
			got, err := call(t, NewRead(c), tt.input)
			if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) || !strings.Contains(got, tt.want) {
				t.Errorf("got %.300q, %v", got, err)
			}
			if err == nil {
				if diff := cmp.Diff(f.read, told); diff != "" {
					t.Error(diff)
				}
			}
		})
	}
}

// TestEnabled checks that the tools are offered while a connected server has resources.
func TestEnabled(t *testing.T) {
	with, _ := newConfig("db")
	without, _ := newConfig()
	for _, c := range []Config{without, {}} {
		for _, tl := range []tool.Tool{NewList(c), NewRead(c)} {
			if tl.Traits().Enabled() == nil {
				t.Error("offered without resources")
			}
		}
	}
	if err := NewRead(with).Traits().Enabled(); err != nil {
		t.Error(err)
	}
}

// TestPermission checks that reading a resource is a request to a server: it needs
// confirmation, and the server's rules apply.
func TestPermission(t *testing.T) {
	tests := []struct {
		mode permission.Mode
		rule string // rule with its behavior
		want permission.Behavior
	}{
		{permission.Default, "", permission.Ask},
		{permission.AcceptEdits, "", permission.Ask},
		{permission.Plan, "", permission.Ask},
		{permission.DontAsk, "", permission.Deny},
		{permission.Bypass, "", permission.Allow},
		{permission.Default, "allow ReadMcpResource", permission.Allow},
		{permission.Default, "allow ReadMcpResourceTool", permission.Allow},
		{permission.Default, "allow mcp__db", permission.Allow},
		{permission.Default, "allow mcp__db__ReadMcpResource", permission.Allow},
		{permission.Default, "allow mcp__other", permission.Ask},
		{permission.Bypass, "deny mcp__db", permission.Deny},
		{permission.Bypass, "deny mcp__db__*", permission.Deny},
		{permission.Bypass, "ask mcp__db", permission.Ask},
	}
	c, _ := newConfig("db")
	tl := NewRead(c)
	bound, err := tl.Bind(json.RawMessage(`{"server":"db","uri":"x://y"}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range tests {
		cfg := permission.Config{Mode: tt.mode, Dir: "/work"}
		if behavior, text, ok := strings.Cut(tt.rule, " "); ok {
			r, err := rule.Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			r.Behavior = permission.Behavior(behavior)
			cfg.Rules = []rule.Rule{r}
		}
		p := permission.Compile(cfg)
		d := permission.Decide(p, permission.FactsOf(p, tl, bound))
		if d.Behavior != tt.want {
			t.Errorf("%s with %q: %s", tt.mode, tt.rule, d.Behavior)
		}
		if len(d.Suggestions) > 0 && d.Suggestions[0].Rules[0].String() != "mcp__db__ReadMcpResource" {
			t.Errorf("always would mean %v", d.Suggestions)
		}
	}
	list, err := NewList(c).Bind(json.RawMessage(`{}`))
	if err != nil {
		t.Fatal(err)
	}
	p := permission.Compile(permission.Config{Dir: "/work"})
	if d := permission.Decide(p, permission.FactsOf(p, NewList(c), list)); d.Behavior != permission.Allow {
		t.Errorf("listing: %s", d.Behavior)
	}
}

func TestUpdates(t *testing.T) {
	var u Updates
	var mu sync.Mutex
	subscribed := make(chan string, 200)
	u.Subscribe = func(_ context.Context, server, uri string) error {
		mu.Lock()
		defer mu.Unlock()
		subscribed <- server + " " + uri
		return nil
	}
	u.Updated("db", "a") // never read before
	if got := u.News(); got != "" {
		t.Errorf("told %q", got)
	}
	u.Read("db", "a")
	u.Read("db", "a")
	if got := <-subscribed; got != "db a" {
		t.Errorf("subscribed to %q", got)
	}
	for range 1000 {
		u.Updated("db", "a")
	}
	const want = "Resources that you read have changed since: a of server db. Read them again with ReadMcpResource if they matter."
	if got := u.News(); got != want {
		t.Errorf("told %q", got)
	}
	if got := u.News(); got != "" {
		t.Errorf("told again: %q", got)
	}
	u.Updated("db", "a")
	u.Read("db", "a")
	if got := u.News(); got != "" {
		t.Errorf("notice about a resource read again: %q", got)
	}
	for i := range 3 * maxWatched {
		u.Read("db", fmt.Sprint(i))
		u.Updated("db", fmt.Sprint(i))
	}
	if got := u.News(); !strings.Contains(got, "and 94 others") || len(got) > 1000 {
		t.Errorf("told %q", got)
	}
}
