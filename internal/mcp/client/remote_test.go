package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"adze/internal/mcp"
	"adze/internal/mcp/mcptest"
	"adze/internal/mcp/roster"
)

// serve returns the URL of a server that ends with the test.
func serve(t *testing.T, h http.Handler) string {
	s := httptest.NewServer(h)
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	return s.URL
}

// library returns an SDK server with an echo tool, a tool with progress and a tool with an
// elicitation.
func library() *sdk.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: "library", Version: "1"}, &sdk.ServerOptions{Instructions: "Read the manual."})
	type in struct {
		Text string `json:"text"`
	}
	sdk.AddTool(s, &sdk.Tool{Name: "echo", Description: "Echoes"}, func(ctx context.Context, r *sdk.CallToolRequest, a in) (*sdk.CallToolResult, any, error) {
		for i := range 3 {
			r.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: r.Params.GetProgressToken(), Progress: float64(i)})
		}
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: a.Text}}}, nil, nil
	})
	sdk.AddTool(s, &sdk.Tool{Name: "slow", Description: "Takes its time"}, func(ctx context.Context, r *sdk.CallToolRequest, _ in) (*sdk.CallToolResult, any, error) {
		select {
		case <-ctx.Done():
		case <-time.After(time.Minute):
		}
		return &sdk.CallToolResult{}, nil, nil
	})
	sdk.AddTool(s, &sdk.Tool{Name: "ask", Description: "Asks"}, func(ctx context.Context, r *sdk.CallToolRequest, _ in) (*sdk.CallToolResult, any, error) {
		res, err := r.Session.Elicit(ctx, &sdk.ElicitParams{Message: "Who?", RequestedSchema: json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"}}}`)})
		if err != nil {
			return nil, nil, err
		}
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: fmt.Sprint(res.Action, " ", res.Content["name"])}}}, nil, nil
	})
	return s
}

// socketServer serves mcptest over WebSocket.
func socketServer(w http.ResponseWriter, r *http.Request) {
	c, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{"mcp"}})
	if err != nil || c.Subprotocol() != "mcp" {
		return
	}
	defer c.CloseNow()
	s := mcptest.New(func(m any) {
		data, _ := json.Marshal(m)
		c.Write(r.Context(), websocket.MessageText, data)
	})
	for {
		_, data, err := c.Read(r.Context())
		if err != nil {
			return
		}
		go func() {
			if answer := s.Answer(data); answer != nil {
				c.Write(r.Context(), websocket.MessageText, answer)
			}
		}()
	}
}

// A testHost provides a server.
type testHost struct {
	mu     sync.Mutex
	server *mcptest.Server
	hear   func(json.RawMessage)
}

func (h *testHost) Send(_ context.Context, server string, message json.RawMessage) (json.RawMessage, error) {
	if server != "its own" {
		return nil, errors.New("no server " + server)
	}
	return h.server.Answer(message), nil
}

func (h *testHost) Listen(_ string, f func(json.RawMessage)) func() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.hear = f
	return func() {}
}

