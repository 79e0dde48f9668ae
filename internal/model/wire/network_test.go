package wire_test

import (
	"context"
	"encoding/pem"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"adze/internal/model"
	"adze/internal/model/messages"
	"adze/internal/model/modeltest"
	"adze/internal/model/wire"
	"adze/internal/msg"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// service uses the Messages dialect.
var service = wire.Service{Dialect: messages.Dialect{}, Address: "https://api.example", KeyHeader: "X-Api-Key"}

func config() wire.Config { return wire.Config{Version: "1", APIKey: "sk-secret-0123456789"} }

func ask() *model.Request {
	return &model.Request{Model: "m-1", MaxTokens: 4000, Messages: []msg.Message{msg.UserText("hi")}}
}

const answer = `{"id":"msg_1","type":"message","model":"m-1","content":[{"type":"text","text":"yes"}],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1}}`

// answering is a server that answers without streaming.
func answering(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	io.WriteString(w, answer)
}

// text sends req and returns the answer's text.
func text(ctx context.Context, p model.Provider, req *model.Request) (string, error) {
	var a model.Accumulator
	for e, err := range p.Stream(ctx, req) {
		if err != nil {
			return "", err
		}
		a.Add(e)
	}
	return a.Message().Text(), nil
}

// server returns a provider connected to a loopback server over the default transport.
func server(t *testing.T, h http.HandlerFunc) *wire.Provider {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return connect(t, s.URL, nil)
}

func connect(t *testing.T, base string, rootCAs []byte) *wire.Provider {
	t.Helper()
	c := config()
	c.BaseURL, c.Network.RootCAs = base, rootCAs
	p, err := wire.New(service, c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.CloseIdle)
	return p
}

func streaming(w http.ResponseWriter, events ...string) {
	w.Header().Set("Content-Type", "text/event-stream")
	for _, e := range events {
		io.WriteString(w, "data: "+e+"\n\n")
	}
	w.(http.Flusher).Flush()
}

const (
	begun  = `{"type":"message_start","message":{"id":"msg_1","model":"m-1","usage":{"input_tokens":1,"output_tokens":1}}}`
	saying = `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"yes"}}`
	stops  = `{"type":"message_stop"}`
)

// TestDisconnect checks that the server sees the disconnect within 100 ms.
//
// Proves PROV-22.
func TestDisconnect(t *testing.T) {
	gone := make(chan time.Time, 1)
	p := server(t, func(w http.ResponseWriter, r *http.Request) {
		streaming(w, begun, saying)
		<-r.Context().Done()
		gone <- time.Now()
	})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var cancelled time.Time
	for e, err := range p.Stream(ctx, ask()) {
		if _, ok := e.(model.TextDelta); ok {
			cancelled = time.Now()
			cancel()
		}
		if err != nil && err != context.Canceled {
			t.Error(err)
		}
	}
	if took := (<-gone).Sub(cancelled); took > 100*time.Millisecond {
		t.Errorf("the server saw it %v later", took)
	}
}

// TestConnectionReuse checks that requests share one connection, streamed or not, even after an
// error.
func TestConnectionReuse(t *testing.T) {
	n := 0
	p := server(t, func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		switch n++; n % 3 {
		case 0:
			w.WriteHeader(529)
		case 1:
			streaming(w, begun, saying, stops)
		case 2:
			answering(w, r)
		}
	})
	fresh := 0
	ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{GotConn: func(i httptrace.GotConnInfo) {
		if !i.Reused {
			fresh++
		}
	}})
	for range 9 {
		text(ctx, p, ask()) // ok: every third one fails
	}
	if n != 9 || fresh != 1 {
		t.Errorf("%d connections for %d requests", fresh, n)
	}
}

