package anthropic

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"
)

// NewTransport returns the transport of providers that are given none: with proxy, timeouts and limits,
// and trusting rootCAs, in PEM, besides the system's. It is set up when the first request needs it:
// reading certificates takes longer than all of start-up may.
func NewTransport(rootCAs []byte) http.RoundTripper {
	return lazyTransport(sync.OnceValues(func() (*http.Transport, error) {
		t := &http.Transport{
			Proxy:                  http.ProxyFromEnvironment,
			DialContext:            (&net.Dialer{Timeout: 15 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
			TLSHandshakeTimeout:    15 * time.Second,
			IdleConnTimeout:        90 * time.Second,
			MaxIdleConnsPerHost:    4,
			MaxResponseHeaderBytes: 1 << 20,
			// A long conversation leaves in few writes.
			WriteBufferSize:   64 << 10,
			ForceAttemptHTTP2: true,
			// Compression would hold events back until a block of them is full.
			DisableCompression: true,
			// A connection that died while the machine slept is found out before a request hangs on it.
			HTTP2: &http.HTTP2Config{SendPingTimeout: 30 * time.Second, PingTimeout: 15 * time.Second},
		}
		if len(rootCAs) == 0 {
			return t, nil
		}
		pool, err := x509.SystemCertPool()
		if err != nil {
			pool = x509.NewCertPool() // ok: what is to be trusted in addition is at hand
		}
		if !pool.AppendCertsFromPEM(rootCAs) {
			return nil, &badRootCAs{}
		}
		t.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
		return t, nil
	}))
}

// badRootCAs says that there is no certificate among the extra ones.
type badRootCAs struct{}

func (*badRootCAs) Error() string {
	return "the extra CA file holds no certificate in PEM form; check ADZE_EXTRA_CA_CERTS"
}

type lazyTransport func() (*http.Transport, error)

func (get lazyTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	t, err := get()
	if err != nil {
		return nil, err
	}
	return t.RoundTrip(req)
}

// checkURL refuses endpoints that would send the key in the clear.
func (c *Config) checkURL() error {
	u, err := url.Parse(c.BaseURL)
	switch {
	case err != nil || u.Host == "":
		return fmt.Errorf("the base URL is not an address such as %s", firstParty)
	case u.Scheme == "https":
		return nil
	case u.Scheme != "http":
		return fmt.Errorf("the base URL must begin with https://, not %s://", u.Scheme)
	case c.AllowInsecure || isLoopback(u.Hostname()):
		return nil
	}
	return fmt.Errorf("the base URL would send the key to %s unencrypted; use https, or set ADZE_ALLOW_INSECURE_HTTP=1", u.Host)
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
