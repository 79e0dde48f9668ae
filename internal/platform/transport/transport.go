// Package transport carries HTTP requests: through the user's proxy, trusting the user's certificates, within
// time limits, and with errors that say what happened and what to do. It follows no redirect and knows no
// credentials but those of a proxy.
package transport

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"runtime"
	"sync"
	"syscall"
	"time"

	"adze/internal/platform/contacts"
)

// Config says how to reach other machines. The zero value goes by the process's environment.
type Config struct {
	// Getenv returns the variables that name proxies; nil means those of the process.
	Getenv func(string) string
	// RootCAs are certificates in PEM form that are trusted besides the system's.
	RootCAs []byte
	// Certificate is shown to servers that ask for one; it may be nil.
	Certificate *tls.Certificate
	// Vet returns why no connection may be made to an address, or nil. It is asked when the connection is made, after the
	// name was looked up, and not about proxies. It may be nil.
	Vet func(netip.Addr) error
	// For says what requests are for, see package contacts; it may be empty.
	For string
}

const (
	connectLimit = 15 * time.Second
	// keepAlive notices a connection that died while the machine slept before a request hangs on it.
	keepAlive = 30 * time.Second
)

// A Transport is an [http.RoundTripper] whose errors are of type [*Error], except when the request's context ended.
type Transport struct {
	get func() (*http.Transport, error)
	vet bool
	// purpose is what requests are for.
	purpose string
}

// proxied marks the context of a request that goes through a proxy.
type proxied struct{}

// New returns a transport. It is set up by the first request: reading certificates takes longer than all of
// start-up may.
func New(c Config) *Transport {
	return &Transport{sync.OnceValues(c.open), c.Vet != nil, c.For}
}

// RoundTrip implements [http.RoundTripper].
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	inner, err := t.get()
	if err != nil {
		return nil, err
	}
	contacts.Add(req.URL.Host, t.purpose)
	if proxy, _ := inner.Proxy(req); proxy != nil { // ok: an error comes back below
		contacts.Add(proxy.Host, contacts.Proxy)
		if t.vet {
			req = req.WithContext(context.WithValue(req.Context(), proxied{}, true))
		}
	}
	res, err := inner.RoundTrip(req)
	if err != nil && req.Context().Err() == nil {
		proxy, _ := inner.Proxy(req) // ok: an error is the one that came back
		err = explain(err, req.URL, proxy, time.Now())
	}
	return res, err
}

// CloseIdleConnections closes the connections that carry no request.
func (t *Transport) CloseIdleConnections() {
	if inner, err := t.get(); err == nil {
		inner.CloseIdleConnections()
	}
}

func (c Config) open() (*http.Transport, error) {
	proxy, err := c.Proxies()
	if err != nil {
		return nil, err
	}
	dialer := net.Dialer{Timeout: connectLimit, KeepAlive: keepAlive}
	if c.Vet != nil {
		dialer.ControlContext = c.control
	}
	t := &http.Transport{
		Proxy:                  proxy,
		OnProxyConnectResponse: checkProxy,
		DialContext:            dialer.DialContext,
		TLSHandshakeTimeout:    connectLimit,
		IdleConnTimeout:        90 * time.Second,
		MaxIdleConnsPerHost:    4,
		MaxResponseHeaderBytes: 1 << 20,
		// A long conversation leaves in few writes.
		WriteBufferSize:   64 << 10,
		ForceAttemptHTTP2: true,
		// Compression would hold events back until a block of them is full.
		DisableCompression: true,
		HTTP2:              &http.HTTP2Config{SendPingTimeout: keepAlive, PingTimeout: connectLimit},
		TLSClientConfig:    &tls.Config{MinVersion: tls.VersionTLS12},
	}
	if c.Certificate != nil {
		t.TLSClientConfig.Certificates = []tls.Certificate{*c.Certificate}
	}
	t.TLSClientConfig.RootCAs, err = c.Roots()
	return t, err
}

// control is called before a connection is made.
func (c Config) control(ctx context.Context, _, address string, _ syscall.RawConn) error {
	if ctx.Value(proxied{}) != nil {
		return nil
	}
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return err
	}
	if err := c.Vet(to.Addr().Unmap()); err != nil {
		return &Error{Text: err.Error(), Trust: true, Err: err}
	}
	return nil
}

func (c Config) getenv() func(string) string {
	if c.Getenv == nil {
		return os.Getenv
	}
	return c.Getenv
}

// Roots returns the certificates to trust; nil means the system's.
func (c Config) Roots() (*x509.CertPool, error) {
	getenv := c.getenv()
	var own []byte // on other systems the standard library reads it
	if file := getenv("SSL_CERT_FILE"); file != "" && (runtime.GOOS == "darwin" || runtime.GOOS == "windows") {
		var err error
		if own, err = os.ReadFile(file); err != nil {
			return nil, &Error{Text: "SSL_CERT_FILE cannot be read: " + err.Error(), Advice: "Set it to a file with certificates in PEM form, or unset it", Trust: true}
		}
	}
	if len(c.RootCAs) == 0 && len(own) == 0 {
		return nil, nil
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool() // ok: the extra certificates are at hand
	}
	if len(own) > 0 && !pool.AppendCertsFromPEM(own) {
		return nil, &Error{Text: "the file in SSL_CERT_FILE holds no certificate in PEM form", Advice: "Check SSL_CERT_FILE", Trust: true}
	}
	if len(c.RootCAs) > 0 && !pool.AppendCertsFromPEM(c.RootCAs) {
		return nil, &Error{Text: "the extra CA file holds no certificate in PEM form", Advice: "Check ADZE_EXTRA_CA_CERTS", Trust: true}
	}
	return pool, nil
}

// checkProxy returns an error for a proxy that does not open a connection.
func checkProxy(_ context.Context, proxy *url.URL, _ *http.Request, res *http.Response) error {
	if res.StatusCode == http.StatusOK {
		return nil
	}
	return &proxyRefusal{proxy.Host, res.StatusCode}
}
