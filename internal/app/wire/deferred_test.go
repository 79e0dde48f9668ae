package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"adze/internal/agent"
	"adze/internal/mcp/mcptest"
	"adze/internal/mcp/roster"
	"adze/internal/model/modeltest/servers"
	"adze/internal/model/replay"
	"adze/internal/msg"
	"adze/internal/session"
)

// server starts a test server with args and returns its entry.
func (p *place) server(name string, args ...string) *roster.Entry {
	p.T.Helper()
	s := httptest.NewServer(mcptest.NewHandler(args...))
	p.T.Cleanup(s.Close)
	return &roster.Entry{Name: name, Given: name, Type: roster.HTTP, URL: s.URL, Raw: json.RawMessage(fmt.Sprintf(`{"type":"http","url":%q}`, s.URL))}
}

// connect adds entries to the conversation's servers.
func (c *chat) connect(entries ...*roster.Entry) {
	c.T.Helper()
	if _, _, errs := c.Servers.Manager.Set(c.T.Context(), entries); len(errs) > 0 {
		c.T.Fatal(errs)
	}
}

// toolsOf returns the tools of a request as sent.
func toolsOf(t *testing.T, body string) string {
	t.Helper()
	var req struct{ Tools json.RawMessage }
	if err := json.Unmarshal([]byte(body), &req); err != nil {
		t.Fatal(err)
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, req.Tools); err != nil {
		t.Fatal(err)
	}
	return compact.String()
}

// TestExtrasLeaveTheRequestAlone connects a server in mid-session, finds and runs its tools,
// and disconnects it. No request gains a tool definition, each extends the previous one, and a
// resumed session announces only differences.
//
// Proves DEF-03, DEF-04, CTX-07, XTR-01, MCP-35.
func TestExtrasLeaveTheRequestAlone(t *testing.T) {
	p := newPlace(t)
	p.Write("home/.adze/settings.json", `{"permissions":{"allow":["mcp__db__tool_2"],"deny":["mcp__db__tool_3"]}}`)
	db := p.server("db", "only=3", "instructions=Ask in SQL.")
	c := p.chat(`say Hello.
---
use SearchExtraTools {"query":"select:mcp__db__tool_2"}
---
use ExecuteExtraTool {"tool_name":"mcp__db__tool_2","params":{}}
use ExecuteExtraTool {"tool_name":"mcp__db__tool_3","params":{}}
use ExecuteExtraTool {"tool_name":"mcp__db__tool_1","params":{}}
---
say Done.
---
say It is gone.`, nil)
	c.say("First.")
	c.connect(db)
	c.say("Second.")
	c.connect()
	c.say("Third.")

	sent := c.sent()
	if len(sent) != 5 {
		t.Fatalf("%d requests", len(sent))
	}
	var last []byte
	for i, body := range sent {
		if got := toolsOf(t, body); got != toolsOf(t, sent[0]) || strings.Contains(got, `"mcp__`) {
			t.Errorf("request %d has other tools: %s", i+1, got)
		}
		now := unmarked(t, p.Path(fmt.Sprintf("sent/%03d-request.json", i+1)))
		if !bytes.HasPrefix(now, last) {
			t.Errorf("request %d begins otherwise", i+1)
		}
		last = now
	}
	final := sent[len(sent)-1]
	for _, told := range []string{
		"db: mcp__db__tool_1, mcp__db__tool_2", `\n> Ask in SQL.`, "Tools that are no longer available: ListMcpResources, ReadMcpResource, all of db.",
	} {
		if n := strings.Count(final, told); n != 1 {
			t.Errorf("%q appears %d times in %s", told, n, final)
		}
	}
	var got []string
	for e := range c.Session.Entries(t.Context(), 0, session.Latest) {
		if loop, ok := e.Event.(session.Loop); ok {
			if done, ok := loop.Event.(agent.ToolDone); ok {
				got = append(got, fmt.Sprintf("%s%s %v %v", done.Use.Name, done.Use.Input, done.Result.IsError, done.Denied))
			}
		}
		if e.Seq == c.Session.Last() {
			break
		}
	}
	want := []string{
		`SearchExtraTools{"query":"select:mcp__db__tool_2"} false false`, "mcp__db__tool_2{} false false", "mcp__db__tool_3{} true false", "mcp__db__tool_1{} true true",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what the user sees of calls (-want +got):\n%s", diff)
	}
	denials := c.Session.Denials()
	if len(denials) != 1 || denials[0].Tool != "mcp__db__tool_1" || string(denials[0].Input) != "{}" {
		t.Errorf("denials %+v", denials)
	}
	id := c.Session.ID()
	c.Close()

	c = p.chat("say Back.\n---\nsay Still.", func(s *Spec) { s.Session.Resume = id })
	c.connect(db)
	c.say("Fourth.")
	c.say("Fifth.")
	sent = c.sent()
	if !strings.HasPrefix(string(unmarked(t, p.Path("sent/001-request.json"))), string(last)) {
		t.Error("the resumed session begins otherwise")
	}
	_, news, _ := strings.Cut(sent[1], "Fourth.")
	if n := strings.Count(news, "mcp__db__tool_1"); n != 1 {
		t.Errorf("a tool is listed %d times after resuming: %s", n, news)
	}
}

