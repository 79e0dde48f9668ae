package web

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"time"

	"adze/internal/platform/contacts"
)

// Limits of one fetch.
const (
	MaxBody      = 10 << 20 // bytes, as sent and after decompression
	timeLimit    = 60 * time.Second
	maxRedirects = 10
	maxHeaders   = 256 << 10
	maxFailure   = 64 << 10 // of the body of a response that is no page
)

// A Config is how pages are fetched. Its zero value fetches public pages without a proxy.
type Config struct {
	// Hosts are allowed though they are not public.
	Hosts Hosts
	// Agent identifies the program to servers.
	Agent string
	// Proxy returns the proxy for a request, or nil for none; see [http.Transport]. A proxy looks names up itself, so that
	// only names are checked. May be nil.
	Proxy func(*http.Request) (*url.URL, error)
	// Roots returns the certificates to trust; nil means the system's. May be nil.
	Roots func() (*x509.CertPool, error)

	// Resolve returns the addresses of a host, whose name ends in a dot if it is one of the internet. Nil means the
	// system's resolver.
	Resolve func(ctx context.Context, host string) ([]netip.Addr, error)
	// Connect connects to an address, which was vetted; vet vets the address of a connection. Nil means TCP.
	Connect func(ctx context.Context, addr netip.AddrPort, vet func(netip.Addr) error) (net.Conn, error)
}

// A Client fetches pages. It keeps no state but its configuration: no cookies, no credentials, no connections. It is
// safe for concurrent use.
type Client struct {
	cfg    Config
	direct func() (*http.Transport, error) // made when the first page is fetched
}

// New returns a client.
func New(c Config) *Client {
	if c.Resolve == nil {
		c.Resolve = lookUp
	}
	if c.Connect == nil {
		c.Connect = connectTCP
	}
	client := &Client{cfg: c}
	client.direct = sync.OnceValues(client.transport)
	return client
}

// Check is [Hosts.Check] of the hosts of the client.
func (c *Client) Check(text string) (*url.URL, error) { return c.cfg.Hosts.Check(text) }

// A Response is what a server answered in the end.
type Response struct {
	URL    string // after redirects
	Status int
	Type   string // the media type, in lower case; empty if the server names none
	// ContentType is the whole header, with its parameters.
	ContentType string
	// Name is the file name that the server proposes; it can be anything.
	Name string
	Body []byte // decompressed
	// Personal says that the response may be meant for one user.
	Personal bool
	// RetryAfter is when the server wants to be asked again, in its words; may be empty.
	RetryAfter string
}

// A Redirect is the error for a page that is elsewhere, mostly at another host: it was not followed.
type Redirect struct {
	From, To string
	Status   int
}

// Error names both ends.
func (r *Redirect) Error() string {
	return fmt.Sprintf("%s redirects elsewhere, to %s (status %d)", r.From, r.To, r.Status)
}

// Leave is what a fetch may do beyond asking for its page once. The zero value is the cautious one.
type Leave struct {
	// Plain says that http is used where no connection for https can be made, if the URL says http.
	Plain bool
	// Follow reports whether a redirect on the same host may be followed; nil means that it may.
	Follow func(to *url.URL) bool
}

// Get fetches a page that [Client.Check] accepts. A URL with http is tried with https first, except for hosts that the
// user named. The error is worded for the model.
func (c *Client) Get(ctx context.Context, u *url.URL, leave Leave) (*Response, error) {
	bounded, cancel := context.WithTimeout(ctx, timeLimit)
	defer cancel()
	first := *u
	upgraded := u.Scheme == "http" && !c.cfg.Hosts.has(u.Hostname(), portOf(u))
	if upgraded {
		first.Scheme = "https"
	}
	resp, err := c.follow(bounded, &first, leave.Follow)
	if err != nil && upgraded && unreachable(err) && bounded.Err() == nil {
		if !leave.Plain {
			return nil, fmt.Errorf("%w. The page was asked for with https, and http is used only for hosts that the user allowed", explain(err, u))
		}
		resp, err = c.follow(bounded, u, leave.Follow)
	}
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case bounded.Err() != nil:
		return nil, fmt.Errorf("%s did not answer completely within %v", u.Hostname(), timeLimit)
	case err != nil:
		return nil, explain(err, u)
	}
	return resp, nil
}

