package local

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"

	"adze/internal/platform/text/rank"
)

const (
	// answerTime limits how long a server may take to describe itself, loadTime how long it may
	// load a model.
	answerTime = 3 * time.Second
	loadTime   = 10 * time.Minute
	// loadingPause is the polling interval while a server is loading its model.
	loadingPause = 500 * time.Millisecond
)

// ErrSeveral is returned if no model is named and the server has several.
var ErrSeveral = errors.New("several models")

// Open describes a model on the server at a base URL, which the caller is about to use. An
// empty name, and the short names default and small unless a model is called that, mean the
// only model, or the only loaded one. Ollama and LM Studio load the model, because its window
// is known only then; say is called with a line before. The address is the user's own and need
// not be on this machine.
func (c Client) Open(ctx context.Context, k Kind, address, name string, say func(string)) (Model, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return Model{}, fmt.Errorf("the address of %s is not a URL: %s", k.Name(), address)
	}
	root := u.Scheme + "://" + u.Host
	s, err := c.ready(ctx, k, root, say)
	switch {
	case errors.Is(err, errOther) && !unnamed(name): // the server may still answer requests
		say(fmt.Sprintf("the server at %s is not identifiable as %s, and its context window is unknown", root, k.Name()))
		return Model{Name: name}, nil
	case err != nil:
		return Model{}, err
	}
	m, err := s.Pick(name)
	if err != nil || k != Ollama && k != LMStudio || m.Loaded && (m.Sure || k == LMStudio) {
		return m, err
	}
	say("Loading " + m.Name + " …")
	loading, cancel := context.WithTimeout(ctx, loadTime)
	defer cancel()
	path, question := "/api/generate", map[string]any{"model": m.Name, "stream": false}
	if k == LMStudio { // LM Studio loads a model on its first request
		path = "/v1/chat/completions"
		question = map[string]any{"model": m.Name, "max_tokens": 1, "messages": []map[string]string{{"role": "user", "content": "hi"}}}
	}
	if _, err := c.ask(loading, root+path, question, new(json.RawMessage)); err != nil {
		return m, fmt.Errorf("%s could not load %s (%w)", k.Name(), m.Name, cause(ctx, err))
	}
	c.describe(loading, s, root)
	return s.Pick(m.Name)
}

// unnamed reports whether a name lets the server choose the model.
func unnamed(name string) bool { return name == "" || name == "default" || name == "small" }

// ready waits until the server at root has loaded its startup models and returns it with its
// models.
func (c Client) ready(ctx context.Context, k Kind, root string, say func(string)) (*Server, error) {
	limit := time.Now().Add(loadTime)
	for told := false; ; told = true {
		asking, cancel := context.WithTimeout(ctx, answerTime)
		s, err := c.identify(asking, root)
		if err == nil && !s.Loading {
			c.describe(asking, s, root)
		}
		cancel()
		switch {
		case err != nil:
			return nil, k.silent(root, cause(ctx, err))
		case s.Kind != k:
			return nil, fmt.Errorf("%s answers at %s, not %s; use the provider %s", s.Kind.Name(), root, k.Name(), s.Kind)
		case !s.Loading:
			return s, nil
		case time.Now().After(limit):
			return nil, fmt.Errorf("%s at %s: %w after %v; try again later", k.Name(), root, errLoading, loadTime)
		case !told:
			say(k.Name() + " is still loading its model")
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(loadingPause):
		}
	}
}

// silent returns the error for a root where no server of the kind answers.
func (k Kind) silent(root string, err error) error {
	start := "Start it, and its server in the developer view"
	switch k {
	case Ollama:
		start = "Start it with `ollama serve`"
	case LlamaCpp:
		start = "Start it with `llama-server --model FILE`"
	case VLLM:
		start = "Start it with `vllm serve MODEL`"
	}
	if errors.Is(err, errOther) {
		return fmt.Errorf("the server at %s is not %s: %w. %s", root, k.Name(), err, start)
	}
	if errors.Is(err, syscall.ECONNREFUSED) {
		return fmt.Errorf("%s is not running at %s. %s", k.Name(), root, start)
	}
	return fmt.Errorf("%s does not answer at %s (%w). %s", k.Name(), root, err, start)
}

// Pick returns the model with that name. In Ollama a name without a tag means the latest. An
// empty name, and the short names default and small unless a model is called that, mean the
// only model, or the only loaded one; otherwise the error is [ErrSeveral].
func (s *Server) Pick(name string) (Model, error) {
	var names []string
	for _, m := range s.Models {
		if m.Name == name || s.Kind == Ollama && m.Name == name+":latest" {
			return m, nil
		}
		names = append(names, m.Name)
	}
	if unnamed(name) {
		name = ""
		if m, ok := s.usual(); ok {
			return m, nil
		}
	}
	if len(names) == 0 {
		return Model{}, fmt.Errorf("%s at %s has no models%s", s.Kind.Name(), strings.TrimSuffix(s.Address, "/v1"), s.Kind.get(name))
	}
	if name == "" {
		return Model{}, fmt.Errorf("%s has %w; name one with --model: %s/%s", s.Kind.Name(), ErrSeveral, s.Kind, strings.Join(slices.Sorted(slices.Values(names)), fmt.Sprintf(", %s/", s.Kind)))
	}
	if near := rank.Closest(name, names, 1); len(near) > 0 {
		return Model{}, fmt.Errorf("%s has no model %s; did you mean %s?", s.Kind.Name(), name, near[0])
	}
	return Model{}, fmt.Errorf("%s has no model %s; it has %s%s", s.Kind.Name(), name, strings.Join(slices.Sorted(slices.Values(names)), ", "), s.Kind.get(name))
}

// usual returns the model to use if none is named.
func (s *Server) usual() (Model, bool) {
	if len(s.Models) == 1 {
		return s.Models[0], true
	}
	loaded := slices.DeleteFunc(slices.Clone(s.Models), func(m Model) bool { return !m.Loaded })
	if len(loaded) == 1 {
		return loaded[0], true
	}
	return Model{}, false
}

// get returns instructions for getting a model, for the end of a sentence.
func (k Kind) get(name string) string {
	if k == Ollama {
		return "; get it with `ollama pull " + cmp.Or(name, "NAME") + "`"
	}
	return ""
}

// cause returns the reason a request failed, without the address, which is known.
func cause(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var at *url.Error
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}
