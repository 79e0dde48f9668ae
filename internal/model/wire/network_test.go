package wire_test

import (
	"context"
	"crypto/tls"
	"encoding/pem"
	"errors"
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

// service speaks the Messages dialect.
var service = wire.Service{Dialect: messages.Dialect{}, Address: "https://api.example", KeyHeader: "X-Api-Key"}

func config() wire.Config { return wire.Config{Version: "1", APIKey: "sk-secret-0123456789"} }

func ask() *model.Request {
	return &model.Request{Model: "m-1", MaxTokens: 4000, Messages: []msg.Message{msg.UserText("hi")}}
}

const answer = `{"id":"msg_1","type":"message","model":"m-1","content":[{"type":"text","text":"yes"}],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1}}`

// answering is a server that answers whole.
func answering(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	io.WriteString(w, answer)
}

// text asks and returns the text of the answer.
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

// server returns a loopback server and a provider that reaches it over the default transport.
func server(t *testing.T, h http.HandlerFunc) *wire.Provider {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return connect(t, s.URL, nil)
}

func connect(t *testing.T, base string, rootCAs []byte) *wire.Provider {
	t.Helper()
	c := config()
	c.BaseURL, c.RootCAs = base, rootCAs
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

// Proves PROV-22. The server sees the disconnect within 100 ms.
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

// Requests share one connection, streamed or not, also after an error.
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
	for _, err := range []error{tls.AlertError(42), &tls.CertificateVerificationError{Err: errors.New("expired")}} {
		if got := wire.ConnectionError(err); got.Kind != model.TLS {
			t.Errorf("%v is %v", err, got.Kind)
		}
	}
}

// endless writes until the other side has had enough.
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

// Conversations that take turns keep their encoders.
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
		if _, err := text(t.Context(), p, ask()); err != nil { // a side query
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

// Nothing slow happens before the first request.
func BenchmarkNew(b *testing.B) {
	for b.Loop() {
		if _, err := wire.New(service, config()); err != nil {
			b.Fatal(err)
		}
	}
}
