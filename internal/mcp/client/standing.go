package client

import (
	"context"
	"io"
	"net/http"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// Delays before reopening a stream that ended.
const (
	firstPause = time.Second
	maxPause   = 30 * time.Second
)

// A notificationStream is the body of the stream for unsolicited messages. Servers may not support it or
// may delay it, and networks close it when idle. The SDK would treat all of this as the end of
// the connection, so standing reopens the stream as long as the connection lasts.
type notificationStream struct {
	remote *remote
	req    *http.Request
	cancel context.CancelFunc
	body   *events // nil while the stream is closed
	last   string  // ID of the last event
	pause  time.Duration
}

// notificationStream returns the response to a stream request. The stream is opened when the body is
// read.
func (r *remote) standing(req *http.Request) *http.Response {
	ctx, cancel := context.WithCancel(req.Context())
	return &http.Response{
		Status: "200 OK", StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: req,
		Header: http.Header{"Content-Type": {"text/event-stream"}}, ContentLength: -1,
		Body: &notificationStream{remote: r, req: req.WithContext(ctx), cancel: cancel},
	}
}

func (s *notificationStream) Read(p []byte) (int, error) {
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

// open requests the stream, and reports whether it is worth retrying if unavailable.
func (s *notificationStream) open() bool {
	req := s.req.Clone(s.req.Context())
	if s.last != "" {
		req.Header.Set("Last-Event-ID", s.last)
	}
	res, err := s.remote.do(req, &requestState{patient: true}, jsonrpc.ID{})
	if err != nil {
		return s.req.Context().Err() == nil
	}
	if body, ok := res.Body.(*events); ok {
		s.body = body
		return true
	}
	res.Body.Close() // ok: the body is not read
	return res.StatusCode >= 500
}

// end discards a stream that ended but keeps the last event ID.
func (s *notificationStream) end() {
	if s.body.last != "" {
		s.last = s.body.last
	}
	s.body.Close() // ok: it has ended
	s.body = nil
}

func (s *notificationStream) Close() error {
	s.cancel()
	return nil
}
