package web

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"syscall"
)

// unreachable reports whether no https connection could be made.
func unreachable(err error) bool {
	var op *net.OpError
	var record tls.RecordHeaderError
	var refused *Refusal
	switch {
	case errors.As(err, &refused):
		return false
	case errors.As(err, &record):
		return true
	}
	return errors.As(err, &op) && op.Op == "dial"
}

// explain converts an error to a message without technical details.
func explain(err error, u *url.URL) error {
	host := u.Hostname()
	var (
		refused   *Refusal
		redirect  *Redirect
		dns       *net.DNSError
		authority x509.UnknownAuthorityError
		name      x509.HostnameError
		invalid   x509.CertificateInvalidError
		record    tls.RecordHeaderError
		alert     tls.AlertError
		op        *net.OpError
		late      interface{ Timeout() bool }
	)
	switch {
	case errors.As(err, &refused), errors.As(err, &redirect):
		return err
	case errors.As(err, &dns) && dns.IsNotFound:
		return fmt.Errorf("DNS: no host %s. Check the spelling", host)
	case errors.As(err, &dns):
		return fmt.Errorf("DNS: %s could not be looked up (%s)", host, dns.Err)
	case errors.As(err, &authority):
		return fmt.Errorf("TLS: the certificate of %s is signed by an unknown authority. If it is the user's own, they can add it with ADZE_EXTRA_CA_CERTS", host)
	case errors.As(err, &name):
		return fmt.Errorf("TLS: the certificate of %s is for another host", host)
	case errors.As(err, &invalid):
		return fmt.Errorf("TLS: the certificate of %s is not valid (%w)", host, err)
	case errors.As(err, &record):
		return fmt.Errorf("TLS: %s does not speak https on this port", host)
	case errors.As(err, &alert):
		return fmt.Errorf("TLS: %s refuses the connection (%w)", host, alert)
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Errorf("%s refuses the connection", host)
	case errors.As(err, &late) && late.Timeout():
		return fmt.Errorf("%s does not answer in time", host)
	case errors.As(err, &op) && op.Op == "dial":
		return fmt.Errorf("no connection to %s can be made (%w)", host, op.Err)
	case notHTTP(err):
		return fmt.Errorf("%s does not speak HTTP on this port", host)
	}
	return err
}

// notHTTP reports whether the response was not HTTP or came before the request. These
// errors have no type.
func notHTTP(err error) bool {
	text := err.Error()
	return strings.Contains(text, "malformed HTTP") || strings.Contains(text, "readLoopPeekFailLocked")
}