// follow fetches a page and follows redirects on its host. Each hop is checked like the first.
func (c *Client) follow(ctx context.Context, u *url.URL, may func(*url.URL) bool) (*Response, error) {
	for range maxRedirects + 1 {
		resp, err := c.send(ctx, u)
		if err != nil {
			return nil, err
		}
		switch resp.StatusCode {
		case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		default:
			return read(resp, u)
		}
		resp.Body.Close() // ok: nothing of it is used
		next, err := c.next(u, resp.Header.Get("Location"))
		if err != nil {
			return nil, fmt.Errorf("%s answered with a redirect (status %d) that cannot be followed: %w", u.Hostname(), resp.StatusCode, err)
		}
		if !sameHost(u, next) || may != nil && !may(next) {
			return nil, &Redirect{From: u.String(), To: next.String(), Status: resp.StatusCode}
		}
		u = next
	}
	return nil, fmt.Errorf("%s redirects more than %d times", u.Hostname(), maxRedirects)
}

// next returns where a redirect leads.
func (c *Client) next(from *url.URL, location string) (*url.URL, error) {
	if location == "" {
		return nil, errors.New("it does not say where to")
	}
	ref, err := parse(location)
	if err != nil {
		return nil, err
	}
	return c.Check(from.ResolveReference(ref).String())
}

// sameHost reports whether a redirect stays on its host: a leading www. makes no difference, and http may become https.
func sameHost(from, to *url.URL) bool {
	bare := func(u *url.URL) string { return strings.TrimPrefix(u.Hostname(), "www.") }
	if bare(from) != bare(to) {
		return false
	}
	if from.Scheme == to.Scheme {
		return portOf(from) == portOf(to)
	}
	return from.Scheme == "http" && to.Scheme == "https" && (portOf(from) == portOf(to) || from.Port() == "" && to.Port() == "")
}

// send asks for one URL. It says nothing of where the request comes from.
func (c *Client) send(ctx context.Context, u *url.URL) (*http.Response, error) {
	req := (&http.Request{
		Method: http.MethodGet, URL: u, Host: u.Host, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{
			"User-Agent":      {c.cfg.Agent},
			"Accept":          {"text/markdown, text/html;q=0.9, application/xhtml+xml;q=0.9, text/plain;q=0.8, */*;q=0.5"},
			"Accept-Encoding": {"gzip, deflate"},
			"Accept-Language": {"en, *;q=0.5"},
		},
	}).WithContext(ctx)
	transport, err := c.direct()
	if err != nil {
		return nil, err
	}
	if c.cfg.Proxy != nil {
		proxy, err := c.cfg.Proxy(req)
		if err != nil {
			return nil, fmt.Errorf("the proxy settings cannot be used: %w", err)
		}
		if proxy != nil {
			contacts.Add(proxy.Host, contacts.Proxy)
			transport = transport.Clone()
			transport.Proxy = http.ProxyURL(proxy)
			transport.DialContext = (&net.Dialer{Timeout: dialTimeout}).DialContext
		}
	}
	contacts.Add(u.Host, contacts.Web)
	resp, err := transport.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	if err := blocked(resp.Header, u.Hostname()); err != nil {
		resp.Body.Close() // ok: nothing of it is used
		return nil, err
	}
	return resp, nil
}

// blocked returns an error if a header says that the network lets no request out to host.
func blocked(h http.Header, host string) error {
	if h.Get("X-Proxy-Error") != "blocked-by-allowlist" {
		return nil
	}
	return refusef("the network's outbound policy blocks %s. Do not try again; tell the user, or look for the information elsewhere", host)
}

