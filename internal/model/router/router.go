// Package router sends each request to the provider of its model, so that a session can change from one
// provider to another and fall back across them. A name such as "openai/gpt-5" says which provider it
// means; for a bare name the caller does. Providers are opened when they are first needed.
package router

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"

	"adze/internal/model"
)

// A Row is a provider that requests can go to.
type Row struct {
	// Name is what stands before the slash in the name of a model.
	Name string
	// Open returns the provider. It is called by the first request, and again after an error.
	Open func() (model.Provider, error)
	// Unset says that the provider has not been configured. A request that names it goes to a default
	// that is a gateway, if there is one.
	Unset bool
	// Gateway says that the endpoint has models of many makers under names of its own. They are sent as
	// they are, also if they begin with the name of a provider.
	Gateway bool
}

// Config is what a router goes by.
type Config struct {
	Rows []Row
	// Default is the name of the row for bare names.
	Default string
	// Home returns the row for a bare name instead, or nothing. It may be nil.
	Home func(name string) string
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

// find returns the row of a model and the name that it has there.
func (r *Router) find(name string) (*Row, string) {
	usual := r.row(r.c.Default)
	prefix, rest, ok := strings.Cut(name, "/")
	if named := r.row(prefix); ok && rest != "" && named != nil {
		switch {
		case named.Unset && usual != nil && usual.Gateway:
			return usual, name
		case named.Gateway:
			return named, name
		}
		return named, rest
	}
	if r.c.Home != nil {
		if home := r.row(r.c.Home(name)); home != nil && !home.Unset {
			return home, name
		}
	}
	return usual, name
}

func (r *Router) row(name string) *Row {
	if i := slices.IndexFunc(r.c.Rows, func(row Row) bool { return row.Name == name }); i >= 0 {
		return &r.c.Rows[i]
	}
	return nil
}
