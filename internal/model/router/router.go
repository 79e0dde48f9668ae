// Package router routes each request to its model's provider, so that a session can switch
// between providers and fall back across them. The caller supplies the routing. Providers are
// opened on first use.
package router

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"

	"adze/internal/model"
)

// A Backend is a provider that requests can be routed to.
type Backend struct {
	Name string
	// Open returns the provider. It is called by the first request, and again after an error.
	Open func() (model.Provider, error)
	// FirstParty is true if the endpoint is the provider's own.
	FirstParty bool
}

// Config configures a router.
type Config struct {
	Rows []Backend
	// Route returns the name of a model's row and the model's name there.
	Route func(name string) (row, sent string)
}

// A Router is a [model.Provider]. It is safe for concurrent use.
type Router struct {
	c Config

	mu   sync.Mutex
	open map[string]model.Provider
}

// New returns a router. It opens no provider.
func New(c Config) *Router { return &Router{c: c, open: map[string]model.Provider{}} }

// Open opens a model's provider, so that errors are detected before there is a request.
func (r *Router) Open(name string) error {
	_, _, err := r.provider(name)
	return err
}

// FirstParty reports whether requests to a model go to its provider's own endpoint.
func (r *Router) FirstParty(name string) bool {
	row, _ := r.find(name)
	return row != nil && row.FirstParty
}

// Limits returns the known limits of a model's provider.
func (r *Router) Limits(name string) []model.Limit {
	row, _ := r.find(name)
	if row == nil {
		return nil
	}
	r.mu.Lock()
	p := r.open[row.Name]
	r.mu.Unlock()
	if l, ok := model.As[model.LimitReporter](p); ok {
		return l.Limits()
	}
	return nil
}

// Preconnect lets a model's provider connect before there is a request, if it is open and
// supports that.
func (r *Router) Preconnect(name string) {
	row, _ := r.find(name)
	if row == nil {
		return
	}
	r.mu.Lock()
	p := r.open[row.Name]
	r.mu.Unlock()
	if c, ok := model.As[interface{ Preconnect() }](p); ok {
		c.Preconnect()
	}
}

// Stream implements [model.Provider].
func (r *Router) Stream(ctx context.Context, req *model.Request) iter.Seq2[model.Event, error] {
	p, req, err := r.route(req)
	if err != nil {
		return func(yield func(model.Event, error) bool) { yield(nil, err) }
	}
	return p.Stream(ctx, req)
}

// CountTokens implements [model.Counter] if the provider does.
func (r *Router) CountTokens(ctx context.Context, req *model.Request) (int, error) {
	p, req, err := r.route(req)
	if err != nil {
		return 0, err
	}
	counter, ok := model.As[model.Counter](p)
	if !ok {
		return 0, &model.Error{Kind: model.Invalid, Message: "the provider does not count tokens"}
	}
	return counter.CountTokens(ctx, req)
}

// route returns the provider for req and the request to send to it.
func (r *Router) route(req *model.Request) (model.Provider, *model.Request, error) {
	p, name, err := r.provider(req.Model)
	if err != nil {
		var known *model.Error
		if !errors.As(err, &known) {
			err = &model.Error{Kind: model.Auth, Message: err.Error(), Err: err}
		}
		return nil, nil, err
	}
	if name != req.Model {
		sent := *req
		sent.Model = name
		req = &sent
	}
	return p, req, nil
}

// provider returns a model's provider and the model's name there.
func (r *Router) provider(name string) (model.Provider, string, error) {
	row, name := r.find(name)
	if row == nil {
		return nil, "", fmt.Errorf("no provider for the model %s", name)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	p, ok := r.open[row.Name]
	if !ok {
		var err error
		if p, err = row.Open(); err != nil {
			return nil, "", err
		}
		r.open[row.Name] = p
	}
	return p, name, nil
}

// find returns a model's row, or nil, and the model's name there.
func (r *Router) find(name string) (*Backend, string) {
	row, sent := r.c.Route(name)
	for i := range r.c.Rows {
		if r.c.Rows[i].Name == row {
			return &r.c.Rows[i], sent
		}
	}
	return nil, name
}
