package client

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"adze/internal/mcp"
	"adze/internal/mcp/mcptest"
	"adze/internal/mcp/roster"
	"adze/internal/platform/proc/osproc"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case osproc.ReaperArg:
			os.Exit(osproc.Reap(os.Args[2:]))
		case "mcptest":
			os.Exit(mcptest.Main(os.Args[2:], os.Stdin, os.Stdout, os.Stderr))
		}
	}
	goleak.VerifyTestMain(m)
}

// dialer returns a dialer whose programs end with the test.
func dialer(t *testing.T) *Dialer {
	r := &osproc.Runner{Reaper: os.Args[0]}
	t.Cleanup(r.Close)
	tr := &http.Transport{}
	t.Cleanup(tr.CloseIdleConnections)
	return New(Config{Runner: r, Dir: t.TempDir(), Env: []string{"PATH=" + os.Getenv("PATH"), "GIVEN=yes"}, HTTP: tr, Version: "1.0",
		Log: func(_, line string) { t.Logf("log: %s", line) }})
}

// program returns an entry for the test server as a program.
func program(args ...string) *roster.Entry {
	return &roster.Entry{Name: "test", Given: "test", Type: roster.Stdio, Command: os.Args[0], Args: append([]string{"mcptest"}, args...), Env: map[string]string{"ADDED": "too"}}
}

func connect(t *testing.T, d *Dialer, e *roster.Entry, c mcp.Client) mcp.Conn {
	t.Helper()
	conn, err := d.Dial(t.Context(), e, c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(); <-conn.Done() })
	return conn
}

// call calls a test server's tool and returns the result's text.
func call(t *testing.T, c mcp.Conn, tool, text string) string {
	t.Helper()
	res, err := c.Call(t.Context(), tool, args(text), nil)
	if err != nil {
		return "error: " + err.Error()
	}
	var all []string
	for _, part := range res.Content {
		all = append(all, part.Text)
	}
	return strings.Join(all, "|")
}

func args(text string) json.RawMessage {
	data, err := json.Marshal(map[string]string{"text": text})
	if err != nil {
		panic(err)
	}
	return data
}

