package headless

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"adze/internal/agent"
	"adze/internal/mcp"
	"adze/internal/msg"
	"adze/internal/platform/lines"
	"adze/internal/session"
	"adze/internal/ui/hostapi"
	"adze/internal/ui/streamjson"
)

// maxLine is the most bytes of a line of input.
const maxLine = 10 << 20

// A Host is what is offered to the host program. All fields may be zero.
type Host struct {
	// DefaultModel is set by a request that names no model.
	DefaultModel string
	// Models lists the models that the host may offer.
	Models []HostModel
	// Asks reports whether the host is asked for permissions, which are denied otherwise.
	Asks bool
	// States reports whether the host is told when the session becomes idle, runs or waits for an answer. Others take
	// the result for the last message of a turn.
	States bool
	// Initialize applies the options of the host to the session, all of them or, with an error, none that it relies on.
	// Notes are about what has no effect.
	Initialize func(context.Context, Start) (notes []string, err error)
	// Attend is told whether prompts that the host did not send may be run: not before it has said what it wants.
	Attend func(on bool)
	// Servers returns the MCP servers; it may be nil, and return nil if there are none.
	Servers func() *mcp.Servers
	// Receive takes a message of one of the host's own servers; nil if there are none.
	Receive func(server string, message json.RawMessage) error
	// OnComplete has a func called when a server says that what the user did at a page is complete; nil if there are none.
	OnComplete func(tell func(server, id string))
	// Actions and Queries answer requests by subtype. An action is done before the next line is read; queries run in
	// the background and may be withdrawn.
	Actions, Queries map[string]hostapi.Request
}

// A HostModel is a model that a host can show.
type HostModel struct{ Value, Name, Description string }

// A server reads the lines of a host and answers its requests.
type server struct {
	f   *Front
	h   Host
	ctx context.Context // of requests
	// refused is why the host's options could not be applied; then no prompt is run until others are. Only the reader
	// uses it.
	refused error

	initialized atomic.Bool // the host has said which options it wants, and knows requests beside permissions

	pending pendingRequests
	work    sync.WaitGroup // queries
	mu      sync.Mutex
	bad     bool
	hungUp  bool                          // the host is gone
	queries map[string]context.CancelFunc // running, by request id
	told    string                        // the state that the host was told last
	// attended says that prompts that the host did not send may be run.
	attended bool
}

// Serve runs the prompts that arrive as lines of JSON on in, one after the other, and answers requests at once. It
// returns when in has ended and all turns are done, or when ctx is done, and closes the session.
func (f *Front) Serve(ctx context.Context, in io.Reader, h Host) Outcome {
	sv := &server{f: f, h: h, queries: map[string]context.CancelFunc{}}
	f.host = sv
	out := f.follow(ctx, func(ctx context.Context) {
		sv.ctx = ctx
		if h.OnComplete != nil {
			h.OnComplete(f.complete)
		}
		ended := make(chan struct{})
		// The reader is not waited for: nothing can interrupt a read of an input that stays open.
		go func() {
			defer close(ended)
			sv.read(lines.NewReader(in, maxLine))
		}()
		select {
		case <-ended:
		case <-ctx.Done():
		}
		sv.hangUp()
		attend(sv, false)
		sv.work.Wait()
	})
	sv.mu.Lock()
	defer sv.mu.Unlock()
	out.BadInput = sv.bad
	return out
}

// read handles lines until the input ends.
func (sv *server) read(in *lines.Reader) {
	for n := 1; ; n++ {
		line, err := in.Next()
		switch {
		case errors.Is(err, io.EOF):
			return
		case errors.Is(err, lines.ErrTooLong):
			err = fmt.Errorf("is longer than %d MB", maxLine>>20)
			sv.unread(line)
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

// attend says whether prompts that the host did not send may be run. Once the host has hung up, they may not.
func attend(sv *server, on bool) {
	sv.mu.Lock()
	defer sv.mu.Unlock()
	if sv.h.Attend != nil && sv.attended != on && !(on && sv.hungUp) {
		sv.attended = on
		sv.h.Attend(on)
	}
}

// spoil reports input that could not be used.
func (sv *server) spoil(text string) {
	sv.f.warn(text)
	sv.mu.Lock()
	defer sv.mu.Unlock()
	sv.bad = true
}

// An inputLine is a line of a host. Unknown types are ignored.
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
		sv.unread(line)
		return errors.New("is not a JSON object: " + hostapi.Mistake(err))
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
	case "keep_alive":
	case "":
		sv.unread(line)
		return errors.New("has no type")
	default:
		sv.unread(line)
	}
	return nil
}

// maxID is the most bytes of the id that a host may give a message.
const maxID = 200

// hear submits a message of the host to the session.
func (sv *server) hear(in inputLine) error {
	var m msg.Message
	if err := json.Unmarshal(in.Message, &m); err != nil {
		return errors.New("has no usable message: " + hostapi.Mistake(err))
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
	attend(sv, true)
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

// refuse answers a prompt with an error because the host's options could not be applied. To run it would leave out what
// the host relies on, such as a hook that guards calls.
func (sv *server) refuse() {
	why := fmt.Sprintf("initialize was refused, so that no prompt is run until one succeeds: %v", sv.refused)
	sv.spoil(why)
	end := session.Finished{Ended: agent.Ended{Reason: agent.HookStopped, Detail: why}}
	r := &streamjson.Result{Finished: end, Explain: sv.f.explain}
	sv.f.out.Write(r.Line(sv.f.cfg.Session.ID()))
}