// Proves MCP-10.
func TestTransports(t *testing.T) {
	d := dialer(t)
	host := &testHost{}
	host.server = mcptest.New(func(m any) {
		data, _ := json.Marshal(m)
		host.mu.Lock()
		hear := host.hear
		host.mu.Unlock()
		hear(data)
	})
	d.Host = host
	d.Headers = func(_ context.Context, e *roster.Entry) (map[string]string, error) {
		if e.Type == roster.Proxy {
			return map[string]string{"Authorization": "Bearer fresh"}, nil
		}
		return nil, nil
	}
	get := func(*http.Request) *sdk.Server { return library() }
	streamable := sdk.NewStreamableHTTPHandler(get, nil)
	ide := func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("X-Claude-Code-Ide-Authorization") != "secret" {
				w.WriteHeader(http.StatusForbidden)
				return
			}
			h.ServeHTTP(w, r)
		})
	}
	token := map[string]string{"X-Claude-Code-Ide-Authorization": "secret"}
	tests := []struct {
		name  string
		entry roster.Entry
	}{
		{"stdio", *program()},
		{"http", roster.Entry{Type: roster.HTTP, URL: serve(t, streamable)}},
		{"http without a session", roster.Entry{Type: roster.HTTP, URL: serve(t, sdk.NewStreamableHTTPHandler(get, &sdk.StreamableHTTPOptions{Stateless: true}))}},
		{"http without events", roster.Entry{Type: roster.HTTP, URL: serve(t, mcptest.NewHandler())}},
		{"sse", roster.Entry{Type: roster.SSE, URL: serve(t, sdk.NewSSEHandler(get, nil))}},
		{"sse-ide", roster.Entry{Type: roster.SSEIDE, URL: serve(t, ide(sdk.NewSSEHandler(get, nil))), Headers: token}},
		{"ws", roster.Entry{Type: roster.WS, URL: strings.Replace(serve(t, http.HandlerFunc(socketServer)), "http", "ws", 1)}},
		{"ws-ide", roster.Entry{Type: roster.WSIDE, URL: strings.Replace(serve(t, ide(http.HandlerFunc(socketServer))), "http", "ws", 1), Headers: token}},
		{"proxy", roster.Entry{Type: roster.Proxy, URL: serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") != "Bearer fresh" {
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			streamable.ServeHTTP(w, r)
		})), Headers: map[string]string{"Authorization": "Bearer stale"}}},
		{"sdk", roster.Entry{Type: roster.Host, Given: "its own"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := connect(t, d, &tt.entry, mcp.Client{Elicit: func(context.Context, mcp.Elicitation) (mcp.Elicited, error) {
				return mcp.Elicited{Action: "accept", Values: map[string]any{"name": "me"}}, nil
			}})
			tools, _, err := c.Tools(t.Context())
			if err != nil || len(tools) < 2 {
				t.Fatal(tools, err)
			}
			if got := call(t, c, "echo", "Grüße"); got != "Grüße" {
				t.Errorf("echo: %q", got)
			}
			if !strings.HasPrefix(tt.name, "http without") {
				if got := call(t, c, "ask", ""); !strings.Contains(got, "accept") || !strings.Contains(got, "me") {
					t.Errorf("ask: %q", got)
				}
			}
			hung := make(chan error)
			go func() {
				_, err := c.Call(context.WithoutCancel(t.Context()), "slow", args("60000"), nil)
				hung <- err
			}()
			time.Sleep(time.Millisecond) // close may come before or during the call
			c.Close()
			<-c.Done()
			if err := <-hung; err == nil {
				t.Error("a call that the end of the connection did not end")
			}
		})
	}
}

// Proves MCP-19.
func TestSessionExpires(t *testing.T) {
	h := mcptest.NewHandler()
	c := connect(t, dialer(t), &roster.Entry{Type: roster.HTTP, URL: serve(t, h)}, mcp.Client{})
	if got := call(t, c, "echo", "x"); got != "x" {
		t.Fatal(got)
	}
	h.Expire()
	_, err := c.Call(t.Context(), "echo", args("x"), nil)
	var gone *mcp.GoneError
	if !errors.As(err, &gone) {
		t.Errorf("a call in a session that expired: %#v", err)
	}
}

// TestAnswers checks invalid HTTP responses.
func TestAnswers(t *testing.T) {
	var elsewhere int
	other := serve(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere++ }))
	isCall := func(body []byte) bool { return strings.Contains(string(body), `"tools/call"`) }
	status := func(code int, body string) func(http.ResponseWriter, *http.Request, []byte) bool {
		return func(w http.ResponseWriter, r *http.Request, b []byte) bool {
			if isCall(b) {
				w.WriteHeader(code)
				io.WriteString(w, body)
			}
			return isCall(b)
		}
	}
	tests := []struct {
		name      string
		intercept func(http.ResponseWriter, *http.Request, []byte) bool
		want      string
		as        any
	}{
		{"401", status(401, ""), "test wants you to sign in: HTTP 401", new(*mcp.AuthError)},
		{"403", status(403, "no"), "the server answers HTTP 403 (Forbidden)", nil},
		{"500", status(500, "oops"), "the server answers HTTP 500 (Internal Server Error)", nil},
		{"an error with a message", status(400, `{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"nope"}}`), "", nil},
		{"redirect", func(w http.ResponseWriter, r *http.Request, b []byte) bool {
			if isCall(b) {
				http.Redirect(w, r, other+"/x", http.StatusTemporaryRedirect)
			}
			return isCall(b)
		}, "the server sends us to " + other + ", which is not followed", new(*mcp.LostError)},
		{"cut off", func(w http.ResponseWriter, r *http.Request, b []byte) bool {
			if isCall(b) {
				c, _, _ := http.NewResponseController(w).Hijack()
				c.Close()
			}
			return isCall(b)
		}, "EOF", new(*mcp.LostError)},
		{"too large", func(w http.ResponseWriter, r *http.Request, b []byte) bool {
			if isCall(b) {
				w.Header().Set("Content-Type", "application/json")
				chunk := []byte(strings.Repeat("x", 1<<20))
				for range 70 {
					w.Write(chunk)
				}
			}
			return isCall(b)
		}, "the server sent a message of more than 32 MB", nil},
		{"an event that is too large", func(w http.ResponseWriter, r *http.Request, b []byte) bool {
			if isCall(b) {
				w.Header().Set("Content-Type", "text/event-stream")
				io.WriteString(w, "data: ")
				chunk := []byte(strings.Repeat("x", 1<<20))
				for range 40 {
					w.Write(chunk)
				}
				io.WriteString(w, "\n\n")
			}
			return isCall(b)
		}, "the server sent a message of more than 32 MB", nil},
		{"garbage", func(w http.ResponseWriter, r *http.Request, b []byte) bool {
			if isCall(b) {
				w.Header().Set("Content-Type", "application/json")
				io.WriteString(w, "<html>")
			}
			return isCall(b)
		}, "decode", new(*mcp.LostError)},
		{"a stream that ends", func(w http.ResponseWriter, r *http.Request, b []byte) bool {
			if isCall(b) {
				w.Header().Set("Content-Type", "text/event-stream")
				io.WriteString(w, "event: message\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"level\":\"info\",\"data\":\"x\"}}\n\n")
			}
			return isCall(b)
		}, "terminated without response", new(*mcp.LostError)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := mcptest.NewHandler()
			h.Intercept = tt.intercept
			c := connect(t, dialer(t), &roster.Entry{Name: "test", Type: roster.HTTP, URL: serve(t, h), Headers: map[string]string{"X-Key": "secret"}}, mcp.Client{})
			_, err := c.Call(t.Context(), "echo", args("x"), nil)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %s", err, tt.want)
			}
			if tt.as != nil && !errors.As(err, tt.as) {
				t.Errorf("got %#v, want %T", err, tt.as)
			}
			for _, r := range h.Requests() {
				if r.Header.Get("X-Key") != "secret" || r.Header.Get("User-Agent") != "adze/1.0" {
					t.Errorf("headers of a request: %v", r.Header)
				}
			}
		})
	}
	if elsewhere != 0 {
		t.Errorf("%d requests went to another host", elsewhere)
	}
}

