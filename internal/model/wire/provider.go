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

// Config describes a provider: a dialect at an address, with credentials and quirks.
type Config struct {
	Dialect Dialect

	// Address is the endpoint, BaseURL another one that the user wants in its place.
	Address, BaseURL string
	// AllowInsecure permits plain http to hosts other than this one.
	AllowInsecure bool

	Key Key

	// Protocol are headers that the dialect demands; Headers are the user's, which replace them. Neither
	// replaces the user agent.
	Protocol, Headers http.Header
	// Version is this program's, for the user agent.
	Version string

	// Transport carries the requests; nil means [NewTransport] with RootCAs.
	Transport http.RoundTripper
	RootCAs   []byte

	// ExtraBody is a JSON object whose members are added to every request.
	ExtraBody json.RawMessage
	// Adapt changes a copy of each request to what the endpoint takes. What the request points to is not
	// a copy. Adapt may be nil.
	Adapt func(*model.Request)

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
	c      Config
	client *client
	counts countCache

	mu       sync.Mutex
	encoders []Encoder // idle ones, the one used last at the end
}

// New returns a provider. It does not connect.
func New(c Config) (*Provider, error) {
	base, err := c.base()
	if err != nil {
		return nil, err
	}
	if c.Idle <= 0 {
		c.Idle = defaultIdle
	}
	if c.NoStreamTimeout <= 0 {
		c.NoStreamTimeout = defaultNoStream
	}
	key, err := newCredential(c.Key, c.Headers)
	if err != nil {
		return nil, err
	}
	if c.Transport == nil {
		c.Transport = NewTransport(c.RootCAs)
	}
	return &Provider{c: c, client: newClient(&c, base, key)}, nil
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
	path := p.c.Dialect.Path(req)
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
	return ReadStream(ctx, p.c.Dialect, res.Body, o), nil
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
	return ReadMessage(p.c.Dialect, data, id), nil
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
	if p.c.Adapt != nil {
		p.c.Adapt(&r)
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
		return p.c.Dialect.NewEncoder()
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