func TestConnectionErrors(t *testing.T) {
	quiet := log.New(io.Discard, "", 0)
	secure := httptest.NewUnstartedServer(http.HandlerFunc(answering))
	secure.Config.ErrorLog = quiet
	secure.StartTLS()
	defer secure.Close()
	plain := httptest.NewServer(http.HandlerFunc(answering))
	defer plain.Close()
	closed := httptest.NewServer(http.HandlerFunc(answering))
	closed.Close()
	hangs := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	defer hangs.Close()
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw})

	for _, tt := range []struct {
		name, base string
		rootCAs    []byte
		want       model.Kind // Unknown for an answer
	}{
		{"unknown authority", secure.URL, nil, model.TLS},
		{"known authority", secure.URL, ca, model.Unknown},
		{"no certificate in the file", secure.URL, []byte("nothing"), model.TLS},
		{"not encrypted", strings.Replace(plain.URL, "http:", "https:", 1), nil, model.TLS},
		{"refused", closed.URL, nil, model.Network},
		{"dropped", hangs.URL, nil, model.Network},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := text(t.Context(), connect(t, tt.base, tt.rootCAs), ask())
			if model.KindOf(err) != tt.want || (err == nil) != (tt.want == model.Unknown) {
				t.Errorf("error %v, want %v", err, tt.want)
			}
		})
	}
}

// endless writes until the other side disconnects.
func endless(w io.Writer) {
	block := []byte(strings.Repeat("x", 1<<16))
	for {
		if _, err := w.Write(block); err != nil {
			return
		}
	}
}

func TestBounds(t *testing.T) {
	p := server(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(500)
		endless(w)
	})
	if _, err := text(t.Context(), p, ask()); model.KindOf(err) != model.ServerFault {
		t.Errorf("error %v for an endless error", err)
	}
	p = server(t, func(w http.ResponseWriter, r *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		io.WriteString(conn, "HTTP/1.1 200 OK\r\nX-Long: ")
		endless(conn)
	})
	if _, err := text(t.Context(), p, ask()); model.KindOf(err) != model.Network {
		t.Errorf("error %v for an endless header", err)
	}
}

// TestEndlessAnswer checks that an answer is cut off when it exceeds the possible size of the
// requested output, regardless of its content (D9).
func TestEndlessAnswer(t *testing.T) {
	delta := func(block, d string) []string {
		return []string{`{"type":"content_block_start","index":0,"content_block":{` + block + `}}`,
			`{"type":"content_block_delta","index":0,"delta":{` + strings.ReplaceAll(d, "X", strings.Repeat("x", 64<<10)) + `}}`}
	}
	tests := map[string][]string{
		"text":            delta(`"type":"text","text":""`, `"type":"text_delta","text":"X"`),
		"thinking":        delta(`"type":"thinking","thinking":""`, `"type":"thinking_delta","thinking":"X"`),
		"signature":       delta(`"type":"thinking","thinking":""`, `"type":"signature_delta","signature":"X"`),
		"input":           delta(`"type":"tool_use","id":"t","name":"A"`, `"type":"input_json_delta","partial_json":"X"`),
		"another's input": delta(`"type":"hologram"`, `"type":"input_json_delta","partial_json":"X"`),
		"unknown":         {`{"type":"ping"}`, `{"type":"aside","text":"` + strings.Repeat("x", 64<<10) + `"}`},
	}
	for name, events := range tests {
		sent := 0
		gone := make(chan struct{})
		p := server(t, func(w http.ResponseWriter, r *http.Request) {
			defer close(gone)
			streaming(w, begun, events[0])
			for line := "data: " + events[1] + "\n\n"; ; {
				n, err := io.WriteString(w, line)
				if sent += n; err != nil || sent > 200<<20 {
					return
				}
			}
		})
		_, err := text(t.Context(), p, ask())
		if model.KindOf(err) != model.Broken || !strings.Contains(err.Error(), "far longer") {
			t.Errorf("%s: error %v", name, err)
		}
		<-gone
		if sent > 30<<20 { // includes buffered data
			t.Errorf("%s: %d bytes were sent", name, sent)
		}
	}
	p := server(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		endless(w)
	})
	whole := ask()
	whole.NoStream = true
	if _, err := text(t.Context(), p, whole); model.KindOf(err) != model.Broken || !strings.Contains(err.Error(), "far longer") {
		t.Errorf("error %v for an endless message", err)
	}
}

