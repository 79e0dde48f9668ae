// Package chaos emulates a server of any dialect that fails in all the ways that servers,
// gateways, proxies and networks do: it drops, delays, truncates, duplicates, reorders and
// garbles its responses, or sends something else entirely. The faults are drawn from a seed. It
// works over in-memory connections inside a synctest bubble.
package chaos

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"adze/internal/model"
	"adze/internal/model/wire"
)

// A Server answers requests with faults. Its fields are set before the first request.
type Server struct {
	Dialect wire.Server
	Seed    uint64
	// Faults is the percentage of answers with a fault.
	Faults int
	// Answer returns an answer's events, blocks with their deltas, and the stop reason.
	Answer func(*model.Request) ([]model.Event, model.StopReason)

	serving  sync.WaitGroup
	mu       sync.Mutex
	requests int
	faults   []string
	problems []error
}

// Transport returns a transport whose connections lead to the server.
func (s *Server) Transport() *http.Transport {
	return &http.Transport{
		DialContext: func(context.Context, string, string) (net.Conn, error) {
			client, server := net.Pipe()
			s.serving.Go(func() { s.serve(server) })
			return client, nil
		},
		MaxResponseHeaderBytes: 1 << 20, DisableCompression: true, DisableKeepAlives: true,
	}
}

// Wait waits until all connections have ended.
func (s *Server) Wait() { s.serving.Wait() }

// History returns the faults so far, in order.
func (s *Server) History() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.faults, ", ")
}

// Problems returns the violations found in requests.
func (s *Server) Problems() []error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.problems
}

// begin counts a request and draws its fault.
func (s *Server) begin() (*rand.Rand, fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests++
	r := rand.New(rand.NewPCG(s.Seed, uint64(s.requests)))
	f := faults[0]
	if r.IntN(100) < s.Faults {
		f = faults[r.IntN(len(faults))]
	}
	s.faults = append(s.faults, f.name)
	return r, f
}

func (s *Server) complain(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.problems = append(s.problems, err)
}

// serve answers one request.
func (s *Server) serve(conn net.Conn) {
	defer conn.Close()
	r, f := s.begin()
	if f.early != nil {
		f.early(conn, r)
		return
	}
	req, err := http.ReadRequest(bufio.NewReader(conn))
	if err != nil {
		return // the client has disconnected
	}
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return
	}
	asked, refused := s.Dialect.Admit(req.URL.Path, req.Header, body)
	if refused != nil {
		s.complain(refused)
		return
	}
	if err := s.Dialect.Check(req.Header, body); err != nil {
		s.complain(fmt.Errorf("%w\n%s", err, body))
	}
	read, err := s.Dialect.Read(body)
	if err != nil {
		s.complain(err)
		return
	}
	a := &answer{dialect: s.Dialect, stream: asked.Stream, media: "application/json", status: 200, r: r}
	if asked.Stream {
		a.media = wire.MediaType(s.Dialect)
	}
	events, reason := s.Answer(read)
	a.spell(asked.Model, events, reason)
	if f.change != nil {
		f.change(a)
	}
	a.send(conn)
}

// An answer is a response to be sent.
type answer struct {
	dialect wire.Server
	stream  bool
	r       *rand.Rand

	status int
	media  string
	header string   // additional lines
	pieces [][]byte // body as sent, in pieces
	framed framing
	// waits holds the pauses before pieces.
	waits map[int]time.Duration
	// after, if non-nil, is called when the pieces have been sent.
	after func(net.Conn)
}

type framing uint8

const (
	chunked framing = iota
	untilClose
	counted
	miscounted // wrong Content-Length
	misframed  // malformed chunked encoding
)

func (a *answer) spell(name string, events []model.Event, reason model.StopReason) {
	sp := a.dialect.NewResponseEncoder(a.stream)
	counts := wire.Counts{wire.InputTokens: 10, wire.OutputTokens: 5}
	add := func(piece []byte) {
		if len(piece) > 0 {
			a.pieces = append(a.pieces, piece)
		}
	}
	add(sp.Open("msg_1", name, counts))
	for _, e := range events {
		add(sp.Event(e))
	}
	add(sp.Close(reason, counts))
}

// send writes the response, or nothing if the client has disconnected.
func (a *answer) send(conn net.Conn) {
	if a.status == 0 {
		return
	}
	head := fmt.Sprintf("HTTP/1.1 %d %s\r\nContent-Type: %s\r\n%s", a.status, http.StatusText(a.status), a.media, a.header)
	size := len(bytes.Join(a.pieces, nil))
	switch a.framed {
	case chunked, misframed:
		head += "Transfer-Encoding: chunked\r\n"
	case counted:
		head += fmt.Sprintf("Content-Length: %d\r\n", size)
	case miscounted:
		head += fmt.Sprintf("Content-Length: %d\r\n", a.r.IntN(2*size+2))
	}
	if _, err := io.WriteString(conn, head+"\r\n"); err != nil {
		return
	}
	for i, p := range a.pieces {
		time.Sleep(a.waits[i])
		switch a.framed {
		case chunked:
			p = fmt.Appendf(nil, "%x\r\n%s\r\n", len(p), p)
		case misframed:
			p = fmt.Appendf(nil, "%x\r\n%s\r\n", a.r.IntN(4*len(p)+4), p)
		}
		if _, err := conn.Write(p); err != nil {
			return
		}
	}
	if a.after != nil {
		a.after(conn)
		return
	}
	if a.framed == chunked {
		io.WriteString(conn, "0\r\n\r\n") // ok: the client may have disconnected
	}
}
