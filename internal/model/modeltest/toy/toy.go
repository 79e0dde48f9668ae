// Package toy is a minimal but complete dialect with its provider, for tests that need a second
// dialect. Unlike the Messages dialect it has no events for the start and the end of a block,
// and reports usage at the end.
package toy

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"adze/internal/model"
	"adze/internal/model/wire"
	"adze/internal/msg"
)

// Service returns the service description.
func Service() wire.Service {
	return wire.Service{Dialect: Server{}, Address: "https://toy.example", KeyHeader: "Toy-Key", KeyVariable: "TOY_KEY"}
}

// Server implements [wire.Server].
type Server struct{}

// Path implements [wire.Dialect].
func (Server) Path(*model.Request) string { return "ask" }

// NewEncoder implements [wire.Dialect].
func (Server) NewEncoder() wire.Encoder { return encoder{} }

// NewDecoder implements [wire.Dialect].
func (Server) NewDecoder(requestID string, raw bool) wire.Decoder {
	return &decoder{requestID: requestID, raw: raw}
}

// Error implements [wire.Dialect].
func (Server) Error(status int, body []byte) *model.Error {
	var v struct{ Error *failure }
	if json.Unmarshal(body, &v) != nil || v.Error == nil { // ok: a proxy's response; the status suffices
		text := wire.Plain(body)
		return wire.NewError(wire.KindOf(status, text), status, text)
	}
	return v.Error.model(status)
}

// A question is a request on the wire. Messages have the log's format.
type question struct {
	Model    string         `json:"model"`
	Limit    int            `json:"limit"`
	Stream   bool           `json:"stream"`
	System   msg.Message    `json:"system"`
	Tools    []msg.ToolSpec `json:"tools"`
	Messages []msg.Message  `json:"messages"`
}

type encoder struct{}

func (encoder) EncodeBody(req *model.Request, extra json.RawMessage) (wire.Body, error) {
	body, err := json.Marshal(question{
		Model: req.Model, Limit: req.MaxTokens, Stream: !req.NoStream,
		System: msg.Message{Role: msg.User, Parts: req.System}, Tools: req.Tools, Messages: req.Messages,
	})
	return wire.Body{body}, err
}

func (encoder) Continues(*model.Request) bool { return false }

// An item is a stream event, or an element of the list that makes up a whole answer.
type item struct {
	Begin  *begin          `json:"begin,omitempty"`
	Text   *string         `json:"text,omitempty"`
	Think  *string         `json:"think,omitempty"`
	Sign   string          `json:"sign,omitempty"`
	Call   *call           `json:"call,omitempty"`
	Part   json.RawMessage `json:"part,omitempty"`
	Usage  wire.Counts     `json:"usage,omitempty"`
	Error  *failure        `json:"error,omitempty"`
	Reason string          `json:"reason,omitempty"`
}

type begin struct{ ID, Model string }

// A call is additional tool input. Each call has a unique ID.
type call struct{ ID, Name, Input string }

type failure struct{ Kind, Text string }

func (f failure) model(status int) *model.Error {
	kind, ok := model.ParseKind(f.Kind)
	switch {
	case !ok:
		kind = wire.KindOf(status, f.Text)
	case kind == model.OverWindow:
		kind = model.TooLong // the numbers restore the original kind
	}
	return wire.NewError(kind, status, f.Text)
}

// A decoder infers the ends of blocks from the events.
type decoder struct {
	requestID string
	raw       bool

	out   []model.Event
	start *model.Start // held back until there is content
	begun bool
	usage msg.Usage
	told  bool // the usage was reported

	block     int
	text      strings.Builder
	kind      byte // kind of the open block: first letter of text, think or call, or 0
	signature string
	call      call
}

func (d *decoder) Event(_ string, data []byte) (wire.Progress, error) {
	var i item
	if err := json.Unmarshal(data, &i); err != nil {
		return wire.Ignored, fmt.Errorf("the stream has an event that is not JSON: %w", err)
	}
	if i.Error != nil {
		return wire.KeepAlive, d.fail(i.Error)
	}
	if d.raw {
		d.out = append(d.out, model.Raw{JSON: append([]byte(nil), data...)})
	}
	if i.Begin != nil {
		d.start = &model.Start{ID: i.Begin.ID, Model: i.Begin.Model, RequestID: d.requestID}
		return wire.Content, nil
	}
	return d.item(&i)
}

