package serve

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"adze/internal/agent/exec"
	"adze/internal/msg"
	"adze/internal/tool"
)

// A job is the input of the test tools.
type job struct {
	Text   string `json:"text"`
	beside bool
}

func (j job) Concurrent() bool { return j.beside }

type jobCall struct {
	job
	run func(context.Context, string, func(tool.Progress)) (tool.Result, error)
}

func (c jobCall) Input() any { return c.job }
func (c jobCall) Run(ctx context.Context, report func(tool.Progress)) (tool.Result, error) {
	return c.run(ctx, c.Text, report)
}

// made returns a tool that calls run.
func made(name string, beside bool, run func(context.Context, string, func(tool.Progress)) (tool.Result, error)) tool.Tool {
	return tool.NewBound(tool.Def{
		Name: name, Traits: tool.Traits{Served: &tool.Annotations{}}, Doc: "Does a job.", Schema: json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"}},"additionalProperties":false}`),
	}, func(in job) (tool.Call, error) {
		in.beside = beside
		return jobCall{in, run}, nil
	})
}

// gate allows everything.
type gate struct{}

func (gate) Before(_ context.Context, u *tool.Use) error {
	u.Verdict.Decision = tool.Allow
	return nil
}

// serving returns a server for the tools.
func serving(t *testing.T, tools ...tool.Tool) *Server {
	t.Helper()
	pool, problems := tool.NewRegistry(tools...).Assemble(nil, nil)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	c := Config{Version: "1", Instructions: "Use them.", Pool: func() *tool.Pool { return pool }, Executor: &exec.Executor{Gates: []exec.Gate{{Name: "all", Gate: gate{}}}}}
	s := New(c)
	t.Cleanup(s.Close)
	return s
}

// A peer is a client that writes arbitrary data.
type peer struct {
	t    *testing.T
	in   *io.PipeWriter
	out  *bufio.Reader
	done chan error
}

func connect(t *testing.T, s *Server) *peer {
	t.Helper()
	fromClient, in := io.Pipe()
	out, toClient := io.Pipe()
	p := &peer{t: t, in: in, out: bufio.NewReader(out), done: make(chan error, 1)}
	go func() {
		p.done <- s.Stdio(t.Context(), fromClient, toClient)
		toClient.Close()
	}()
	t.Cleanup(func() { in.Close(); out.Close() })
	p.say(`{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
	if got := p.hear(); !strings.Contains(got, `"instructions":"Use them."`) {
		t.Fatalf("greeted with %s", got)
	}
	p.say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return p
}

func (p *peer) say(line string) {
	p.t.Helper()
	if _, err := io.WriteString(p.in, line+"\n"); err != nil {
		p.t.Fatal(err)
	}
}

func (p *peer) hear() string {
	p.t.Helper()
	line, err := p.out.ReadString('\n')
	if err != nil {
		p.t.Fatal(err)
	}
	if !json.Valid([]byte(line)) {
		p.t.Fatalf("heard %q", line)
	}
	return strings.TrimSpace(line)
}

func call(id int, name, text string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":{"text":%q},"_meta":{"progressToken":"p%d"}}}`, id, name, text, id)
}

// result returns the next line other than a progress notification.
func (p *peer) result() string {
	for {
		if line := p.hear(); !strings.Contains(line, "notifications/progress") {
			return line
		}
	}
}

func echo(_ context.Context, text string, _ func(tool.Progress)) (tool.Result, error) {
	return tool.Text("did " + text), nil
}

// TestGarbage checks that arbitrary input gets a response, and the next request does too.
func TestGarbage(t *testing.T) {
	p := connect(t, serving(t, made("Echo", true, echo)))
	for _, tt := range []struct{ line, want string }{
		{"garbage", "-32700"},
		{"{", "-32700"},
		{"\xff\xfe", "-32700"},
		{`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, "-32600"},
		{"17", "-32600"},
		{`{"jsonrpc":"1.0","id":1,"method":"ping"}`, "-32600"},
		{`{"id":1}`, "-32600"},
		{`{"jsonrpc":"2.0","id":1,"method":"no/such"}`, "-32601"},
		{`{"jsonrpc":"2.0","id":1,"method":"tools/call"}`, "error"},
		{`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[]}`, "error"},
		{`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"Nope"}}`, "unknown tool"},
		{`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"Echo","arguments":[1]}}`, `"isError":true`},
		{`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"Echo","arguments":{"x":1}}}`, `"isError":true`},
		{`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"Echo"}}`, "did "},
		{strings.Repeat("x", maxMessage+1), "longer than 16 MB"},
	} {
		p.say(tt.line)
		if got := p.result(); !strings.Contains(got, tt.want) {
			t.Errorf("%.60q: got %s, want %s", tt.line, got, tt.want)
		}
	}
	for _, ignored := range []string{"", "   ", `{"jsonrpc":"2.0","id":77,"result":{}}`, `{"jsonrpc":"2.0","method":"no/such"}`, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}`} {
		p.say(ignored)
	}
	p.say(call(2, "Echo", "it"))
	if got := p.result(); !strings.Contains(got, "did it") || !strings.Contains(got, `"id":2`) {
		t.Errorf("after all that: %s", got)
	}
}