// Proves MCP-17.
func TestProgram(t *testing.T) {
	c := connect(t, dialer(t), program("noise", "instructions=Be\u200b kind"), mcp.Client{})
	want := mcp.ServerInfo{Name: "mcptest", Title: "A server for tests", Version: "1.2", Protocol: "2025-11-25", Instructions: "Be kind",
		Tools: true, Resources: true, Prompts: true, Subscriptions: true, Logging: true}
	if diff := cmp.Diff(want, c.About()); diff != "" {
		t.Errorf("about (-want +got):\n%s", diff)
	}
	tools, cut, err := c.Tools(t.Context())
	if err != nil || cut != "" {
		t.Fatal(err, cut)
	}
	yes, no := true, false
	if diff := cmp.Diff(mcp.Tool{Name: "echo", Title: "Echo", Description: "Returns a text", ReadOnly: &yes, AlwaysLoad: true, Hint: "repeat say",
		Schema: json.RawMessage(`{"properties":{"text":{"type":"string"}},"required":["text"],"type":"object"}`)}, tools[0]); diff != "" {
		t.Errorf("echo (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(mcp.Tool{Name: "fail", Description: "Returns an error", Destructive: &yes, OpenWorld: &no, Schema: anyObject}, tools[2]); diff != "" {
		t.Errorf("fail (-want +got):\n%s", diff)
	}
	if tools[4].Output == nil {
		t.Error("no schema of structured results")
	}
	for in, want := range map[[2]string]string{
		{"echo", "Grüße"}: "Grüße", {"env", "GIVEN"}: "yes", {"env", "ADDED"}: "too", {"env", "HOME"}: "",
		{"refuse", ""}: "error: no way", {"nosuch", ""}: "error: unknown tool nosuch",
		{"bad", ""}:        `error: the server violates the protocol: the result has no field "content"`,
		{"bad", "number"}:  "error: the server violates the protocol: the result is not an object",
		{"bad", "content"}: `error: the server violates the protocol: the field "content" of the result is not a list`,
		{"bad", "error"}:   `error: the server violates the protocol: the field "isError" of the result is neither true nor false`,
	} {
		if got := call(t, c, in[0], in[1]); got != want {
			t.Errorf("%s %q: got %q, want %q", in[0], in[1], got, want)
		}
	}
	if res, err := c.Call(t.Context(), "fail", nil, nil); err != nil || !res.IsError || res.Content[0].Text != "it went wrong" {
		t.Errorf("fail: %+v, %v", res, err)
	}
	if got := c.Log(); !strings.Contains(got, "mcptest: ready") {
		t.Errorf("log: %q", got)
	}
}

func TestKindsOfContent(t *testing.T) {
	c := connect(t, dialer(t), program(), mcp.Client{})
	res, err := c.Call(t.Context(), "kinds", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range res.Content {
		if res.Content[i].Kind == mcp.ImageContent && res.Content[i].Flaw == "" {
			if len(res.Content[i].Data) < 60 {
				t.Error("the image is incomplete")
			}
			res.Content[i].Data = nil
		}
	}
	want := &mcp.Result{
		Structured: json.RawMessage(`{"z":1,"a":12345678901234567890}`), Meta: json.RawMessage(`{"kept":true}`),
		Content: []mcp.Content{
			{Text: "visible"}, {Kind: mcp.ImageContent, MIME: "image/png"}, {Kind: mcp.AudioContent, Data: []byte("RIFF"), MIME: "audio/wav"},
			{Kind: mcp.ResourceText, Text: "embedded", URI: "test://text", MIME: "text/plain"}, {Kind: mcp.ResourceBlob, Data: []byte{1, 2, 3}, URI: "test://blob"},
			{Kind: mcp.ResourceLink, URI: "test://link", Name: "link", Description: "a link"},
			{Kind: mcp.ImageContent, Flaw: "the data of image content that is broken or empty"}, {Flaw: `a piece of content of the unknown type "hologram"`},
			{Flaw: `a text without the field "text"`}, {Flaw: `a resource without the field "resource"`}, {Flaw: "a content item that is not an object"},
		},
	}
	if diff := cmp.Diff(want, res); diff != "" {
		t.Errorf("result (-want +got):\n%s", diff)
	}
}

// Proves MCP-36.
func TestProgressAndCancellation(t *testing.T) {
	c := connect(t, dialer(t), program(), mcp.Client{})
	var mu sync.Mutex
	var seen []mcp.Progress
	res, err := c.Call(t.Context(), "slow", args("300"), func(p mcp.Progress) {
		mu.Lock()
		defer mu.Unlock()
		seen = append(seen, p)
	})
	if err != nil || string(res.Structured) != `{"took":300}` {
		t.Fatal(res, err)
	}
	mu.Lock()
	if len(seen) < 3 || seen[0] != (mcp.Progress{Done: 1, Total: 10, Text: "step 1"}) {
		t.Errorf("progress: %v", seen)
	}
	mu.Unlock()

	ctx, cancel := context.WithCancel(t.Context())
	cancelled := make(chan error, 1)
	go func() {
		_, err := c.Call(ctx, "hang", nil, nil)
		cancelled <- err
	}()
	waitFor(t, "the server has the call", func() bool { return strings.Contains(c.Log(), "mcptest: hanging") })
	cancel()
	if err := <-cancelled; !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled call: %v", err)
	}
	waitFor(t, "the server hears of the cancellation", func() bool { return strings.Contains(c.Log(), "mcptest: cancelled") })
	if got := call(t, c, "echo", "on"); got != "on" {
		t.Errorf("after a cancelled call: %q", got)
	}
}

func waitFor(t *testing.T, what string, cond func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !cond(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("not in time: " + what)
		}
	}
}

