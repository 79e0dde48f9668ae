package wire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"slices"
	"sync"
	"time"

	"adze/internal/model"
	"adze/internal/platform/net/transport"
)

// A Service describes a provider: a dialect at an address, with its authentication and quirks.
type Service struct {
	Dialect Dialect
	// Address is the URL that paths are relative to, unless the user sets a base URL.
	Address string

	// KeyHeader is the header for an API key. In Authorization it is sent as a bearer token,
	// like all other tokens.
	KeyHeader string
	// KeyVariable is the environment variable named in the error for a missing key.
	KeyVariable string
	// NewAuthorizer, if non-nil, returns an authorizer to use instead of a key. c has both
	// transports.
	NewAuthorizer func(c Config) (Authorizer, error)
	// Header is sent with every request. The user's headers override it.
	Header http.Header

	// Adapt, if non-nil, changes a copy of each request for the endpoint. It must not modify
	// data the request points to.
	Adapt func(*model.Request)
}

// Config is the user's configuration of a service. It needs credentials: KeyHelper, AuthToken
// or APIKey, in this order of precedence, a header that authenticates, or NoKey.
type Config struct {
	// BaseURL, if not empty, overrides the service's address.
	BaseURL string
	// AllowInsecure permits plain http to hosts other than this one.
	AllowInsecure bool

	APIKey    string
	AuthToken string
	// NoKey permits requests without credentials.
	NoKey bool
	// KeyHelper returns a key. It is called again after five minutes, and once if the key is
	// rejected.
	KeyHelper func(context.Context) (string, error)
	// StoredKey returns a key that the user has stored and replaces APIKey. It is called like
	// KeyHelper.
	StoredKey func(context.Context) (string, error)

	// Headers are sent with every request. They do not replace the user agent.
	Headers http.Header
	// Version is adze's version, for the user agent.
	Version string

	// Transport carries the requests; nil means [transport.New] with Network.
	Transport http.RoundTripper
	Network   transport.Config
	// AuthTransport carries the requests of an [Authorizer], so that no credentials are
	// recorded; nil means [transport.New] with Network.
	AuthTransport http.RoundTripper
	// AuthHint is the advice for the user if the credentials are rejected, as in [model.Error].
	// It may be empty.
	AuthHint string

	// Betas are the names of beta features to request with every request.
	Betas []string
	// Note, if non-nil, is called once for each part that a server does not support.
	Note func(string)

	// ExtraBody is a JSON object whose members are added to every request.
	ExtraBody json.RawMessage

	// Idle is how long a stream may be silent; zero means 90 seconds. NoStreamTimeout limits an
	// answer without streaming; zero means 5 minutes.
	Idle, NoStreamTimeout time.Duration
}

const (
	defaultNoStream = 5 * time.Minute
	// maxNoStreamTokens is the output that fits into the time limit of an answer without
	// streaming.
	maxNoStreamTokens = 64_000
)

// A Provider answers requests over HTTP. It is safe for concurrent use.
type Provider struct {
	service Service
	c       Config
	client  *client
	counts  countCache

	mu       sync.Mutex
	encoders []Encoder // idle encoders, most recently used last
	// omitted holds the parts that the server does not support, by model.
	omitted   map[string]model.Omission
	sentNotes []string // notes already sent
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
	if c.Transport == nil {
		c.Transport = transport.New(c.Network)
	}
	if c.AuthTransport == nil && s.NewAuthorizer != nil {
		c.AuthTransport = transport.New(c.Network)
	}
	proof, err := newAuthorizer(s, c)
	if err != nil {
		return nil, err
	}
	if t, ok := c.Transport.(*transport.Transport); ok {
		t.Warm(base)
	}
	return &Provider{service: s, c: c, client: newClient(s, c, base, proof)}, nil
}

// Preconnect opens a connection to an https service in the background. It sends nothing.
func (p *Provider) Preconnect() {
	if t, ok := p.c.Transport.(*transport.Transport); ok {
		t.Preconnect(p.client.base)
	}
}

