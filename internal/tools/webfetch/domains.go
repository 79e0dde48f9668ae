package webfetch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync"
	"time"
)

const (
	checkTimeout = 10 * time.Second
	verdictTime  = 5 * time.Minute
	maxVerdicts  = 1000
)

// domains queries a user-configured service for the hosts that may be fetched from. It sends
// host names and nothing else.
type domains struct {
	url       string // empty if not configured
	transport http.RoundTripper
	now       func() time.Time

	mu       sync.Mutex
	verdicts map[string]verdict
}

type verdict struct {
	allowed bool
	till    time.Time
}

// check returns an error if a host must not be fetched from.
func (d *domains) check(ctx context.Context, host string) error {
	if d.url == "" {
		return nil
	}
	d.mu.Lock()
	v, ok := d.verdicts[host]
	d.mu.Unlock()
	if !ok || !d.now().Before(v.till) {
		allowed, err := d.ask(ctx, host)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			return fmt.Errorf("whether %s may be fetched from could not be verified, so nothing was fetched: %w. The user can switch the check off with webFetch.skipDomainCheck", host, err)
		}
		v = verdict{allowed, d.now().Add(verdictTime)}
		d.mu.Lock()
		if len(d.verdicts) >= maxVerdicts || d.verdicts == nil {
			d.verdicts = map[string]verdict{}
		}
		d.verdicts[host] = v
		d.mu.Unlock()
	}
	if !v.allowed {
		return fmt.Errorf("the user's domain check blocks %s. Do not try to reach it in another way", host)
	}
	return nil
}

// ask queries the service about a host.
func (d *domains) ask(ctx context.Context, host string) (allowed bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	u, err := url.Parse(d.url)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
		return false, errors.New("webFetch.domainCheckUrl is not a URL")
	}
	query := u.Query()
	query.Set("domain", host)
	u.RawQuery = query.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return false, err
	}
	client := http.Client{Transport: d.transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			return false, fmt.Errorf("the service did not answer within %v", checkTimeout)
		}
		return false, errors.New("the service cannot be reached")
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return false, fmt.Errorf("the service answered with status %d", resp.StatusCode)
	}
	var answer struct {
		Allowed *bool `json:"can_fetch"`
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, 64<<10)).Decode(&answer); err != nil || answer.Allowed == nil {
		return false, errors.New(`the service did not answer with {"can_fetch":true} or {"can_fetch":false}`)
	}
	return *answer.Allowed, nil
}
