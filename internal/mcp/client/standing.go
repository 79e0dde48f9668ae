package client

import (
	"context"
	"io"
	"net/http"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// How long to wait before a stream is opened again that ended.
const (
	firstPause = time.Second
	maxPause   = 30 * time.Second
)

// A standing is the body of the stream that a server sends of its own accord on. Servers need not have one, may take
// their time to begin it, and networks end it when it is quiet. None of that is the end of a connection, as the library
// would have it: the stream is opened again for as long as there is a connection.
type standing struct {
	remote *remote
	req    *http.Request
	cancel context.CancelFunc
	body   *events // nil while there is none
	last   string  // the number of the last event
	pause  time.Duration
}

// standing returns the answer to a request for a stream, which is made when it is read.
func (r *remote) standing(req *http.Request) *http.Response {
	ctx, cancel := context.WithCancel(req.Context())
	return &http.Response{
		Status: "200 OK", StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: req,
		Header: http.Header{"Content-Type": {"text/event-stream"}}, ContentLength: -1,
		Body: &standing{remote: r, req: req.WithContext(ctx), cancel: cancel},
	}
}

func (s *standing) Read(p []byte) (int, error) {
	for {
		if s.body == nil && !s.open() {
			<-s.req.Context().Done()
			return 0, io.EOF
		}
		if s.body != nil {
			n, err := s.body.Read(p)
			if n > 0 || err == nil {
				s.pause = s.body.pause
				return n, nil
			}
			s.end()
		}
		select {
		case <-time.After(max(s.pause, firstPause)):
			s.pause = min(max(2*s.pause, firstPause), maxPause)
		case <-s.req.Context().Done():
			return 0, io.EOF
		}
	}
}

// open asks for the stream, and reports whether it makes sense to ask again if there is none.
func (s *standing) open() bool {
	req := s.req.Clone(s.req.Context())
	if s.last != "" {
		req.Header.Set("Last-Event-ID", s.last)
	}
	res, err := s.remote.do(req, &inquiry{patient: true}, jsonrpc.ID{})
	if err != nil {
		return s.req.Context().Err() == nil
	}
	if body, ok := res.Body.(*events); ok {
		s.body = body
		return true
	}
	res.Body.Close() // ok: it is not read
	return res.StatusCode >= 500
}

// end forgets a stream that ended, but not where.
func (s *standing) end() {
	if s.body.last != "" {
		s.last = s.body.last
	}
	s.body.Close() // ok: it has ended
	s.body = nil
}

func (s *standing) Close() error {
	s.cancel()
	return nil
}
