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
	"adze/internal/platform/text/lines"
	"adze/internal/session"
	"adze/internal/ui/hostapi"
	"adze/internal/ui/streamjson"
)

// maxLine is the maximum length of an input line in bytes.
const maxLine = 10 << 20

// A Host configures the services offered to the host program. All fields may be zero.
type Host struct {
	// DefaultModel is used by set_model requests without a model.
	DefaultModel string
	// Models lists the models the host may offer.
	Models []HostModel
	// If Asks is true, the host answers permission requests. Otherwise they are denied.
	Asks bool
	// If States is true, the host is notified when the session becomes idle, runs or waits for
	// an answer. Other hosts treat the result as the last message of a turn.
	States bool
	// Initialize applies the host's options to the session. If it returns an error, none of the
	// options the host relies on have been applied. Notes describe options without effect.
	Initialize func(context.Context, Start) (notes []string, err error)
	// Attend is called when prompts not sent by the host become allowed or disallowed. They are
	// never allowed before the host has sent its options.
	Attend func(on bool)
	// Servers returns the MCP servers; it may be nil or return nil.
	Servers func() *mcp.Servers
	// Receive handles a message from a server that the host runs itself; nil means the host has
	// no servers.
	Receive func(server string, message json.RawMessage) error
	// OnComplete registers a function to call when a server reports that the user has finished
	// on a web page; it may be nil.
	OnComplete func(tell func(server, id string))
	// Actions and Queries answer requests by subtype. An action completes before the next line
	// is read; queries run in the background and may be canceled.
	Actions, Queries map[string]hostapi.Request
}

// A HostModel is a model that a host can show.
type HostModel struct{ Value, Name, Description string }

// A server reads input lines from a host and answers its requests.
type server struct {
	f   *Front
	h   Host
	ctx context.Context // context of requests
	// refused is the error from applying the host's options. While it is set, no prompt is run.
	// Only the reader uses it.
	refused error

	initialized atomic.Bool // the host has sent its options and supports requests other than permissions

	pending   pendingRequests
	work      sync.WaitGroup // running queries
	mu        sync.Mutex
	bad       bool
	hungUp    bool                          // the host has disconnected
	queries   map[string]context.CancelFunc // running, by request ID
	lastState string                        // last state sent to the host
	// attended is true if prompts not sent by the host may run.
	attended bool
}

// Serve runs the prompts that arrive as JSON lines on in, one after the other, and answers
// requests immediately. It returns when in has ended and all turns are done, or when ctx is
// done, and closes the session.
func (f *Front) Serve(ctx context.Context, in io.Reader, h Host) Outcome {
	sv := &server{f: f, h: h, queries: map[string]context.CancelFunc{}}
	f.host = sv
	out := f.follow(ctx, func(ctx context.Context) {
		sv.ctx = ctx
		if h.OnComplete != nil {
			h.OnComplete(f.complete)
		}
		ended := make(chan struct{})
		// Do not wait for the reader: a read from an input that stays open cannot be
		// interrupted.
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

// attend sets whether prompts not sent by the host may run. They may not once the host has
// disconnected.
func attend(sv *server, on bool) {
	sv.mu.Lock()
	defer sv.mu.Unlock()
	if sv.h.Attend != nil && sv.attended != on && !(on && sv.hungUp) {
		sv.attended = on
		sv.h.Attend(on)
	}
}

// spoil reports invalid input.
func (sv *server) spoil(text string) {
	sv.f.warn(text)
	sv.mu.Lock()
	defer sv.mu.Unlock()
	sv.bad = true
}

// An inputLine is an input line from a host. Unknown types are ignored.
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
		return sv.submitMessage(in)
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

// maxID is the maximum length in bytes of a message ID set by the host.
const maxID = 200

// submitMessage submits a host message to the session.
func (sv *server) submitMessage(in inputLine) error {
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
		sv.refuse(in.ID)
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

// refuse answers a prompt with an error because the host's options could not be applied.
// Running it would skip things the host relies on, such as a hook that guards calls.
func (sv *server) refuse(prompt string) {
	why := fmt.Sprintf("initialize was refused, so that no prompt is run until one succeeds: %v", sv.refused)
	sv.spoil(why)
	end := session.Finished{Ended: agent.Ended{Reason: agent.HookStopped, Detail: why}}
	r := &streamjson.Result{Finished: end, Prompt: prompt, Explain: sv.f.explain}
	sv.f.out.Write(r.Line(sv.f.cfg.Session.ID()))
}
