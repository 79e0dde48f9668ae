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
	"adze/internal/platform/browser"
	"adze/internal/platform/transport"
	"adze/internal/platform/web"
	"adze/internal/tool"
)

const (
	maxAnswer    = 1 << 20 // of metadata or a token
	answerLimit  = 15 * time.Second
	maxRedirects = 3
	maxSaid      = 200 // characters of what a service says, in a message
)

// A fetcher asks the services that a server leads to.
type fetcher struct {
	http    *http.Client
	version string
	// local says that the server is on this machine, so that what it leads to may be too, without TLS.
	local bool
}

// fetcher returns one for what the server of e leads to.
func (k *Keeper) fetcher(ctx context.Context, e *roster.Entry) (*fetcher, error) {
	network := k.c.Network()
	u, err := url.Parse(e.URL)
	if err != nil {
		return nil, errors.New("its address cannot be read")
	}
	// Looked up only if something is not public: mostly nothing is.
	allowed := sync.OnceValue(func() map[web.Class]bool {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), answerLimit) // it may be used longer
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

// classesOf returns the kinds of addresses that a service may have besides public ones, because a host that the user
// configured has them.
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
	// Where machines are told their secrets, and what is no host.
	delete(classes, web.LinkLocal)
	delete(classes, web.Multicast)
	delete(classes, web.Unspecified)
	return classes
}

// check returns why an address is not asked, or nil.
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

// A statusError is an answer that says no.
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

// errNotJSON says that an answer is something else, such as a page for people.
var errNotJSON = errors.New("it is not the JSON that is expected")

// absent reports whether an error says that there is nothing at an address. At one that was only guessed, a page for
// people, or a failure, is nothing too.
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

// post sends a form or JSON, and reads JSON unless v is nil. Who may set headers; it may be nil.
//
// It uses a new connection: a code or refresh token works once, so a request that is lost because the service closes an
// idle connection, while the user signs in, cannot be repeated.
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
			err = at.Err // the address may hold more than it should
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

// sameOrigin reports whether two addresses are at the same scheme, host and port.
func sameOrigin(a, b *url.URL) bool {
	return originOf(a) == originOf(b)
}

// originOf returns scheme, host and port. WebSockets are of the origin that their handshake goes to.
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