// TestEncoders checks that interleaved conversations keep their encoders.
func TestEncoders(t *testing.T) {
	c := config()
	c.Transport = modeltest.Transport(http.HandlerFunc(answering))
	p, err := wire.New(service, c)
	if err != nil {
		t.Fatal(err)
	}
	long := ask()
	e, err := p.Encode(long)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 * wire.MaxEncoders {
		if _, err := text(t.Context(), p, ask()); err != nil { // side query
			t.Fatal(err)
		}
		if _, err := text(t.Context(), p, long); err != nil {
			t.Fatal(err)
		}
	}
	if kept := p.Encoders(); !slices.Contains(kept, e) || !e.Continues(long) || len(kept) != wire.MaxEncoders {
		t.Error("side queries took the encoder of a conversation")
	}
}

// BenchmarkNew checks that nothing slow happens before the first request.
func BenchmarkNew(b *testing.B) {
	for b.Loop() {
		if _, err := wire.New(service, config()); err != nil {
			b.Fatal(err)
		}
	}
}

// TestForeignResponses checks that responses from a proxy, a login page or another server are
// not attributed to the provider: they are not retried, and the advice fits.
//
// Proves PROV-55.
func TestForeignResponses(t *testing.T) {
	latin := "<html><TITLE>Acc\xe8s r\xe9serv\xe9 &amp; co</title>"
	for _, tt := range []struct {
		name   string
		status int
		header http.Header
		body   string
		kind   model.Kind
		want   string
	}{
		{"login page", 200, http.Header{"Content-Type": {"text/html; charset=utf-8"}}, "<html><head><title>\nGuest <b>", model.Broken, `The answer did not arrive whole: a web page with the title "Guest" came back instead of an answer. If this network or its proxy has a login page`},
		{"login page in another charset", 200, http.Header{"Content-Type": {"text/html; charset=iso-8859-1"}}, latin, model.Broken, `title "Accs rserv & co"`},
		{"page without a title", 403, http.Header{"Content-Type": {"text/html"}}, "<!doctype html>no", model.Invalid, "a web page came back instead of an answer. If"},
		{"redirect to a login", 302, http.Header{"Location": {"https://login.example/?to=me"}}, "", model.Invalid, "sends the request to login.example, where the API key does not go"},
		{"redirect loop", 307, http.Header{"Location": {"/v1/messages"}}, "", model.Invalid, "sends the request elsewhere"},
		{"network login", 511, nil, "", model.Invalid, "this network wants a login"},
		{"proxy login", 407, nil, "", model.Invalid, "HTTP_PROXY=http://user:password@host:port"},
		{"page of a failing gateway", 502, http.Header{"Content-Type": {"text/html"}}, "<html>", model.ServerFault, "The server failed (HTTP 502)"},
		{"clock behind", 401, http.Header{"Date": {time.Now().Add(2 * time.Hour).UTC().Format(http.TimeFormat)}}, `{"error":{"type":"authentication_error","message":"bad signature"}}`, model.Auth, "bad signature; this machine's clock is 2h0m0s behind the server's"},
		{"wrong key", 401, nil, `{"error":{"type":"authentication_error","message":"wrong key"}}`, model.Auth, "wrong key. Look into the vault"},
	} {
		asked := 0
		h := func(w http.ResponseWriter, _ *http.Request) {
			asked++
			for name, values := range tt.header {
				w.Header()[name] = values
			}
			w.WriteHeader(tt.status)
			io.WriteString(w, tt.body)
		}
		for _, whole := range []bool{false, true} {
			c := config()
			c.Transport, c.AuthHint = modeltest.Transport(http.HandlerFunc(h)), "Look into the vault"
			p, err := wire.New(service, c)
			if err != nil {
				t.Fatal(err)
			}
			req := ask()
			req.NoStream = whole
			asked = 0
			_, err = text(t.Context(), p, req)
			if got := model.Explain(err, "m-1", true); model.KindOf(err) != tt.kind || !strings.Contains(got, tt.want) || asked != 1 {
				t.Errorf("%s: %d requests, %v: %s", tt.name, asked, model.KindOf(err), got)
			}
		}
	}
}
