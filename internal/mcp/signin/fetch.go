package signin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"time"

	"adze/internal/mcp/roster"
	"adze/internal/platform/net/browser"
	"adze/internal/platform/net/transport"
	"adze/internal/platform/net/web"
	"adze/internal/tool"
)

const (
	maxAnswer    = 1 << 20 // size of metadata or a token response
	answerLimit  = 15 * time.Second
	maxRedirects = 3
	maxSaid      = 200 // characters of a service's text in a message
)

// A fetcher queries the services that a server refers to.
type fetcher struct {
	http    *http.Client
	version string
	// local means that the server is on this machine, so that its services may be too, without
	// TLS.
	local bool
}

// fetcher returns a fetcher for the services of e's server.
func (k *TokenStore) fetcher(ctx context.Context, e *roster.Entry) (*fetcher, error) {
	network := k.c.Network()
	u, err := url.Parse(e.URL)
	if err != nil {
		return nil, errors.New("its address cannot be read")
	}
	// Computed only for a non-public address, which is rare.
	allowed := sync.OnceValue(func() map[web.Class]bool {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), answerLimit) // lookups may outlive ctx
		defer cancel()
		classes := classesOf(ctx, u.Hostname())
		if e.OAuth == nil || e.OAuth.MetadataURL == "" {
			return classes
		}
		if at, err := url.Parse(e.OAuth.MetadataURL); err == nil {
			maps.Copy(classes, classesOf(ctx, at.Hostname()))
		}
		return classes
	})
	network.Vet = func(a netip.Addr) error {
		if c := web.ClassOf(a); c != web.Public && !allowed()[c] {
			return fmt.Errorf("the server leads to %s, which it is not on itself; nothing was sent to it", c)
		}
		return nil
	}
	f := &fetcher{version: k.c.Version, local: browser.Local(u.Hostname())}
	f.http = &http.Client{
		Transport: transport.New(network),
		Timeout:   answerLimit,
		CheckRedirect: func(req *http.Request, via []*http.Request) error {
			if len(via) > maxRedirects || req.Method != http.MethodGet || !sameOrigin(req.URL, via[0].URL) {
				return http.ErrUseLastResponse
			}
			return nil
		},
	}
	return f, nil
}

// close closes idle connections.
func (f *fetcher) close() { f.http.CloseIdleConnections() }

// classesOf returns the non-public address classes that a service may have because a host
// configured by the user has them.
func classesOf(ctx context.Context, host string) map[web.Class]bool {
	classes := map[web.Class]bool{}
	addrs := []netip.Addr{}
	if a, err := netip.ParseAddr(host); err == nil {
		addrs = append(addrs, a)
	} else if strings.EqualFold(host, "localhost") {
		classes[web.Loopback] = true
	} else {
		addrs, _ = net.DefaultResolver.LookupNetIP(ctx, "ip", host) // ok: then only public ones
	}
	for _, a := range addrs {
		classes[web.ClassOf(a.Unmap())] = true
	}
	if classes[web.Loopback] {
		classes[web.Private] = true
	}
	if classes[web.Private] {
		classes[web.Shared] = true
	}
	// Cloud metadata services, and addresses that are not hosts.
	delete(classes, web.LinkLocal)
	delete(classes, web.Multicast)
	delete(classes, web.Unspecified)
	return classes
}

// check returns the reason an address may not be contacted, or nil.
func (f *fetcher) check(address string) error {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Hostname() == "" || u.Fragment != "" || u.User != nil:
		return fmt.Errorf("%q is not an address of the web", tool.OneLine(address, maxSaid))
	case u.Scheme == "https", u.Scheme == "http" && f.local && browser.Local(u.Hostname()):
		return nil
	case u.Scheme == "http":
		return fmt.Errorf("%s is not encrypted (http)", tool.OneLine(address, maxSaid))
	}
	return fmt.Errorf("%q is not an address of the web", tool.OneLine(address, maxSaid))
}

// A statusError is an error response.
type statusError struct {
	host   string
	status int
	code   string // such as invalid_grant
	text   string
}

func (e *statusError) Error() string {
	text := fmt.Sprintf("%s answers with status %d", e.host, e.status)
	if said := strings.TrimSpace(e.code + " " + e.text); said != "" {
		text += ": " + tool.OneLine(said, maxSaid)
	}
	return text
}

// errNotJSON is returned if a response is something else, such as a web page.
var errNotJSON = errors.New("it is not the JSON that is expected")

// absent reports whether an error means that nothing exists at an address. At a guessed
// address, a web page or a failure also means that.
func absent(err error, guessed bool) bool {
	var status *statusError
	return errors.As(err, &status) && (guessed || status.status/100 == 4) || guessed && errors.Is(err, errNotJSON)
}

// get reads JSON.
func (f *fetcher) get(ctx context.Context, address string, v any) error {
	if err := f.check(address); err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return errors.New("the address cannot be read")
	}
	return f.ask(req, v)
}

// post sends a form or JSON, and reads JSON unless v is nil. Who sets headers; it may be nil.
//
// It uses a new connection: a code or refresh token works only once, so a request that is lost
// because the service closes an idle connection while the user signs in cannot be repeated.
func (f *fetcher) post(ctx context.Context, address, kind string, body string, who func(http.Header), v any) error {
	if err := f.check(address); err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, strings.NewReader(body))
	if err != nil {
		return errors.New("the address cannot be read")
	}
	req.Header.Set("Content-Type", kind)
	if who != nil {
		who(req.Header)
	}
	f.close()
	return f.ask(req, v)
}

func (f *fetcher) ask(req *http.Request, v any) error {
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "adze/"+f.version)
	res, err := f.http.Do(req)
	if err != nil {
		var at *url.Error
		if errors.As(err, &at) {
			err = at.Err // the address may contain secrets
		}
		return fmt.Errorf("asking %s: %w", req.URL.Host, err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	switch {
	case err != nil:
		return fmt.Errorf("asking %s: %w", req.URL.Host, err)
	case res.StatusCode/100 != 2:
		e := &statusError{host: req.URL.Host, status: res.StatusCode}
		var said struct {
			Error       string `json:"error"`
			Description string `json:"error_description"`
		}
		if json.Unmarshal(body, &said) == nil {
			e.code, e.text = said.Error, said.Description
		}
		return e
	case len(body) > maxAnswer:
		return fmt.Errorf("%s answers with more than %d bytes", req.URL.Host, maxAnswer)
	case v == nil:
		return nil
	}
	if err := json.Unmarshal(body, v); err != nil {
		return fmt.Errorf("asking %s: %w", req.URL.Host, errNotJSON)
	}
	return nil
}

// sameOrigin reports whether two addresses have the same scheme, host and port.
func sameOrigin(a, b *url.URL) bool {
	return originOf(a) == originOf(b)
}

// originOf returns scheme, host and port. A WebSocket has the origin of its handshake.
func originOf(u *url.URL) string {
	scheme, port := strings.ToLower(u.Scheme), u.Port()
	switch scheme {
	case "ws":
		scheme = "http"
	case "wss":
		scheme = "https"
	}
	if port == "" && scheme == "http" {
		port = "80"
	} else if port == "" && scheme == "https" {
		port = "443"
	}
	return scheme + "://" + net.JoinHostPort(strings.ToLower(u.Hostname()), port)
}