// TestEndOfInput checks that requests sent before the input ended are answered, and that
// long-running ones are canceled.
func TestEndOfInput(t *testing.T) {
	ended := make(chan error, 1)
	s := serving(t, made("Echo", true, echo), made("Hang", true, func(ctx context.Context, _ string, _ func(tool.Progress)) (tool.Result, error) {
		<-ctx.Done()
		ended <- context.Cause(ctx)
		return tool.Result{}, ctx.Err()
	}))
	p := connect(t, s)
	p.say(call(1, "Echo", "last"))
	p.say(call(2, "Hang", ""))
	p.in.Close()
	rest, _ := io.ReadAll(p.out) // ok: it ends with the server
	if !strings.Contains(string(rest), "did last") {
		t.Errorf("heard %s", rest)
	}
	for _, c := range []<-chan error{ended, p.done} {
		select {
		case <-c:
		case <-time.After(time.Minute):
			t.Fatal("it does not end")
		}
	}
}

// TestDeafClient checks that a client that does not read keeps nothing alive.
func TestDeafClient(t *testing.T) {
	s := serving(t, made("Echo", true, echo))
	fromClient, in := io.Pipe()
	_, toClient := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- s.Stdio(t.Context(), fromClient, toClient) }()
	io.WriteString(in, `{"jsonrpc":"2.0","id":1,"method":"ping"}`+"\n"+"garbage\n") // ok: only the end matters
	in.Close()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatal("it does not end")
	}
}