// TestExtrasInEveryMode checks that all tools are sent, without the two search tools, in other
// modes, for models that cannot search tools, and when rules deny the search tool.
//
// Proves DEF-03, DEF-05, DEF-07, DEF-08, REG-04.
func TestExtrasInEveryMode(t *testing.T) {
	for _, tt := range []struct {
		name, settings string
		spec           func(*Spec)
		first, last    string // first and last tool
		door           bool
	}{
		{"usual", `{}`, nil, "Agent", "Write", true},
		{"never", `{"tools":{"deferral":"false"}}`, nil, "Agent", "mcp__db__tool_3", false},
		{"from one percent on", `{"tools":{"deferral":"auto:1"},"models":{"replay":{"contextWindow":20000}}}`, nil, "Agent", "Write", true},
		{"from half of the window on", `{"tools":{"deferral":"auto:50"}}`, nil, "Agent", "mcp__db__tool_3", false},
		{"a model that cannot", `{"models":{"replay":{"toolSearch":false}}}`, nil, "Agent", "mcp__db__tool_3", false},
		{"a rule closes the door", `{"permissions":{"deny":["ExecuteExtraTool"]}}`, nil, "Agent", "mcp__db__tool_3", false},
		{"some tools", `{}`, func(s *Spec) { s.Access.Chosen, s.Access.Tools = true, []string{"Read"} }, "Read", "mcp__db__tool_3", false},
	} {
		p := newPlace(t)
		p.Write("home/.adze/settings.json", tt.settings)
		c := p.chat("say Hello.", tt.spec)
		c.connect(p.server("db", "only=3"))
		c.say("Hi.")
		body := c.sent()[0]
		var req struct {
			Tools []struct {
				Name  string
				Cache json.RawMessage `json:"cache_control"`
			}
		}
		if err := json.Unmarshal([]byte(body), &req); err != nil {
			t.Fatal(err)
		}
		if n := len(req.Tools); req.Tools[0].Name != tt.first || req.Tools[n-1].Name != tt.last {
			t.Errorf("%s: tools %+v", tt.name, req.Tools)
		}
		foreign := false
		for i, tool := range req.Tools {
			foreign = foreign || strings.HasPrefix(tool.Name, "mcp__")
			if foreign != strings.HasPrefix(tool.Name, "mcp__") {
				t.Errorf("%s: %s comes after tools of servers", tt.name, tool.Name)
			}
			next := i+1 == len(req.Tools) || strings.HasPrefix(req.Tools[i+1].Name, "mcp__")
			if marked := tool.Cache != nil; marked != (next && !foreign) {
				t.Errorf("%s: a mark after %s: %v", tt.name, tool.Name, marked)
			}
		}
		if got := strings.Contains(toolsOf(t, body), `"ExecuteExtraTool"`); got != tt.door {
			t.Errorf("%s: the door is there: %v", tt.name, got)
		}
		if told := strings.Contains(body, "You can use more tools"); told != tt.door {
			t.Errorf("%s: deferred tools are announced: %v", tt.name, told)
		}
		c.Close()
	}
}