// Proves MCP-14.
func TestRequestsTakeNoLonger(t *testing.T) {
	h := mcptest.NewHandler()
	release := make(chan struct{})
	defer close(release)
	h.Intercept = func(w http.ResponseWriter, r *http.Request, body []byte) bool {
		switch {
		case strings.Contains(string(body), `"tools/list"`):
			<-release
			return true
		case strings.Contains(string(body), `"tools/call"`): // longer than the request timeout
			time.Sleep(3 * time.Second)
		}
		return false
	}
	d := dialer(t)
	d.Timeout = 2 * time.Second
	c := connect(t, d, &roster.Entry{Type: roster.HTTP, URL: serve(t, h)}, mcp.Client{})
	var lost *mcp.LostError
	if _, _, err := c.Tools(t.Context()); !errors.As(err, &lost) || !strings.Contains(err.Error(), "did not answer in time") {
		t.Errorf("a request that hangs: %v", err)
	}
	if got := call(t, c, "echo", "x"); got != "x" {
		t.Errorf("a call that takes longer: %q", got)
	}
}

// TestEndpointElsewhere checks that a server of the old transport may not redirect the client
// to another host.
func TestEndpointElsewhere(t *testing.T) {
	var elsewhere int
	other := serve(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere++ }))
	url := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "event: endpoint\ndata: %s/messages\n\n", other)
		http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}))
	_, err := dialer(t).Dial(t.Context(), &roster.Entry{Type: roster.SSE, URL: url}, mcp.Client{})
	if err == nil || !strings.Contains(err.Error(), "which is not followed") || elsewhere != 0 {
		t.Errorf("%v, %d requests elsewhere", err, elsewhere)
	}
}

// TestStreamIsResumed checks that a broken stream resumes at the last event.
func TestStreamIsResumed(t *testing.T) {
	h := mcptest.NewHandler()
	var id, resumed string
	h.Intercept = func(w http.ResponseWriter, r *http.Request, body []byte) bool {
		switch {
		case strings.Contains(string(body), `"tools/call"`):
			var m mcptest.Message
			json.Unmarshal(body, &m)
			id = string(m.ID)
			w.Header().Set("Content-Type", "text/event-stream")
			w.Header().Set("Mcp-Session-Id", "s0")
			io.WriteString(w, "id: 17\r\nretry: 10\r\ndata:\r\n\r\n")
			return true
		case r.Method == http.MethodGet && r.Header.Get("Last-Event-ID") != "":
			resumed = r.Header.Get("Last-Event-ID")
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprintf(w, "id: 18\ndata: {\"jsonrpc\":\"2.0\",\"id\":%s,\n", id)
			io.WriteString(w, "data: \"result\":{\"content\":[{\"type\":\"text\",\"text\":\"resumed\"}]}}\n\n")
			return true
		}
		return false
	}
	c := connect(t, dialer(t), &roster.Entry{Type: roster.HTTP, URL: serve(t, h)}, mcp.Client{})
	if got := call(t, c, "echo", "x"); got != "resumed" || resumed != "17" {
		t.Errorf("got %q, resumed after %q", got, resumed)
	}
}

