package wire

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"sync"
	"time"
)

// NewTransport returns the default transport: with proxy, timeouts and limits, and trusting rootCAs, in
// PEM, besides the system's. It is set up by the first request: reading certificates takes longer than
// all of start-up may.
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
			// A connection that died while the machine slept is noticed before a request hangs on it.
			HTTP2: &http.HTTP2Config{SendPingTimeout: 30 * time.Second, PingTimeout: 15 * time.Second},
		}
		if len(rootCAs) == 0 {
			return t, nil
		}
		pool, err := x509.SystemCertPool()
		if err != nil {
			pool = x509.NewCertPool() // ok: the extra certificates are at hand
		}
		if !pool.AppendCertsFromPEM(rootCAs) {
			return nil, &badRootCAs{}
		}
		t.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
		return t, nil
	}))
}

// badRootCAs is the error for extra certificates that are none.
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
