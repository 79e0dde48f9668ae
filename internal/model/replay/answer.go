package replay

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"

	"adze/internal/model"
)

// An answer is a response on the wire: the bytes a server sends, their timing, and how it ends.
type answer struct {
	// drop is not zero if the connection fails before there is a response.
	drop   model.Kind
	status int
	header http.Header
	body   []byte
	pieces []piece
	end    ending
	// refused is the error kind if the player itself rejects the request, independently of the
	// message's wording.
	refused model.Kind
	pause   func(time.Duration) // replaces waiting between pieces; may be nil
}

// A piece is the part of the body up to end that is sent in one write, after a pause.
type piece struct {
	wait time.Duration
	end  int
}

// An ending is how the answer ends after the last piece.
type ending uint8

const (
	endClean ending = iota
	endReset        // the connection is reset
	endHang         // silence until the client gives up
)

// failed reports whether the answer is an error instead of a message.
func (a *answer) failed() bool { return a.status >= 400 }

// newAnswer returns an answer to q without a body.
func newAnswer(q *query, t *turn, status int, contentType string) *answer {
	h := http.Header{}
	h.Set("Request-Id", "req_"+strconv.Itoa(q.number))
	h.Set("Content-Type", contentType)
	if t != nil {
		for name, values := range t.header {
			h[name] = values
		}
	}
	return &answer{status: status, header: h}
}

// invalid returns the answer to an invalid request.
func invalid(q *query, err error) *answer {
	kind, message := model.Invalid, err.Error()
	var known *model.Error
	if errors.As(err, &known) {
		kind, message = known.Kind, known.Message
	}
	status, body := q.server.EncodeError(kind, message)
	a := newAnswer(q, nil, status, "application/json")
	a.refused = kind
	a.send(0, body)
	return a
}

// send appends data as one piece.
func (a *answer) send(wait time.Duration, data []byte) {
	a.body = append(a.body, data...)
	a.pieces = append(a.pieces, piece{wait, len(a.body)})
}

// answer returns t's answer to q.
func (t *turn) answer(q *query) *answer {
	switch {
	case t.fixed != nil:
		return t.fixed.answer(t, q)
	case q.Stream:
		return t.streamed(q)
	default:
		return t.whole(q)
	}
}

func (f *fixed) answer(t *turn, q *query) *answer {
	status, body := f.status, f.body
	if f.kind != model.Unknown {
		status, body = q.server.EncodeError(f.kind, f.message)
	}
	a := newAnswer(q, t, status, f.contentType)
	a.drop, a.body = f.drop, body
	a.pieces = []piece{{t.waits(), len(body)}}
	return a
}

// newBody returns a's body for a client to read. Reads block as specified by a, until ctx is
// done or the body is closed.
func newBody(ctx context.Context, a *answer) io.ReadCloser {
	return &body{ctx: ctx, answer: a, closed: make(chan struct{})}
}

type body struct {
	ctx    context.Context
	answer *answer
	pos    int  // offset in the answer's body
	next   int  // next piece
	waited bool // already waited for the next piece

	closing sync.Once
	closed  chan struct{}
}

func (b *body) Close() error {
	b.closing.Do(func() { close(b.closed) })
	return nil
}

func (b *body) Read(dst []byte) (n int, err error) {
	a := b.answer
	for n < len(dst) && b.next < len(a.pieces) {
		p := a.pieces[b.next]
		if p.wait > 0 && !b.waited {
			if n > 0 {
				return n, nil
			}
			if a.pause != nil {
				a.pause(p.wait)
			} else if err := sleep(b.ctx, b.closed, p.wait); err != nil {
				return 0, err
			}
			b.waited = true
		}
		c := copy(dst[n:], a.body[b.pos:p.end])
		b.pos += c
		n += c
		if b.pos == p.end {
			b.next, b.waited = b.next+1, false
		}
	}
	switch {
	case n > 0 || len(dst) == 0:
		return n, nil
	case a.end == endReset:
		return 0, io.ErrUnexpectedEOF
	case a.end == endHang:
		return 0, sleep(b.ctx, b.closed, endless)
	}
	return 0, io.EOF
}

// endless is longer than any test or person waits.
const endless = time.Duration(1<<63 - 1)

// sleep pauses for d, or until ctx is done or closed is closed.
func sleep(ctx context.Context, closed <-chan struct{}, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	var elapsed <-chan time.Time
	if d != endless {
		timer := time.NewTimer(d)
		defer timer.Stop()
		elapsed = timer.C
	}
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-closed:
		return io.ErrClosedPipe
	case <-elapsed:
		return nil
	}
}
