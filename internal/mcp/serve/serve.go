// Package serve offers adze's tools to MCP clients over standard streams or HTTP. Every call
// goes through a conversation's executor, so the gates, not this package, decide which calls
// may run.
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
	// parallel is the maximum number of concurrent calls, and waiting the maximum number of
	// queued ones.
	parallel = 8
	waiting  = 256
	// maxMessage limits a client's message in bytes.
	maxMessage = 16 << 20
)

// Config configures a Server. Only Log may be nil.
type Config struct {
	Version      string
	Instructions string // instructions for the client's model
	Executor     *exec.Executor
	Pool         func() *tool.Pool
	Log          *slog.Logger
}

// A Server serves clients, all with the same conversation. It is safe for concurrent use.
type Server struct {
	Config
	speaker *sdk.Server

	// base is canceled to end all calls.
	base context.Context
	end  context.CancelCauseFunc

	calls  atomic.Int64
	queued atomic.Int64
	turns  chan struct{} // one element per running call
	alone  chan struct{} // held by a call that must run alone
}

// errEnded is the reason calls are canceled when the server ends.
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
	for _, t := range s.served() {
		s.speaker.AddTool(described(t), s.call)
	}
	return s
}

// Close ends all calls.
func (s *Server) Close() { s.end(errEnded) }

// Tools returns the number of available tools.
func (s *Server) Tools() int { return len(s.served()) }

// served returns the tools in the pool that clients may call.
func (s *Server) served() (all []tool.Tool) {
	for _, t := range s.Pool().Callable() {
		if t.Traits().Served != nil {
			all = append(all, t)
		}
	}
	return all
}

// described returns a tool's description for clients.
func described(t tool.Tool) *sdk.Tool {
	spec := t.Spec()
	d := &sdk.Tool{Name: spec.Name, Description: spec.Description, InputSchema: spec.Schema}
	if a := t.Traits().Served; a.Fixed {
		d.Annotations = &sdk.ToolAnnotations{ReadOnlyHint: a.ReadOnly, OpenWorldHint: &a.OpenWorld}
	}
	if output := t.Traits().Output; isObject(output) {
		d.OutputSchema = output
	}
	return d
}

// isObject reports whether a schema describes an object, as clients expect of structured
// results.
func isObject(schema json.RawMessage) bool {
	var s struct {
		Type string `json:"type"`
	}
	return json.Unmarshal(schema, &s) == nil && s.Type == "object"
}

// call runs a client's call. Errors are returned in the result, so that the client's model sees
// them.
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

// turn waits until a call may run: concurrently if beside is set, otherwise alone.
func (s *Server) turn(ctx context.Context, beside bool) (release func(), err error) {
	need := 1
	if !beside {
		need = parallel
		select {
		case s.alone <- struct{}{}:
			defer func() { <-s.alone }() // holding all turns blocks the others
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

// give releases n turns.
func (s *Server) give(n int) {
	for range n {
		<-s.turns
	}
}

// failure returns an error result.
func failure(text string) *sdk.CallToolResult {
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}, IsError: true}
}

// result converts an outcome to a client's result.
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

// content converts a part for the client, or returns nil. Reminder marks are removed, since
// they mean nothing to its model.
func content(part msg.Part) sdk.Content {
	if text, ok := msg.ReminderText(part); ok {
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