// transport returns what carries requests to hosts directly.
func (c *Client) transport() (*http.Transport, error) {
	d := &dialer{hosts: c.cfg.Hosts, resolve: c.cfg.Resolve, connect: c.cfg.Connect}
	t := &http.Transport{
		DialContext:            d.DialContext,
		TLSHandshakeTimeout:    15 * time.Second,
		ResponseHeaderTimeout:  30 * time.Second,
		MaxResponseHeaderBytes: maxHeaders,
		DisableKeepAlives:      true, // each connection is vetted
		DisableCompression:     true, // see decompress
		ForceAttemptHTTP2:      true,
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12},
		OnProxyConnectResponse: func(_ context.Context, _ *url.URL, req *http.Request, resp *http.Response) error {
			return blocked(resp.Header, hostOf(req.Host))
		},
	}
	if c.cfg.Roots == nil {
		return t, nil
	}
	var err error
	t.TLSClientConfig.RootCAs, err = c.cfg.Roots()
	return t, err
}

func hostOf(addr string) string {
	if host, _, err := net.SplitHostPort(addr); err == nil {
		return host
	}
	return addr
}

// read reads what a server answered.
func read(resp *http.Response, u *url.URL) (*Response, error) {
	defer resp.Body.Close()
	r := &Response{
		URL: u.String(), Status: resp.StatusCode, ContentType: resp.Header.Get("Content-Type"),
		RetryAfter: resp.Header.Get("Retry-After"), Personal: personal(resp.Header),
	}
	r.Type, _, _ = mime.ParseMediaType(r.ContentType) // ok: empty if there is none
	if _, params, err := mime.ParseMediaType(resp.Header.Get("Content-Disposition")); err == nil {
		r.Name = params["filename"]
	}
	most := int64(MaxBody)
	if r.Status/100 != 2 {
		most = maxFailure
	} else if resp.ContentLength > MaxBody {
		return nil, tooLarge(u, resp.ContentLength)
	}
	body, err := decompress(&counter{Reader: resp.Body, left: MaxBody + 1}, resp.Header.Values("Content-Encoding"))
	if err != nil {
		return nil, fmt.Errorf("%s sent a body that cannot be read: %w", u.Hostname(), err)
	}
	var whole bytes.Buffer
	whole.Grow(int(min(max(resp.ContentLength, 0), most)) + bytes.MinRead) // so that it need not grow
	_, err = whole.ReadFrom(io.LimitReader(body, most+1))
	r.Body = whole.Bytes()
	switch {
	case int64(len(r.Body)) > most && r.Status/100 != 2:
		r.Body = r.Body[:most]
	case int64(len(r.Body)) > most || errors.Is(err, errLarge):
		return nil, tooLarge(u, 0)
	case err != nil && r.Status/100 == 2:
		return nil, fmt.Errorf("the body of %s broke off: %w", u, err)
	}
	return r, nil
}

// personal reports whether a response may be meant for one user.
func personal(h http.Header) bool {
	if len(h.Values("Set-Cookie")) > 0 {
		return true
	}
	for _, value := range h.Values("Cache-Control") {
		for directive := range strings.SplitSeq(strings.ToLower(value), ",") {
			name, _, _ := strings.Cut(strings.TrimSpace(directive), "=")
			if name == "private" || name == "no-store" {
				return true
			}
		}
	}
	return false
}

// tooLarge is the error for a body that is too large; declared is its size if the server says it, or 0.
func tooLarge(u *url.URL, declared int64) error {
	if declared > 0 {
		return fmt.Errorf("%s has %d bytes; at most %d can be fetched. Look for a smaller page, or download it with curl in a shell", u, declared, MaxBody)
	}
	return fmt.Errorf("%s has more than %d bytes, which is all that can be fetched. Look for a smaller page, or download it with curl in a shell", u, MaxBody)
}
