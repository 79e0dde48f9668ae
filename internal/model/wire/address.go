package wire

import (
	"fmt"
	"net"
	"net/url"
	"strings"
)

// baseURL returns the URL that paths are relative to. It rejects a URL that would send the key
// unencrypted.
func baseURL(address, instead string, allowInsecure bool) (*url.URL, error) {
	text := instead
	if text == "" {
		text = address
	}
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "":
		return nil, fmt.Errorf("the base URL is not an address such as %s", address)
	case u.Scheme == "https" || u.Scheme == "http" && (allowInsecure || isLoopback(u.Hostname())):
	case u.Scheme != "http":
		return nil, fmt.Errorf("the base URL must begin with https://, not %s://", u.Scheme)
	default:
		return nil, fmt.Errorf("the base URL would send the key to %s unencrypted; use https, or set ADZE_ALLOW_INSECURE_HTTP=1", u.Host)
	}
	if !strings.HasSuffix(u.Path, "/") {
		u.Path += "/"
	}
	return u, nil
}

// Serves reports whether requests to the base URL reach the service itself. An empty base means
// the service's own address.
func (s Service) Serves(base string) bool {
	own, _ := url.Parse(s.Address) // ok: a constant
	u, err := url.Parse(base)
	return base == "" || err == nil && u.Scheme == own.Scheme && strings.EqualFold(u.Host, own.Host)
}

// IsLocal reports whether an address is on this machine.
func IsLocal(address string) bool {
	u, err := url.Parse(address)
	return err == nil && isLoopback(u.Hostname())
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
