package transport

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// An authority issues certificates.
type authority struct {
	t    *testing.T
	key  *ecdsa.PrivateKey
	cert *x509.Certificate
	pem  []byte
}

func newAuthority(t *testing.T, name string) *authority {
	a := &authority{t: t, key: newKey(t)}
	a.cert = &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, a.cert, a.cert, a.key.Public(), a.key)
	if err != nil {
		t.Fatal(err)
	}
	a.pem = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	return a
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// issue returns a certificate for a host that is valid for an hour from now plus start, and its
// parts in PEM form.
func (a *authority) issue(host string, start time.Duration) (pair tls.Certificate, cert, key []byte) {
	a.t.Helper()
	k := newKey(a.t)
	begin := time.Now().Add(start)
	der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: host}, DNSNames: []string{host}, NotBefore: begin, NotAfter: begin.Add(time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}, a.cert, k.Public(), a.key)
	if err != nil {
		a.t.Fatal(err)
	}
	raw, err := x509.MarshalPKCS8PrivateKey(k)
	if err != nil {
		a.t.Fatal(err)
	}
	cert, key = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: raw})
	if pair, err = tls.X509KeyPair(cert, key); err != nil {
		a.t.Fatal(err)
	}
	return pair, cert, key
}

// serve starts a server, without TLS if c is nil, and returns its address.
func serve(t *testing.T, c *tls.Config) string {
	t.Helper()
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "answer") }))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	if s.TLS = c; c != nil {
		s.StartTLS()
	} else {
		s.Start()
	}
	t.Cleanup(s.Close)
	return s.Listener.Addr().String()
}

// A proxy connects every request to the same address if the user name and password are right.
type proxy struct {
	addr     string
	answer   string // response to CONNECT, in place of a connection
	password string
	asked    []string
}

func listen(t *testing.T, handle func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	t.Cleanup(func() { l.Close(); <-done })
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			handle(c) // sequentially, because there is only one request at a time
			c.Close()
		}
	}()
	return l.Addr().String()
}

func (p *proxy) http(c net.Conn) {
	req, err := http.ReadRequest(bufio.NewReader(c))
	if err != nil {
		return
	}
	p.asked = append(p.asked, req.Host)
	want := "Basic " + base64.StdEncoding.EncodeToString([]byte("me:"+p.password))
	switch {
	case p.password != "" && req.Header.Get("Proxy-Authorization") != want:
		io.WriteString(c, "HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")
	case p.answer != "":
		first, page, _ := strings.Cut(p.answer, "PAGE")
		io.WriteString(c, first)
		if page != "" {
			c.Read(make([]byte, 1)) // the client sends first
			io.WriteString(c, page)
		}
		io.Copy(io.Discard, c)
	default:
		io.WriteString(c, "HTTP/1.1 200 OK\r\n\r\n")
		p.splice(c)
	}
}

// socks implements SOCKS 5 with a password.
func (p *proxy) socks(c net.Conn) {
	read := func(n int) []byte { b := make([]byte, n); io.ReadFull(c, b); return b }
	read(int(read(2)[1]))
	c.Write([]byte{5, 2})
	user := read(int(read(2)[1]))
	password := read(int(read(1)[0]))
	if string(user) != "me" || string(password) != p.password {
		c.Write([]byte{1, 1})
		return
	}
	c.Write([]byte{1, 0})
	head := read(5)
	p.asked = append(p.asked, string(read(int(head[4]))))
	read(2)
	c.Write([]byte{5, 0, 0, 1, 0, 0, 0, 0, 0, 0})
	p.splice(c)
}

func (p *proxy) splice(c net.Conn) {
	to, err := net.Dial("tcp", p.addr)
	if err != nil {
		return
	}
	defer to.Close()
	go io.Copy(to, c)
	io.Copy(c, to)
}

// get sends a request and returns the response. variables alternates names and values.
func get(t *testing.T, c Config, address string, variables ...string) (string, error) {
	t.Helper()
	c.Getenv = func(name string) string {
		for i := 0; i < len(variables); i += 2 {
			if variables[i] == name {
				return variables[i+1]
			}
		}
		return ""
	}
	tr := New(c)
	defer tr.CloseIdleConnections()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Close = true
	res, err := tr.RoundTrip(req)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	return string(body), err
}

