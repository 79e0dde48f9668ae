package mcp

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"adze/internal/app/apptest"
	"adze/internal/mcp/roster"
	"adze/internal/platform/fs/scope"
	"adze/internal/platform/fs/trust"
	"adze/internal/settings"
	"adze/internal/ui/console"
)

// A place is a user's machine with a repository and a working directory in it.
type place struct{ *apptest.Place }

func newPlace(t *testing.T) *place {
	p := &place{apptest.New(t)}
	p.Write("work/.git/HEAD", "ref: refs/heads/main")
	p.Write("work/sub/dir/file", "")
	return p
}

func (p *place) open(src settings.Source) *settings.Project {
	src.Dir, src.Managed, src.Getenv = p.Path("work/sub/dir"), p.Path("etc"), p.Getenv
	project, _ := settings.Open(src) // ok: the tests check the resulting settings
	return project
}

func (p *place) trust() {
	p.T.Helper()
	project := p.open(settings.Source{})
	if err := project.Trust.Add(p.T.Context(), project.Trust.Offer()); err != nil {
		p.T.Fatal(err)
	}
}

func server(name, command string) string {
	return fmt.Sprintf(`{"mcpServers":{%q:{"command":%q}}}`, name, command)
}

// list formats the servers on one line.
func (p *place) list(src settings.Source, flags Flags) string {
	p.T.Helper()
	r, err := Load(p.open(src), flags)
	if err != nil {
		return "error: " + err.Error()
	}
	var parts []string
	for _, e := range r.Entries {
		text := e.Name + "=" + string(e.Scope) + ":" + e.Command
		switch {
		case e.Disabled:
			text += "-"
		case e.Unapproved:
			text += "?"
		case e.Problem != nil:
			text += "!"
		}
		parts = append(parts, text)
	}
	for _, x := range r.Problems {
		parts = append(parts, "("+strings.ReplaceAll(x.String(), p.Root, "")+")")
	}
	return strings.Join(parts, " ")
}

// Proves MCP-01.
func TestSources(t *testing.T) {
	p := newPlace(t)
	check := func(what, want string, flags Flags) {
		t.Helper()
		if got := p.list(settings.Source{}, flags); got != want {
			t.Errorf("%s: %s\nwant %s", what, got, want)
		}
	}
	check("nothing", "", Flags{})
	p.Write("home/.claude.json", fmt.Sprintf(`{"mcpServers":{"s":{"command":"1"}},"numStartups":3,"projects":{%q:{"mcpServers":{}},"/elsewhere":{"mcpServers":{"x":{"command":"x"}}}}}`, p.Path("work")))
	check("the other program's", "s=user:1", Flags{})
	p.Write("home/.adze/mcp.json", server("s", "2"))
	check("the user's file", "s=user:2", Flags{})
	p.Write("home/.adze/settings.json", server("s", "3"))
	check("the user's settings", "s=user:3", Flags{})
	p.Write("work/.mcp.json", server("s", "4"))
	p.trust()
	check("the project's", "s=project:4", Flags{})
	p.Write("work/sub/.mcp.json", server("s", "5"))
	p.trust()
	check("nearer", "s=project:5", Flags{})
	p.Write("work/.adze/settings.json", server("s", "6"))
	p.trust()
	check("the project's settings", "s=project:6", Flags{})
	p.Write("home/.claude.json", fmt.Sprintf(`{"projects":{%q:{"mcpServers":{"s":{"command":"7"}}}}}`, p.Path("work")))
	check("local, of the other program", "s=local:7", Flags{})
	local := LocalFile(p.open(settings.Source{}))
	p.Write(strings.TrimPrefix(local, p.Root+"/"), server("s", "8"))
	check("local", "s=local:8", Flags{})
	p.Write("flag.json", server("s", "9"))
	check("the flag", "s=flag:9", Flags{Configs: []string{p.Path("flag.json")}})
	check("the flag, as JSON", "s=flag:10", Flags{Configs: []string{p.Path("flag.json"), server("s", "10")}})
	check("strict", "t=flag:1", Flags{Configs: []string{server("t", "1")}, Strict: true})
	check("strict, nothing", "", Flags{Strict: true})
	p.Write("etc/managed-settings.json", server("s", "11"))
	check("managed", "s=managed:11", Flags{Configs: []string{server("s", "10")}})
	p.Write("etc/managed-mcp.json", server("m", "12"))
	check("managed alone", "m=managed:12 (--mcp-config: ignored: an administrator manages the MCP servers)", Flags{Configs: []string{server("s", "10")}, Strict: true})
	p.Write("etc/managed-mcp.json", "{")
	if got := p.list(settings.Source{}, Flags{}); !strings.Contains(got, "does not start without the administrator's list") {
		t.Errorf("broken managed file: %s", got)
	}
}