// TestExtrasFollowTheModel checks that /model re-evaluates deferral: a model without tool
// search gets all tools and no search tool, and switching back restores the earlier request
// byte for byte.
//
// Proves DEF-07.
func TestExtrasFollowTheModel(t *testing.T) {
	p := newPlace(t)
	p.Write("home/.adze/settings.json", `{"permissions":{"allow":["mcp__db"]},"models":{"claude-haiku-5-5":{"toolSearch":false}}}`)
	p.Write("server.replay", `
expect model claude-opus-5-5
use id=toolu_door ExecuteExtraTool {"tool_name":"mcp__db__tool_1","params":{}}
---
expect result toolu_door "called tool_1"
say One.
---
expect model claude-haiku-5-5
use id=toolu_straight mcp__db__tool_2 {}
---
expect result toolu_straight "called tool_2"
say Two.
---
expect model claude-opus-5-5
use id=toolu_again ExecuteExtraTool {"tool_name":"mcp__db__tool_3","params":{}}
---
expect result toolu_again "called tool_3"
say Three.`)
	script, err := replay.Load(p.Path("server.replay"))
	if err != nil {
		t.Fatal(err)
	}
	player := replay.NewPlayerIn(servers.Named(script.Dialect()), script)
	var mu sync.Mutex
	var sent []string
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		if strings.HasSuffix(r.URL.Path, "/messages") {
			mu.Lock()
			sent = append(sent, string(body))
			mu.Unlock()
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		player.Handler().ServeHTTP(w, r)
	}))
	t.Cleanup(provider.Close)
	p.Vars["ANTHROPIC_BASE_URL"], p.Vars["ANTHROPIC_API_KEY"] = provider.URL, "key"
	c := p.chat("", func(s *Spec) { s.Model.Name = "claude-opus-5-5" })
	c.connect(p.server("db", "only=3"))
	c.say("First.")
	c.do(session.SetModel{Name: "claude-haiku-5-5"})
	c.say("Second.")
	c.do(session.SetModel{Name: "claude-opus-5-5"})
	c.say("Third.")
	if err := player.Err(); err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	defer mu.Unlock()
	if len(sent) != 6 {
		t.Fatalf("%d requests", len(sent))
	}
	for i, body := range sent {
		tools := toolsOf(t, body)
		for _, name := range []string{"SearchExtraTools", "ExecuteExtraTool"} {
			if got, want := strings.Contains(tools, `"name":"`+name+`"`), i/2 != 1; got != want {
				t.Errorf("request %d has %s: %v", i+1, name, got)
			}
		}
		for _, name := range []string{"mcp__db__tool_1", "mcp__db__tool_2", "mcp__db__tool_3"} {
			if got, want := strings.Contains(tools, `"name":"`+name+`"`), i/2 == 1; got != want {
				t.Errorf("request %d has %s: %v", i+1, name, got)
			}
		}
		if i/2 == 2 && tools != toolsOf(t, sent[0]) {
			t.Errorf("request %d has other tools than the first", i+1)
		}
	}
}

// TestAlwaysLoadedTools checks that a tool marked always-load is in every request, unless the
// user ignores that for its server.
//
// Proves TOOL-14.
func TestAlwaysLoadedTools(t *testing.T) {
	for _, tt := range []struct {
		settings string
		listed   bool
	}{
		{`{}`, true},
		{`{"tools":{"ignoreAlwaysLoad":["other"]}}`, true},
		{`{"tools":{"ignoreAlwaysLoad":["db"]}}`, false},
	} {
		p := newPlace(t)
		p.Write("home/.adze/settings.json", tt.settings)
		c := p.chat("say Hello.", nil)
		c.connect(p.server("db"))
		c.say("Hi.")
		body := c.sent()[0]
		if got := strings.Contains(toolsOf(t, body), `"mcp__db__echo"`); got != tt.listed {
			t.Errorf("%s: listed %v", tt.settings, got)
		}
		if got := strings.Contains(body, "mcp__db__echo, "); got == tt.listed {
			t.Errorf("%s: told to be looked up: %v", tt.settings, got)
		}
		c.Close()
	}
}

