// Package router sends each request to the provider of its model, so that a session can change from one
// provider to another and fall back across them. Which one that is, the caller says. Providers are opened when they are
// first needed.
package router

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"

	"adze/internal/model"
)

// A Row is a provider that requests can go to.
type Row struct {
	Name string
	// Open returns the provider. It is called by the first request, and again after an error.
	Open func() (model.Provider, error)
	// FirstParty says that the endpoint is the provider's own.
	FirstParty bool
}

// Config is what a router goes by.
type Config struct {
	Rows []Row
	// Route returns the name of the row that a model is asked of, and the name that it has there.
	Route func(name string) (row, sent string)
}

// A Router is a [model.Provider]. It is safe for concurrent use.
type Router struct {
	c Config

	mu   sync.Mutex
	open map[string]model.Provider
}

// New returns a router. It opens nothing.
func New(c Config) *Router { return &Router{c: c, open: map[string]model.Provider{}} }

// Open opens the provider of a model, so that an error is known before there is a request.
func (r *Router) Open(name string) error {
	_, _, err := r.provider(name)
	return err
}

// FirstParty reports whether requests to a model go to the endpoint of its provider itself.
func (r *Router) FirstParty(name string) bool {
	row, _ := r.find(name)
	return row != nil && row.FirstParty
}

// Limits returns what is known of the limits of a model's provider.
func (r *Router) Limits(name string) []model.Limit {
	row, _ := r.find(name)
	if row == nil {
		return nil
	}
	r.mu.Lock()
	p := r.open[row.Name]
	r.mu.Unlock()
	if l, ok := model.As[model.Limited](p); ok {
		return l.Limits()
	}
	return nil
}

// Preconnect lets the provider of a model connect before there is a request, if it is open and can.
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

// CountTokens implements [model.Counter], as far as the provider does.
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

// route returns the provider for req, and req as it is sent there.
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

// provider returns the provider of a model and the name that it has there.
func (r *Router) provider(name string) (model.Provider, string, error) {
	row, name := r.find(name)
	if row == nil {
		return nil, "", fmt.Errorf("there is no provider for the model %s", name)
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

// find returns the row of a model, or nil, and the name that it has there.
func (r *Router) find(name string) (*Row, string) {
	row, sent := r.c.Route(name)
	for i := range r.c.Rows {
		if r.c.Rows[i].Name == row {
			return &r.c.Rows[i], sent
		}
	}
	return nil, name
}
