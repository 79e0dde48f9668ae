// Package transport sends HTTP requests through the user's proxy, trusting the user's
// certificates, within time limits, and with errors that explain the problem and suggest a
// solution. It does not follow redirects and handles no credentials except a proxy's.
package transport

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"net/url"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"adze/internal/platform/net/contacts"
)

// Config configures a Transport. The zero value uses the process environment.
type Config struct {
	// Getenv returns the proxy variables; nil means os.Getenv.
	Getenv func(string) string
	// RootCAs are PEM certificates to trust in addition to the system's.
	RootCAs []byte
	// Certificate, if not nil, is presented to servers that request one.
	Certificate *tls.Certificate
	// Vet, if not nil, returns an error if connecting to an address is not allowed. It is
	// called for each connection after name resolution, but not for proxies.
	Vet func(netip.Addr) error
	// For is the purpose of the requests; see package contacts. It may be empty.
	For string
}

const (
	connectLimit = 15 * time.Second
	// keepAlive detects connections that died while the machine slept before a request hangs on
	// them.
	keepAlive = 30 * time.Second
	// plainIdle is how long an unencrypted connection is kept for the next request. Many
	// servers close theirs after 5 s, and a POST that crosses with the close is lost. A new
	// connection costs little.
	plainIdle  = time.Second
	secureIdle = 90 * time.Second
)

// A Transport is an [http.RoundTripper] whose errors are of type [*Error], except when the
// request's context is done.
type Transport struct {
	config Config
	// plain sends requests without loading certificates, which takes longer than the whole
	// startup may. secure sends all others.
	plain, secure lazyTransport
}

// A lazyTransport is initialized by its first request.
type lazyTransport struct {
	once sync.Once
	open atomic.Pointer[http.Transport] // nil before the first request and after an error
	err  error
}

func (h *lazyTransport) get(open func() (*http.Transport, error)) (*http.Transport, error) {
	h.once.Do(func() {
		t, err := open()
		if h.err = err; err == nil {
			h.open.Store(t)
		}
	})
	return h.open.Load(), h.err
}

// proxied marks the context of a request that goes through a proxy.
type proxied struct{}

// New returns a transport. It is initialized by the first request or [Transport.Warm].
func New(c Config) *Transport { return &Transport{config: c} }

// Warm loads the certificates for a request to address in the background, if it needs any.
func (t *Transport) Warm(address *url.URL) {
	if address.Scheme != "https" {
		return
	}
	go func() {
		inner, err := t.inner(&http.Request{URL: address})
		if err == nil && inner.TLSClientConfig.RootCAs == nil {
			x509.SystemCertPool() // ok: the result is cached, and a handshake reports errors
		}
	}()
}

// Preconnect opens a connection to an https address in the background, so that the first
// request need not wait for it. It sends no request: it cancels a request when the transport
// starts to connect, and the transport keeps the connection for the next one.
func (t *Transport) Preconnect(address *url.URL) {
	if address.Scheme != "https" {
		return
	}
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), connectLimit)
		defer cancel()
		ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{ConnectStart: func(string, string) { cancel() }})
		req, err := http.NewRequestWithContext(ctx, http.MethodHead, (&url.URL{Scheme: address.Scheme, Host: address.Host, Path: "/"}).String(), nil)
		if err != nil {
			return
		}
		if res, err := t.RoundTrip(req); err == nil {
			res.Body.Close() // ok: the body is empty
		}
	}()
}

// inner returns the http.Transport for a request.
func (t *Transport) inner(req *http.Request) (*http.Transport, error) {
	plain, err := t.plain.get(t.config.open)
	if err != nil {
		return nil, err
	}
	proxy, _ := plain.Proxy(req) // ok: RoundTrip returns the error
	if req.URL.Scheme != "https" && (proxy == nil || proxy.Scheme != "https") {
		return plain, nil
	}
	return t.secure.get(t.config.openSecure)
}

// RoundTrip implements [http.RoundTripper].
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	inner, err := t.inner(req)
	if err != nil {
		return nil, err
	}
	contacts.Add(req.URL.Host, t.config.For)
	if proxy, _ := inner.Proxy(req); proxy != nil { // ok: the error is returned below
		contacts.Add(proxy.Host, contacts.Proxy)
		if t.config.Vet != nil {
			req = req.WithContext(context.WithValue(req.Context(), proxied{}, true))
		}
	}
	res, err := inner.RoundTrip(req)
	if err != nil && req.Context().Err() == nil {
		proxy, _ := inner.Proxy(req) // ok: err already reports it
		err = explain(err, req.URL, proxy, time.Now())
	}
	return res, err
}

// CloseIdleConnections closes idle connections.
func (t *Transport) CloseIdleConnections() {
	for _, h := range []*lazyTransport{&t.plain, &t.secure} {
		if inner := h.open.Load(); inner != nil {
			inner.CloseIdleConnections()
		}
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
		IdleConnTimeout:        plainIdle,
		MaxIdleConnsPerHost:    4,
		MaxResponseHeaderBytes: 1 << 20,
		// Send a long conversation in few writes.
		WriteBufferSize:   64 << 10,
		ForceAttemptHTTP2: true,
		// Compression would delay events until a block is full.
		DisableCompression: true,
		HTTP2:              &http.HTTP2Config{SendPingTimeout: keepAlive, PingTimeout: connectLimit},
		TLSClientConfig:    &tls.Config{MinVersion: tls.VersionTLS12},
	}
	if c.Certificate != nil {
		t.TLSClientConfig.Certificates = []tls.Certificate{*c.Certificate}
	}
	return t, nil
}

// openSecure is like open, but also loads the certificates to trust.
func (c Config) openSecure() (*http.Transport, error) {
	t, err := c.open()
	if err != nil {
		return nil, err
	}
	t.IdleConnTimeout = secureIdle
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
		return &Error{Text: err.Error(), Untrusted: true, Err: err}
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
	var own []byte // set only where the standard library does not read the variable
	if file := getenv("SSL_CERT_FILE"); file != "" && (runtime.GOOS == "darwin" || runtime.GOOS == "windows") {
		var err error
		if own, err = os.ReadFile(file); err != nil {
			return nil, &Error{Text: "SSL_CERT_FILE cannot be read: " + err.Error(), Advice: "Set it to a file with certificates in PEM form, or unset it", Untrusted: true}
		}
	}
	if len(c.RootCAs) == 0 && len(own) == 0 {
		return nil, nil
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool() // ok: the extra certificates are available
	}
	if len(own) > 0 && !pool.AppendCertsFromPEM(own) {
		return nil, &Error{Text: "the file in SSL_CERT_FILE holds no certificate in PEM form", Advice: "Check SSL_CERT_FILE", Untrusted: true}
	}
	if len(c.RootCAs) > 0 && !pool.AppendCertsFromPEM(c.RootCAs) {
		return nil, &Error{Text: "the extra CA file holds no certificate in PEM form", Advice: "Check ADZE_EXTRA_CA_CERTS", Untrusted: true}
	}
	return pool, nil
}

// checkProxy returns an error if a proxy refuses to open a connection.
func checkProxy(_ context.Context, proxy *url.URL, _ *http.Request, res *http.Response) error {
	if res.StatusCode == http.StatusOK {
		return nil
	}
	return &proxyRefusal{proxy.Host, res.StatusCode}
}