// item decodes content and the end.
func (d *decoder) item(i *item) (wire.Progress, error) {
	switch {
	case i.Text != nil:
		d.more('t', call{}, *i.Text)
		d.out = append(d.out, model.TextDelta{Block: d.block, Text: *i.Text})
	case i.Think != nil:
		d.more('h', call{}, *i.Think)
		d.signature += i.Sign
		d.out = append(d.out, model.ThinkingDelta{Block: d.block, Text: *i.Think, Signature: i.Sign})
	case i.Call != nil:
		d.more('c', call{ID: i.Call.ID, Name: i.Call.Name}, i.Call.Input)
		d.out = append(d.out, model.InputDelta{Block: d.block, ID: i.Call.ID, Name: i.Call.Name, JSON: i.Call.Input})
	case i.Part != nil:
		d.close()
		part, err := msg.ParsePart(i.Part)
		if err != nil {
			return wire.Ignored, err
		}
		d.done(part)
	case i.Usage != nil || i.Reason != "":
		d.close()
		d.report(i.Usage)
		if i.Reason != "" {
			if !d.told {
				d.out = append(d.out, model.Usage{Usage: d.estimate()})
			}
			d.out = append(d.out, model.Stop{Reason: model.StopReason(i.Reason)})
			return wire.Complete, nil
		}
	default:
		return wire.KeepAlive, nil
	}
	return wire.Content, nil
}

// open emits the start event, which is held back until there is content, so that a request that
// fails immediately can be retried.
func (d *decoder) open() {
	d.begun = true
	if d.start != nil {
		d.out = append(d.out, *d.start)
		d.start = nil
	}
}

// more adds to the open block, or opens a new one if the kind differs.
func (d *decoder) more(kind byte, c call, text string) {
	if d.kind != kind || d.call != c {
		d.close()
	}
	d.open()
	d.kind, d.call = kind, c
	d.text.WriteString(text)
}

func (d *decoder) close() {
	d.open()
	switch text := d.text.String(); d.kind {
	case 't':
		d.done(&msg.Text{Text: text})
	case 'h':
		d.done(&msg.Thinking{Text: text, Signature: d.signature})
	case 'c':
		d.done(msg.NewToolUse(d.call.ID, d.call.Name, text))
	}
	d.text.Reset()
	d.kind, d.call, d.signature = 0, call{}, ""
}

func (d *decoder) done(p msg.Part) {
	d.out = append(d.out, model.BlockDone{Block: d.block, Part: p})
	d.block++
}

func (d *decoder) report(c wire.Counts) {
	if c == nil {
		return
	}
	d.told = true
	d.usage = msg.Usage{Input: c[wire.InputTokens], Output: c[wire.OutputTokens], CacheRead: c[wire.CacheRead], CacheWrite: c[wire.CacheWrite]}
	d.out = append(d.out, model.Usage{Usage: d.usage})
}

func (d *decoder) estimate() msg.Usage {
	u := d.usage
	u.Estimated = true
	u.Output = max(u.Output, d.text.Len()/4)
	return u
}

func (d *decoder) fail(f *failure) error {
	e := f.model(0)
	e.RequestID = d.requestID
	if d.begun {
		return &model.Error{Kind: model.Broken, RequestID: d.requestID, Message: "the server broke off its answer: " + e.Error(), Err: e}
	}
	return e
}

func (d *decoder) End(error) (complete bool) {
	if d.begun {
		d.out = append(d.out, model.Usage{Usage: d.estimate()})
	}
	return false
}

func (d *decoder) Message(body []byte) error {
	var list []json.RawMessage
	if err := json.Unmarshal(body, &list); err != nil {
		return fmt.Errorf("the answer is not a list: %w", err)
	}
	for _, data := range list {
		if got, err := d.Event("", data); err != nil || got == wire.Complete {
			return err
		}
	}
	return fmt.Errorf("the answer has no end")
}

func (d *decoder) Take() []model.Event {
	out := d.out
	d.out = nil
	return out
}

// Admit implements [wire.Server].
func (Server) Admit(path string, h http.Header, body []byte) (wire.RequestInfo, *model.Error) {
	var q question
	switch {
	case !strings.HasSuffix(path, "/ask"):
		return wire.RequestInfo{}, &model.Error{Kind: model.Invalid, Status: http.StatusNotFound, Message: "there is nothing at " + path}
	case h.Get("Toy-Key") == "":
		return wire.RequestInfo{}, &model.Error{Kind: model.Auth, Message: "no key"}
	case json.Unmarshal(body, &q) != nil:
		return wire.RequestInfo{}, &model.Error{Kind: model.Invalid, Message: "not a question"}
	}
	return wire.RequestInfo{Model: q.Model, Stream: q.Stream}, nil
}