// TestExtrasOfManyServers checks that forty servers with fifty tools each add less than a
// kilobyte to the first request.
func TestExtrasOfManyServers(t *testing.T) {
	size := func(entries func(*place) []*roster.Entry) int {
		p := newPlace(t)
		c := p.chat("say Hello.", nil)
		c.connect(entries(p)...)
		c.say("Hi.")
		return len(unmarked(t, p.Path("sent/001-request.json")))
	}
	none := size(func(*place) []*roster.Entry { return nil })
	many := size(func(p *place) (all []*roster.Entry) {
		for i := range 40 {
			all = append(all, p.server(fmt.Sprintf("a-server-with-a-long-name-%02d", i), "only=50", "instructions="+strings.Repeat("Words. ", 100)))
		}
		return all
	})
	t.Logf("%d bytes without servers, %d more with forty", none, many-none)
	if many-none > 1024 {
		t.Errorf("the first request is %d bytes longer", many-none)
	}
}

// TestSuggestedTools checks that relevant tools are suggested between turns, each once, and
// never with the first message.
//
// Proves PRE-01, PRE-02, PRE-04.
func TestSuggestedTools(t *testing.T) {
	p := newPlace(t)
	c := p.chat("say One.\n---\nsay Two.\n---\nsay Three.", nil)
	c.connect(p.server("db", "only=2"))
	c.say("Do the thing number 2 with the items of a project.")
	c.prompt.extras.PromptHook(t.Context(), session.Prompt{}) // does not block
	c.prompt.extras.Close()
	c.say("Do the thing number 2 with the items of a project.")
	c.say("Do the thing number 2 with the items of a project.")
	const note = "Tools that may help"
	sent := c.sent()
	for i, want := range []int{0, 1, 1} {
		if n := strings.Count(sent[i], note); n != want {
			t.Errorf("request %d: tools were suggested %d times", i+1, n)
		}
	}
	if _, got, _ := strings.Cut(sent[1], note); !strings.Contains(got, "mcp__db__tool_2: Does thing") {
		t.Errorf("suggested: %.300s", got)
	}
	if !c.prompt.extras.Discovered.Has("mcp__db__tool_2") {
		t.Error("the suggestion is not recorded")
	}
	id := c.Session.ID()
	c.Close()
	c = p.chat("say Four.", func(s *Spec) { s.Session.Resume = id })
	if !c.prompt.extras.Discovered.Has("mcp__db__tool_2") {
		t.Error("a resumed session has lost the suggestion")
	}
}

// TestExtrasAfterACompaction checks that all deferred tools are announced again after a
// compaction. Tools the model has already discovered stay known, also on resume.
//
// Proves CTX-43, PRE-04.
func TestExtrasAfterACompaction(t *testing.T) {
	p := newPlace(t)
	c := p.chat(`when text "Summarise this conversation"
say <summary>All was said.</summary>
---
say Hello.
---
use SearchExtraTools {"query":"select:mcp__db__tool_1"}
---
say Found.
---
say After.`, nil)
	db := p.server("db", "only=2", "instructions=Ask in SQL.")
	c.connect(db)
	c.say("First.")
	c.say("Second.")
	c.do(session.Compact{Focus: "all"})
	c.say("Third.")
	sent := c.sent()
	last := sent[len(sent)-1]
	_, opening, _ := strings.Cut(last, `"messages"`)
	for _, told := range []string{"You can use more tools than those in your list.", "db: mcp__db__tool_1, mcp__db__tool_2", `\n> Ask in SQL.`} {
		if n := strings.Count(opening, told); n != 1 {
			t.Errorf("%q is announced %d times after compaction: %s", told, n, opening)
		}
	}
	if strings.Contains(opening, "More tools can be looked up") {
		t.Errorf("an unchanged list is announced again: %s", opening)
	}
	id := c.Session.ID()
	c.Close()
	c = p.chat("say Back.", func(s *Spec) { s.Session.Resume = id })
	c.connect(db)
	c.say("Fourth.")
	if !c.prompt.extras.Discovered.Has("mcp__db__tool_1") || c.prompt.extras.Discovered.Has("mcp__db__tool_2") {
		t.Error("wrong set of discovered tools")
	}
	if _, news, _ := strings.Cut(tail(c.sent()), "Fourth."); strings.Contains(news, "db") {
		t.Errorf("told again: %s", news)
	}
}

