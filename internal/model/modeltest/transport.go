package modeltest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"
)

// Transport returns a transport that serves requests with h in memory. Responses stream: data
// written by h can be read immediately. Closing a response body and canceling a request both
// end the context that h sees; a panic with [http.ErrAbortHandler] breaks the connection. It
// works inside a synctest bubble.
func Transport(h http.Handler) http.RoundTripper { return transport{h} }

type transport struct{ h http.Handler }

// RoundTrip implements [http.RoundTripper].
func (t transport) RoundTrip(req *http.Request) (*http.Response, error) {
	var sent []byte
	if req.Body != nil {
		var err error
		sent, err = io.ReadAll(req.Body)
		req.Body.Close()
		if err != nil {
			return nil, err
		}
	}
	ctx, cancel := context.WithCancelCause(req.Context())
	served := req.Clone(ctx)
	served.Body = io.NopCloser(bytes.NewReader(sent))
	served.RequestURI = req.URL.RequestURI()
	served.RemoteAddr = "client"
	if served.Host == "" {
		served.Host = req.URL.Host
	}

	r, w := io.Pipe()
	stop := context.AfterFunc(ctx, func() { w.CloseWithError(context.Cause(ctx)) })
	rw := &responseWriter{header: http.Header{}, w: w, begun: make(chan struct{})}
	go func() {
		defer stop()
		end := serve(t.h, rw, served)
		if ctx.Err() != nil {
			end = context.Cause(ctx) // nobody is left to read the actual error
		}
		w.CloseWithError(end)
		rw.WriteHeader(http.StatusOK)
	}()
	select {
	case <-rw.begun:
	case <-ctx.Done():
		err := context.Cause(ctx)
		cancel(err)
		return nil, err
	}
	return &http.Response{
		Status:     fmt.Sprintf("%d %s", rw.status, http.StatusText(rw.status)),
		StatusCode: rw.status, Header: rw.sent,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		ContentLength: -1, Request: req,
		Body: &body{PipeReader: r, hangUp: func() { cancel(io.ErrClosedPipe) }},
	}, nil
}

// serve runs the handler and returns how the response body ends.
func serve(h http.Handler, w http.ResponseWriter, req *http.Request) (end error) {
	defer func() {
		switch v := recover(); v {
		case nil:
		case http.ErrAbortHandler:
			end = io.ErrUnexpectedEOF
		default:
			panic(v)
		}
	}()
	h.ServeHTTP(w, req)
	return io.EOF
}

// A body ends the handler's context when it is closed.
type body struct {
	*io.PipeReader
	hangUp func()
}

func (b *body) Close() error {
	b.hangUp()
	return b.PipeReader.Close()
}

type responseWriter struct {
	header http.Header
	w      io.Writer

	once   sync.Once
	begun  chan struct{}
	status int
	sent   http.Header
}

func (r *responseWriter) Header() http.Header { return r.header }

func (r *responseWriter) WriteHeader(status int) {
	r.once.Do(func() {
		r.status, r.sent = status, r.header.Clone()
		close(r.begun)
	})
}

func (r *responseWriter) Write(p []byte) (int, error) {
	r.WriteHeader(http.StatusOK)
	return r.w.Write(p)
}

// Flush only sends the header: writes are never buffered.
func (r *responseWriter) Flush() { r.WriteHeader(http.StatusOK) }
