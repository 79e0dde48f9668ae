package websearch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

const (
	braveAddress = "https://api.search.brave.com/res/v1/llm/context"
	timeLimit    = 30 * time.Second
	maxAnswer    = 4 << 20 // bytes
)

// searchBrave queries Brave with the user's key.
func searchBrave(ctx context.Context, c *call, progress func(string, int)) (*outcome, error) {
	progress(c.query, -1)
	h := http.Header{"X-Subscription-Token": {c.BraveKey}, "Accept": {"application/json"}}
	res, body, err := c.get(ctx, braveAddress+"?"+url.Values{"q": {c.query}, "count": {"20"}}.Encode(), h)
	if err != nil {
		return nil, fmt.Errorf("asking Brave: %w", err)
	}
	switch {
	case res.StatusCode == http.StatusUnauthorized || res.StatusCode == http.StatusForbidden:
		return nil, errors.New("Brave did not accept the key: check ADZE_BRAVE_API_KEY, and that the plan of the key includes search")
	case res.StatusCode == http.StatusTooManyRequests:
		return nil, errors.New("Brave's limit of requests is reached; " + retryTime(res.Header))
	case res.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("Brave answered with status %d %s", res.StatusCode, http.StatusText(res.StatusCode))
	}
	var answer struct {
		Grounding struct {
			Generic []struct {
				Title    string   `json:"title"`
				URL      string   `json:"url"`
				Snippets []string `json:"snippets"`
			} `json:"generic"`
		} `json:"grounding"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return nil, errors.New("unexpected response format from Brave")
	}
	o := &outcome{searches: 1}
	for _, p := range answer.Grounding.Generic {
		o.add(hit{Title: p.Title, URL: p.URL, Snippet: strings.Join(p.Snippets, " ")})
	}
	progress(c.query, len(o.items))
	return o, nil
}

// retryTime returns a human-readable retry time from a server's headers.
func retryTime(h http.Header) string {
	for _, name := range []string{"Retry-After", "X-RateLimit-Reset"} {
		first, _, _ := strings.Cut(h.Get(name), ",")
		if d, err := time.ParseDuration(strings.TrimSpace(first) + "s"); err == nil && d > 0 && d < 24*time.Hour {
			return fmt.Sprintf("try again in %v", d.Round(time.Second))
		}
	}
	return "try again later"
}

// get fetches a URL, with limits on time and size. The error never contains the URL, which
// includes the query, or a header.
func (c *call) get(ctx context.Context, address string, h http.Header) (*http.Response, []byte, error) {
	limited, cancel := context.WithTimeout(ctx, timeLimit)
	defer cancel()
	req, err := http.NewRequestWithContext(limited, http.MethodGet, address, nil)
	if err != nil {
		return nil, nil, errors.New("not a web address")
	}
	req.Header = h.Clone()
	if req.Header.Get("User-Agent") == "" {
		req.Header.Set("User-Agent", c.Agent)
	}
	// A redirect would send the key and the query elsewhere.
	client := http.Client{Transport: c.Transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Do(req)
	if err != nil {
		return nil, nil, c.unreachable(ctx, limited, err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	switch {
	case err != nil:
		return nil, nil, c.unreachable(ctx, limited, err)
	case len(body) > maxAnswer:
		return nil, nil, errors.New("the answer is larger than 4 MB")
	}
	return res, body, nil
}

// unreachable explains a missing answer.
func (c *call) unreachable(ctx, limited context.Context, err error) error {
	var at *url.Error
	if errors.As(err, &at) {
		err = at.Err
	}
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case limited.Err() != nil:
		return fmt.Errorf("no answer within %v", timeLimit)
	}
	return err
}
