package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"sync"
	"time"

	"adze/internal/model"
)

// StreamOptions configures how a response is read. The zero value is valid.
type StreamOptions struct {
	// Idle is how long the connection may be silent, Progress how long it may deliver only
	// keep-alives. Zero means 90 seconds and 5 minutes. Time spent by the caller does not
	// count.
	Idle, Progress time.Duration
	// Limit is the maximum number of event bytes read; zero means no limit.
	Limit int
	// MediaType is the body's type; empty means the dialect's [MediaType].
	MediaType string
	// RequestID is the server's request ID, if known.
	RequestID string
	// Raw requests the server's own events too.
	Raw bool
	// Close, if non-nil, is called once, after the body has been closed.
	Close func()
}

const (
	defaultIdle     = 90 * time.Second
	defaultProgress = 5 * time.Minute

	// drainTime is how long to wait for the end of the body after the end of the message. A
	// connection that was read to its end can be reused.
	drainTime = 50 * time.Millisecond
)

// ReadStream decodes a stream into events. It closes body before it returns, immediately if ctx
// is done, and closing body must end a read in progress.
//
// A response that is cut off, stalls or is not a stream at all ends in an error of kind
// [model.Broken]; if it had begun, its usage so far precedes the error, marked as estimated.
func ReadStream(ctx context.Context, dialect Dialect, body io.ReadCloser, o StreamOptions) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		closeBody := sync.OnceFunc(func() {
			body.Close() // ok: nothing depends on it
			if o.Close != nil {
				o.Close()
			}
		})
		defer closeBody()
		defer context.AfterFunc(ctx, closeBody)()

		w := &watchdogReader{r: body, close: closeBody, idle: o.Idle, progress: o.Progress}
		if w.idle <= 0 {
			w.idle = defaultIdle
		}
		if w.progress <= 0 {
			w.progress = defaultProgress
		}
		s := newFrames(dialect, o.MediaType, w)
		d := dialect.NewDecoder(o.RequestID, o.Raw)
		size := 0
		for any, done := false, false; !done; {
			var got Progress
			name, data, err := s.Next()
			if err == nil && ctx.Err() == nil {
				got, err = d.Event(name, data)
			}
			if size += len(data); err == nil && o.Limit > 0 && size > o.Limit {
				err = errTooLong
			}
			if ctx.Err() != nil {
				err = context.Cause(ctx)
			}
			any = any || got > Ignored
			done = err == nil && got == Complete
			if err != nil && d.End(err) {
				err, done = nil, true
			}
			if got >= Content {
				w.progressed()
			}
			for _, e := range d.Take() {
				if !yield(e, nil) {
					if done {
						w.drain()
					}
					return
				}
			}
			if err != nil {
				if ctx.Err() == nil {
					err = failure(err, o.RequestID, any)
				}
				yield(nil, err)
				return
			}
		}
		w.drain()
	}
}

// answerLimit returns the maximum number of bytes for an answer of n tokens, with room for the
// framing of each token in a stream, for long or escaped tokens, and for additional server
// data.
func answerLimit(n int) int { return 8<<20 + 256*max(n, 0) }

var errTooLong = errors.New("the answer is far longer than the requested limit")

// ReadMessage decodes a whole answer into the events that [ReadStream] would have yielded for a
// stream.
func ReadMessage(dialect Dialect, body []byte, requestID string) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		d := dialect.NewDecoder(requestID, false)
		if err := d.Message(body); err != nil {
			yield(nil, failure(err, requestID, false))
			return
		}
		for _, e := range d.Take() {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// failure returns the error to report for an answer that ended early. any is true if some of
// the stream was understood.
func failure(err error, requestID string, any bool) error {
	var known *model.Error
	if errors.As(err, &known) {
		return err
	}
	e := &model.Error{Kind: model.Broken, RequestID: requestID, Message: err.Error(), Err: err}
	switch {
	case err == io.EOF && any:
		e.Message, e.Err = "the answer stopped before its end", io.ErrUnexpectedEOF
	case err == io.EOF:
		e.Message, e.Err = "no event stream came back", io.ErrUnexpectedEOF
	case errors.As(err, new(readError)) && any:
		e.Message = "the connection broke in the middle of the answer"
	case errors.As(err, new(readError)):
		e.Kind, e.Message = model.Network, "the connection broke before the answer began"
	case errors.As(err, new(stallError)) || err == errTooLong:
		e.Lasting = true
	}
	return e
}

// A readError is an error of the connection, not of its content.
type readError struct{ error }

func (e readError) Unwrap() error { return e.error }

// stallError is the error for a silent connection.
type stallError string

func (s stallError) Error() string { return string(s) }

// watchdogReader is a reader that closes its connection if no data arrives.
type watchdogReader struct {
	r              io.Reader
	close          func()
	idle, progress time.Duration
	waited         time.Duration // time since the last progress
	timer          *time.Timer
}

func (w *watchdogReader) Read(p []byte) (int, error) {
	limit := min(w.idle, w.progress-w.waited)
	n, fired, err := w.read(p, limit)
	switch {
	case fired && limit < w.idle:
		return 0, stallError(fmt.Sprintf("nothing but keep-alives for %d s", int(w.progress.Seconds())))
	case fired:
		return 0, stallError(fmt.Sprintf("no data for %d s", int(w.idle.Seconds())))
	case err != nil && err != io.EOF:
		err = readError{err}
	}
	return n, err
}

// read reads with a limit on the time it may block. After the limit, the connection is closed.
func (w *watchdogReader) read(p []byte, limit time.Duration) (n int, fired bool, err error) {
	if w.timer == nil {
		w.timer = time.AfterFunc(limit, w.close)
	} else {
		w.timer.Reset(limit)
	}
	began := time.Now()
	n, err = w.r.Read(p)
	fired = !w.timer.Stop()
	w.waited += time.Since(began)
	return n, fired, err
}

func (w *watchdogReader) progressed() { w.waited = 0 }

// drain reads to the end of the body, but waits only briefly.
func (w *watchdogReader) drain() {
	var rest [512]byte
	for limit := drainTime; limit > 0; {
		w.waited = 0
		_, fired, err := w.read(rest[:], limit)
		if err != nil || fired {
			return
		}
		limit -= max(w.waited, time.Millisecond) // also ends endless data
	}
}
