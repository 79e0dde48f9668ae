// Package serve offers tools of the program to clients of the Model Context Protocol, over standard streams or HTTP. Every
// call goes through the executor of a conversation, so what a client may do is decided by the gates and never here.
package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"adze/internal/agent/exec"
	"adze/internal/msg"
	"adze/internal/tool"
)

const (
	// parallel is how many calls run at once, and waiting how many wait at most.
	parallel = 8
	waiting  = 256
	// maxMessage bounds a message of a client.
	maxMessage = 16 << 20
)

// A Config is what a server offers. Only Log may be nil.
type Config struct {
	Version      string
	Instructions string // for the model of the client
	Offers       []Offer
	Executor     *exec.Executor
	Pool         func() *tool.Pool
	Log          *slog.Logger
}

// An Offer is a tool that clients may call, if the pool has it.
type Offer struct {
	Name string
	// Facts are what holds for every call; nil if it depends on the input.
	Facts *Facts
}

// Facts are told to clients, which show or use them to decide what to ask.
type Facts struct{ ReadOnly, OpenWorld bool }

// A Server serves clients, all with the same conversation. It is safe for concurrent use.
type Server struct {
	Config
	speaker *sdk.Server

	// base ends all calls.
	base context.Context
	end  context.CancelCauseFunc

	calls  atomic.Int64
	queued atomic.Int64
	turns  chan struct{} // one for each call that runs
	alone  chan struct{} // held by the call that is to run alone
}

// errEnded is why calls end with the server.
var errEnded = errors.New("the server ends")

// New returns a server. It serves until [Server.Close].
func New(c Config) *Server {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	s := &Server{Config: c, turns: make(chan struct{}, parallel), alone: make(chan struct{}, 1)}
	s.base, s.end = context.WithCancelCause(context.Background())
	s.speaker = sdk.NewServer(&sdk.Implementation{Name: "adze", Title: "adze", Version: s.Version}, &sdk.ServerOptions{
		Instructions: s.Instructions, Logger: s.Log,
		//lint:ignore SA1019 clients of older revisions set the level of the log
		Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}, Logging: &sdk.LoggingCapabilities{}},
	})
	pool := s.Pool()
	for _, o := range s.Offers {
		if t, name, ok := pool.Lookup(o.Name); ok {
			s.speaker.AddTool(described(name, t, o.Facts), s.call)
		}
	}
	return s
}

// Close ends all calls.
func (s *Server) Close() { s.end(errEnded) }

// Tools returns how many of the offers there are.
func (s *Server) Tools() int {
	n, pool := 0, s.Pool()
	for _, o := range s.Offers {
		if _, _, ok := pool.Lookup(o.Name); ok {
			n++
		}
	}
	return n
}

// described returns what clients are told of a tool.
func described(name string, t tool.Tool, facts *Facts) *sdk.Tool {
	spec := t.Spec()
	d := &sdk.Tool{Name: name, Description: spec.Description, InputSchema: spec.Schema}
	if facts != nil {
		d.Annotations = &sdk.ToolAnnotations{ReadOnlyHint: facts.ReadOnly, OpenWorldHint: &facts.OpenWorld}
	}
	if output := t.Traits().Output; isObject(output) {
		d.OutputSchema = output
	}
	return d
}

// isObject reports whether a schema is that of an object, as clients expect of structured results.
func isObject(schema json.RawMessage) bool {
	var s struct {
		Type string `json:"type"`
	}
	return json.Unmarshal(schema, &s) == nil && s.Type == "object"
}

// call runs a call of a client. What is wrong with it is an error in the result, so that the client's model sees it.
func (s *Server) call(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	if s.queued.Add(1) > parallel+waiting {
		s.queued.Add(-1)
		return failure(fmt.Sprintf("there are more than %d calls at once; wait for some of them to end", parallel+waiting)), nil
	}
	defer s.queued.Add(-1)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(s.base, func() { cancel(errEnded) })()

	input := string(bytes.TrimSpace(req.Params.Arguments))
	if input == "" || input == "null" {
		input = "{}"
	}
	use := msg.NewToolUse(fmt.Sprintf("call_%d", s.calls.Add(1)), req.Params.Name, input)
	p := s.Executor.Bind(s.Pool(), use)
	release, err := s.turn(ctx, p.Concurrent())
	if err != nil {
		return nil, err
	}
	defer release()
	if !s.Executor.Admit(ctx, p) {
		return result(p.Refused(), false), nil
	}
	report, done := reporter(ctx, req, p.Activity())
	outcome := s.Executor.Run(ctx, p, report)
	done()
	return result(&outcome, isObject(p.Traits().Output)), nil
}

// turn waits until a call may run: beside others if it may, else alone.
func (s *Server) turn(ctx context.Context, beside bool) (release func(), err error) {
	need := 1
	if !beside {
		need = parallel
		select {
		case s.alone <- struct{}{}:
			defer func() { <-s.alone }() // the turns keep others out
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	for taken := range need {
		select {
		case s.turns <- struct{}{}:
		case <-ctx.Done():
			s.give(taken)
			return nil, context.Cause(ctx)
		}
	}
	return func() { s.give(need) }, nil
}

// give gives back n turns.
func (s *Server) give(n int) {
	for range n {
		<-s.turns
	}
}

// failure returns a result that is an error.
func failure(text string) *sdk.CallToolResult {
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}, IsError: true}
}

// result returns what a client gets of an outcome.
func result(o *exec.Outcome, structured bool) *sdk.CallToolResult {
	if o.Fatal != nil {
		return failure(o.Fatal.Error())
	}
	r := &sdk.CallToolResult{IsError: o.Result.IsError}
	for _, parts := range [][]msg.Part{o.Result.Parts, o.Context} {
		for _, part := range parts {
			if c := content(part); c != nil {
				r.Content = append(r.Content, c)
			}
		}
	}
	if structured && !r.IsError && len(o.Structured) > 0 {
		r.StructuredContent = o.Structured
	}
	return r
}

// content returns what a client gets of a part, or nil. The mark of a reminder means nothing to its model.
func content(part msg.Part) sdk.Content {
	if text, ok := msg.Reminded(part); ok {
		return &sdk.TextContent{Text: text}
	}
	switch p := part.(type) {
	case *msg.Text:
		return &sdk.TextContent{Text: p.Text}
	case *msg.Image:
		return &sdk.ImageContent{Data: p.Data, MIMEType: p.MediaType}
	case *msg.Document:
		return &sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: "adze:document", MIMEType: p.MediaType, Blob: p.Data}}
	}
	return nil
}
