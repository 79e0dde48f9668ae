package deferred

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"adze/internal/mcp"
	"adze/internal/mcp/roster"
	"adze/internal/prompt"
	"adze/internal/settings"
	"adze/internal/tool"
)

// A dialer behaves according to the server's name.
type dialer struct{}

func (dialer) Dial(ctx context.Context, e *roster.Entry, _ mcp.Client) (mcp.Conn, error) {
	switch e.Name {
	case "slow":
		<-ctx.Done()
		return nil, ctx.Err()
	case "login":
		return nil, &mcp.AuthError{Server: e.Name, Err: errors.New("401")}
	}
	return nil, errors.New("no such program\nat all")
}

func newExtras(t *testing.T, change func(*Config)) *Extras {
	t.Helper()
	c := Config{Settings: func() settings.Extra { return settings.Extra{} }, Say: func(string) {}}
	if change != nil {
		change(&c)
	}
	x := New(c)
	t.Cleanup(x.Close)
	return x
}

// TestServersThatAreNotConnected checks the announcements for servers that are not connected,
// and for their tools.
//
// Proves XTR-02, DEF-04.
func TestServersThatAreNotConnected(t *testing.T) {
	servers := mcp.New(mcp.Config{Dialer: dialer{}})
	t.Cleanup(servers.Close)
	x := newExtras(t, func(c *Config) { c.Servers = servers })
	before := x.told(&tool.Pool{}, "Execute")
	changed := make(chan struct{}, 100)
	t.Cleanup(servers.Watch(func() { changed <- struct{}{} }))
	servers.Start([]*roster.Entry{
		{Name: "slow", Type: roster.Stdio}, {Name: "login", Type: roster.HTTP}, {Name: "bad", Type: roster.Stdio},
		{Name: "off", Type: roster.Stdio, Disabled: true}, {Name: "new", Type: roster.Stdio, Unapproved: true}, {Name: "bad_too", Type: roster.Stdio, Problem: errors.New("no command")},
	})
	settled := func() bool {
		for _, s := range servers.List() {
			if s.State == mcp.Pending && s.Name != "slow" {
				return false
			}
		}
		return true
	}
	for deadline := time.After(time.Minute); !settled(); {
		select {
		case <-changed:
		case <-deadline:
			t.Fatal("the servers did not settle")
		}
	}
	for _, tt := range []struct{ name, want string }{
		{"mcp__slow__x", "The server slow is still connecting: do something else, and try again later."},
		{"mcp__login__x", "The server login is not connected: the user has to sign in first, with /mcp."},
		{"mcp__bad__x", "The server bad is not connected: no such program at all."},
		{"mcp__bad_too__x", "The server bad_too is not connected: no command."},
		{"mcp__off__x", "The server off is switched off; the user can switch it on with /mcp."},
		{"mcp__new__x", "The server new waits for the user's approval."},
		{"mcp__unknown__x", ""},
		{"slow", ""},
	} {
		if got := x.missing(tt.name); got != tt.want {
			t.Errorf("%s: %q", tt.name, got)
		}
	}
	want := []prompt.DeferredGroup{
		{Server: "slow", State: prompt.Connecting}, {Server: "login", State: prompt.WantsLogin},
		{Server: "bad", State: prompt.Unavailable}, {Server: "bad_too", State: prompt.Unavailable},
	}
	now := x.told(&tool.Pool{}, "Execute")
	if diff := cmp.Diff(want, now.Groups); diff != "" {
		t.Errorf("groups (-want +got):\n%s", diff)
	}
	if now == before || x.told(&tool.Pool{}, "Execute") != now {
		t.Error("the value is not kept until something changes, or not renewed then")
	}
	if diff := cmp.Diff([]string{"slow"}, x.Pending()); diff != "" {
		t.Errorf("pending (-want +got):\n%s", diff)
	}
}

// TestKept checks that discovered tools and the deferral state are stored with the session.
//
// Proves PRE-04, DEF-06.
func TestKept(t *testing.T) {
	notes := map[string]json.RawMessage{}
	auto := func(c *Config) {
		c.Settings = func() settings.Extra { return settings.Extra{Mode: settings.Value{Text: "auto:1"}} }
		c.Last = notes
		c.Note = func(kind string, fields map[string]any) {
			notes[kind], _ = json.Marshal(fields) // ok: cannot fail, only strings
		}
	}
	x := newExtras(t, auto)
	x.Save()
	if len(notes) > 0 {
		t.Errorf("kept %v though nothing happened", notes)
	}
	x.Discovered.Add("CronCreate")
	x.Save()
	many := tool.New(tool.Def{Name: "Many", Doc: strings.Repeat("x", 100_000), Schema: json.RawMessage(`{"type":"object"}`)},
		func(context.Context, struct{}, func(tool.Progress)) (tool.Result, error) { return tool.Result{}, nil })
	if !x.policy.Defers([]tool.Tool{many}) {
		t.Fatal("much is not deferred")
	}
	resumed := newExtras(t, auto)
	if !resumed.Discovered.Has("CronCreate") || !resumed.policy.Defers(nil) {
		t.Errorf("a resumed session begins anew: %s", notes)
	}
}

// TestWayIn checks that the tools that find others are core, and small.
//
// Proves DEF-02.
func TestWayIn(t *testing.T) {
	var size int
	for _, tl := range (*Extras)(nil).Tools() {
		if !tl.Traits().Core {
			t.Errorf("%s is deferred", tl.Spec().Name)
		}
		s := tl.Spec()
		size += len(s.Name) + len(s.Description) + len(s.Schema)
	}
	if size > 1000 {
		t.Errorf("the tools that look up others are %d bytes", size)
	}
}
