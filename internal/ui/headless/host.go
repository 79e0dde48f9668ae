package headless

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"adze/internal/msg"
	"adze/internal/platform/lines"
	"adze/internal/tool"
)

// maxLine bounds a line of input, in bytes.
const maxLine = 10 << 20

// A Host is what a program that drives the session may change while it runs.
type Host struct {
	// SetMode chooses the permission mode and returns its name.
	SetMode func(mode string) (string, error)
	// DefaultModel is the model that a request without a name goes back to.
	DefaultModel string
	// Models lists the models the host may offer, by name.
	Models []HostModel
}

// A HostModel is a model as a host shows it.
type HostModel struct{ Value, Name, Description string }

// Serve runs the turns that arrive as lines of JSON on in, one after the other, and answers requests
// at once. It returns when in has ended and every turn is done, or when ctx is.
func (f *Front) Serve(ctx context.Context, in io.Reader, h Host) Outcome {
	q := &queue{ctx: ctx, more: make(chan struct{}, 1)}
	// The reader is not waited for: nothing can wake it from reading an input that stays open.
	go f.read(lines.NewReader(in, maxLine), q, h)

	out := Outcome{}
	for {
		p := q.next()
		if p == nil {
			break
		}
		out = f.Turn(p.ctx, p.parts...)
		q.done(p)
		if out.Unread || ctx.Err() != nil {
			break
		}
	}
	out.BadInput = q.badInput()
	return out
}

// read takes lines until there are no more.
func (f *Front) read(in *lines.Reader, q *queue, h Host) {
	defer q.close()
	for n := 1; ; n++ {
		line, err := in.Next()
		switch {
		case errors.Is(err, io.EOF):
			return
		case errors.Is(err, lines.ErrTooLong):
			err = fmt.Errorf("is longer than %d MB", maxLine>>20)
		case err != nil:
			f.warn(fmt.Sprintf("reading stdin: %v", err))
			q.spoil()
			return
		case len(bytes.TrimSpace(line)) == 0:
			continue
		default:
			err = f.take(line, q, h)
		}
		if err != nil {
			f.warn(fmt.Sprintf("line %d of stdin %v; it is skipped", n, err))
			q.spoil()
		}
	}
}

// An inputLine is what a host writes. Kinds that are not used here are left alone.
type inputLine struct {
	Type      string          `json:"type"`
	Message   json.RawMessage `json:"message"`
	RequestID string          `json:"request_id"`
	Request   json.RawMessage `json:"request"`
}

func (f *Front) take(line []byte, q *queue, h Host) error {
	var in inputLine
	if err := json.Unmarshal(line, &in); err != nil {
		return fmt.Errorf("is not a JSON object: %w", err)
	}
	switch in.Type {
	case "user":
		var m msg.Message
		if err := json.Unmarshal(in.Message, &m); err != nil {
			return fmt.Errorf("has no usable message: %w", err)
		}
		if m.Role != msg.User {
			return fmt.Errorf("has a message of the role %s, not user", m.Role)
		}
		if !blank(m.Parts) {
			q.add(m.Parts)
		}
	case "control_request":
		f.control(in, q, h)
	case "":
		return errors.New("has no type")
	}
	return nil
}

// blank reports whether there is nothing in parts to answer.
func blank(parts []msg.Part) bool {
	for _, p := range parts {
		if t, ok := p.(*msg.Text); !ok || strings.TrimSpace(t.Text) != "" {
			return false
		}
	}
	return true
}

// A queue holds the prompts that wait for their turn.
type queue struct {
	ctx  context.Context
	more chan struct{}

	mu      sync.Mutex
	waiting []*prompt
	running *prompt
	closed  bool
	bad     bool
}

// A prompt is one turn to come. It can be interrupted before it runs.
type prompt struct {
	parts  []msg.Part
	ctx    context.Context
	cancel context.CancelCauseFunc
}

func (q *queue) add(parts []msg.Part) {
	p := &prompt{parts: parts}
	p.ctx, p.cancel = context.WithCancelCause(q.ctx)
	q.mu.Lock()
	q.waiting = append(q.waiting, p)
	q.mu.Unlock()
	q.signal()
}

// next waits for a prompt and returns it, or nil when there will be none.
func (q *queue) next() *prompt {
	for {
		q.mu.Lock()
		if len(q.waiting) > 0 {
			q.running, q.waiting = q.waiting[0], q.waiting[1:]
			q.mu.Unlock()
			return q.running
		}
		closed := q.closed
		q.mu.Unlock()
		if closed {
			return nil
		}
		select {
		case <-q.more:
		case <-q.ctx.Done():
			return nil
		}
	}
}

func (q *queue) done(p *prompt) {
	p.cancel(nil)
	q.mu.Lock()
	q.running = nil
	q.mu.Unlock()
}

// interrupt stops the turn that runs, or else the one that is about to.
func (q *queue) interrupt() {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.running != nil:
		q.running.cancel(tool.AbortUser)
	case len(q.waiting) > 0:
		q.waiting[0].cancel(tool.AbortUser)
	}
}

func (q *queue) close() {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	q.signal()
}

// spoil notes that a line could not be used.
func (q *queue) spoil() {
	q.mu.Lock()
	q.bad = true
	q.mu.Unlock()
}

func (q *queue) badInput() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.bad
}

func (q *queue) signal() {
	select {
	case q.more <- struct{}{}:
	default:
	}
}
