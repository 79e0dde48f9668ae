package pkce

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// visit simulates a browser.
func visit(t *testing.T, method, address, host string) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, strings.Replace(address, "localhost", "127.0.0.1", 1), nil)
	if err != nil {
		t.Fatal(err)
	}
	if req.Close = true; host != "" {
		req.Host = host
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0
	}
	defer res.Body.Close()
	io.Copy(io.Discard, res.Body)
	return res.StatusCode
}

// Proves X-070.
func TestFlow(t *testing.T) {
	f, err := Begin()
	if err != nil {
		t.Fatal(err)
	}
	at, err := url.Parse(f.Callback())
	if err != nil || at.Hostname() != "localhost" {
		t.Fatalf("callback %s, %v", f.Callback(), err)
	}
	if host, _, _ := net.SplitHostPort(f.listener.Addr().String()); host != "127.0.0.1" {
		t.Errorf("it listens at %s", host)
	}
	sum := sha256.Sum256([]byte(f.Verifier()))
	if len(f.Verifier()) < 43 || f.Challenge() != base64.RawURLEncoding.EncodeToString(sum[:]) || strings.Contains(f.Callback(), f.Verifier()) {
		t.Errorf("verifier %s, challenge %s", f.Verifier(), f.Challenge())
	}
	done := make(chan outcome)
	go func() {
		code, err := f.Wait(t.Context())
		done <- outcome{code, err}
	}()
	// Unsolicited requests don't end the flow.
	other := *at
	other.Path = "/callback/" + token()
	for _, tt := range []struct {
		method, address, host string
		want                  int
	}{
		{"GET", other.String() + "?code=forged", "", 404},
		{"POST", f.Callback() + "?code=forged", "", 404},
		{"GET", f.Callback() + "?code=forged", "evil.example", 403},
		{"GET", "http://" + at.Host + "/favicon.ico", "", 404},
		{"GET", f.Callback() + "?code=the-code", "", 200},
	} {
		if got := visit(t, tt.method, tt.address, tt.host); got != tt.want {
			t.Errorf("%s %s: %d", tt.method, tt.address, got)
		}
	}
	if got := <-done; got.code != "the-code" || got.err != nil {
		t.Errorf("got %+v", got)
	}
	if got := visit(t, "GET", f.Callback()+"?code=again", ""); got != 0 {
		t.Errorf("it still listens: %d", got)
	}
}

func TestFlowFails(t *testing.T) {
	for name, query := range map[string]string{"refused": "?error=access_denied", "empty": ""} {
		f, err := Begin()
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan error)
		go func() { _, err := f.Wait(t.Context()); done <- err }()
		visit(t, "GET", f.Callback()+query, "")
		if err := <-done; err == nil || !strings.Contains(err.Error(), "refused") {
			t.Errorf("%s: %v", name, err)
		}
	}
	f, err := Begin()
	if err != nil {
		t.Fatal(err)
	}
	f.limit = 10 * time.Millisecond
	if _, err := f.Wait(t.Context()); err == nil || !strings.Contains(err.Error(), "did not come back") {
		t.Errorf("too late: %v", err)
	}
	if f, err = Begin(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := f.Wait(ctx); err != context.Canceled {
		t.Errorf("cancelled: %v", err)
	}
}

// TestFlowWithState checks that a flow with a state rejects requests without it, calls check
// and also accepts a pasted URL.
//
// Proves MCP-25.
func TestFlowWithState(t *testing.T) {
	refuse := errors.New("from another service")
	check := func(q url.Values) error {
		if q.Get("iss") == "https://evil.example" {
			return refuse
		}
		return nil
	}
	for _, tt := range []struct {
		name, query string // STATE is replaced by the state
		paste       bool
		code, want  string
		unpasted    bool // the pasted URL has no effect
		ignored     bool // the request has no effect, and the right one follows
	}{
		{name: "code", query: "?code=c&state=STATE", code: "c"},
		{name: "no state", query: "?code=x", ignored: true, code: "c"},
		{name: "another state", query: "?code=x&state=x", ignored: true, code: "c"},
		{name: "error without a state", query: "?error=access_denied", ignored: true, code: "c"},
		{name: "error", query: "?error=access_denied&error_description=no+way&state=STATE", want: "refused: access_denied no way"},
		{name: "error and code", query: "?error=access_denied&code=c&state=STATE", want: "refused"},
		{name: "checked", query: "?code=c&state=STATE&iss=https://evil.example", want: refuse.Error()},
		{name: "pasted", query: "?code=c&state=STATE", paste: true, code: "c"},
		{name: "pasted error", query: "?error=access_denied&state=STATE", paste: true, want: "refused"},
		{name: "pasted of another", query: "?code=c&state=x", paste: true, unpasted: true, want: "another attempt"},
		{name: "pasted without", query: "", paste: true, unpasted: true, want: "not the address"},
	} {
		f, err := BeginAt(0, check)
		if err != nil {
			t.Fatal(err)
		}
		if u, err := url.Parse(f.Callback()); err != nil || u.Path != "/callback" || u.Hostname() != "localhost" {
			t.Errorf("callback %s", f.Callback())
		}
		address := f.Callback() + strings.ReplaceAll(tt.query, "STATE", f.State())
		if tt.unpasted {
			ctx, cancel := context.WithCancel(t.Context())
			if err := f.Paste(address); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s: %v", tt.name, err)
			}
			cancel()
			if _, err := f.Wait(ctx); err != context.Canceled {
				t.Errorf("%s: %v", tt.name, err)
			}
			continue
		}
		done := make(chan outcome)
		go func() {
			code, err := f.Wait(t.Context())
			done <- outcome{code, err}
		}()
		if tt.paste {
			if err := f.Paste(" " + address + "\n"); err != nil {
				t.Errorf("%s: %v", tt.name, err)
			}
		} else {
			visit(t, "GET", address, "")
		}
		if tt.ignored {
			visit(t, "GET", f.Callback()+"?code=c&state="+f.State(), "")
		}
		got := <-done
		if got.code != tt.code || (got.err == nil) != (tt.want == "") || got.err != nil && !strings.Contains(got.err.Error(), tt.want) {
			t.Errorf("%s: %+v", tt.name, got)
		}
	}
	f, err := BeginAt(0, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer f.listener.Close()
	_, port, _ := net.SplitHostPort(f.listener.Addr().String())
	n, _ := strconv.Atoi(port)
	if _, err := BeginAt(n, nil); err == nil {
		t.Error("a port that is taken was listened at")
	}
}
