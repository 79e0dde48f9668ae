// Package pkce implements browser sign-in with PKCE (RFC 7636): the code that the browser
// returns to this machine is useless without a secret that never leaves the program. The caller
// exchanges both for a token.
package pkce

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// limit is how long the user may take to sign in.
const limit = 5 * time.Minute

// preferredPort is the port that services document for local programs.
const preferredPort = "3000"

// A Flow is an attempt to sign in. It listens on localhost until Wait returns.
type Flow struct {
	verifier string
	path     string // contains the state if state is empty; requests without it are ignored
	state    string
	check    func(url.Values) error
	listener net.Listener
	limit    time.Duration
	results  chan outcome // only the first is used
}

// Begin starts a flow on a local port.
func Begin() (*Flow, error) {
	l, err := net.Listen("tcp", "127.0.0.1:"+preferredPort)
	if err != nil {
		l, err = net.Listen("tcp", "127.0.0.1:0")
	}
	if err != nil {
		return nil, err
	}
	return &Flow{verifier: token(), path: "/callback/" + token(), listener: l, limit: limit, results: make(chan outcome, 1)}, nil
}

// BeginAt is like [Begin] for services that have the callback URL registered: its path is
// fixed, and the state is a query parameter. Port 0 means any port. check, if not nil,
// validates the returned parameters.
func BeginAt(port int, check func(url.Values) error) (*Flow, error) {
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return nil, err
	}
	return &Flow{verifier: token(), path: "/callback", state: token(), check: check, listener: l, limit: limit, results: make(chan outcome, 1)}, nil
}

// token returns 256 random bits.
func token() string {
	var b [32]byte
	rand.Read(b[:]) // never fails
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// Verifier returns the secret needed to redeem the code.
func (f *Flow) Verifier() string { return f.verifier }

// Challenge returns the hash of the verifier, for the URL that the browser opens. Its method is
// S256.
func (f *Flow) Challenge() string {
	sum := sha256.Sum256([]byte(f.verifier))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// State returns the required value of the state parameter. It is empty for a flow started with
// [Begin].
func (f *Flow) State() string { return f.state }

// Callback returns the redirect URL.
func (f *Flow) Callback() string {
	_, port, _ := net.SplitHostPort(f.listener.Addr().String()) // ok: it is a TCP address
	return "http://localhost:" + port + f.path
}

type outcome struct {
	code string
	err  error
}

// Wait waits for the browser, stops listening and returns the code. It must be called at most
// once.
func (f *Flow) Wait(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, f.limit, fmt.Errorf("the browser did not come back within %v", f.limit))
	defer cancel()
	server := &http.Server{
		Handler:           http.HandlerFunc(f.serve),
		ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: 64 << 10,
	}
	go server.Serve(f.listener)
	var got outcome
	select {
	case got = <-f.results:
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		server.Shutdown(ending) // ok: the browser has its response or is gone
	case <-ctx.Done():
		got.err = context.Cause(ctx)
	}
	server.Close()     // ok: nothing depends on it
	f.listener.Close() // ok: only needed if the server has not started serving
	return got.code, got.err
}

// Paste accepts the callback URL copied by the user from a browser on another machine. If it
// returns an error, the text is not such a URL, and the flow continues.
func (f *Flow) Paste(text string) error {
	u, err := url.Parse(strings.TrimSpace(text))
	switch {
	case err != nil || u.Path != f.path || u.RawQuery == "":
		return fmt.Errorf("that is not the address that the browser was sent to; it begins with %s and has a code", f.Callback())
	case f.state != "" && u.Query().Get("state") != f.state:
		return errors.New("that address belongs to another attempt to sign in")
	}
	f.put(f.read(u.Query()))
	return nil
}

// Close stops listening. It is only needed if Wait is not called.
func (f *Flow) Close() { f.listener.Close() } // ok: nothing depends on it

// put sets the flow's outcome, unless it is already set.
func (f *Flow) put(o outcome) {
	select {
	case f.results <- o:
	default: // already set
	}
}

// read returns the outcome for the callback parameters.
func (f *Flow) read(q url.Values) outcome {
	if f.check != nil {
		if err := f.check(q); err != nil {
			return outcome{err: err}
		}
	}
	code := q.Get("code")
	if why := strings.TrimSpace(q.Get("error") + " " + q.Get("error_description")); why != "" {
		return outcome{err: errors.New("the service refused: " + why)}
	} else if code == "" {
		return outcome{err: errors.New("the service refused: no code came back")}
	}
	return outcome{code: code}
}

// serve handles the browser's request. Unsolicited requests have no effect.
func (f *Flow) serve(w http.ResponseWriter, r *http.Request) {
	_, port, _ := net.SplitHostPort(f.listener.Addr().String()) // ok: it is a TCP address
	switch {
	case r.Host != "localhost:"+port && r.Host != "127.0.0.1:"+port: // another name for this machine (DNS rebinding)
		http.Error(w, "wrong host", http.StatusForbidden)
		return
	case r.URL.Path != f.path || r.Method != http.MethodGet:
		http.NotFound(w, r)
		return
	}
	if f.state != "" && r.URL.Query().Get("state") != f.state { // a web page or an earlier attempt; the right response may still come
		http.Error(w, "this belongs to another attempt to sign in", http.StatusBadRequest)
		return
	}
	got := f.read(r.URL.Query())
	text := "The code has arrived. Close this window and return to the terminal."
	if got.err != nil {
		text = "You are not signed in. Return to the terminal."
	}
	h := w.Header()
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Connection", "close")
	fmt.Fprintln(w, text)
	f.put(got)
}