// Stream implements [model.Provider].
func (p *Provider) Stream(ctx context.Context, req *model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		events, err := p.askWithoutUnsupported(ctx, req)
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

// askWithoutUnsupported sends the request, and repeats it without an unsupported part as long as the server
// names another one.
func (p *Provider) askWithoutUnsupported(ctx context.Context, req *model.Request) (iter.Seq2[model.Event, error], error) {
	for {
		sent := p.adapt(req)
		events, err := p.ask(ctx, sent)
		if err == nil || !p.omit(sent, err) {
			return events, err
		}
	}
}

// omit reports whether err means that the server does not know a part of req. The part is then
// omitted from now on.
func (p *Provider) omit(req *model.Request, err error) bool {
	d, ok := p.service.Dialect.(LenientDialect)
	var e *model.Error
	if !ok || !errors.As(err, &e) {
		return false
	}
	part, name := d.Optional(req, e)
	if part == 0 {
		return false
	}
	p.mu.Lock()
	known := p.omitted[req.Model]&part != 0
	if p.omitted == nil {
		p.omitted = map[string]model.Omission{}
	}
	p.omitted[req.Model] |= part
	p.mu.Unlock()
	if !known && p.c.Note != nil {
		p.c.Note(fmt.Sprintf("%s doesn't support %s for %s; omitting it from now on", p.client.base.Host, name, req.Model))
	}
	return true
}

// header returns the headers that req needs, or nil.
func (p *Provider) header(req *model.Request) http.Header {
	if d, ok := p.service.Dialect.(HeaderDialect); ok {
		return d.Header(req)
	}
	return nil
}

// ask sends req and returns the answer's events, which must be ranged over.
func (p *Provider) ask(ctx context.Context, req *model.Request) (iter.Seq2[model.Event, error], error) {
	body, err := p.encode(req)
	if err != nil {
		return nil, &model.Error{Kind: model.Invalid, Message: err.Error(), Err: err}
	}
	m := httpRequest{path: p.service.Dialect.Path(req), header: p.header(req), body: body, accept: MediaType(p.service.Dialect)}
	if req.NoStream {
		m.accept = "application/json"
		return p.whole(ctx, m, req)
	}

	asking, cancel := context.WithCancelCause(ctx)
	silence := time.AfterFunc(p.c.Idle, func() { cancel(errNoAnswer(p.c.Idle)) })
	res, err := p.client.send(asking, m)
	if !silence.Stop() && err == nil {
		res.Body.Close() // ok: the silence is the error
		err = context.Cause(asking)
	}
	if err != nil {
		defer cancel(nil)
		return nil, cause(asking, err)
	}
	o := StreamOptions{
		Idle: p.c.Idle, RequestID: RequestID(res.Header), Raw: req.Raw, Limit: answerLimit(req.MaxTokens),
		Close: func() { cancel(nil) },
	}
	media := mediaType(res.Header)
	if media == "application/json" || media == htmlType { // some gateways do not stream
		defer o.Close()
		late := time.AfterFunc(p.c.NoStreamTimeout, func() { cancel(errNoAnswer(p.c.NoStreamTimeout)) })
		defer late.Stop()
		events, err := p.read(res, req)
		return events, cause(asking, err)
	}
	o.MediaType = media
	return ReadStream(ctx, DialectFor(p.service.Dialect, req), res.Body, o), nil
}

// whole sends a request for a complete answer and waits for it.
func (p *Provider) whole(ctx context.Context, m httpRequest, req *model.Request) (iter.Seq2[model.Event, error], error) {
	limit := p.c.NoStreamTimeout
	ctx, cancel := context.WithTimeoutCause(ctx, limit, errNoAnswer(limit))
	defer cancel()
	res, err := p.client.send(ctx, m)
	if err != nil {
		return nil, cause(ctx, err)
	}
	events, err := p.read(res, req)
	return events, cause(ctx, err)
}

// read reads a complete answer to req.
func (p *Provider) read(res *http.Response, req *model.Request) (iter.Seq2[model.Event, error], error) {
	if mediaType(res.Header) == htmlType {
		return nil, page(res)
	}
	defer res.Body.Close()
	limit := answerLimit(req.MaxTokens)
	data, err := io.ReadAll(io.LimitReader(res.Body, int64(limit)+1))
	id := RequestID(res.Header)
	switch {
	case err == nil && len(data) > limit:
		return nil, &model.Error{Kind: model.Broken, Lasting: true, RequestID: id, Message: errTooLong.Error(), Err: errTooLong}
	case err != nil:
		return nil, &model.Error{Kind: model.Broken, RequestID: id, Message: "the connection broke in the middle of the answer", Err: err}
	}
	return ReadMessage(DialectFor(p.service.Dialect, req), data, id), nil
}

// adapt returns req adapted to this endpoint.
func (p *Provider) adapt(req *model.Request) *model.Request {
	r := *req
	r.Betas = p.c.Betas
	p.mu.Lock()
	r.Omit |= p.omitted[r.Model]
	p.mu.Unlock()
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

// encode encodes the body with the encoder that knows the conversation, if any: an interleaved
// side query must not evict the cached bytes of the long conversation.
func (p *Provider) encode(req *model.Request) (Body, error) {
	e := p.takeEncoder(req)
	defer p.returnEncoder(e)
	body, err := e.EncodeBody(req, p.c.ExtraBody)
	if s, ok := e.(SelectiveEncoder); ok && err == nil {
		p.sendNotes(s.LeftOut())
	}
	return body, err
}

// sendNotes sends the notes that were not sent before.
func (p *Provider) sendNotes(notes []string) {
	for _, note := range notes {
		p.mu.Lock()
		known := slices.Contains(p.sentNotes, note)
		if !known {
			p.sentNotes = append(p.sentNotes, note)
		}
		p.mu.Unlock()
		if !known && p.c.Note != nil {
			p.c.Note(note)
		}
	}
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
