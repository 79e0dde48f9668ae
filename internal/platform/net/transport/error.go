package transport

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"syscall"
	"time"
)

// An Error explains why a request got no response.
type Error struct {
	// Text describes the problem and Advice suggests a solution, both without a period. Text
	// never contains a URL with a password.
	Text, Advice string
	// Untrusted means that the connection cannot be trusted and that retrying will not help.
	Untrusted bool
	Err       error // cause, or nil
}

func (e *Error) Error() string { return e.Text }
func (e *Error) Unwrap() error { return e.Err }

// A proxyRefusal means that a proxy answered, but refused to open a connection.
type proxyRefusal struct {
	host   string
	status int
}

func (e *proxyRefusal) Error() string {
	return fmt.Sprintf("the proxy %s refuses the connection (HTTP %d)", e.host, e.status)
}

const (
	online = "Check that you are online, and that the base URL and HTTPS_PROXY, if they are set, are right; then send it again"
	login  = "If this network has a login page, open any web page in a browser and log in; otherwise check the base URL"
	extra  = "If a corporate proxy inspects traffic, put its certificate into a file in PEM form and set ADZE_EXTRA_CA_CERTS to it"
	mutual = "Set ADZE_CLIENT_CERT and ADZE_CLIENT_KEY to a certificate that the server accepts and its key, as files in PEM form"
)

// explain converts the error of a failed request. proxy is nil if the request did not use one.
func explain(err error, to, proxy *url.URL, now time.Time) *Error {
	var known *Error
	if errors.As(err, &known) {
		return known
	}
	if text, advice, ok := untrusted(err, to.Host, now); ok {
		return &Error{Text: text, Advice: advice, Untrusted: true, Err: err}
	}
	e := &Error{Advice: online, Err: err}
	at := to.Host
	var (
		refusal *proxyRefusal
		op      *net.OpError
	)
	switch {
	case errors.As(err, &refusal):
		e.Text, e.Advice = refusal.Error(), "Ask who runs the proxy whether it lets you reach "+to.Hostname()+", or name a host in NO_PROXY to reach it directly"
		if refusal.status == http.StatusProxyAuthRequired {
			e.Text = "the proxy " + refusal.host + " wants a user name and a password"
			e.Advice = "Put them into the variable that names the proxy: HTTPS_PROXY=http://user:password@" + refusal.host
		}
		e.Untrusted = refusal.status < 500 // retrying will not help
		return e
	case proxy != nil && errors.As(err, &op) && (op.Op == "proxyconnect" || strings.HasPrefix(op.Op, "socks")):
		at = "the proxy " + proxy.Host
		e.Advice = "Check HTTPS_PROXY and that the proxy runs; a host in NO_PROXY is reached directly"
	case isLoopback(to.Hostname()):
		e.Advice = "Start the server, or check the base URL"
	}
	e.Text = reason(err, at)
	if text := err.Error(); strings.Contains(text, "response headers exceeded") || strings.Contains(text, "header list larger") { // errors without a type
		e.Text, e.Advice = at+" sent response headers that are too long", "Check the base URL and the proxy"
	}
	return e
}

// reason explains why a connection to at failed or ended.
func reason(err error, at string) string {
	var name *net.DNSError
	var late interface{ Timeout() bool }
	switch {
	case errors.As(err, &name) && name.IsNotFound:
		return fmt.Sprintf("the host %s was not found", name.Name)
	case errors.As(err, &name):
		return fmt.Sprintf("the name %s cannot be looked up", name.Name)
	case errors.Is(err, syscall.ECONNREFUSED):
		return "nothing listens at " + at + " (connection refused)"
	case errors.Is(err, syscall.ENETUNREACH) || errors.Is(err, syscall.EHOSTUNREACH) || errors.Is(err, syscall.ENETDOWN):
		return "no way to " + at + " from this machine (network unreachable)"
	case errors.Is(err, os.ErrDeadlineExceeded) || errors.As(err, &late) && late.Timeout():
		return fmt.Sprintf("%s did not answer in time", at)
	case errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE):
		return at + " broke the connection off (connection reset)"
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return at + " closed the connection without an answer"
	}
	return strings.NewReplacer("net/http: ", "", "HTTP/1.x transport connection broken: ", "", "http2: ", "", "http: ", "").Replace(err.Error())
}

// untrusted explains why a connection is not secure. ok is false if that is not the problem.
func untrusted(err error, host string, now time.Time) (text, advice string, ok bool) {
	var (
		authority x509.UnknownAuthorityError
		wrong     x509.HostnameError
		invalid   x509.CertificateInvalidError
		verify    *tls.CertificateVerificationError
		record    tls.RecordHeaderError
		op        *net.OpError
	)
	const day = "2 January 2006"
	switch {
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired && invalid.Cert != nil && now.Before(invalid.Cert.NotBefore):
		return fmt.Sprintf("the certificate of %s is not valid before %s, and this machine's clock says %s", host, invalid.Cert.NotBefore.Format(day), now.Format(day)),
			"Set the clock; if it is right, the server has a wrong certificate", true
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired && invalid.Cert != nil:
		return fmt.Sprintf("the certificate of %s expired on %s, and this machine's clock says %s", host, invalid.Cert.NotAfter.Format(day), now.Format(day)),
			"Set the clock if it is wrong; otherwise who runs the server must renew the certificate", true
	case errors.As(err, &wrong):
		names := "another host"
		if wrong.Certificate != nil && len(wrong.Certificate.DNSNames) > 0 {
			names = strings.Join(wrong.Certificate.DNSNames[:min(len(wrong.Certificate.DNSNames), 3)], ", ")
		}
		return fmt.Sprintf("the certificate of %s is for %s", host, names), login, true
	case errors.As(err, &authority):
		by := ""
		if authority.Cert != nil && authority.Cert.Issuer.CommonName != "" {
			by = fmt.Sprintf(" by %q", authority.Cert.Issuer.CommonName)
		}
		return fmt.Sprintf("the certificate of %s was issued%s and this machine does not know the issuer", host, by), extra, true
	case errors.As(err, &record) && string(record.RecordHeader[:]) == "HTTP/":
		return host + " speaks plain HTTP where HTTPS was expected", "If the base URL begins with https:// and the server has no TLS, use http://. " + login, true
	case errors.As(err, &record):
		return host + " does not speak TLS", login, true
	case errors.As(err, &op) && op.Op == "remote error":
		text = host + " ended the TLS handshake: " + strings.TrimPrefix(op.Err.Error(), "tls: ")
		if strings.Contains(text, "certificate") || strings.Contains(text, "unknown") {
			return text, mutual, true
		}
		return text, extra, true
	case errors.As(err, &verify), errors.As(err, &invalid), errors.As(err, &op) && op.Op == "local error", strings.Contains(err.Error(), "tls: "):
		return fmt.Sprintf("the connection to %s is not secure: %s", host, strings.TrimPrefix(err.Error(), "tls: ")), extra, true
	}
	return "", "", false
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
