package hook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"adze/internal/platform/net/contacts"
	"adze/internal/platform/net/web"
	"adze/internal/platform/proc/osproc"
)

// A sender runs HTTP hooks.
type sender struct{ cfg *Config }

// post sends the input to a hook's address and reads output in the format of command hooks. A
// response other than success gives no verdict.
func (s *sender) post(ctx context.Context, j *job) ending {
	end := ending{stdout: newCapture(), stderr: captured(nil)}
	err := s.exchange(ctx, j, end.stdout)
	switch {
	case ctx.Err() != nil:
		end.stop(ctx)
	case err != nil:
		end.broken = err.Error()
	}
	return end
}

func (s *sender) exchange(ctx context.Context, j *job, body io.Writer) error {
	u, err := s.checkURL(j.url)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, u.String(), bytes.NewReader(j.input))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	for name, value := range j.headers {
		value = s.expandHeader(value, j.spec)
		if strings.ContainsAny(value, "\r\n\x00") {
			return fmt.Errorf("the header %s contains a line break", name)
		}
		req.Header.Set(name, value)
	}
	client := s.client(u)
	defer client.CloseIdleConnections()
	resp, err := client.Do(req)
	if err != nil {
		var refused *refusedError
		if errors.As(err, &refused) {
			return refused
		}
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode/100 != 2 {
		return fmt.Errorf("%s answered with status %s", u.Host, resp.Status)
	}
	_, err = io.Copy(body, resp.Body)
	return err
}

// A refusedError is the reason an address may not be used.
type refusedError struct{ text string }

func (e *refusedError) Error() string { return e.text }

func refusedf(format string, args ...any) error { return &refusedError{fmt.Sprintf(format, args...)} }

// checkURL refuses addresses that are clearly not allowed. The host's IP address is checked
// when dialing.
func (s *sender) checkURL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return nil, refusedf("the address cannot be read: %v", err)
	case u.Scheme != "https" && u.Scheme != "http":
		return nil, refusedf("the address %s is not https", u.Redacted())
	case u.Hostname() == "":
		return nil, refusedf("the address names no host")
	case u.User != nil:
		return nil, refusedf("the address contains a user name; use a header instead")
	}
	if allowed := s.cfg.Policy.AllowedURLs; allowed != nil && !slices.ContainsFunc(allowed, func(p string) bool { return wildcard(p, u.String()) }) {
		return nil, refusedf("policy does not allow the address %s: it is not among allowedHttpHookUrls", u)
	}
	return u, nil
}

// wildcard reports whether text matches a pattern in which * matches any text.
func wildcard(pattern, text string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == text
	}
	text, ok := strings.CutPrefix(text, parts[0])
	for _, part := range parts[1 : len(parts)-1] {
		i := strings.Index(text, part)
		if i < 0 {
			return false
		}
		text = text[i+len(part):]
	}
	return ok && strings.HasSuffix(text, parts[len(parts)-1])
}

// expandHeader expands the variables that the hook may use. A workspace or plugin hook sees
// only the part of the environment that its commands would see.
func (s *sender) expandHeader(value string, of *spec) string {
	env := s.cfg.Environ()
	if of.source.Workspace || of.source.Plugin != nil {
		env = osproc.ScrubEnv(env)
	}
	return os.Expand(value, func(name string) string {
		if !slices.Contains(of.allowed, name) {
			return ""
		}
		for _, entry := range slices.Backward(env) {
			if v, ok := strings.CutPrefix(entry, name+"="); ok {
				return v
			}
		}
		return ""
	})
}

const dialTimeout = 10 * time.Second

// client returns a client that connects only to addresses allowed for hooks: without a proxy,
// without redirects to other hosts, and only to public or loopback addresses.
func (s *sender) client(first *url.URL) *http.Client {
	dialer := &net.Dialer{Timeout: dialTimeout}
	return &http.Client{
		Transport: &http.Transport{
			DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
				host, port, err := net.SplitHostPort(addr)
				if err != nil {
					return nil, err
				}
				ip, err := s.resolve(ctx, host, first.Scheme == "http")
				if err != nil {
					return nil, err
				}
				contacts.Add(addr, contacts.Hooks)
				// Dial the address that was checked: another lookup could return a different
				// one.
				return dialer.DialContext(ctx, network, net.JoinHostPort(ip.String(), port))
			},
		},
		CheckRedirect: func(req *http.Request, via []*http.Request) error {
			switch {
			case req.URL.Host != first.Host || req.URL.Scheme != first.Scheme:
				return refusedf("%s redirects to another host, %s", first.Host, req.URL.Host)
			case len(via) >= 5:
				return refusedf("%s redirects too often", first.Host)
			}
			return nil
		},
	}
}

// resolve returns an address of host, if all of its addresses are allowed. Plain HTTP is
// limited to this machine.
func (s *sender) resolve(ctx context.Context, host string, plain bool) (netip.Addr, error) {
	addrs, err := s.lookup(ctx, host)
	if err != nil {
		return netip.Addr{}, err
	}
	if len(addrs) == 0 {
		return netip.Addr{}, refusedf("%s has no address", host)
	}
	for _, a := range addrs {
		a = a.Unmap()
		switch {
		case a.IsLoopback():
		case plain:
			return a, refusedf("%s is %s, and http is for this machine only; use https", host, a)
		case web.ClassOf(a) != web.Public:
			return a, refusedf("%s is %s, which is not a public address", host, a)
		}
	}
	return addrs[0].Unmap(), nil
}

func (s *sender) lookup(ctx context.Context, host string) ([]netip.Addr, error) {
	if a, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{a}, nil
	}
	if s.cfg.lookup != nil {
		return s.cfg.lookup(ctx, host)
	}
	return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
}
