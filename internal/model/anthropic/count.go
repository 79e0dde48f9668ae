package anthropic

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"time"

	"adze/internal/model"
	"adze/internal/model/messages"
)

const (
	countTimeout = 5 * time.Second
	maxCounts    = 256
)

// CountTokens implements [model.Counter]. It gives up after five seconds: a caller can estimate. The
// same question is asked once.
func (p *Provider) CountTokens(ctx context.Context, req *model.Request) (int, error) {
	e := p.takeEncoder(req)
	body, err := e.EncodeCount(p.adapt(req))
	p.returnEncoder(e)
	if err != nil {
		return 0, &model.Error{Kind: model.Invalid, Message: err.Error(), Err: err}
	}
	hash := sha256.Sum256(body)
	if n, ok := p.counts.get(hash); ok {
		return n, nil
	}
	limited, cancel := context.WithTimeoutCause(ctx, countTimeout, errNoAnswer(countTimeout))
	defer cancel()
	n, err := p.count(limited, body)
	switch {
	case err != nil && ctx.Err() != nil:
		return 0, context.Cause(ctx)
	case err != nil:
		return 0, p.scrub(cause(limited, err))
	}
	p.counts.put(hash, n)
	return n, nil
}

func (p *Provider) count(ctx context.Context, body []byte) (int, error) {
	res, err := p.send(ctx, "v1/messages/count_tokens", messages.Body{body}, "application/json")
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	var answer struct {
		Input *int `json:"input_tokens"`
	}
	err = json.NewDecoder(io.LimitReader(res.Body, maxErrorBody)).Decode(&answer)
	if err != nil || answer.Input == nil || *answer.Input < 0 {
		return 0, &model.Error{
			Kind: model.Broken, RequestID: res.Header.Get("request-id"),
			Message: "the token count is not an answer", Err: fmt.Errorf("reading the token count: %w", err),
		}
	}
	return *answer.Input, nil
}

// A countCache remembers counts. It forgets all of them when it is full, which costs a few questions.
type countCache struct {
	mu sync.Mutex
	m  map[[sha256.Size]byte]int
}

func (c *countCache) get(hash [sha256.Size]byte) (int, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n, ok := c.m[hash]
	return n, ok
}

func (c *countCache) put(hash [sha256.Size]byte, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.m == nil || len(c.m) >= maxCounts {
		c.m = make(map[[sha256.Size]byte]int)
	}
	c.m[hash] = n
}