// TestCancel checks that a canceled call ends, whether running or waiting, and that others
// continue.
func TestCancel(t *testing.T) {
	started, ended := make(chan string, 8), make(chan string, 8)
	hang := func(ctx context.Context, text string, _ func(tool.Progress)) (tool.Result, error) {
		started <- text
		<-ctx.Done()
		ended <- text
		return tool.Result{}, ctx.Err()
	}
	p := connect(t, serving(t, made("Alone", false, hang), made("Echo", true, echo)))
	p.say(call(1, "Alone", "first"))
	if got := <-started; got != "first" {
		t.Fatal(got)
	}
	p.say(call(2, "Echo", "second")) // waits for the call running alone
	p.say(call(3, "Alone", "third"))
	p.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}`)
	p.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	if got := <-ended; got != "first" {
		t.Errorf("%s ended", got)
	}
	if got := p.result(); !strings.Contains(got, `"id":2`) || !strings.Contains(got, "did second") {
		t.Errorf("heard %s", got) // a canceled call gets no response
	}
	select {
	case text := <-started:
		t.Errorf("%s was started", text)
	default:
	}
}

// TestTurns checks that concurrent calls run up to a limit, and that a call that must run alone
// does.
func TestTurns(t *testing.T) {
	var running, most, alone atomic.Int64
	gone := make(chan struct{})
	beside := func(ctx context.Context, _ string, _ func(tool.Progress)) (tool.Result, error) {
		now := running.Add(1)
		defer running.Add(-1)
		for {
			if m := most.Load(); now <= m || most.CompareAndSwap(m, now) {
				break
			}
		}
		if now == 2 {
			close(gone) // two concurrent calls
		}
		select {
		case <-gone:
		case <-ctx.Done():
		}
		return tool.Text("ok"), nil
	}
	lonely := func(context.Context, string, func(tool.Progress)) (tool.Result, error) {
		if running.Load() > 0 || alone.Add(1) > 1 {
			return tool.Text("not alone"), nil
		}
		time.Sleep(time.Millisecond) // gives others a chance to run concurrently
		alone.Add(-1)
		return tool.Text("ok"), nil
	}
	s := serving(t, made("Beside", true, beside), made("Alone", false, lonely))
	p := connect(t, s)
	p.say(call(1, "Beside", ""))
	p.say(call(2, "Beside", ""))
	<-gone
	for id := 3; id < 15; id++ {
		p.say(call(id, "Alone", ""))
	}
	for range 14 {
		if got := p.result(); !strings.Contains(got, `"text":"ok"`) {
			t.Errorf("heard %s", got)
		}
	}
	if most.Load() != 2 || len(s.turns) > 0 || len(s.alone) > 0 {
		t.Errorf("%d at once, %d and %d turns left", most.Load(), len(s.turns), len(s.alone))
	}
}

func TestTooManyCalls(t *testing.T) {
	s := serving(t, made("Echo", true, echo))
	s.queued.Store(parallel + waiting)
	r, err := s.call(t.Context(), &sdk.CallToolRequest{Params: &sdk.CallToolParamsRaw{Name: "Echo"}})
	if err != nil || !r.IsError || s.queued.Load() != parallel+waiting {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestProgress checks that a client that requests progress gets it before the result.
func TestProgress(t *testing.T) {
	p := connect(t, serving(t, made("Slow", true, func(_ context.Context, _ string, report func(tool.Progress)) (tool.Result, error) {
		for i := range 1000 {
			report(tool.Progress{Display: tool.Output{Text: fmt.Sprintf("line\nstep %d", i)}})
		}
		return tool.Text("ok"), nil
	})))
	p.say(call(1, "Slow", ""))
	first := p.hear()
	if !strings.Contains(first, `"method":"notifications/progress"`) || !strings.Contains(first, `"progressToken":"p1"`) || strings.Contains(first, "line") {
		t.Errorf("heard %s", first)
	}
	if got := p.result(); !strings.Contains(got, `"text":"ok"`) {
		t.Errorf("heard %s", got)
	}
}

func TestContent(t *testing.T) {
	o := &exec.Outcome{
		Result: &msg.ToolResult{Parts: []msg.Part{
			&msg.Text{Text: "a"}, &msg.Image{MediaType: "image/png", Data: []byte{1}}, &msg.Document{MediaType: "application/pdf", Data: []byte{2}}, &msg.Opaque{},
		}},
		Context: []msg.Part{msg.Reminder("b")}, Structured: json.RawMessage(`{"x":1}`),
	}
	for _, structured := range []bool{true, false} {
		data, err := json.Marshal(result(o, structured))
		if err != nil {
			t.Fatal(err)
		}
		want := `{"content":[{"type":"text","text":"a"},{"type":"image","mimeType":"image/png","data":"AQ=="},` +
			`{"type":"resource","resource":{"uri":"adze:document","mimeType":"application/pdf","blob":"Ag=="}},{"type":"text","text":"b"}]`
		if structured {
			want += `,"structuredContent":{"x":1}`
		}
		if want += "}"; string(data) != want {
			t.Errorf("got  %s\nwant %s", data, want)
		}
	}
}

func TestAddresses(t *testing.T) {
	const token = "0123456789abcdef"
	for _, tt := range []struct{ address, token, want string }{
		{"127.0.0.1:8000", "", ""}, {"localhost:0", "", ""}, {"[::1]:8000", "", ""}, {"127.9.9.9:1", "", ""}, {"127.0.0.1:8000", token, ""},
		{"0.0.0.0:8000", token, ""}, {"example.com:80", token, ""},
		{"0.0.0.0:8000", "", "other machines"}, {":8000", "", "other machines"}, {"[::]:8000", "", "other machines"},
		{"192.168.1.5:80", "", "other machines"}, {"localhost.evil.example:80", "", "other machines"}, {"127.0.0.1.nip.example:80", "", "other machines"},
		{"8000", "", "invalid address"}, {"", "", "invalid address"}, {"0.0.0.0:8000", "short", "fewer than 16"},
	} {
		err := CheckAddress(tt.address, tt.token)
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s with %q: %v", tt.address, tt.token, err)
		}
	}
}

// TestRefusedRequests checks that requests from other sites' pages, under other host names, or
// without the token are refused before anything is read.
func TestRefusedRequests(t *testing.T) {
	const token = "0123456789abcdef"
	s := serving(t, made("Echo", true, echo))
	const greeting = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	for _, tt := range []struct {
		name, path, host, origin, auth, body string
		remote                               bool // listens on a non-loopback address
		want                                 int
	}{
		{"plain", "/mcp", "127.0.0.1:80", "", "Bearer " + token, greeting, false, 200},
		{"its own page", "/mcp", "localhost:80", "http://localhost:80", "Bearer " + token, greeting, false, 200},
		{"another port of this machine", "/mcp", "localhost:80", "http://localhost:3000", "Bearer " + token, greeting, false, 403},
		{"another name of this machine", "/mcp", "127.0.0.1:80", "http://localhost:80", "Bearer " + token, greeting, false, 403},
		{"another site", "/mcp", "127.0.0.1:80", "https://evil.example", "Bearer " + token, greeting, false, 403},
		{"a site that looks local", "/mcp", "127.0.0.1:80", "http://localhost.evil.example", "Bearer " + token, greeting, false, 403},
		{"no origin at all", "/mcp", "127.0.0.1:80", "null", "Bearer " + token, greeting, false, 403},
		{"another scheme of origin", "/mcp", "127.0.0.1:80", "file://127.0.0.1:80", "Bearer " + token, greeting, false, 403},
		{"a rebound name", "/mcp", "evil.example", "", "Bearer " + token, greeting, false, 403},
		{"a rebound name with its origin", "/mcp", "evil.example", "http://evil.example", "Bearer " + token, greeting, false, 403},
		{"another path", "/", "127.0.0.1", "", "Bearer " + token, greeting, false, 404},
		{"another machine", "/mcp", "box.example", "", "Bearer " + token, greeting, true, 200},
		{"the scheme in small letters", "/mcp", "127.0.0.1", "", "bearer " + token, greeting, false, 200},
		{"without the token", "/mcp", "127.0.0.1", "", "", greeting, false, 401},
		{"without the token, own origin", "/mcp", "127.0.0.1:80", "http://127.0.0.1:80", "", greeting, false, 401},
		{"a wrong token", "/mcp", "127.0.0.1", "", "Bearer " + token + "0", greeting, false, 401},
		{"another scheme", "/mcp", "127.0.0.1", "", "Basic " + token, greeting, false, 401},
		{"another path without the token", "/x", "127.0.0.1", "", "", greeting, false, 401},
		{"a site with the token", "/mcp", "box.example", "https://evil.example", "Bearer " + token, greeting, true, 403},
		{"garbage", "/mcp", "127.0.0.1", "", "Bearer " + token, "garbage", false, 400},
		{"a large body", "/mcp", "127.0.0.1", "", "Bearer " + token, `{"jsonrpc":"2.0","id":1,"method":"` + strings.Repeat("x", maxMessage) + `"}`, false, 413},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := httptest.NewRequest(http.MethodPost, tt.path, strings.NewReader(tt.body))
			r.Host = tt.host
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Accept", "application/json, text/event-stream")
			for name, value := range map[string]string{"Origin": tt.origin, "Authorization": tt.auth} {
				if value != "" {
					r.Header.Set(name, value)
				}
			}
			w := httptest.NewRecorder()
			s.handler(token, !tt.remote).ServeHTTP(w, r)
			if w.Code != tt.want {
				t.Errorf("got %d %s, want %d", w.Code, w.Body, tt.want)
			}
		})
	}
}

// A bearer sends a token with each request.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

// TestHTTP checks that clients of two protocol revisions can call a tool over HTTP, and that
// closing the server ends running calls.
func TestHTTP(t *testing.T) {
	const token = "0123456789abcdef"
	started, ended := make(chan struct{}), make(chan struct{})
	s := serving(t, made("Echo", true, echo), made("Hang", true, func(ctx context.Context, _ string, _ func(tool.Progress)) (tool.Result, error) {
		close(started)
		<-ctx.Done()
		close(ended)
		return tool.Result{}, ctx.Err()
	}))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.HTTP(ctx, l, token) }()
	client := sdk.NewClient(&sdk.Implementation{Name: "t", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &sdk.StreamableClientTransport{
		Endpoint: "http://" + l.Addr().String() + Path, HTTPClient: &http.Client{Transport: bearer(token)},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	list, err := session.ListTools(t.Context(), nil)
	if err != nil || len(list.Tools) != 2 || s.Tools() != 2 {
		t.Errorf("%d tools, %v", len(list.Tools), err)
	}
	r, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "Echo", Arguments: map[string]any{"text": "it"}})
	if err != nil || r.IsError || r.Content[0].(*sdk.TextContent).Text != "did it" {
		t.Errorf("%+v, %v", r, err)
	}
	go session.CallTool(t.Context(), &sdk.CallToolParams{Name: "Hang"}) // ok: it is ended
	<-started
	cancel()
	for _, c := range []<-chan struct{}{ended} {
		select {
		case <-c:
		case <-time.After(time.Minute):
			t.Fatal("the call goes on")
		}
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	session.Close()
}
