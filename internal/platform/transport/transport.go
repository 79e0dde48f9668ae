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
	"net/http/httptrace"
	"net/netip"
	"net/url"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
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
	// plainIdle is how long an unencrypted connection is kept for the next request. Many servers close theirs after 5 s,
	// and a POST that crosses with the close is lost. A new one costs little.
	plainIdle  = time.Second
	secureIdle = 90 * time.Second
)

// A Transport is an [http.RoundTripper] whose errors are of type [*Error], except when the request's context ended.
type Transport struct {
	config Config
	// plain carries requests without certificates, which take longer to read than all of start-up may. secure carries others.
	plain, secure half
}

// A half is set up by its first request.
type half struct {
	once sync.Once
	open atomic.Pointer[http.Transport] // nil before that, and after an error
	err  error
}

func (h *half) get(open func() (*http.Transport, error)) (*http.Transport, error) {
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

// New returns a transport. It is set up by the first request, or by [Transport.Warm].
func New(c Config) *Transport { return &Transport{config: c} }

// Warm reads the certificates in the background that a request to an address needs, if it needs any.
func (t *Transport) Warm(address *url.URL) {
	if address.Scheme != "https" {
		return
	}
	go func() {
		inner, err := t.inner(&http.Request{URL: address})
		if err == nil && inner.TLSClientConfig.RootCAs == nil {
			x509.SystemCertPool() // ok: it keeps what it read, and a handshake reports errors
		}
	}()
}

// Preconnect opens a connection to an https address in the background, so that the first request need not wait for it. No
// request is sent: it is cancelled when the transport begins to connect, which then keeps the connection for the next one.
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
			res.Body.Close() // ok: it has none
		}
	}()
}

// inner returns the half that carries a request.
func (t *Transport) inner(req *http.Request) (*http.Transport, error) {
	plain, err := t.plain.get(t.config.open)
	if err != nil {
		return nil, err
	}
	proxy, _ := plain.Proxy(req) // ok: an error comes back from the round trip
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
	if proxy, _ := inner.Proxy(req); proxy != nil { // ok: an error comes back below
		contacts.Add(proxy.Host, contacts.Proxy)
		if t.config.Vet != nil {
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
	for _, h := range []*half{&t.plain, &t.secure} {
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
	return t, nil
}

// openSecure is open with the certificates to trust.
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