// Proves MCP-01.
func TestBrokenFiles(t *testing.T) {
	p := newPlace(t)
	p.Write("home/.adze/mcp.json", "{\n\"mcpServers\": {")
	p.Write("home/.claude.json", "nonsense")
	p.Write("work/.mcp.json", `{"mcpServers":[]}`)
	p.Write("work/sub/.mcp.json", strings.Repeat(" ", roster.MaxFile+1))
	if err := os.MkdirAll(p.Path("work/sub/dir/.mcp.json"), 0o755); err != nil {
		t.Fatal(err)
	}
	p.Write("home/.adze/settings.json", server("s", "x"))
	got := p.list(settings.Source{}, Flags{})
	for _, want := range []string{
		"s=user:x ", "(/home/.adze/mcp.json: is not JSON", "(/home/.claude.json: ", "(/work/.mcp.json: mcpServers is not an object",
		"(/work/sub/.mcp.json: it is larger", "(/work/sub/dir/.mcp.json: it is not a regular file; the file is ignored)",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%s\nlacks %s", got, want)
		}
	}
	for _, config := range []string{"missing.json", "{", `{"command":"x"}`, `{"mcpServers":[]}`, p.Path("home/.adze/mcp.json")} {
		if got := p.list(settings.Source{}, Flags{Configs: []string{config}}); !strings.HasPrefix(got, "error: --mcp-config: ") {
			t.Errorf("--mcp-config %s: %s", config, got)
		}
	}
}

// Proves MCP-02, PERM-70.
func TestApproval(t *testing.T) {
	const file, user = "work/.mcp.json", "home/.adze/settings.json"
	p := newPlace(t)
	p.Write(file, server("s", "1"))
	check := func(what, want string, src settings.Source) {
		t.Helper()
		if got := p.list(src, Flags{}); got != want {
			t.Errorf("%s: %s, want %s", what, got, want)
		}
	}
	check("not trusted", "s=project:1?", settings.Source{})
	check("trusted for the run", "s=project:1", settings.Source{Trust: true})
	check("not read", "", settings.Source{Scopes: []scope.Scope{scope.User}})
	p.Write(user, `{"enableAllProjectMcpServers":true,"enabledMcpjsonServers":["s"]}`)
	check("enabled, but not trusted", "s=project:1?", settings.Source{})
	p.Write(user, `{}`)
	p.trust()
	check("trusted", "s=project:1", settings.Source{})
	p.Write(file, server("s", "2"))
	check("changed", "s=project:2?", settings.Source{})
	p.Write("work/.adze/settings.json", `{"enableAllProjectMcpServers":true,"enabledMcpjsonServers":["s"]}`)
	check("enabled by the project itself", "s=project:2?", settings.Source{})
	p.Write("work/.adze/settings.local.json", `{"enableAllProjectMcpServers":true,"enabledMcpjsonServers":["s"]}`)
	check("enabled by a local file that came with it", "s=project:2?", settings.Source{})
	p.Write(user, `{"enableAllProjectMcpServers":true}`)
	check("all enabled", "s=project:2", settings.Source{})
	p.Write(user, `{"enabledMcpjsonServers":["s"]}`)
	check("enabled", "s=project:2", settings.Source{})
	p.Write(user, `{"enabledMcpjsonServers":["s"],"disabledMcpjsonServers":["s"]}`)
	check("disabled", "s=project:2-", settings.Source{})
	p.Write(user, `{}`)

	project := p.open(settings.Source{})
	r, err := Load(project, Flags{})
	if err != nil || len(r.Unapproved) != 1 {
		t.Fatal(r, err)
	}
	yes, no := trust.Server("s", r.Unapproved[0].Raw), trust.NoServer("s", r.Unapproved[0].Raw)
	for _, step := range []struct {
		what string
		do   func() error
		want string
	}{
		{"approved", func() error { return project.Trust.Keep(t.Context(), yes) }, "s=project:2"},
		{"withdrawn", func() error { return project.Trust.Withdraw(t.Context(), yes, no) }, "s=project:2?"},
		{"refused", func() error { return project.Trust.Keep(t.Context(), no) }, "s=project:2-"},
		{"forgotten", func() error { return project.Trust.Withdraw(t.Context(), yes, no) }, "s=project:2?"},
	} {
		if err := step.do(); err != nil {
			t.Fatal(err)
		}
		check(step.what, step.want, settings.Source{})
	}
}