// TestErrors checks that each kind of connection failure explains the problem and suggests a
// solution.
//
// Proves PROV-55.
func TestErrors(t *testing.T) {
	ca, other := newAuthority(t, "Test CA"), newAuthority(t, "Corporate Inspection")
	with := func(a *authority, host string, start time.Duration) *tls.Config {
		pair, _, _ := a.issue(host, start)
		return &tls.Config{Certificates: []tls.Certificate{pair}}
	}
	clients := x509.NewCertPool()
	clients.AppendCertsFromPEM(ca.pem)
	mutual := with(ca, "localhost", 0)
	mutual.ClientAuth, mutual.ClientCAs = tls.RequireAndVerifyClientCert, clients
	old := with(ca, "localhost", 0)
	old.MinVersion, old.MaxVersion = tls.VersionTLS10, tls.VersionTLS11
	pair, _, _ := ca.issue("me", 0)
	at := func(addr string) string { _, port, _ := net.SplitHostPort(addr); return "localhost:" + port }
	good, plain := at(serve(t, with(ca, "localhost", 0))), at(serve(t, nil))
	garbage := at(listen(t, func(c net.Conn) { io.WriteString(c, "220 mail server\r\n") }))
	long := at(listen(t, func(c net.Conn) {
		http.ReadRequest(bufio.NewReader(c))
		io.WriteString(c, "HTTP/1.1 200 OK\r\nX-Long: "+strings.Repeat("x", 2<<20)+"\r\n\r\n")
	}))
	odd := at(listen(t, func(c net.Conn) {
		http.ReadRequest(bufio.NewReader(c))
		io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n")
	}))
	hangsUp := at(listen(t, func(net.Conn) {}))
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	gone := at(closed.Addr().String())

	for _, tt := range []struct {
		name, url    string
		config       Config
		text, advice string // expected substrings; empty if the request succeeds
		trust        bool
	}{
		{"answer", "https://" + good, Config{RootCAs: ca.pem}, "", "", false},
		{"unknown authority", "https://" + at(serve(t, with(other, "localhost", 0))), Config{RootCAs: ca.pem}, `was issued by "Corporate Inspection"`, "ADZE_EXTRA_CA_CERTS", true},
		{"expired", "https://" + at(serve(t, with(ca, "localhost", -48*time.Hour))), Config{RootCAs: ca.pem}, "expired on", "clock", true},
		{"not yet valid", "https://" + at(serve(t, with(ca, "localhost", 48*time.Hour))), Config{RootCAs: ca.pem}, "is not valid before", "Set the clock", true},
		{"another host", "https://" + at(serve(t, with(ca, "portal.hotel.example", 0))), Config{RootCAs: ca.pem}, "is for portal.hotel.example", "log in", true},
		{"plain HTTP", "https://" + plain, Config{RootCAs: ca.pem}, "plain HTTP", "http://", true},
		{"no TLS", "https://" + garbage, Config{RootCAs: ca.pem}, "does not speak TLS", "base URL", true},
		{"old TLS", "https://" + at(serve(t, old)), Config{RootCAs: ca.pem}, "protocol version", "", true},
		{"wants a certificate", "https://" + at(serve(t, mutual)), Config{RootCAs: ca.pem}, "certificate", "ADZE_CLIENT_CERT", true},
		{"gets a certificate", "https://" + at(serve(t, mutual)), Config{RootCAs: ca.pem, Certificate: &pair}, "", "", false},
		{"no certificate in the file", "https://" + good, Config{RootCAs: []byte("nothing")}, "no certificate in PEM form", "ADZE_EXTRA_CA_CERTS", true},
		{"refused", "http://" + gone, Config{}, "connection refused", "Start the server", false},
		{"hangs up", "http://" + hangsUp, Config{}, "connection", "Start the server", false},
		{"long headers", "http://" + long, Config{}, "sent response headers that are too long", "Check the base URL and the proxy", false},
		{"odd headers", "http://" + odd, Config{}, "bad Content-Length", "Start the server", false},
		{"no host", "http://adze-test.invalid", Config{}, "adze-test.invalid", "online", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			body, err := get(t, tt.config, tt.url)
			check(t, body, err, tt.text, tt.advice, tt.trust)
		})
	}
}

func check(t *testing.T, body string, err error, text, advice string, trust bool) {
	t.Helper()
	if text == "" {
		if body != "answer" || err != nil {
			t.Errorf("answer %q, error %v", body, err)
		}
		return
	}
	var e *Error
	if !errors.As(err, &e) || !strings.Contains(e.Text, text) || !strings.Contains(e.Advice, advice) || e.Untrusted != trust || e.Advice == "" {
		t.Errorf("error %+v", e)
	}
	if err != nil && (strings.Contains(err.Error(), "net/http") || strings.Contains(err.Error(), "HTTP/1.x")) {
		t.Errorf("%v is not for users", err)
	}
	if err != nil && strings.Contains(err.Error(), "hunter2") {
		t.Errorf("%v tells the password", err)
	}
}