// Check implements [wire.Server].
func (s Server) Check(_ http.Header, body []byte) error {
	_, err := s.Read(body)
	return err
}

// Read implements [wire.Server].
func (Server) Read(body []byte) (*model.Request, error) {
	var q question
	if err := json.Unmarshal(body, &q); err != nil {
		return nil, err
	}
	return &model.Request{
		Model: q.Model, MaxTokens: q.Limit, NoStream: !q.Stream, System: q.System.Parts, Tools: q.Tools, Messages: q.Messages,
	}, nil
}

// Sign implements [wire.Server]. The signature is id.
func (Server) Sign(_ []byte, id, _ string) string { return id }

// EncodeError implements [wire.Server].
func (Server) EncodeError(kind model.Kind, message string) (status int, body []byte) {
	status = map[model.Kind]int{model.RateLimited: 429, model.Auth: 401, model.NoModel: 404, model.Overloaded: 529}[kind]
	if status == 0 {
		status = 400
	}
	if kind < model.RateLimited || kind == model.ServerFault {
		kind, status = model.ServerFault, 500
	}
	switch {
	case message != "":
	case kind == model.OverWindow:
		message = "190000 + 20000 > 200000"
	default:
		message = kind.String()
	}
	return status, encode(item{Error: &failure{kind.String(), message}})
}

// EncodeTokenCount implements [wire.Server]. The dialect has no such request.
func (Server) EncodeTokenCount(int) []byte { return nil }

// NewResponseEncoder implements [wire.Server].
func (Server) NewResponseEncoder(stream bool) wire.ResponseEncoder {
	return &responseEncoder{stream: stream, open: -1}
}

// A responseEncoder writes items to a stream or a list.
type responseEncoder struct {
	stream bool
	list   []json.RawMessage
	open   int // block of the last delta
	broken bool
}

func encode(i item) []byte {
	data, err := json.Marshal(i)
	if err != nil {
		panic("toy: " + err.Error()) // plain data always encodes
	}
	return data
}

func (s *responseEncoder) put(i item) []byte { return s.data(encode(i)) }

func (s *responseEncoder) data(data []byte) []byte {
	if !s.stream {
		s.list = append(s.list, data)
		return nil
	}
	return append(append([]byte("data: "), data...), "\n\n"...)
}

func (s *responseEncoder) Open(id, name string, _ wire.Counts) []byte {
	return s.put(item{Begin: &begin{id, name}})
}

func (s *responseEncoder) Event(e model.Event) []byte {
	switch e := e.(type) {
	case model.TextDelta:
		s.open = e.Block
		return s.put(item{Text: &e.Text})
	case model.ThinkingDelta:
		s.open = e.Block
		return s.put(item{Think: &e.Text, Sign: e.Signature})
	case model.InputDelta:
		s.open = e.Block
		return s.put(item{Call: &call{e.ID, e.Name, e.JSON}})
	case model.BlockDone:
		if s.open == e.Block {
			return nil
		}
		return s.put(item{Part: msg.AppendPart(nil, e.Part)})
	}
	panic(fmt.Sprintf("toy: no server sends a %T", e)) // caller's mistake
}

func (s *responseEncoder) Usage(u wire.Counts) []byte { return s.put(item{Usage: u}) }

func (s *responseEncoder) Ping() []byte {
	if !s.stream {
		return nil
	}
	return []byte(": ping\n\n")
}

func (s *responseEncoder) Raw(event string) []byte { return s.data([]byte(event)) }

func (s *responseEncoder) Garble() []byte {
	s.broken = true
	if !s.stream {
		return nil
	}
	return []byte("data: {\n\n")
}

func (s *responseEncoder) Fail(kind model.Kind, message string) []byte {
	_, body := Server{}.EncodeError(kind, message)
	return s.data(body)
}

func (s *responseEncoder) Close(reason model.StopReason, u wire.Counts) []byte {
	end := s.put(item{Reason: string(reason), Usage: u})
	if s.stream {
		return end
	}
	whole, err := json.Marshal(s.list)
	if err != nil || s.broken {
		return []byte("[")
	}
	return whole
}
