package headless

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"adze/internal/agent"
	"adze/internal/msg"
	"adze/internal/platform/lines"
	"adze/internal/session"
	"adze/internal/ui/hostapi"
	"adze/internal/ui/streamjson"
)

// maxLine bounds a line of input, in bytes.
const maxLine = 10 << 20

// A Host is what the program around a session offers to the one that drives it. A field that is left
// zero means that there is none of it.
type Host struct {
	// DefaultModel is the model that a request without a name goes back to.
	DefaultModel string
	// Models lists the models that the host may offer.
	Models []HostModel
	// Asks puts questions about calls to the host; without it they are denied.
	Asks bool
	// Initialize applies what the host wants of the turns to come.
	Initialize func(context.Context, Start) error
	// Actions and Queries answer requests by subtype. An action is done when the next line is read;
	// queries run beside it, and may be withdrawn.
	Actions, Queries map[string]hostapi.Request
}

// A HostModel is a model as a host shows it.
type HostModel struct{ Value, Name, Description string }

// A server reads what a host writes and makes sure that every request is answered.
type server struct {
	f   *Front
	h   Host
	ctx context.Context // of requests
	// refused is why the session could not be made what the host wants, so that nothing is run. It is
	// used by the reader alone.
	refused error

	pending pending
	work    sync.WaitGroup // queries
	mu      sync.Mutex
	bad     bool
	hungUp  bool                          // nothing more is read
	queries map[string]context.CancelFunc // that run, by request id
	told    string                        // the state that the host knows
}

// Serve runs the turns that arrive as lines of JSON on in, one after the other, and answers requests
// at once. It returns when in has ended and every turn is done, or when ctx is, and closes the session.
func (f *Front) Serve(ctx context.Context, in io.Reader, h Host) Outcome {
	sv := &server{f: f, h: h, queries: map[string]context.CancelFunc{}}
	f.host = sv
	out := f.follow(ctx, func(ctx context.Context) {
		sv.ctx = ctx
		ended := make(chan struct{})
		// The reader is not waited for: nothing can wake it from reading an input that stays open.
		go func() {
			defer close(ended)
			sv.read(lines.NewReader(in, maxLine))
		}()
		select {
		case <-ended:
		case <-ctx.Done():
		}
		sv.hangUp()
		sv.work.Wait()
	})
	sv.mu.Lock()
	defer sv.mu.Unlock()
	out.BadInput = sv.bad
	return out
}

// read takes lines until there are no more.
func (sv *server) read(in *lines.Reader) {
	for n := 1; ; n++ {
		line, err := in.Next()
		switch {
		case errors.Is(err, io.EOF):
			return
		case errors.Is(err, lines.ErrTooLong):
			err = fmt.Errorf("is longer than %d MB", maxLine>>20)
		case err != nil:
			sv.spoil(fmt.Sprintf("reading stdin: %v", err))
			return
		case len(bytes.TrimSpace(line)) == 0:
			continue
		default:
			err = sv.take(line)
		}
		if err != nil {
			sv.spoil(fmt.Sprintf("skipping line %d of stdin: it %v", n, err))
		}
	}
}

// spoil notes that a line could not be used.
func (sv *server) spoil(text string) {
	sv.f.warn(text)
	sv.mu.Lock()
	defer sv.mu.Unlock()
	sv.bad = true
}

// An inputLine is what a host writes. Kinds that are not used here are left alone.
type inputLine struct {
	Type      string          `json:"type"`
	RequestID string          `json:"request_id"`
	Request   json.RawMessage `json:"request"`
	Response  json.RawMessage `json:"response"`

	Message     json.RawMessage `json:"message"`
	ID          string          `json:"uuid"`
	Priority    string          `json:"priority"`
	ShouldQuery *bool           `json:"shouldQuery"`
}

func (sv *server) take(line []byte) error {
	var in inputLine
	if err := json.Unmarshal(line, &in); err != nil {
		return fmt.Errorf("is not a JSON object: %w", err)
	}
	switch in.Type {
	case "user":
		return sv.hear(in)
	case "control_request":
		sv.request(in.RequestID, in.Request)
	case "control_response":
		return sv.answered(in.Response)
	case "control_cancel_request":
		sv.withdraw(in.RequestID)
	case "":
		return errors.New("has no type")
	}
	return nil
}

// maxID bounds the id that a host may give a message, in bytes.
const maxID = 200

// hear hands what the host's user says to the session.
func (sv *server) hear(in inputLine) error {
	var m msg.Message
	if err := json.Unmarshal(in.Message, &m); err != nil {
		return fmt.Errorf("has no usable message: %w", err)
	}
	switch {
	case m.Role != msg.User:
		return fmt.Errorf("has a message with the role %s, not user", m.Role)
	case len(in.ID) > maxID:
		return fmt.Errorf("has a uuid of %d bytes, of at most %d", len(in.ID), maxID)
	}
	if sv.refused != nil {
		sv.refuse()
		return nil
	}
	said := session.Prompt{ID: in.ID, Parts: m.Parts}
	p, command := sv.f.interpret(sv.ctx, said)
	var op session.Op = p
	switch {
	case in.ShouldQuery != nil && !*in.ShouldQuery:
		op = session.Note(said)
	case command != nil:
		op = command
	case in.Priority == "now":
		op = session.Steer(p)
	case in.Priority == "next":
		op = session.FollowUp(p)
	}
	if err := sv.f.cfg.Session.Submit(sv.ctx, op); err != nil {
		return fmt.Errorf("cannot be accepted: %w", err)
	}
	return nil
}

// refuse answers a prompt of a session that is not what the host wants it to be. To run it would leave
// out what the host relies on, such as a hook that guards calls.
func (sv *server) refuse() {
	sv.spoil(sv.refused.Error())
	end := session.Finished{Ended: agent.Ended{Reason: agent.HookStopped, Detail: sv.refused.Error()}}
	r := &streamjson.Result{Finished: end, Explain: sv.f.explain}
	sv.f.out.Write(r.Line(sv.f.cfg.Session.ID()))
}