// TestServerConnectsWhileATurnRuns checks that a server connecting in mid-turn is announced
// after the running calls, in the same turn.
//
// Proves DEF-04.
func TestServerConnectsWhileATurnRuns(t *testing.T) {
	p := newPlace(t)
	c := p.chat("use Bash {\"command\":\"until [ -e go ]; do sleep 0.02; done\"}\n---\nsay Done.", func(s *Spec) {
		s.Entry, s.Access.Allow = Interactive, []string{"Bash"}
	})
	if err := c.Session.Submit(t.Context(), session.Prompt{Parts: []msg.Part{&msg.Text{Text: "Wait."}}}); err != nil {
		t.Fatal(err)
	}
	for e := range c.Session.Entries(t.Context(), 0, session.Every) {
		if loop, ok := e.Event.(session.Loop); ok {
			if _, ok := loop.Event.(agent.ToolStarted); ok {
				break
			}
		}
	}
	c.connect(p.server("db", "only=2"))
	p.Write("work/go", "")
	if err := c.Session.Idle(t.Context()); err != nil {
		t.Fatal(err)
	}
	sent := c.sent()
	if len(sent) != 2 {
		t.Fatalf("%d requests", len(sent))
	}
	if strings.Contains(sent[0], "mcp__db") || toolsOf(t, sent[0]) != toolsOf(t, sent[1]) {
		t.Error("the first request knows the server, or the second has other tools")
	}
	if !bytes.HasPrefix(unmarked(t, p.Path("sent/002-request.json")), unmarked(t, p.Path("sent/001-request.json"))) {
		t.Error("the second request begins otherwise")
	}
	if _, news, _ := strings.Cut(sent[1], `"tool_result"`); strings.Count(news, "db: mcp__db__tool_1, mcp__db__tool_2") != 1 {
		t.Errorf("after the call: %s", news)
	}
}

// TestServersInTheSystemPrompt checks that server instructions can be part of the system prompt
// if the server is connected when the prompt is written. Later instructions are sent in
// messages and the system prompt does not change.
//
// Proves CTX-03, CTX-07.
func TestServersInTheSystemPrompt(t *testing.T) {
	p := newPlace(t)
	p.Write("home/.adze/settings.json", `{"mcpInstructionsDelta":false}`)
	c := p.chat("say One.\n---\nsay Two.", nil)
	db := p.server("db", "only=1", "instructions=Ask in SQL.")
	c.connect(db)
	c.say("First.")
	c.connect(db, p.server("web", "only=1", "instructions=Be polite."))
	c.say("Second.")
	var systems []string
	for i, body := range c.sent() {
		var req struct{ System, Messages json.RawMessage }
		if err := json.Unmarshal([]byte(body), &req); err != nil {
			t.Fatal(err)
		}
		systems = append(systems, string(req.System))
		if !strings.Contains(systems[i], `## db\n> Ask in SQL.`) || strings.Contains(systems[i], "polite") || strings.Contains(string(req.Messages), "SQL") {
			t.Errorf("request %d: %s", i+1, body)
		}
		if told := strings.Contains(string(req.Messages), `\n> Be polite.`); told != (i == 1) {
			t.Errorf("request %d: the later server is announced: %v", i+1, told)
		}
	}
	if len(systems) != 2 || systems[0] != systems[1] {
		t.Errorf("%d requests, or their system prompts differ", len(systems))
	}
}