// TestVariables checks that a project cannot change the expansion of an approved entry.
func TestVariables(t *testing.T) {
	p := newPlace(t)
	p.Vars["FROM_ENVIRONMENT"] = "env"
	p.Write("home/.adze/settings.json", `{"env":{"FROM_USER":"user"}}`)
	p.Write("work/.adze/settings.json", `{"env":{"FROM_PROJECT":"project","FROM_USER":"project"}}`)
	p.Write("work/.mcp.json", `{"mcpServers":{"s":{"command":"${FROM_ENVIRONMENT}-${FROM_PROJECT:-none}"}, "t":{"command":"${FROM_PROJECT}"}}}`)
	p.trust()
	if got, want := p.list(settings.Source{}, Flags{}), "s=project:env-none t=project:!"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	p.Write("work/.mcp.json", `{"mcpServers":{"s":{"command":"${FROM_USER}"}}}`)
	p.trust()
	if got, want := p.list(settings.Source{}, Flags{}), "s=project:user"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// Proves MCP-04.
func TestPolicy(t *testing.T) {
	p := newPlace(t)
	p.Write("home/.adze/mcp.json", server("s", "x"))
	for settingsText, want := range map[string]string{
		`{}`: "s=user:x",
		`{"deniedMcpServers":[{"serverName":"s"}]}`:       "s=user:x!",
		`{"allowedMcpServers":[{"serverCommand":["x"]}]}`: "s=user:x",
		`{"allowedMcpServers":[]}`:                        "s=user:x!",
		`{"allowedMcpServers":[{}, {"serverName":"s"}]}`:  "s=user:x (/etc/managed-settings.json: allowedMcpServers: item 1: it has none of serverName, serverCommand and serverUrl; the invalid entry allows nothing)",
	} {
		p.Write("etc/managed-settings.json", settingsText)
		if got := p.list(settings.Source{}, Flags{}); got != want {
			t.Errorf("%s: %s, want %s", settingsText, got, want)
		}
	}
	p.Write("etc/managed-settings.json", `{"deniedMcpServers":[{}]}`)
	if got := p.list(settings.Source{}, Flags{}); !strings.Contains(got, "unknown which servers are denied") {
		t.Error(got)
	}
	p.Write("etc/managed-settings.json", `{}`)
	p.Write("home/.adze/settings.json", `{"deniedMcpServers":[{}],"allowedMcpServers":[]}`)
	if got := p.list(settings.Source{}, Flags{}); got != "s=user:x" {
		t.Errorf("a user's own lists count: %s", got)
	}
}

// TestAsk checks that the user is prompted once for each unapproved entry, and again when it
// changes.
//
// Proves MCP-02.
func TestAsk(t *testing.T) {
	for _, tt := range []struct{ answers, want, again string }{
		{"1\n", "a=project:1 b=project:2", ""},
		{"2\n", "a=project:1- b=project:2-", ""},
		{"4\nn\nyes\n", "a=project:1- b=project:2", ""},
		{"\n", "a=project:1? b=project:2?", "asks"},
		{"", "a=project:1? b=project:2?", "asks"},
		{"what?\n", "a=project:1? b=project:2?", "asks"},
	} {
		p := newPlace(t)
		p.trust()
		p.Write("work/.mcp.json", `{"mcpServers":{"a":{"command":"1"},"b":{"command":"2","args":["\u001b[31m\n\u202e"]}}}`)
		ask := func(answers string) (out string, loaded string) {
			project := p.open(settings.Source{})
			r, err := Load(project, Flags{})
			if err != nil {
				t.Fatal(err)
			}
			var b strings.Builder
			c := &console.Console{Stdin: strings.NewReader(answers), Stdout: &b, StdoutTerminal: true}
			if _, err := Ask(t.Context(), c, project, r); err != nil {
				t.Fatal(err)
			}
			if r, err = Load(project, Flags{}); err != nil { // uses the decisions without rereading them
				t.Fatal(err)
			}
			return b.String(), fmt.Sprint(len(r.Unapproved))
		}
		out, _ := ask(tt.answers)
		if !strings.Contains(out, "2 MCP servers that you have not approved") || !strings.Contains(out, `  a: {"command":"1"}`) || strings.ContainsAny(out, "\x1b\u202e") || !strings.Contains(out, `\u202e`) || strings.Count(out, "\n") > 12 {
			t.Errorf("%q: asked %q", tt.answers, out)
		}
		if got := p.list(settings.Source{}, Flags{}); got != tt.want {
			t.Errorf("%q: %s, want %s", tt.answers, got, tt.want)
		}
		if out, left := ask(""); (out != "") != (tt.again != "") || (left != "0") != (tt.again != "") {
			t.Errorf("%q: asked again: %q, %s left", tt.answers, out, left)
		}
		p.Write("work/.mcp.json", `{"mcpServers":{"a":{"command":"3"},"b":{"command":"2","args":["\u001b[31m\n\u202e"]}}}`)
		if out, _ := ask(""); !strings.Contains(out, `"command":"3"`) {
			t.Errorf("%q: no prompt for a changed entry: %q", tt.answers, out)
		}
	}
	p := newPlace(t)
	p.Write("work/.mcp.json", server("a", "1"))
	project := p.open(settings.Source{})
	r, err := Load(project, Flags{})
	if err != nil {
		t.Fatal(err)
	}
	if asked, err := Ask(t.Context(), nil, project, r); asked || err != nil || Waiting(project, r) != "" {
		t.Errorf("without trust: %t, %v", asked, err)
	}
	p.Write("work/.mcp.json", "")
	p.trust()
	p.Write("work/.mcp.json", server("a", "1"))
	project = p.open(settings.Source{})
	if r, err = Load(project, Flags{}); err != nil || !strings.Contains(Waiting(project, r), "not started: a;") {
		t.Errorf("%v, %v", Waiting(project, r), err)
	}
}

// TestReload checks that file changes take effect without a restart and leave unchanged servers
// connected.
func TestReload(t *testing.T) {
	p := newPlace(t)
	p.Write("home/.adze/mcp.json", `{"mcpServers":{"a":{"command":"1","disabled":true},"b":{}}}`)
	p.trust()
	f, err := Open(Config{Project: p.open(settings.Source{}), Say: func(text string) { t.Log(text) }})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	f.Start()
	check := func(want string) {
		t.Helper()
		var got []string
		for _, s := range f.List() {
			got = append(got, s.Name+" "+string(s.State))
		}
		if text := strings.Join(got, ", "); text != want {
			t.Errorf("%s, want %s", text, want)
		}
	}
	check("a disabled, b failed")
	p.Write("home/.adze/mcp.json", `{"mcpServers":{"b":{}}}`)
	p.Write("work/.mcp.json", server("c", "x"))
	if err := f.Reload(); err != nil {
		t.Fatal(err)
	}
	check("c pending approval, b failed")
	if err := f.EnableLasting(t.Context(), "b", false); err != nil {
		t.Fatal(err)
	}
	check("c pending approval, b disabled")
	if err := f.Reload(); err != nil {
		t.Fatal(err)
	}
	check("c pending approval, b disabled")
	if err := f.EnableLasting(t.Context(), "b", true); err == nil || !strings.Contains(err.Error(), "command is missing") {
		t.Errorf("enabling an unusable server: %v", err)
	}
	p.Write("etc/managed-mcp.json", "{")
	if f.Reload() == nil {
		t.Error("a broken file of the administrator is ignored")
	}
	check("c pending approval, b disabled")
}