// Proves PROV-03.
func TestProxies(t *testing.T) {
	ca := newAuthority(t, "Test CA")
	pair, _, _ := ca.issue("model.example", 0)
	c := Config{RootCAs: ca.pem}
	target := serve(t, &tls.Config{Certificates: []tls.Certificate{pair}})
	const address = "https://model.example"
	open, locked := &proxy{addr: target}, &proxy{addr: target, password: "hunter2"}
	socks := &proxy{addr: target, password: "hunter2"}
	openAt, lockedAt, socksAt := listen(t, open.http), listen(t, locked.http), listen(t, socks.socks)
	page := "HTTP/1.1 200 OK\r\n\r\nPAGEHTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<title>Guest network</title>"
	portal := listen(t, (&proxy{answer: page}).http)
	forbids := listen(t, (&proxy{answer: "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n"}).http)
	fails := listen(t, (&proxy{answer: "HTTP/1.1 503 Unavailable\r\nContent-Length: 0\r\n\r\n"}).http)

	for _, tt := range []struct {
		name         string
		variables    []string
		text, advice string
		trust        bool
	}{
		{"HTTPS_PROXY", []string{"HTTPS_PROXY", "http://" + openAt}, "", "", false},
		{"https_proxy without a scheme", []string{"https_proxy", openAt}, "", "", false},
		{"ALL_PROXY", []string{"ALL_PROXY", "http://" + openAt}, "", "", false},
		{"with a password", []string{"HTTPS_PROXY", "http://me:hunter2@" + lockedAt}, "", "", false},
		{"socks5", []string{"ALL_PROXY", "socks5://me:hunter2@" + socksAt}, "", "", false},
		{"HTTPS_PROXY before ALL_PROXY", []string{"ALL_PROXY", "http://127.0.0.1:1", "HTTPS_PROXY", "http://" + openAt}, "", "", false},
		{"without a password", []string{"HTTPS_PROXY", "http://" + lockedAt}, "wants a user name and a password", "HTTPS_PROXY=http://user:password@", true},
		{"wrong password", []string{"HTTPS_PROXY", "http://me:hunter22@" + lockedAt}, "wants a user name and a password", "", true},
		{"socks5 with a wrong password", []string{"ALL_PROXY", "socks5://me:hunter22@" + socksAt}, "socks", "HTTPS_PROXY", false},
		{"login page", []string{"HTTPS_PROXY", "http://" + portal}, "plain HTTP", "log in", true},
		{"forbidden", []string{"HTTPS_PROXY", "http://" + forbids}, "refuses the connection (HTTP 403)", "model.example", true},
		{"fails", []string{"HTTPS_PROXY", "http://" + fails}, "HTTP 503", "model.example", false},
		{"not running", []string{"HTTPS_PROXY", "http://me:hunter2@127.0.0.1:1"}, "nothing listens at the proxy 127.0.0.1:1", "HTTPS_PROXY", false},
		{"no address", []string{"HTTPS_PROXY", "http://me:hunter2@:%zz"}, "HTTPS_PROXY is not the address of a proxy", "http://proxy.example:3128", false},
		{"unknown scheme", []string{"ALL_PROXY", "ftp://me:hunter2@" + openAt}, "ALL_PROXY is not the address", "socks5://", false},
		{"not for this host", []string{"HTTPS_PROXY", "http://" + openAt, "NO_PROXY", ".example"}, "model.example", "", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			body, err := get(t, c, address, tt.variables...)
			check(t, body, err, tt.text, tt.advice, tt.trust)
		})
	}
	if len(open.asked) != 4 || len(socks.asked) != 1 || socks.asked[0] != "model.example" {
		t.Errorf("the proxies received %q and %q", open.asked, socks.asked)
	}
}

func TestContextIsNoError(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://127.0.0.1:1", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = New(Config{}).RoundTrip(req); !errors.Is(err, context.Canceled) || errors.As(err, new(*Error)) {
		t.Errorf("error %v", err)
	}
}

