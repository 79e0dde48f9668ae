package websearch

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// A Page configures a search engine whose result page is scraped.
type Page struct {
	// Enabled is set by the user.
	Enabled bool
	// URL is the address of the result page; empty means Bing. Market is the country and
	// language of the results; empty means en-US.
	URL, Market string
	// Headers are sent in addition to the headers that identify the program.
	Headers http.Header
}

const (
	pageAddress = "https://www.bing.com/search"
	market      = "en-US"
	pagePause   = time.Second // minimum time between requests

	// A result page is far smaller; a larger tree could exhaust memory.
	maxPage = 2 << 20
	maxTags = 100_000
)

// errNoResultPage is the error for a page without a result container.
var errNoResultPage = errors.New("the search engine returned a browser check or CAPTCHA instead of results. " +
	"Use another way to search: a Brave key (ADZE_BRAVE_API_KEY, with ADZE_WEB_SEARCH_ADAPTER=brave), or a provider that searches (ADZE_WEB_SEARCH_ADAPTER=api)")

// searchPage scrapes the result page of a search engine.
func searchPage(ctx context.Context, c *call, progress func(string, int)) (*outcome, error) {
	progress(c.query, -1)
	if err := c.pause(ctx); err != nil {
		return nil, err
	}
	address, place := c.Page.URL, c.Page.Market
	if address == "" {
		address = pageAddress
	}
	if place == "" {
		place = market
	}
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return nil, errors.New("webSearch.html.url is not an address of the web")
	}
	q := u.Query()
	q.Set("q", c.query)
	q.Set("setmkt", place)
	u.RawQuery = q.Encode()
	h := http.Header{"Accept": {"text/html"}, "Accept-Language": {place}}
	for name, values := range c.Page.Headers {
		h[http.CanonicalHeaderKey(name)] = slices.Clone(values)
	}
	res, body, err := c.get(ctx, u.String(), h)
	switch {
	case err != nil:
		return nil, fmt.Errorf("asking the search engine: %w", err)
	case res.StatusCode == http.StatusTooManyRequests:
		return nil, errors.New("the search engine's limit of requests is reached; " + retryTime(res.Header))
	case res.StatusCode >= 300 && res.StatusCode < 400:
		return nil, errNoResultPage
	case res.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("the search engine answered with status %d %s", res.StatusCode, http.StatusText(res.StatusCode))
	}
	o, err := readPage(body, u)
	if err == nil {
		progress(c.query, len(o.items))
	}
	return o, err
}

// pause waits until the next request to the search engine is allowed.
func (s *searcher) pause(ctx context.Context) error {
	s.mu.Lock()
	now := time.Now()
	wait := max(0, s.next.Sub(now))
	s.next = now.Add(wait + pagePause)
	s.mu.Unlock()
	if wait == 0 {
		return nil
	}
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return nil
	}
}

// readPage extracts the results of a page, without advertisements.
func readPage(body []byte, at *url.URL) (*outcome, error) {
	if len(body) > maxPage || bytes.Count(body, []byte("<")) > maxTags {
		return nil, errNoResultPage
	}
	root, err := html.Parse(bytes.NewReader(body))
	if err != nil {
		return nil, errNoResultPage
	}
	list := find(root, func(n *html.Node) bool { return attr(n, "id") == "b_results" })
	if list == nil {
		return nil, errNoResultPage
	}
	o := &outcome{searches: 1}
	blocks := 0
	for n := range list.Descendants() {
		if n.DataAtom != atom.Li || !hasClass(n, "b_algo") {
			continue
		}
		blocks++
		if h, ok := readBlock(n, at); ok {
			o.add(h)
		}
	}
	if blocks > 0 && len(o.items) == 0 {
		return nil, errNoResultPage
	}
	return o, nil
}

// readBlock extracts a result.
func readBlock(block *html.Node, at *url.URL) (hit, bool) {
	heading := find(block, func(n *html.Node) bool { return n.DataAtom == atom.H2 })
	if heading == nil {
		return hit{}, false
	}
	link := find(heading, func(n *html.Node) bool { return n.DataAtom == atom.A && attr(n, "href") != "" })
	if link == nil {
		return hit{}, false
	}
	address, err := at.Parse(attr(link, "href"))
	if err != nil {
		return hit{}, false
	}
	h := hit{Title: textIn(link), URL: target(address)}
	caption := find(block, func(n *html.Node) bool { return hasClass(n, "b_caption") })
	for _, source := range []*html.Node{
		find(block, func(n *html.Node) bool { return n.DataAtom == atom.P && hasClass(n, "b_lineclamp") }),
		find(caption, func(n *html.Node) bool { return n.DataAtom == atom.P }),
		caption,
	} {
		if h.Snippet = textIn(source); h.Snippet != "" {
			break
		}
	}
	return h, true
}

// target returns the target of a search engine's redirect link, or the link itself if it cannot
// be decoded.
func target(link *url.URL) string {
	if !strings.HasPrefix(link.Path, "/ck/a") {
		return link.String()
	}
	coded := link.Query().Get("u")
	if len(coded) < 3 || coded[:2] != "a1" && coded[:2] != "a0" {
		return link.String()
	}
	plain, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(coded[2:], "="))
	if err != nil {
		return link.String()
	}
	if to, ok := webURL(string(plain)); ok {
		return to
	}
	return link.String()
}

// find returns the first matching node at or below n, or nil.
func find(n *html.Node, fits func(*html.Node) bool) *html.Node {
	if n == nil {
		return nil
	}
	if n.Type == html.ElementNode && fits(n) {
		return n
	}
	for d := range n.Descendants() {
		if d.Type == html.ElementNode && fits(d) {
			return d
		}
	}
	return nil
}

func attr(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// hasClass reports whether an element has a class. For b_lineclamp a prefix is enough: there
// are b_lineclamp2, b_lineclamp3 and more.
func hasClass(n *html.Node, class string) bool {
	for c := range strings.FieldsSeq(attr(n, "class")) {
		if c == class || class == "b_lineclamp" && strings.HasPrefix(c, class) {
			return true
		}
	}
	return false
}

// textIn returns the text below a node on one line.
func textIn(n *html.Node) string {
	if n == nil {
		return ""
	}
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode && (d.Parent == nil || d.Parent.DataAtom != atom.Script && d.Parent.DataAtom != atom.Style) {
			b.WriteString(d.Data)
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}
