package wire

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"sync"
	"time"

	"adze/internal/model"
)

const (
	countTimeout = 5 * time.Second
	maxCounts    = 256
)

// CountTokens implements [model.Counter] if the dialect is [CountingDialect]. It times out after five
// seconds, because the caller can estimate instead. Results are cached.
func (p *Provider) CountTokens(ctx context.Context, req *model.Request) (int, error) {
	d, ok := p.service.Dialect.(CountingDialect)
	if !ok {
		return 0, &model.Error{Kind: model.Invalid, Message: "the provider does not count tokens"}
	}
	req = p.adapt(req)
	body, err := d.EncodeCount(req)
	if err != nil {
		return 0, &model.Error{Kind: model.Invalid, Message: err.Error(), Err: err}
	}
	hash := sha256.Sum256(body)
	if n, ok := p.counts.get(hash); ok {
		return n, nil
	}
	limited, cancel := context.WithTimeoutCause(ctx, countTimeout, errNoAnswer(countTimeout))
	defer cancel()
	n, err := p.count(limited, d, req, body)
	switch {
	case err != nil && ctx.Err() != nil:
		return 0, context.Cause(ctx)
	case err != nil:
		return 0, p.client.scrub(cause(limited, err))
	}
	p.counts.put(hash, n)
	return n, nil
}

func (p *Provider) count(ctx context.Context, d CountingDialect, req *model.Request, body []byte) (int, error) {
	res, err := p.client.send(ctx, httpRequest{path: d.CountPath(req), header: p.header(req), body: Body{body}, accept: "application/json"})
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(res.Body, maxErrorBody))
	if err != nil {
		return 0, err
	}
	n, err := d.DecodeCount(answer)
	if err != nil {
		return 0, &model.Error{
			Kind: model.Broken, RequestID: RequestID(res.Header),
			Message: "the token count is not an answer", Err: fmt.Errorf("reading the token count: %w", err),
		}
	}
	return n, nil
}

// A countCache caches counts. When it is full it drops all of them, which costs a few requests.
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