func TestLoadCertificate(t *testing.T) {
	ca := newAuthority(t, "Test CA")
	_, cert, key := ca.issue("me", 0)
	_, _, another := ca.issue("me", 0)
	dir := t.TempDir()
	write := func(name string, data []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	certFile, keyFile := write("cert.pem", cert), write("key.pem", key)
	both := write("both.pem", append(append([]byte{}, cert...), key...))
	locked := write("locked.pem", pem.EncodeToMemory(&pem.Block{Type: "ENCRYPTED PRIVATE KEY", Bytes: []byte("sealed")}))
	older := write("older.pem", pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Headers: map[string]string{"Proc-Type": "4,ENCRYPTED"}, Bytes: []byte("sealed")}))
	for _, tt := range []struct{ name, cert, key, want string }{
		{"two files", certFile, keyFile, ""},
		{"one file", both, "", ""},
		{"passphrase", certFile, locked, "openssl pkey -in " + locked},
		{"passphrase in the older form", certFile, older, "openssl pkey -in " + older},
		{"another key", certFile, write("another.pem", another), "do not fit"},
		{"no key", certFile, "", "holds no private key"},
		{"no certificate", keyFile, "", "holds no certificate"},
		{"no file", filepath.Join(dir, "none"), keyFile, "cannot be read"},
		{"no key file", certFile, filepath.Join(dir, "none"), "cannot be read"},
		{"garbage", write("garbage", []byte{0xff, 0}), "", "holds no certificate"},
	} {
		got, err := LoadCertificate(tt.cert, tt.key)
		if tt.want == "" && (err != nil || got == nil) || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

// TestVet checks that addresses are vetted on connecting, under any host name, but that proxies
// are not.
//
// Proves MCP-25.
func TestVet(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {}))
	defer server.Close()
	refused := errors.New("a loopback address is refused")
	vet := func(a netip.Addr) error {
		if a.IsLoopback() {
			return refused
		}
		return nil
	}
	for _, tt := range []struct {
		name, proxy, to string
		want            error
	}{
		{"address", "", server.URL, refused},
		{"name", "", strings.Replace(server.URL, "127.0.0.1", "localhost", 1), refused},
		{"proxy", server.URL, "http://elsewhere.example/", nil},
	} {
		tr := New(Config{Vet: vet, Getenv: func(name string) string {
			if name == "HTTP_PROXY" {
				return tt.proxy
			}
			return ""
		}})
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, tt.to, nil)
		if err != nil {
			t.Fatal(err)
		}
		res, err := tr.RoundTrip(req)
		if err == nil {
			res.Body.Close()
		}
		if !errors.Is(err, tt.want) || tt.want != nil && err.Error() != refused.Error() {
			t.Errorf("%s: %v", tt.name, err)
		}
		tr.CloseIdleConnections()
	}
}

// TestPreconnect checks that a preconnected connection carries no request and that the first
// request uses it. The server accepts no other connection.
func TestPreconnect(t *testing.T) {
	var requests, connections atomic.Int32
	shaken, others := make(chan struct{}), make(chan struct{})
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		requests.Add(1)
		w.WriteHeader(http.StatusNoContent)
	}))
	s.TLS = &tls.Config{
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
			if connections.Add(1) > 1 {
				<-others
			}
			return nil, nil
		},
		VerifyConnection: func(tls.ConnectionState) error {
			if connections.Load() == 1 {
				close(shaken)
			}
			return nil
		},
	}
	s.StartTLS()
	defer s.Close()
	defer close(others)
	tr := New(Config{
		Getenv:  func(string) string { return "" },
		RootCAs: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}),
	})
	defer tr.CloseIdleConnections()
	address, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	tr.Preconnect(address)
	select {
	case <-shaken:
	case <-time.After(time.Minute):
		t.Fatal("no connection is made")
	}
	if n := requests.Load(); n != 0 {
		t.Errorf("%d requests were sent", n)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := tr.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if requests.Load() != 1 {
		t.Errorf("%d requests were sent", requests.Load())
	}
	New(Config{}).Preconnect(&url.URL{Scheme: "http", Host: "127.0.0.1:1"})
}

// TestPlainConnectionsEnd checks that unencrypted connections are dropped before a server
// would, which many do after 5 s.
func TestPlainConnectionsEnd(t *testing.T) {
	gone := make(chan struct{})
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateClosed {
			close(gone)
		}
	}
	s.Start()
	defer s.Close()
	tr := New(Config{Getenv: func(string) string { return "" }})
	defer tr.CloseIdleConnections()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := tr.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	select {
	case <-gone:
	case <-time.After(time.Minute):
		t.Error("the connection is kept")
	}
}

// TestCertificatesAreForHTTPS checks that certificates are only loaded for https, so that a
// damaged certificate file does not affect plain requests.
func TestCertificatesAreForHTTPS(t *testing.T) {
	answer := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	plain, secure := httptest.NewServer(answer), httptest.NewTLSServer(answer)
	defer plain.Close()
	defer secure.Close()
	get := func(c Config, address string) error {
		tr := New(c)
		defer tr.CloseIdleConnections()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
		if err != nil {
			t.Fatal(err)
		}
		tr.Warm(req.URL)
		res, err := tr.RoundTrip(req)
		if err == nil {
			res.Body.Close()
		}
		return err
	}
	none := func(string) string { return "" }
	if err := get(Config{Getenv: none, RootCAs: []byte("damaged")}, plain.URL); err != nil {
		t.Errorf("plain: %v", err)
	}
	if err := get(Config{Getenv: none, RootCAs: []byte("damaged")}, secure.URL); err == nil || !strings.Contains(err.Error(), "no certificate in PEM form") {
		t.Errorf("secure, damaged: %v", err)
	}
	own := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw})
	if err := get(Config{Getenv: none, RootCAs: own}, secure.URL); err != nil {
		t.Errorf("secure: %v", err)
	}
}
