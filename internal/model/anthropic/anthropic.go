// Package anthropic is the provider for the first-party API and for any endpoint that speaks the same
// protocol. The official client does transport, authentication and addressing; the wire format is
// package messages, retrying is package retry.
package anthropic

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"mime"
	"net/http"
	"runtime"
	"slices"
	"sync"
	"time"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"adze/internal/model"
	"adze/internal/model/messages"
)

// Config is what a provider needs to know. One of KeyHelper, AuthToken and APIKey must be set; the
// first of them counts.
type Config struct {
	// BaseURL is the endpoint without /v1; empty means the first-party one.
	BaseURL string

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
	// GlobalCache lets cache marks ask for sharing between users. The endpoint must know that; one
	// that does not rejects the request.
	GlobalCache bool

	// Idle is how long a stream may be silent; zero means 90 seconds. NoStreamTimeout limits an answer
	// that is not streamed; zero means 5 minutes.
	Idle, NoStreamTimeout time.Duration

	// AllowInsecure permits plain http to hosts other than this one.
	AllowInsecure bool
}

const (
	firstParty = "https://api.anthropic.com"

	defaultIdle     = 90 * time.Second
	defaultNoStream = 5 * time.Minute
	// maxNoStreamTokens is as much as can be had within the time of an answer that is not streamed.
	maxNoStreamTokens = 64_000
	// maxAnswer is the most that is read of an answer that is not streamed.
	maxAnswer = 64 << 20
)

// A Provider answers requests. It is safe for concurrent use.
type Provider struct {
	c      Config
	client sdk.Client
	key    credential

	mu       sync.Mutex
	encoders []*messages.Encoder // idle ones, the one used last at the end
	counts   countCache
}

// New returns a provider. It does not connect.
func New(c Config) (*Provider, error) {
	if c.BaseURL == "" {
		c.BaseURL = firstParty
	}
	if err := c.checkURL(); err != nil {
		return nil, err
	}
	if c.Idle <= 0 {
		c.Idle = defaultIdle
	}
	if c.NoStreamTimeout <= 0 {
		c.NoStreamTimeout = defaultNoStream
	}
	key, err := newCredential(c)
	if err != nil {
		return nil, err
	}
	if c.Transport == nil {
		c.Transport = NewTransport(c.RootCAs)
	}
	p := &Provider{c: c, key: key}
	p.client = sdk.NewClient(p.options()...)
	return p, nil
}

func (p *Provider) options() []option.RequestOption {
	opts := []option.RequestOption{
		option.WithoutEnvironmentDefaults(),
		option.WithoutOpenTelemetry(),
		option.WithMaxRetries(0),
		option.WithBaseURL(p.c.BaseURL),
		option.WithHTTPClient(&http.Client{
			Transport: p.c.Transport,
			// Following would hand the key to whoever is redirected to.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}),
		option.WithMiddleware(p.guard),
	}
	for name, values := range p.c.Headers {
		opts = append(opts, option.WithHeaderDel(name))
		for _, v := range values {
			opts = append(opts, option.WithHeaderAdd(name, v))
		}
	}
	agent := fmt.Sprintf("adze/%s (%s; %s)", p.c.Version, runtime.GOOS, runtime.GOARCH)
	return append(opts, option.WithHeader("User-Agent", agent))
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
			yield(nil, p.scrub(err))
			return
		}
		for e, err := range events {
			if err != nil && ctx.Err() == nil {
				err = p.scrub(err)
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
	if req.NoStream {
		return p.whole(ctx, body)
	}

	asking, cancel := context.WithCancelCause(ctx)
	silence := time.AfterFunc(p.c.Idle, func() { cancel(errNoAnswer(p.c.Idle)) })
	res, err := p.send(asking, "v1/messages", body, "text/event-stream")
	if !silence.Stop() && err == nil {
		res.Body.Close() // ok: it is the silence that counts
		err = context.Cause(asking)
	}
	if err != nil {
		defer cancel(nil)
		return nil, cause(asking, err)
	}
	o := messages.StreamOptions{
		Idle: p.c.Idle, RequestID: res.Header.Get("request-id"), Raw: req.Raw,
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
	return messages.ReadStream(ctx, res.Body, o), nil
}

// whole sends a body that asks for a complete answer, and waits for it.
func (p *Provider) whole(ctx context.Context, body messages.Body) (iter.Seq2[model.Event, error], error) {
	limit := p.c.NoStreamTimeout
	ctx, cancel := context.WithTimeoutCause(ctx, limit, errNoAnswer(limit))
	defer cancel()
	res, err := p.send(ctx, "v1/messages", body, "application/json")
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
	id := res.Header.Get("request-id")
	if err != nil {
		return nil, &model.Error{Kind: model.Broken, RequestID: id, Message: "the connection broke in the middle of the answer", Err: err}
	}
	return messages.ReadMessage(data, messages.StreamOptions{RequestID: id}), nil
}

func errNoAnswer(limit time.Duration) error {
	return &model.Error{Kind: model.Broken, Message: fmt.Sprintf("no answer for %d s", int(limit.Seconds()))}
}

// cause returns why ctx ended rather than that it did.
func cause(ctx context.Context, err error) error {
	var known *model.Error
	if err != nil && ctx.Err() != nil && errors.As(context.Cause(ctx), &known) {
		return known
	}
	return err
}

// adapt returns req as this endpoint takes it.
func (p *Provider) adapt(req *model.Request) *model.Request {
	r := *req
	if !p.c.GlobalCache && slices.ContainsFunc(r.Cache, func(m model.Mark) bool { return m.Global }) {
		r.Cache = slices.Clone(r.Cache)
		for i := range r.Cache {
			r.Cache[i].Global = false
		}
	}
	if r.NoStream && r.MaxTokens > maxNoStreamTokens {
		r.MaxTokens = maxNoStreamTokens
		if r.Thinking.Budget >= r.MaxTokens {
			r.Thinking.Budget = r.MaxTokens / 2
		}
	}
	return &r
}

// encode writes the body with the encoder that knows the conversation, if there is one: a side query
// in between must not cost the long conversation its kept bytes.
func (p *Provider) encode(req *model.Request) (messages.Body, error) {
	e := p.takeEncoder(req)
	defer p.returnEncoder(e)
	return e.EncodeBody(req, p.c.ExtraBody)
}

const maxEncoders = 4

func (p *Provider) takeEncoder(req *model.Request) *messages.Encoder {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.IndexFunc(p.encoders, func(e *messages.Encoder) bool { return e.Continues(req) })
	switch {
	case i < 0 && len(p.encoders) < maxEncoders:
		return new(messages.Encoder)
	case i < 0:
		i = 0
	}
	e := p.encoders[i]
	p.encoders = slices.Delete(p.encoders, i, i+1)
	return e
}

func (p *Provider) returnEncoder(e *messages.Encoder) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.encoders) < maxEncoders {
		p.encoders = append(p.encoders, e)
	}
}
