package local

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"adze/internal/platform/spell"
)

const (
	// answerTime is how long a server may take to say what it has, loadTime how long it may load a model.
	answerTime = 3 * time.Second
	loadTime   = 10 * time.Minute
	// loadingPause is how long to wait before a server is asked again whether it has loaded its model.
	loadingPause = 500 * time.Millisecond
)

// Open returns what the server at a base URL says about one of its models, which the caller is about to use; an empty name
// means the only one, or the only one that is loaded. One that Ollama has not loaded is loaded, because only then it is
// known how much fits into it. While a server loads, say is
// told once. The address is the user's own, and need not be on this machine.
func (c Client) Open(ctx context.Context, k Kind, address, name string, say func(string)) (Model, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return Model{}, fmt.Errorf("the address of %s is not a URL: %s", k.Name(), address)
	}
	root := u.Scheme + "://" + u.Host
	s, err := c.ready(ctx, k, root, say)
	switch {
	case errors.Is(err, errOther) && name != "": // it may answer requests nevertheless
		say(fmt.Sprintf("the server at %s does not say that it is %s, nor how much fits into its models", root, k.Name()))
		return Model{Name: name}, nil
	case err != nil:
		return Model{}, err
	}
	m, err := s.model(name)
	if err != nil || k != Ollama || m.Sure && m.Loaded {
		return m, err
	}
	say("Ollama loads " + m.Name)
	loading, cancel := context.WithTimeout(ctx, loadTime)
	defer cancel()
	if _, err := c.ask(loading, root+"/api/generate", map[string]any{"model": m.Name, "stream": false}, new(struct{})); err != nil {
		return m, fmt.Errorf("Ollama does not load %s: %w", m.Name, cause(ctx, err))
	}
	c.describe(loading, s, root)
	return s.model(m.Name)
}

// ready returns the server at root, with its models, when it has loaded what it loads at its start.
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
			return nil, fmt.Errorf("no %s answers at %s: %w; start it%s", k.Name(), root, cause(ctx, err), k.start())
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

// start returns how a server of the kind is started, for the end of a sentence.
func (k Kind) start() string {
	switch k {
	case Ollama:
		return " with `ollama serve`"
	case LlamaCpp:
		return " with `llama-server --model FILE`"
	case VLLM:
		return " with `vllm serve MODEL`"
	}
	return ", and its server in the developer view"
}

// model returns the model of that name. In Ollama a name without a tag means the latest.
func (s *Server) model(name string) (Model, error) {
	if m, ok := s.usual(); name == "" && ok {
		return m, nil
	}
	var names []string
	for _, m := range s.Models {
		if m.Name == name || s.Kind == Ollama && m.Name == name+":latest" {
			return m, nil
		}
		names = append(names, m.Name)
	}
	if len(names) == 0 {
		return Model{}, fmt.Errorf("%s at %s has no models%s", s.Kind.Name(), strings.TrimSuffix(s.Address, "/v1"), s.Kind.get(name))
	}
	if name == "" {
		return Model{}, fmt.Errorf("%s has several models; name one with --model: %s/%s", s.Kind.Name(), s.Kind, strings.Join(slices.Sorted(slices.Values(names)), fmt.Sprintf(", %s/", s.Kind)))
	}
	if near := spell.Closest(name, names, 1); len(near) > 0 {
		return Model{}, fmt.Errorf("%s has no model %s; did you mean %s?", s.Kind.Name(), name, near[0])
	}
	return Model{}, fmt.Errorf("%s has no model %s; it has %s%s", s.Kind.Name(), name, strings.Join(slices.Sorted(slices.Values(names)), ", "), s.Kind.get(name))
}

// usual returns the model to use when none is named.
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

// get returns how to get a model, for the end of a sentence.
func (k Kind) get(name string) string {
	if k == Ollama {
		return "; get it with `ollama pull " + cmp.Or(name, "NAME") + "`"
	}
	return ""
}

// cause returns why a request failed, without the address, which is known.
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
