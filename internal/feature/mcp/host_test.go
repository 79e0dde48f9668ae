package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/google/go-cmp/cmp"

	"adze/internal/mcp"
	"adze/internal/mcp/hosted"
	"adze/internal/mcp/roster"
	"adze/internal/platform/net/transport"
	"adze/internal/settings"
)

// fleet returns a place's servers, closed at the end of the test.
func (p *place) fleet(src settings.Source, flags Flags) *Manager {
	p.T.Helper()
	f, err := Open(Config{
		Project: p.open(src), Flags: flags, Dir: p.Path("work"), Version: "1",
		Environ: func() []string { return nil }, Network: func() transport.Config { return transport.Config{} }, Say: func(string) {},
	})
	if err != nil {
		p.T.Fatal(err)
	}
	p.T.Cleanup(f.Close)
	return f
}

// answer simulates a server with the given tools.
func answer(data []byte, tools ...string) []byte {
	var m struct {
		ID     json.RawMessage
		Method string
	}
	if json.Unmarshal(data, &m) != nil || m.ID == nil {
		return nil
	}
	result := `{}`
	switch m.Method {
	case "initialize":
		result = `{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}`
	case "tools/list":
		var list []string
		for _, name := range tools {
			list = append(list, fmt.Sprintf(`{"name":%q,"inputSchema":{"type":"object"}}`, name))
		}
		result = `{"tools":[` + strings.Join(list, ",") + `]}`
	}
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
}

func toolsOf(f *Manager) (names []string) {
	for _, o := range f.Tools() {
		names = append(names, o.Server.Name+" "+o.Tool.Name)
	}
	return names
}

// TestEditor checks that the editor with the directory open becomes a server on request: with a
// flag, or at a terminal with a setting. The model gets two of its tools.
//
// Proves MCP-51, MCP-10.
func TestEditor(t *testing.T) {
	editor := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Claude-Code-Ide-Authorization") != "t0ken" {
			http.Error(w, "no", http.StatusUnauthorized)
			return
		}
		c, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{"mcp"}})
		if err != nil {
			return
		}
		defer c.CloseNow()
		for {
			_, data, err := c.Read(r.Context())
			if err != nil {
				return
			}
			if said := answer(data, "openDiff", "getDiagnostics", "executeCode"); said != nil {
				c.Write(r.Context(), websocket.MessageText, said)
			}
		}
	}))
	defer editor.Close()
	at, err := url.Parse(editor.URL)
	if err != nil {
		t.Fatal(err)
	}
	p := newPlace(t)
	p.Vars["CLAUDE_CONFIG_DIR"] = p.Path("other")
	lock := fmt.Sprintf(`{"pid":%d,"workspaceFolders":[%q],"transport":"ws","authToken":"t0ken"}`, os.Getpid(), p.Path("work"))
	p.Write("other/ide/"+at.Port()+".lock", lock)
	const auto = `{"autoConnectIde":true}`
	for _, tt := range []struct {
		name, settings string
		flags          Flags
		want           []string
	}{
		{"nothing said", "", Flags{Terminal: true}, nil},
		{"flag", "", Flags{Editor: true}, []string{"ide getDiagnostics", "ide executeCode"}},
		{"setting at a terminal", auto, Flags{Terminal: true}, []string{"ide getDiagnostics", "ide executeCode"}},
		{"setting without a terminal", auto, Flags{}, nil},
		{"strict", "", Flags{Editor: true, Strict: true}, []string{"ide getDiagnostics", "ide executeCode"}},
	} {
		f := p.fleet(settings.Source{Inline: tt.settings}, tt.flags)
		f.Start()
		f.Wait(t.Context())
		if diff := cmp.Diff(tt.want, toolsOf(f)); diff != "" {
			t.Errorf("%s: %s %v", tt.name, diff, f.List())
		}
	}
	p.Write("work/sub/.adze/settings.json", auto)
	p.trust()
	if got := p.list(settings.Source{}, Flags{Terminal: true}); strings.Contains(got, "ide=") {
		t.Errorf("a project connects to the editor: %s", got)
	}
}

