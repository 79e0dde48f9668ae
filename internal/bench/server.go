package main

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"adze/internal/model/replay"
)

// A server plays a script on loopback and records when requests arrive and answers leave.
type server struct {
	url     string
	http    *http.Server
	handler http.Handler
	probeAt int // request at which memory is measured

	mu                sync.Mutex
	in                []time.Time // arrival of each request
	out               []time.Time // departure of the last byte of each answer
	body              []byte
	buf               bytes.Buffer // one client, one request at a time
	pid               int
	peakKB, privateKB int
}

func newServer(script string) (*server, error) {
	s, err := replay.Parse("bench", []byte(script))
	if err != nil {
		return nil, err
	}
	return serve(replay.NewPlayer(s).Handler())
}

func serve(h http.Handler) (*server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	srv := &server{url: "http://" + l.Addr().String(), handler: h}
	srv.http = &http.Server{Handler: srv}
	go srv.http.Serve(l) // ok: ends with close
	return srv, nil
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	now := time.Now()
	s.mu.Lock()
	s.in = append(s.in, now)
	if len(s.in) == s.probeAt {
		s.peakKB, s.privateKB = statusKB(s.pid, "VmHWM:"), statusKB(s.pid, "RssAnon:")
	}
	s.mu.Unlock()
	s.mu.Lock()
	s.buf.Reset()
	_, err := s.buf.ReadFrom(r.Body)
	body := s.buf.Bytes()
	s.mu.Unlock()
	if err != nil {
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	tw := &timedWriter{ResponseWriter: w}
	s.handler.ServeHTTP(tw, r)
	s.mu.Lock()
	s.body = body
	s.out = append(s.out, tw.last)
	s.mu.Unlock()
}

// A timedWriter records the time of the last write.
type timedWriter struct {
	http.ResponseWriter
	last time.Time
}

func (w *timedWriter) Write(p []byte) (int, error) {
	w.last = time.Now()
	return w.ResponseWriter.Write(p)
}

func (w *timedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *timedWriter) Flush() {
	w.last = time.Now()
	http.NewResponseController(w.ResponseWriter).Flush() // ok: a disconnected reader shows elsewhere
}

func (s *server) watch(pid int) { s.mu.Lock(); s.pid = pid; s.mu.Unlock() }
func (s *server) reset()        { s.mu.Lock(); s.in, s.out = nil, nil; s.mu.Unlock() }
func (s *server) close()        { s.http.Close() }

func (s *server) lastBody() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.body
}

func (s *server) arrivals() []time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.in
}

// gaps returns the times between each answer and the next request.
func (s *server) gaps() []time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	var gaps []time.Duration
	for i := 1; i < len(s.in) && i <= len(s.out); i++ {
		gaps = append(gaps, s.in[i].Sub(s.out[i-1]))
	}
	return gaps
}

// endless answers n requests with the same call and the next one with an end, without examining
// them: the replay model checks each request, which is slow for large ones.
func endless(n int, tool, input string) http.Handler {
	asked := 0
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked++
		block := `{"type":"text","text":"Done."}`
		if asked <= n {
			block = fmt.Sprintf(`{"type":"tool_use","id":"toolu_%d","name":%q,"input":%s}`, asked, tool, input)
		}
		w.Header().Set("Content-Type", "text/event-stream")
		for _, data := range []string{
			fmt.Sprintf(`{"type":"message_start","message":{"id":"msg_%d","type":"message","role":"assistant","model":"m",`+
				`"content":[],"usage":{"input_tokens":1,"output_tokens":1}}}`, asked),
			`{"type":"content_block_start","index":0,"content_block":` + block + `}`,
			`{"type":"content_block_stop","index":0}`,
			`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":2}}`,
			`{"type":"message_stop"}`,
		} {
			fmt.Fprintf(w, "data: %s\n\n", data)
		}
	})
}
