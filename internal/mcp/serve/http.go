package serve

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Path is the server's URL path.
const Path = "/mcp"

const (
	// idle is the time without requests after which a client's session ends.
	idle = 30 * time.Minute
	// minToken is the minimum length of a token.
	minToken = 16
)

// CheckAddress returns the reason the server cannot listen on an address such as
// 127.0.0.1:8000, or nil. If other machines can reach the address, the user must choose a
// token; empty means a generated one.
func CheckAddress(address, token string) error {
	host, _, err := net.SplitHostPort(address)
	switch {
	case err != nil:
		return fmt.Errorf("invalid address %q: write HOST:PORT, such as 127.0.0.1:8000", address)
	case token != "" && len(token) < minToken:
		return fmt.Errorf("the token has fewer than %d characters; openssl rand -hex 32 makes a good one", minToken)
	case token == "" && !loopback(host):
		return fmt.Errorf("other machines can reach %s: give a file with a token by --token-file, or use 127.0.0.1", address)
	}
	return nil
}

// loopback reports whether host is the local machine, without using DNS.
func loopback(host string) bool {
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

// HTTP serves clients that connect to l and send the token, until ctx is done. Every user of
// this machine can connect to a loopback address, so a token is required there as well.
func (s *Server) HTTP(ctx context.Context, l net.Listener, token string) error {
	if len(token) < minToken {
		return fmt.Errorf("the token has fewer than %d characters", minToken)
	}
	host, _, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		return err
	}
	server := &http.Server{Handler: s.handler(token, loopback(host)), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10}
	defer context.AfterFunc(ctx, func() {
		s.Close()
		server.Close()
	})()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// withoutSessions is the protocol revision, a date, since which requests are stateless.
const withoutSessions = "2026-07-28"

// handler returns the HTTP handler. Local means that the server listens on a loopback address.
func (s *Server) handler(token string, local bool) http.Handler {
	streams := func(stateless bool) http.Handler {
		return sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s.speaker }, &sdk.StreamableHTTPOptions{
			Logger: s.Log, SessionTimeout: idle, MaxRequestBodyBytes: maxMessage, PropagateRequestCancellation: true, Stateless: stateless,
		})
	}
	sessions, stateless := streams(false), streams(true)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case !ours(r, local):
			http.Error(w, "requests of other sites are refused", http.StatusForbidden)
		case !hasToken(r, token):
			w.Header().Set("WWW-Authenticate", `Bearer realm="adze"`)
			http.Error(w, "the token is missing or wrong: send Authorization: Bearer TOKEN", http.StatusUnauthorized)
		case r.URL.Path != Path:
			http.Error(w, "there is nothing here; the server is at "+Path, http.StatusNotFound)
		case r.Header.Get("Mcp-Protocol-Version") >= withoutSessions:
			stateless.ServeHTTP(w, r)
		default:
			sessions.ServeHTTP(w, r)
		}
	})
}

// ours reports whether a request is for this server and not from another site's page. A server
// on a loopback address accepts no other name, because a page could resolve its own name to it.
func ours(r *http.Request, local bool) bool {
	if origin := r.Header.Get("Origin"); origin != "" {
		u, err := url.Parse(origin)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || !strings.EqualFold(u.Host, r.Host) {
			return false
		}
	}
	host := r.Host
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	return !local || loopback(host)
}

// hasToken reports whether a request has the token. It runs in constant time.
func hasToken(r *http.Request, token string) bool {
	scheme, given, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	a, b := sha256.Sum256([]byte(strings.TrimSpace(given))), sha256.Sum256([]byte(token))
	return strings.EqualFold(scheme, "bearer") && subtle.ConstantTimeCompare(a[:], b[:]) == 1
}
