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

	"adze/internal/platform/net/contacts"
)

// Limits of one fetch.
const (
	MaxBody      = 10 << 20 // bytes, both as sent and after decompression
	timeLimit    = 60 * time.Second
	maxRedirects = 10
	maxHeaders   = 256 << 10
	maxFailure   = 64 << 10 // body bytes of an error response
)

// Config configures a Client. The zero value fetches public pages without a proxy.
type Config struct {
	// Hosts are allowed even though they are not public.
	Hosts Hosts
	// Agent is the User-Agent header.
	Agent string
	// Proxy returns the proxy for a request, or nil; see [http.Transport]. A proxy resolves
	// names itself, so only names are checked. Proxy may be nil.
	Proxy func(*http.Request) (*url.URL, error)
	// Roots returns the certificates to trust; nil means the system's. Roots may be nil.
	Roots func() (*x509.CertPool, error)

	// Resolve returns the addresses of a host. The name of an internet host ends in a dot. Nil
	// means the system's resolver.
	Resolve func(ctx context.Context, host string) ([]netip.Addr, error)
	// Connect connects to a vetted address; vet checks the actual address of the connection.
	// Nil means TCP.
	Connect func(ctx context.Context, addr netip.AddrPort, vet func(netip.Addr) error) (net.Conn, error)
}

// A Client fetches pages. It is stateless apart from its configuration: it keeps no cookies,
// credentials or connections. It is safe for concurrent use.
type Client struct {
	cfg    Config
	direct func() (*http.Transport, error) // created on the first fetch
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

// Check calls [Hosts.Check] with the client's hosts.
func (c *Client) Check(text string) (*url.URL, error) { return c.cfg.Hosts.Check(text) }

// A Response is a server's final response.
type Response struct {
	URL    string // after redirects
	Status int
	Type   string // media type in lower case, or "" if the server sends none
	// ContentType is the whole header, including parameters.
	ContentType string
	// Name is the file name suggested by the server. It is untrusted.
	Name string
	Body []byte // decompressed
	// Personal means that the response may be intended for a single user.
	Personal bool
	// RetryAfter is the Retry-After header; may be empty.
	RetryAfter string
}

// A Redirect is the error for a redirect that was not followed, usually because it leads to
// another host.
type Redirect struct {
	From, To string
	Status   int
}

// Error includes both URLs.
func (r *Redirect) Error() string {
	return fmt.Sprintf("%s redirects elsewhere, to %s (status %d)", r.From, r.To, r.Status)
}

// FetchOptions grants a fetch additional permissions. The zero value is the most restrictive.
type FetchOptions struct {
	// Plain allows falling back to http if https cannot connect and the URL specifies http.
	Plain bool
	// Follow reports whether a redirect on the same host may be followed; nil means yes.
	Follow func(to *url.URL) bool
}

// Get fetches a page that [Client.Check] accepts. For an http URL it tries https first, except
// for hosts that the user named. The error is worded for the model.
func (c *Client) Get(ctx context.Context, u *url.URL, leave FetchOptions) (*Response, error) {
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
			return nil, fmt.Errorf("%w. The request used https; plain http is used only for hosts that the user allowed", explain(err, u))
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

// follow fetches a page and follows redirects on the same host. Each hop is checked like the
// first.
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
		resp.Body.Close() // ok: the body is not used
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

// next returns the target of a redirect.
func (c *Client) next(from *url.URL, location string) (*url.URL, error) {
	if location == "" {
		return nil, errors.New("without a Location")
	}
	ref, err := parse(location)
	if err != nil {
		return nil, err
	}
	return c.Check(from.ResolveReference(ref).String())
}

// sameHost reports whether a redirect stays on the same host. It ignores a leading www., and
// allows http to become https.
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

// send requests a URL. It sends no referrer.
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
		resp.Body.Close() // ok: the body is not used
		return nil, err
	}
	return resp, nil
}

// blocked returns an error if a header indicates that the network blocks outbound requests to
// host.
func blocked(h http.Header, host string) error {
	if h.Get("X-Proxy-Error") != "blocked-by-allowlist" {
		return nil
	}
	return refusef("the network's outbound policy blocks %s. Do not try again; tell the user, or look for the information elsewhere", host)
}

// transport returns a transport for direct requests.
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

// read reads a server's response.
func read(resp *http.Response, u *url.URL) (*Response, error) {
	defer resp.Body.Close()
	r := &Response{
		URL: u.String(), Status: resp.StatusCode, ContentType: resp.Header.Get("Content-Type"),
		RetryAfter: resp.Header.Get("Retry-After"), Personal: personal(resp.Header),
	}
	r.Type, _, _ = mime.ParseMediaType(r.ContentType) // ok: empty if missing
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
	whole.Grow(int(min(max(resp.ContentLength, 0), most)) + bytes.MinRead) // avoids reallocation
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

// personal reports whether a response may be intended for a single user.
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

// tooLarge returns the error for a body that is too large. declared is the size declared by the
// server, or 0.
func tooLarge(u *url.URL, declared int64) error {
	if declared > 0 {
		return fmt.Errorf("%s has %d bytes; at most %d can be fetched. Look for a smaller page, or download it with curl in a shell", u, declared, MaxBody)
	}
	return fmt.Errorf("%s has more than %d bytes, which is all that can be fetched. Look for a smaller page, or download it with curl in a shell", u, MaxBody)
}