// TestIdleConnectionCloses checks that a message is sent again if the server closes the idle
// connection at the same moment, unless it is a tool call, which may have started.
//
// Proves MCP-18.
func TestIdleConnectionCloses(t *testing.T) {
	h := mcptest.NewHandler()
	var mu sync.Mutex
	seen, closed, calls := map[string]bool{}, 0, 0
	h.Intercept = func(_ http.ResponseWriter, r *http.Request, body []byte) bool {
		mu.Lock()
		defer mu.Unlock()
		call := strings.Contains(string(body), `"tools/call"`)
		if call {
			calls++
		}
		if seen[r.RemoteAddr] && r.Method == http.MethodPost {
			closed++
			panic(http.ErrAbortHandler)
		}
		seen[r.RemoteAddr] = !call
		return false
	}
	c := connect(t, dialer(t), &roster.Entry{Type: roster.HTTP, URL: serve(t, h)}, mcp.Client{})
	if _, _, err := c.Tools(t.Context()); err != nil {
		t.Error(err)
	}
	_, err := c.Call(t.Context(), "echo", nil, nil)
	mu.Lock()
	defer mu.Unlock()
	if closed < 2 {
		t.Errorf("%d connections were closed under a message", closed)
	}
	if err == nil || calls != 1 {
		t.Errorf("the tool was called %d times: %v", calls, err)
	}
}

// TestAuthorize checks that the user's token is added below adze's headers, and that its errors
// are returned.
func TestAuthorize(t *testing.T) {
	d := dialer(t)
	d.Authorize = func(e *roster.Entry, base http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			if r.Header.Get("X-Key") != "k" {
				t.Errorf("no headers yet: %v", r.Header)
			}
			return nil, &mcp.AuthError{Server: e.Name, Scope: "files", Err: errors.New("expired")}
		})
	}
	for _, kind := range []roster.Type{roster.HTTP, roster.SSE, roster.WS} {
		_, err := d.Dial(t.Context(), &roster.Entry{Name: "test", Type: kind, URL: "http://127.0.0.1:1", Headers: map[string]string{"X-Key": "k"}}, mcp.Client{})
		var auth *mcp.AuthError
		if !errors.As(err, &auth) || auth.Scope != "files" {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestStandingStream checks that the stream for unsolicited messages may start late, end, and
// resume at the last event.
func TestStandingStream(t *testing.T) {
	h := mcptest.NewHandler()
	var mu sync.Mutex
	var resumed []string
	h.Intercept = func(w http.ResponseWriter, r *http.Request, _ []byte) bool {
		if r.Method != http.MethodGet {
			return false
		}
		mu.Lock()
		resumed = append(resumed, r.Header.Get("Last-Event-ID"))
		n := len(resumed)
		mu.Unlock()
		if n == 1 {
			w.WriteHeader(http.StatusBadGateway)
			return true
		}
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "id: %d\nretry: 1\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/resources/updated\",\"params\":{\"uri\":\"test://%d\"}}\n\n", n, n)
		return true
	}
	var updated []string
	c := connect(t, dialer(t), &roster.Entry{Type: roster.HTTP, URL: serve(t, h)}, mcp.Client{Updated: func(uri string) {
		mu.Lock()
		defer mu.Unlock()
		updated = append(updated, uri)
	}})
	waitFor(t, "news over two streams", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(updated) > 1 && updated[0] == "test://2" && resumed[2] == "2"
	})
	if got := call(t, c, "echo", "x"); got != "x" {
		t.Error(got)
	}
}

// TestOldServers checks that an older protocol is used for a server that answers the unknown
// first request with a web page, or not at all.
func TestOldServers(t *testing.T) {
	h := mcptest.NewHandler()
	h.Intercept = func(w http.ResponseWriter, r *http.Request, body []byte) bool {
		if strings.Contains(string(body), "server/discover") {
			io.WriteString(w, "<html>hello</html>")
			return true
		}
		return false
	}
	c := connect(t, dialer(t), &roster.Entry{Type: roster.HTTP, URL: serve(t, h)}, mcp.Client{})
	if got := call(t, c, "echo", "x"); got != "x" || c.About().Protocol != "2025-11-25" {
		t.Error(got, c.About())
	}
}