func TestWhatServersAsk(t *testing.T) {
	dirs := []string{"/home/me/a b"}
	var mu sync.Mutex
	var logged, updated []string
	var changed []mcp.List
	client := mcp.Client{
		Roots: func() []string { mu.Lock(); defer mu.Unlock(); return dirs },
		Elicit: func(_ context.Context, e mcp.Elicitation) (mcp.Elicited, error) {
			if want := `{"type":"object","properties":{"name":{"type":"string"},"age":{"type":"integer","default":42},"color":{"type":"string","enum":["red","green"]}},"required":["name"]}`; e.Message != "Who are you?" || string(e.Schema) != want {
				t.Errorf("elicitation: %s %s", e.Message, e.Schema)
			}
			return mcp.Elicited{Action: "accept", Values: map[string]any{"name": "me"}}, nil
		},
		Sample: func(_ context.Context, s mcp.SampleRequest) (mcp.SampleResult, error) {
			if s.MaxTokens != 10 || len(s.Messages) != 1 || s.Messages[0].Content.Text != "hello" {
				t.Errorf("sampling: %+v", s)
			}
			return mcp.SampleResult{Text: "hi", Model: "m", StopReason: "endTurn"}, nil
		},
		Changed: func(l mcp.List) { mu.Lock(); defer mu.Unlock(); changed = append(changed, l) },
		Updated: func(uri string) { mu.Lock(); defer mu.Unlock(); updated = append(updated, uri) },
		Logged:  func(level, text string) { mu.Lock(); defer mu.Unlock(); logged = append(logged, level+" "+text) },
	}
	c := connect(t, dialer(t), program(), client)
	for tool, want := range map[string]string{
		"ask":    `{"action":"accept","content":{"age":42,"name":"me"}}`,
		"roots":  `{"roots":[{"name":"a b","uri":"file:///home/me/a%20b"}]}`,
		"sample": `{"content":{"type":"text","text":"hi"},"model":"m","role":"assistant","stopReason":"endTurn"}`,
		"rename": "changed",
	} {
		if got := call(t, c, tool, ""); got != want {
			t.Errorf("%s: got %s, want %s", tool, got, want)
		}
	}
	call(t, c, "log", "a\x1b[31mb")
	if err := c.Subscribe(t.Context(), "test://text"); err != nil {
		t.Error(err)
	}
	waitFor(t, "news of the server", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(changed) == 1 && changed[0] == mcp.ToolList && len(updated) == 1 && updated[0] == "test://text" && len(logged) == 1 && logged[0] == "warning test: ab"
	})
	if tools, _, err := c.Tools(t.Context()); err != nil || tools[len(tools)-1].Name != "version_1" {
		t.Errorf("tools after a change: %v", err)
	}
	mu.Lock()
	dirs = []string{"/b"}
	mu.Unlock()
	if err := c.RootsChanged(t.Context()); err != nil {
		t.Error(err)
	}
	if got := call(t, c, "roots", ""); got != `{"roots":[{"name":"b","uri":"file:///b"}]}` {
		t.Errorf("roots after a change: %s", got)
	}
	var open *mcp.URLError
	_, err := c.Call(t.Context(), "open", nil, nil)
	if !errors.As(err, &open) || len(open.Elicitations) != 1 || !cmp.Equal(open.Elicitations[0], mcp.Elicitation{Message: "Please confirm", URL: "https://example.com/x", ID: "e1"}) {
		t.Errorf("a URL to open first: %#v", err)
	}
}

// TestPushed checks that a server's messages for the conversation are cleaned and bounded, or
// dropped without a handler, and never reach the SDK.
//
// Proves MCP-48.
func TestPushed(t *testing.T) {
	var got []string
	e := &clientHandlers{client: mcp.Client{Pushed: func(p mcp.Push) { got = append(got, p.Text) }}}
	deaf := &clientHandlers{}
	for _, tt := range []struct{ params, want string }{
		{`{"content":"hello"}`, "hello"},
		{`{"content":"a\u001b[31mb\u202ec\r\nd","meta":{"user":"bob\nroot","chat_id":"7","n":1,"bad key":"x","":"y"}}`, "abc\nd\n[chat_id: 7; user: bob root]"},
		{`{"content":" \u200b "}`, ""},
		{`{"content":7}`, ""},
		{`{"content":"x","meta":[]}`, ""},
		{`{"meta":{"user":"bob"}}`, ""},
		{`[]`, ""},
		{`null`, ""},
	} {
		got = nil
		message := []byte(`{"jsonrpc":"2.0","method":"notifications/claude/channel","params":` + tt.params + `}`)
		for _, e := range []*clientHandlers{e, deaf} {
			if rest, _, err := newGuard(&violations{log: func(string) {}}, e.pushed).through(message); rest != nil || err != nil {
				t.Errorf("%s: the library gets %s, %v", tt.params, rest, err)
			}
		}
		if strings.Join(got, "|") != tt.want {
			t.Errorf("%s: %q", tt.params, got)
		}
	}
	got = nil
	e.pushed(json.RawMessage(`{"content":"` + strings.Repeat("é", 9000) + `","meta":{"user":"bob"}}`))
	if n := utf8.RuneCountInString(got[0]); n != pushLimit || !strings.HasSuffix(got[0], cutMark+"\n[user: bob]") {
		t.Errorf("a long one has %d characters", n)
	}
	if c := e.options().Capabilities.Experimental; len(c) != 1 || c["claude/channel"] == nil {
		t.Errorf("declared: %v", c)
	}
	if c := deaf.options().Capabilities.Experimental; c != nil {
		t.Errorf("declared to others: %v", c)
	}
}

