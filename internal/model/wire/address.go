package wire

import (
	"fmt"
	"net"
	"net/url"
	"strings"
)

// base returns the address that paths are relative to. It refuses one that would send the key in the
// clear.
func (c *Config) base() (*url.URL, error) {
	text := c.BaseURL
	if text == "" {
		text = c.Address
	}
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "":
		return nil, fmt.Errorf("the base URL is not an address such as %s", c.Address)
	case u.Scheme == "https" || u.Scheme == "http" && (c.AllowInsecure || isLoopback(u.Hostname())):
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

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
