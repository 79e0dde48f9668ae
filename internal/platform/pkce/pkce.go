// Package pkce signs the user in with a web browser: the code that the browser brings back to this machine is worth
// nothing without a secret that never leaves the program (RFC 7636). What a service does with both is left to the
// caller.
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

// limit is how long the user may take.
const limit = 5 * time.Minute

// preferredPort is the one that services document for programs on the user's machine.
const preferredPort = "3000"

// A Flow is one attempt to sign in. It listens on this machine until Wait returns.
type Flow struct {
	verifier string
	path     string // holds the state unless there is a state: what does not come with it was not asked for
	state    string
	check    func(url.Values) error
	listener net.Listener
	limit    time.Duration
	results  chan outcome // the first counts
}

// Begin starts to listen.
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

// BeginAt is [Begin] for services that know the address beforehand, or have it registered: its path is always the same,
// and the state is a parameter. A port of 0 is any. Check, if it is not nil, is asked about the parameters that come back.
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

// Verifier returns the secret that redeems the code.
func (f *Flow) Verifier() string { return f.verifier }

// Challenge returns the hash of the secret, for the address that the browser opens. Its method is S256.
func (f *Flow) Challenge() string {
	sum := sha256.Sum256([]byte(f.verifier))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// State returns what must come back as the parameter of that name; empty for a flow of [Begin].
func (f *Flow) State() string { return f.state }

// Callback returns the address that the browser must be sent back to.
func (f *Flow) Callback() string {
	_, port, _ := net.SplitHostPort(f.listener.Addr().String()) // ok: it is one
	return "http://localhost:" + port + f.path
}

type outcome struct {
	code string
	err  error
}

// Wait returns the code that the browser brings, once, and stops to listen.
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
		server.Shutdown(ending) // ok: the browser has its answer, or has gone
	case <-ctx.Done():
		got.err = context.Cause(ctx)
	}
	server.Close()     // ok: nothing depends on it
	f.listener.Close() // ok: if the server had not begun to listen
	return got.code, got.err
}

// Paste takes the address that a browser on another machine was sent to, as the user copies it from there. An error says
// that it is none; the flow then goes on.
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

// Close stops to listen, if Wait was not called.
func (f *Flow) Close() { f.listener.Close() } // ok: nothing depends on it

// put makes an outcome that of the flow, unless there is one.
func (f *Flow) put(o outcome) {
	select {
	case f.results <- o:
	default: // there was one
	}
}

// read returns what came back as parameters.
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

// serve answers the browser. A request that was not asked for changes nothing.
func (f *Flow) serve(w http.ResponseWriter, r *http.Request) {
	_, port, _ := net.SplitHostPort(f.listener.Addr().String()) // ok: it is one
	switch {
	case r.Host != "localhost:"+port && r.Host != "127.0.0.1:"+port: // another name for this machine
		http.Error(w, "wrong host", http.StatusForbidden)
		return
	case r.URL.Path != f.path || r.Method != http.MethodGet:
		http.NotFound(w, r)
		return
	}
	if f.state != "" && r.URL.Query().Get("state") != f.state { // a page, or an older attempt: the right answer may still come
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
