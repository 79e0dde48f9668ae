// Package webtest simulates the internet for tests: every public name resolves to a local
// server with certificates from its own authority. It records which addresses were connected
// to.
package webtest

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"sync"
	"testing"
	"time"

	"adze/internal/platform/net/web"
)

// PublicAddr is the address that every name resolves to.
const PublicAddr = "93.184.215.14"

// A Server serves all hosts.
type Server struct {
	*httptest.Server
	// PEM is the authority's certificate.
	PEM []byte
	// Plain serves port 80; nil means that the port is closed.
	Plain *httptest.Server

	mu        sync.Mutex
	connected []netip.AddrPort
}

// New starts a server that is closed when the test ends.
func New(t testing.TB, h http.Handler) *Server {
	t.Helper()
	s, err := Start(h)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// Start starts a server. The caller must close it.
func Start(h http.Handler) (*Server, error) {
	s := &Server{Server: httptest.NewUnstartedServer(h)}
	authority, err := newAuthority()
	if err != nil {
		return nil, err
	}
	s.PEM = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: authority.cert.Raw})
	s.TLS = &tls.Config{GetCertificate: authority.issue}
	s.EnableHTTP2 = true
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	return s, nil
}

// ServePlain also serves port 80.
func (s *Server) ServePlain(t testing.TB, h http.Handler) {
	s.Plain = httptest.NewServer(h)
	t.Cleanup(s.Plain.Close)
}

// Client returns a configuration in which all names resolve to the server.
func (s *Server) Client() web.Config {
	return web.Config{
		Agent: "adze/test",
		Roots: s.Roots,
		Resolve: func(context.Context, string) ([]netip.Addr, error) {
			return []netip.Addr{netip.MustParseAddr(PublicAddr)}, nil
		},
		Connect: s.Connect,
	}
}

// Roots returns the authority's certificate.
func (s *Server) Roots() (*x509.CertPool, error) {
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(s.PEM)
	return pool, nil
}

// Connect connects to the server for any address.
func (s *Server) Connect(ctx context.Context, addr netip.AddrPort, _ func(netip.Addr) error) (net.Conn, error) {
	s.mu.Lock()
	s.connected = append(s.connected, addr)
	s.mu.Unlock()
	to := s.Listener.Addr().String()
	if addr.Port() == 80 {
		if s.Plain == nil {
			to = "127.0.0.1:1"
		} else {
			to = s.Plain.Listener.Addr().String()
		}
	}
	return (&net.Dialer{}).DialContext(ctx, "tcp", to)
}

// Connected returns the addresses that were connected to.
func (s *Server) Connected() []netip.AddrPort {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]netip.AddrPort(nil), s.connected...)
}

// An authority signs certificates for any name.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority() (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test authority"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	return &authority{cert, key}, nil
}

// issue creates a certificate for the host that a client requests, or for this machine if the
// client sends no name.
func (a *authority) issue(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), DNSNames: []string{hello.ServerName},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	if hello.ServerName == "" {
		template.DNSNames, template.IPAddresses = []string{"localhost"}, []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, a.key.Public(), a.key)
	if err != nil {
		return nil, err
	}
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: a.key}, nil
}