// TestNothingToAsk checks that requests for capabilities not offered are refused.
func TestNothingToAsk(t *testing.T) {
	c := connect(t, dialer(t), program(), mcp.Client{})
	for _, tool := range []string{"ask", "sample"} {
		if got := call(t, c, tool, ""); got != "" {
			t.Errorf("%s: %s", tool, got)
		}
	}
}

func TestResourcesAndPrompts(t *testing.T) {
	c := connect(t, dialer(t), program(), mcp.Client{})
	resources, _, err := c.Resources(t.Context())
	if diff := cmp.Diff([]mcp.Resource{{URI: "test://text", Name: "text", MIME: "text/plain"}, {URI: "test://blob", Name: "blob", Size: 3}}, resources); diff != "" || err != nil {
		t.Errorf("resources (-want +got):\n%s%v", diff, err)
	}
	templates, _, err := c.Templates(t.Context())
	if diff := cmp.Diff([]mcp.Resource{{URI: "test://item/{id}", Name: "item"}}, templates); diff != "" || err != nil {
		t.Errorf("templates (-want +got):\n%s%v", diff, err)
	}
	prompts, _, err := c.Prompts(t.Context())
	if diff := cmp.Diff([]mcp.Prompt{{Name: "review", Title: "Review", Description: "Reviews a file", Args: []mcp.PromptArg{{Name: "file", Required: true}, {Name: "style"}}}}, prompts); diff != "" || err != nil {
		t.Errorf("prompts (-want +got):\n%s%v", diff, err)
	}
	messages, err := c.Prompt(t.Context(), "review", map[string]string{"file": "x.go"})
	if err != nil || len(messages) != 1 || messages[0].Role != "user" || !strings.HasPrefix(messages[0].Content.Text, "Review x.go ") {
		t.Errorf("prompt: %+v, %v", messages, err)
	}
	blob, err := c.Read(t.Context(), "test://blob")
	if diff := cmp.Diff([]mcp.Content{{Kind: mcp.ResourceBlob, Data: []byte{1, 2, 3}, URI: "test://blob"}}, blob); diff != "" || err != nil {
		t.Errorf("blob (-want +got):\n%s%v", diff, err)
	}
	if _, err := c.Read(t.Context(), "test://no"); err == nil || err.Error() != "no resource test://no" {
		t.Errorf("a resource that is not there: %v", err)
	}
}

// Proves MCP-32.
func TestLists(t *testing.T) {
	tests := []struct {
		name  string
		args  []string
		count int
		cut   string
	}{
		{"pages", []string{"only=25", "pages=10"}, 25, ""},
		{"too many", []string{"only=1005", "pages=400"}, 1000, "left out: all after the first 1000 tools"},
		{"too many pages", []string{"only=300", "pages=1"}, 100, "left out: all after the first 100 pages"},
		{"the same cursor", []string{"only=3", "loop"}, 3, "left out: another tool called tool_1, and 2 more"},
		{"hostile", []string{"only=0", "hostile"}, 5, "left out: a tool without a name, and 3 more"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := connect(t, dialer(t), program(tt.args...), mcp.Client{})
			tools, cut, err := c.Tools(t.Context())
			if err != nil || len(tools) != tt.count || cut != tt.cut {
				t.Errorf("%d tools, %q, %v", len(tools), cut, err)
			}
			if tt.name != "hostile" {
				return
			}
			if got := tools[0]; got.Name != "Bash" || got.Description != "Runs a command." || strings.Contains(string(got.Schema), "\U000e0068") || len(got.Schema) > 2200 {
				t.Errorf("hidden text: %+v", got)
			}
			if got := tools[1]; len([]rune(got.Description)) != 2048 || !strings.HasSuffix(got.Description, cutMark) {
				t.Errorf("a long description: %q", got.Description)
			}
			if string(tools[2].Schema) != `{"type":"object"}` || string(tools[3].Schema) != `{"type":"object"}` {
				t.Errorf("no schema: %s, %s", tools[2].Schema, tools[3].Schema)
			}
			if got := call(t, c, tools[0].Name, ""); got != "error: unknown tool Bash" { // the error text is cleaned, too
				t.Errorf("a call under the cleaned name: %q", got)
			}
		})
	}
}