// TestGuests checks that host servers are added and removed by requests without affecting
// others, and that managed lists apply to them.
func TestGuests(t *testing.T) {
	p := newPlace(t)
	f := p.fleet(settings.Source{}, Flags{Configs: []string{`{"mcpServers":{"own":{"type":"sdk","name":"own"},"other":{"command":"/no/such/program"}}}`}})
	f.Start()
	f.Wait(t.Context())
	f.host.Connect(func(_ context.Context, server string, message json.RawMessage) (json.RawMessage, error) {
		return answer(message, "forecast of "+server), nil
	}, map[string]hosted.Manifest{})
	names := func() (list []string) {
		for _, st := range f.List() {
			list = append(list, st.Given+" "+string(st.State))
		}
		slices.Sort(list)
		return list
	}
	if diff := cmp.Diff([]string{"other failed"}, names()); diff != "" {
		t.Error(diff)
	}
	set := func(servers map[string]json.RawMessage) (added, removed []string, errs map[string]error) {
		added, removed, errs, err := f.receiveGuests(t.Context(), f.guestsOf(servers))
		if err != nil {
			t.Fatal(err)
		}
		return added, removed, errs
	}
	own := json.RawMessage(`{"type":"sdk","name":"own","timeout":5000,"tools":[{"name":"a","permission_policy":"always_deny"},{"name":"b","permission_policy":"always_ask"},{"name":"c","permission_policy":"always_allow"},{"name":"d","permission_policy":"new"},{"name":"e"}]}`)
	added, _, errs := set(map[string]json.RawMessage{"own": own, "workspace": json.RawMessage(`{"type":"sdk"}`), "": json.RawMessage(`{"type":"sdk"}`), "bad": json.RawMessage(`7`), "odd": json.RawMessage(`{"type":"sdk","tools":{"a":"always_deny"}}`)})
	if diff := cmp.Diff([]string{"bad", "odd", "own", "workspace"}, slices.Sorted(slices.Values(added))); diff != "" {
		t.Error(diff)
	}
	if errs[""] == nil || errs["bad"] == nil || errs["odd"] == nil || errs["own"] != nil || errs["workspace"] != nil {
		t.Errorf("%v", errs)
	}
	if diff := cmp.Diff([]string{"bad failed", "odd failed", "other failed", "own connected", "workspace connected"}, names()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"own forecast of own", "workspace forecast of workspace"}, toolsOf(f)); diff != "" {
		t.Error(diff)
	}
	g := f.guestsOf(map[string]json.RawMessage{"own": own})[0]
	if g.Timeout.Seconds() != 5 || !slices.Equal(g.deny, []string{"a"}) || !slices.Equal(g.ask, []string{"b", "d"}) {
		t.Errorf("%+v", g)
	}
	if err := (&Client{Manager: f}).Host(hosted.Servers{Names: []string{"x"}, Configs: map[string]json.RawMessage{"x": json.RawMessage(`7`)}}); err == nil {
		t.Error("a configuration that cannot be read was taken")
	}
	if err := (*Client)(nil).Host(hosted.Servers{Names: []string{"x"}}); err == nil {
		t.Error("a server was taken without servers")
	}
	_, removed, _ := set(map[string]json.RawMessage{"own": own})
	if diff := cmp.Diff([]string{"bad", "odd", "workspace"}, slices.Sorted(slices.Values(removed))); diff != "" {
		t.Error(diff)
	}
	for f.Receive("workspace", json.RawMessage(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)) == nil {
		time.Sleep(time.Millisecond) // disconnects soon
	}

	p.Write("etc/managed-settings.json", `{"deniedMcpServers":[{"serverName":"own"}]}`)
	f = p.fleet(settings.Source{}, Flags{})
	_, _, errs = set(map[string]json.RawMessage{"own": own})
	if errs["own"] == nil || len(toolsOf(f)) > 0 {
		t.Errorf("a server denied by policy is used: %v", f.List())
	}
	p.Write("etc/managed-mcp.json", `{"mcpServers":{}}`)
	if f = p.fleet(settings.Source{}, Flags{}); len(f.List()) > 0 {
		t.Errorf("%v", f.List())
	}
	set(map[string]json.RawMessage{"own": own})
	if list := f.List(); slices.ContainsFunc(list, func(st mcp.Status) bool { return st.Type == roster.Host }) {
		t.Errorf("alongside policy servers: %v", list)
	}
}
