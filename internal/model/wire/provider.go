package wire

import (
	"context"
	"encoding/json"
	"io"
	"iter"
	"mime"
	"net/http"
	"slices"
	"sync"
	"time"

	"adze/internal/model"
)

// A Service is what tells one provider from another: a dialect at an address, with its way to
// authenticate and its quirks.
type Service struct {
	Dialect Dialect
	// Address is what paths are relative to, unless the user sets a base URL.
	Address string

	// KeyHeader is where an API key goes. In Authorization it is a bearer token, as every other token is.
	KeyHeader string
	// KeyVariable is the environment variable that an error names when there is no key.
	KeyVariable string
	// Header holds what every request must have. The user's headers replace it.
	Header http.Header

	// Adapt changes a copy of each request to what the endpoint takes. It must not change what the
	// request points to. It may be nil.
	Adapt func(*model.Request)
}

// Config is what the user says about a service. It needs credentials: KeyHelper, AuthToken or APIKey, the
// first of which counts, or a header that authenticates.
type Config struct {
	// BaseURL replaces the address of the service, if it is not empty.
	BaseURL string
	// AllowInsecure permits plain http to hosts other than this one.
	AllowInsecure bool

	APIKey    string
	AuthToken string
	// KeyHelper returns a key. It is asked again after five minutes, and once when the key is not
	// accepted.
	KeyHelper func(context.Context) (string, error)

	// Headers are sent with every request. They do not replace the user agent.
	Headers http.Header
	// Version is this program's, for the user agent.
	Version string

	// Transport carries the requests; nil means [NewTransport] with RootCAs.
	Transport http.RoundTripper
	RootCAs   []byte

	// ExtraBody is a JSON object whose members are added to every request.
	ExtraBody json.RawMessage

	// Idle is how long a stream may be silent; zero means 90 seconds. NoStreamTimeout limits an answer
	// that is not streamed; zero means 5 minutes.
	Idle, NoStreamTimeout time.Duration
}

const (
	defaultNoStream = 5 * time.Minute
	// maxNoStreamTokens is as much as can be had within the time of an answer that is not streamed.
	maxNoStreamTokens = 64_000
	// maxAnswer is the most that is read of an answer that is not streamed.
	maxAnswer = 64 << 20
)

// A Provider answers requests over HTTP. It is safe for concurrent use.
type Provider struct {
	service Service
	c       Config
	client  *client
	counts  countCache

	mu       sync.Mutex
	encoders []Encoder // idle ones, the one used last at the end
}

// New returns the provider of a service. It does not connect.
func New(s Service, c Config) (*Provider, error) {
	base, err := baseURL(s.Address, c.BaseURL, c.AllowInsecure)
	if err != nil {
		return nil, err
	}
	if c.Idle <= 0 {
		c.Idle = defaultIdle
	}
	if c.NoStreamTimeout <= 0 {
		c.NoStreamTimeout = defaultNoStream
	}
	key, err := newCredential(s, c)
	if err != nil {
		return nil, err
	}
	if c.Transport == nil {
		c.Transport = NewTransport(c.RootCAs)
	}
	return &Provider{service: s, c: c, client: newClient(s, c, base, key)}, nil
}

// Stream implements [model.Provider].
func (p *Provider) Stream(ctx context.Context, req *model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		events, err := p.ask(ctx, req)
		switch {
		case ctx.Err() != nil && err != nil:
			yield(nil, context.Cause(ctx))
			return
		case err != nil:
			yield(nil, p.client.scrub(err))
			return
		}
		for e, err := range events {
			if err != nil && ctx.Err() == nil {
				err = p.client.scrub(err)
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// ask sends req and returns the events of the answer, which must be ranged over.
func (p *Provider) ask(ctx context.Context, req *model.Request) (iter.Seq2[model.Event, error], error) {
	req = p.adapt(req)
	body, err := p.encode(req)
	if err != nil {
		return nil, &model.Error{Kind: model.Invalid, Message: err.Error(), Err: err}
	}
	path := p.service.Dialect.Path(req)
	if req.NoStream {
		return p.whole(ctx, path, body)
	}

	asking, cancel := context.WithCancelCause(ctx)
	silence := time.AfterFunc(p.c.Idle, func() { cancel(errNoAnswer(p.c.Idle)) })
	res, err := p.client.send(asking, path, body, "text/event-stream")
	if !silence.Stop() && err == nil {
		res.Body.Close() // ok: the silence is the error
		err = context.Cause(asking)
	}
	if err != nil {
		defer cancel(nil)
		return nil, cause(asking, err)
	}
	o := StreamOptions{
		Idle: p.c.Idle, RequestID: RequestID(res.Header), Raw: req.Raw,
		Close: func() { cancel(nil) },
	}
	// Some gateways do not stream.
	if media, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type")); media == "application/json" {
		defer o.Close()
		late := time.AfterFunc(p.c.NoStreamTimeout, func() { cancel(errNoAnswer(p.c.NoStreamTimeout)) })
		defer late.Stop()
		events, err := p.read(res)
		return events, cause(asking, err)
	}
	return ReadStream(ctx, p.service.Dialect, res.Body, o), nil
}

// whole sends a body that asks for a complete answer, and waits for it.
func (p *Provider) whole(ctx context.Context, path string, body Body) (iter.Seq2[model.Event, error], error) {
	limit := p.c.NoStreamTimeout
	ctx, cancel := context.WithTimeoutCause(ctx, limit, errNoAnswer(limit))
	defer cancel()
	res, err := p.client.send(ctx, path, body, "application/json")
	if err != nil {
		return nil, cause(ctx, err)
	}
	events, err := p.read(res)
	return events, cause(ctx, err)
}

// read reads a complete answer.
func (p *Provider) read(res *http.Response) (iter.Seq2[model.Event, error], error) {
	defer res.Body.Close()
	data, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	id := RequestID(res.Header)
	if err != nil {
		return nil, &model.Error{Kind: model.Broken, RequestID: id, Message: "the connection broke in the middle of the answer", Err: err}
	}
	return ReadMessage(p.service.Dialect, data, id), nil
}

// adapt returns req as this endpoint takes it.
func (p *Provider) adapt(req *model.Request) *model.Request {
	r := *req
	if r.NoStream && r.MaxTokens > maxNoStreamTokens {
		r.MaxTokens = maxNoStreamTokens
		if r.Thinking.Budget >= r.MaxTokens {
			r.Thinking.Budget = r.MaxTokens / 2
		}
	}
	if p.service.Adapt != nil {
		p.service.Adapt(&r)
	}
	return &r
}

// encode writes the body with the encoder that knows the conversation, if there is one: a side query in
// between must not cost the long conversation its kept bytes.
func (p *Provider) encode(req *model.Request) (Body, error) {
	e := p.takeEncoder(req)
	defer p.returnEncoder(e)
	return e.EncodeBody(req, p.c.ExtraBody)
}

const maxEncoders = 4

func (p *Provider) takeEncoder(req *model.Request) Encoder {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.IndexFunc(p.encoders, func(e Encoder) bool { return e.Continues(req) })
	switch {
	case i < 0 && len(p.encoders) < maxEncoders:
		return p.service.Dialect.NewEncoder()
	case i < 0:
		i = 0
	}
	e := p.encoders[i]
	p.encoders = slices.Delete(p.encoders, i, i+1)
	return e
}

func (p *Provider) returnEncoder(e Encoder) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.encoders) < maxEncoders {
		p.encoders = append(p.encoders, e)
	}
}