func TestDialErrors(t *testing.T) {
	d := dialer(t)
	http404 := httptest.NewServer(http.NotFoundHandler())
	defer http404.Close()
	tests := []struct {
		name  string
		entry *roster.Entry
		want  string
	}{
		{"exit", program("exit=3"), "ended with exit code 3; it printed: mcptest: told to end"},
		{"version", program("protocol=1999-01-01"), `the server speaks the protocol version "1999-01-01"; adze speaks 2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25, 2026-07-28`},
		{"no program", &roster.Entry{Type: roster.Stdio, Command: "no-such-program"}, "program no-such-program not found in PATH (" + os.Getenv("PATH") + "); install it"},
		{"no file", &roster.Entry{Type: roster.Stdio, Command: "./no-such-program"}, "no such file"},
		{"a directory", &roster.Entry{Type: roster.Stdio, Command: "/usr"}, "the program /usr cannot be started: it is a directory"},
		{"another transport", &roster.Entry{Type: roster.HTTP, URL: http404.URL}, "the server answers HTTP 404 (Not Found); check the URL, and if the server speaks the older transport, set the type to sse"},
		{"no URL", &roster.Entry{Type: roster.HTTP, URL: "nowhere"}, `"nowhere" is not a server URL`},
		{"a file", &roster.Entry{Type: roster.SSE, URL: "file://x/etc/passwd"}, "the URL of a server cannot begin with file:"},
		{"an editor elsewhere", &roster.Entry{Type: roster.WSIDE, URL: "ws://192.0.2.1:80"}, "an editor is on this machine, and 192.0.2.1 is not"},
		{"refused", &roster.Entry{Type: roster.HTTP, URL: "http://127.0.0.1:1/"}, "connection refused"},
		{"no WebSocket", &roster.Entry{Type: roster.WS, URL: strings.Replace(http404.URL, "http", "ws", 1)}, "the server answers HTTP 404 (Not Found) instead of opening a WebSocket"},
		{"no host", &roster.Entry{Type: roster.Host}, "no host provides this server"},
		{"no type", &roster.Entry{Type: "pigeon"}, `unknown transport "pigeon"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := d.Dial(t.Context(), tt.entry, mcp.Client{})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}

func TestSilentServer(t *testing.T) {
	d := dialer(t)
	for limit := 300 * time.Millisecond; ; limit *= 4 { // a busy machine may not have started it yet
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		_, err := d.Dial(ctx, program("silent", "stubborn"), mcp.Client{})
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("a server that never answers: %v", err)
		}
		if strings.Contains(err.Error(), "mcptest: ready") {
			break
		}
		if limit > 10*time.Second {
			t.Fatalf("its output is missing: %v", err)
		}
	}
}

func TestServerEnds(t *testing.T) {
	c := connect(t, dialer(t), program(), mcp.Client{})
	_, err := c.Call(t.Context(), "crash", nil, nil)
	var lost *mcp.LostError
	if !errors.As(err, &lost) || !strings.Contains(err.Error(), "ended with exit code 7; it printed: mcptest: ready\nmcptest: told to crash") {
		t.Errorf("a server that crashes in mid-call: %v", err)
	}
	<-c.Done()
	if !errors.As(c.Err(), &lost) {
		t.Errorf("why the connection ended: %v", c.Err())
	}
	if _, err := c.Call(t.Context(), "echo", nil, nil); !errors.As(err, &lost) {
		t.Errorf("a call afterwards: %v", err)
	}
}

func TestClose(t *testing.T) {
	c := connect(t, dialer(t), program("stubborn"), mcp.Client{})
	start := time.Now()
	c.Close()
	if took := time.Since(start); took > time.Minute {
		t.Errorf("closing took %v", took)
	}
	<-c.Done()
	if _, err := c.Call(t.Context(), "echo", nil, nil); err == nil {
		t.Error("a call of a closed connection")
	}
}

// TestGarbageAndFloods checks that a server that sends garbage is disconnected after 20
// violations, and that a flooding server is slowed down.
func TestGarbageAndFloods(t *testing.T) {
	d := dialer(t)
	c := connect(t, d, program("garbage"), mcp.Client{})
	for over := false; !over; { // a call may be canceled before it is sent
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		c.Call(ctx, "echo", args("x"), nil)
		cancel()
		select {
		case <-c.Done():
			over = true
		default:
		}
	}
	if err := c.Err(); err == nil || !strings.Contains(err.Error(), "violated the protocol 20 times in a row") {
		t.Errorf("garbage: %v", err)
	}

	var mu sync.Mutex
	changes, lines := 0, 0
	began := time.Now()
	c = connect(t, d, program("flood"), mcp.Client{
		Changed: func(mcp.List) { mu.Lock(); defer mu.Unlock(); changes++ },
		Logged:  func(string, string) { mu.Lock(); defer mu.Unlock(); lines++ },
	})
	for range 3 {
		if got := call(t, c, "echo", "through"); got != "through" {
			t.Errorf("in a flood: %q", got)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	seconds := int(time.Since(began)/time.Second) + 2
	if changes > 3*seconds || lines > maxLogged*seconds {
		t.Errorf("%d changes and %d lines reported in %d s", changes, lines, seconds)
	}
}

func TestLargeResults(t *testing.T) {
	c := connect(t, dialer(t), program(), mcp.Client{})
	if got := call(t, c, "big", "3000000"); len(got) != 3000000 {
		t.Errorf("3 MB: %d bytes", len(got))
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := c.Call(t.Context(), "big", args("100000000"), nil)
	runtime.ReadMemStats(&after)
	if err == nil || err.Error() != "the server sent a message of more than 32 MB" {
		t.Errorf("100 MB: %v", err)
	}
	if took := after.TotalAlloc - before.TotalAlloc; took > 80<<20 {
		t.Errorf("100 MB: %d MB were allocated", took>>20)
	}
	if got := call(t, c, "echo", "on"); got != "on" { // only that call fails
		t.Errorf("afterwards: %q", got)
	}
}

// TestWhoseMessage checks that an oversized message is assigned to the call named at its start
// or end.
func TestWhoseMessage(t *testing.T) {
	long := strings.Repeat("x", maxMessage)
	for in, want := range map[[2]string]any{
		{`{"jsonrpc":"2.0","id":7,"result":"`, `"}`}:        int64(7),
		{`{"result":"`, `","jsonrpc":"2.0","id":"seven"}`}:  "seven",
		{`{"result":"`, `","id":8,"jsonrpc":"2.0"}`}:        int64(8),
		{`{"result":"{\"jsonrpc\":\"2.0\",\"id\":7,`, `"}`}: nil,
		{long, ""}: nil,
	} {
		var p page
		for _, b := range []string{in[0], long, in[1]} {
			for ; len(b) > 0; b = b[min(len(b), 50_000):] {
				p.add([]byte(b[:min(len(b), 50_000)]))
			}
		}
		if _, ok := p.line(); ok || len(p.chunks) > 0 {
			t.Errorf("%s: the line is kept", in)
		}
		if id, err := p.answers(); id.Raw() != want || err == nil != (want != nil) {
			t.Errorf("%.40s … %s: %v, %v; want %v", in[0], in[1], id.Raw(), err, want)
		}
	}
	var p page
	text := strings.Repeat("0123456789", 400_000)
	for b := text; len(b) > 0; b = b[min(len(b), 33_333):] {
		p.add([]byte(b[:min(len(b), 33_333)]))
	}
	if got, ok := p.line(); !ok || string(got) != text {
		t.Error("the pieces of a line do not fit")
	}
}
