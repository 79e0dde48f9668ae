package web_test

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"adze/internal/platform/net/web"
	"adze/internal/platform/net/web/webtest"
)

// handler responds as the tests below request.
func handler(w http.ResponseWriter, r *http.Request) {
	say := func(name, value string) { w.Header().Set(name, value) }
	to := func(where string) { say("Location", where); w.WriteHeader(http.StatusFound) }
	switch path, arg, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/"); path {
	case "echo":
		say("Content-Type", "text/plain; charset=utf-8")
		r.Header.Write(w)
	case "hops":
		if n, _ := strconv.Atoi(arg); n > 0 {
			to(fmt.Sprint("/hops/", n-1))
		}
		fmt.Fprint(w, "here")
	case "loop":
		to("/loop")
	case "to":
		to(r.URL.Query().Get("u"))
	case "long":
		to("/" + strings.Repeat("a", 2000))
	case "nowhere":
		w.WriteHeader(http.StatusFound)
	case "large": // declares its size
		say("Content-Length", "5368709120")
		w.WriteHeader(http.StatusOK)
	case "endless":
		for w.Header().Set("Content-Type", "text/plain"); ; {
			if _, err := w.Write(bytes.Repeat([]byte("x"), 1<<20)); err != nil {
				return
			}
		}
	case "bomb":
		say("Content-Encoding", "gzip")
		w.Write(bomb())
	case "zipped":
		say("Content-Encoding", arg)
		switch arg {
		case "gzip":
			z := gzip.NewWriter(w)
			z.Write([]byte("packed"))
			z.Close()
		case "deflate":
			z := zlib.NewWriter(w)
			z.Write([]byte("packed"))
			z.Close()
		case "broken":
			say("Content-Encoding", "gzip")
			w.Write([]byte("not gzip at all"))
		}
	case "empty":
		say("Content-Encoding", "gzip")
	case "status":
		n, _ := strconv.Atoi(arg)
		say("Retry-After", "30")
		w.WriteHeader(n)
		io.WriteString(w, strings.Repeat("no ", 100_000))
	case "blocked":
		say("X-Proxy-Error", "blocked-by-allowlist")
		w.WriteHeader(http.StatusForbidden)
	case "personal":
		say("Set-Cookie", "id=1")
	case "private":
		say("Cache-Control", "max-age=60, Private")
	case "file":
		say("Content-Disposition", `attachment; filename="../../x.zip"`)
	case "hang":
		<-r.Context().Done()
	case "drip":
		for r.Context().Err() == nil {
			w.Write([]byte("x"))
			http.NewResponseController(w).Flush()
			time.Sleep(20 * time.Millisecond)
		}
	case "headers":
		for i := range 3000 {
			say(fmt.Sprint("X-", i), strings.Repeat("h", 200))
		}
	}
}

// bomb is a small body that expands to a gigabyte.
func bomb() []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	block := make([]byte, 1<<20)
	for range 16 {
		z.Write(block)
	}
	z.Close()
	return bytes.Repeat(b.Bytes(), 64) // members of one stream
}

// Proves WFT-05, WFT-06, WFT-07, WFT-08.
func TestGet(t *testing.T) {
	s := webtest.New(t, http.HandlerFunc(handler))
	const at = "https://a.example.org"
	tests := []struct{ name, url, want string }{ // want is a substring of the body, or "!" and a substring of the error
		{"no traces", at + "/echo", "Accept: text/markdown, text/html;q=0.9"},
		{"own name", at + "/echo", "User-Agent: adze/test"},
		{"ten hops", at + "/hops/10", "here"},
		{"eleven hops", at + "/hops/11", "!redirects more than 10 times"},
		{"loop", at + "/loop", "!redirects more than 10 times"},
		{"to www", at + "/to?u=https://www.a.example.org/hops/0", "here"},
		{"from www", "https://www.example.org/to?u=//example.org/hops/0", "here"},
		{"another host", at + "/to?u=https://b.example.org/x", "!redirects elsewhere, to https://b.example.org/x (status 302)"},
		{"another port", at + "/to?u=https://a.example.org:8443/x", "!redirects elsewhere"},
		{"to http", at + "/to?u=http://a.example.org/x", "!elsewhere, to http://a.example.org/x"},
		{"with a password", at + "/to?u=https://u:p@a.example.org/x", "!cannot be followed: the URL has a user name"},
		{"to an address", at + "/to?u=http://169.254.169.254/", "!cannot be followed: 169.254.169.254 is an address"},
		{"to a file", at + "/to?u=file:///etc/passwd", `!cannot be followed: only http and https`},
		{"a bad location", at + "/to?u=https://a%2500.example.org", "!cannot be followed"},
		{"a location with control characters", at + "/to?u=/x%09y", "!cannot be followed: the URL has a control"},
		{"a long location", at + "/long", "!at most 2000"},
		{"no location", at + "/nowhere", "!without a Location"},
		{"declared size", at + "/large", "!has 5368709120 bytes; at most 10485760"},
		{"endless", at + "/endless", "!has more than 10485760 bytes"},
		{"bomb", at + "/bomb", "!has more than 10485760 bytes"},
		{"gzip", at + "/zipped/gzip", "packed"},
		{"deflate", at + "/zipped/deflate", "packed"},
		{"unknown encoding", at + "/zipped/br", `!unrequested encoding "br"`},
		{"twice", at + "/zipped/gzip,%20gzip", "!unrequested encoding"},
		{"broken gzip", at + "/zipped/broken", "!cannot be read"},
		{"empty gzip", at + "/empty", ""},
		{"egress", at + "/blocked", "!outbound policy blocks a.example.org. Do not try again"},
		{"huge headers", at + "/headers", "!"},
		{"http is https", "http://a.example.org/hops/0", "here"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := web.New(s.Client())
			u, err := c.Check(tt.url)
			if err != nil {
				t.Fatal(err)
			}
			r, err := c.Get(t.Context(), u, web.FetchOptions{})
			part, fails := strings.CutPrefix(tt.want, "!")
			switch {
			case fails && (err == nil || !strings.Contains(err.Error(), part)):
				t.Errorf("got %v, want %q", err, part)
			case !fails && (err != nil || !strings.Contains(string(r.Body), part)):
				t.Errorf("got %v, %v, want %q", r, err, part)
			case !fails && (strings.Contains(string(r.Body), "Referer") || strings.Contains(string(r.Body), "Cookie")):
				t.Errorf("the request says too much: %s", r.Body)
			}
		})
	}
	for _, a := range s.Connected() {
		if a.Port() != 443 || a.Addr().String() != webtest.PublicAddr {
			t.Errorf("connected to %s", a)
		}
	}
}

func TestFollowOnlyWithLeave(t *testing.T) {
	s := webtest.New(t, http.HandlerFunc(handler))
	asked := ""
	no := web.FetchOptions{Follow: func(u *url.URL) bool { asked += u.String(); return false }}
	_, err := web.New(s.Client()).Get(t.Context(), at(t, "https://example.org/hops/2"), no)
	var moved *web.Redirect
	if !errors.As(err, &moved) || moved.To != "https://example.org/hops/1" || asked != moved.To || len(s.Connected()) != 1 {
		t.Errorf("%v, asked about %q", err, asked)
	}
}

func TestResponses(t *testing.T) {
	s := webtest.New(t, http.HandlerFunc(handler))
	get := func(path string) *web.Response {
		r, err := web.New(s.Client()).Get(t.Context(), at(t, "https://example.org/"+path), web.FetchOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	if r := get("status/503"); r.Status != 503 || r.RetryAfter != "30" || len(r.Body) != 64<<10 {
		t.Errorf("%d, %q, %d bytes", r.Status, r.RetryAfter, len(r.Body))
	}
	if r := get("echo"); r.Type != "text/plain" || r.ContentType != "text/plain; charset=utf-8" || r.Personal {
		t.Errorf("%+v", r)
	}
	if !get("personal").Personal || !get("private").Personal {
		t.Error("a personal response was not recognised")
	}
	if r := get("file"); r.Name != "../../x.zip" {
		t.Errorf("the server proposes %q", r.Name)
	}
}

// TestFailures checks that errors identify the kind of network failure.
//
// Proves WFT-08.
func TestFailures(t *testing.T) {
	s := webtest.New(t, http.HandlerFunc(handler))
	other := webtest.New(t, http.HandlerFunc(handler))
	tests := []struct {
		name, want string
		change     func(*web.Config)
	}{
		{"unknown authority", "TLS: the certificate of example.org is signed by an unknown authority", func(c *web.Config) { c.Roots = nil }},
		{"another authority", "TLS: the certificate", func(c *web.Config) { c.Roots = other.Roots }},
		{"no certificates", "unreadable", func(c *web.Config) { c.Roots = func() (*x509.CertPool, error) { return nil, errors.New("unreadable") } }},
		{"no such host", "DNS: no host example.org", func(c *web.Config) {
			c.Resolve = func(_ context.Context, h string) ([]netip.Addr, error) {
				return nil, &net.DNSError{Err: "no such host", Name: h, IsNotFound: true}
			}
		}},
		{"no answer of the resolver", "DNS: example.org could not be looked up (timeout)", func(c *web.Config) {
			c.Resolve = func(_ context.Context, h string) ([]netip.Addr, error) {
				return nil, &net.DNSError{Err: "timeout", Name: h, IsTimeout: true}
			}
		}},
		{"no address", "the host has no address", func(c *web.Config) {
			c.Resolve = func(context.Context, string) ([]netip.Addr, error) { return nil, nil }
		}},
		{"refused", "example.org refuses the connection", connectTo("127.0.0.1:1")},
		{"not TLS", "TLS: example.org does not speak https", connectTo(listen(t, "SSH-2.0-OpenSSH_9.2\r\n"))},
		{"not HTTP", "example.org does not speak HTTP", connectTo(listen(t, "SSH-2.0-OpenSSH_9.2\r\n\r\n"))},
		{"garbage in HTTP/2", "", connectTo(listen(t, "HTTP/2.0 200\r\n\x00\x00\x04\x04\x00"))},
		{"a flood of 1xx", "", connectTo(listen(t, strings.Repeat("HTTP/1.1 103 Early Hints\r\nLink: <x>\r\n\r\n", 20_000)))},
		{"endless headers", "", connectTo(listen(t, "HTTP/1.1 200 OK\r\n"+strings.Repeat("X: "+strings.Repeat("y", 1000)+"\r\n", 2000)))},
		{"closed", "EOF", connectTo(listen(t, ""))},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cfg := s.Client()
			tt.change(&cfg)
			text := "https://example.org/echo"
			if strings.Contains(tt.name, "H") || tt.name == "a flood of 1xx" || tt.name == "endless headers" || tt.name == "closed" {
				cfg.Hosts, _ = web.ParseHosts([]string{"example.org:80"}) // ok: the host is valid
				text = "http://example.org/echo"
			}
			c := web.New(cfg)
			u, err := c.Check(text)
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			r, err := c.Get(ctx, u, web.FetchOptions{})
			if err == nil || ctx.Err() != nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, %v, want %q", r, err, tt.want)
			}
		})
	}
}

func connectTo(addr string) func(*web.Config) {
	return func(c *web.Config) {
		c.Connect = func(ctx context.Context, _ netip.AddrPort, _ func(netip.Addr) error) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "tcp", addr)
		}
	}
}

// listen answers the first data on every connection with a text and closes the connection. It
// waits for data because an HTTP client's reaction to a response before its request depends on
// timing.
func listen(t *testing.T, text string) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			conn.SetReadDeadline(time.Now().Add(time.Second))
			conn.Read(make([]byte, 4096)) // ok: the client may be gone
			io.WriteString(conn, text)    // ok: likewise
			conn.(*net.TCPConn).CloseWrite()
			io.Copy(io.Discard, conn) // ok: until the client closes
			conn.Close()
		}
	}()
	return l.Addr().String()
}

// TestSlowServers checks that neither a deliberately slow server nor invalid HTTP/2 responses
// block the call.
//
// Proves WFT-06.
func TestSlowServers(t *testing.T) {
	hosts, err := web.ParseHosts([]string{"slow.example.org"})
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		head, drip, want string
		most             time.Duration
	}{
		"headers": {"HTTP/1.1 200 OK\r\nX: ", "x", "slow.example.org does not answer in time", 31 * time.Second},
		"body":    {"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n", "x", "slow.example.org did not answer completely within 1m0s", 61 * time.Second},
		"silence": {"", "", "slow.example.org does not answer in time", 31 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := web.New(web.Config{
					Hosts: hosts,
					Resolve: func(context.Context, string) ([]netip.Addr, error) {
						return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
					},
					Connect: func(context.Context, netip.AddrPort, func(netip.Addr) error) (net.Conn, error) {
						client, server := net.Pipe()
						go func() {
							server.Read(make([]byte, 4096)) // ok: the request
							go io.Copy(io.Discard, server)  // ok: until it is closed
							_, err := io.WriteString(server, tt.head)
							for err == nil && tt.drip != "" {
								time.Sleep(time.Second)
								_, err = io.WriteString(server, tt.drip)
							}
						}()
						return client, nil
					},
				})
				u, err := c.Check("http://slow.example.org/")
				if err != nil {
					t.Fatal(err)
				}
				began := time.Now()
				if _, err := c.Get(t.Context(), u, web.FetchOptions{}); err == nil || err.Error() != tt.want || time.Since(began) > tt.most {
					t.Errorf("%v after %v", err, time.Since(began))
				}
				time.Sleep(2 * time.Second) // until the server has noticed
			})
		})
	}
}

func TestGarbageInHTTP2(t *testing.T) {
	s := webtest.New(t, http.HandlerFunc(handler))
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{GetCertificate: s.TLS.GetCertificate, NextProtos: []string{"h2"}})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			// Settings, followed by a frame of a megabyte for a nonexistent stream.
			io.WriteString(conn, "\x00\x00\x00\x04\x00\x00\x00\x00\x00\x0f\xff\xff\x00\x00\x7f\xff\xff\xff"+strings.Repeat("garbage", 1000)) // ok: the client may be gone
			conn.Close()
		}
	}()
	cfg := s.Client()
	connectTo(l.Addr().String())(&cfg)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if r, err := web.New(cfg).Get(ctx, at(t, "https://example.org/"), web.FetchOptions{}); err == nil || ctx.Err() != nil {
		t.Errorf("%v, %v", r, err)
	}
}

// Proves WFT-01.
func TestFallback(t *testing.T) {
	s := webtest.New(t, http.HandlerFunc(handler))
	s.ServePlain(t, http.HandlerFunc(handler))
	cfg := s.Client()
	cfg.Connect = func(ctx context.Context, a netip.AddrPort, vet func(netip.Addr) error) (net.Conn, error) {
		if a.Port() == 443 {
			return (&net.Dialer{}).DialContext(ctx, "tcp", "127.0.0.1:1")
		}
		return s.Connect(ctx, a, vet)
	}
	u := at(t, "http://example.org/hops/3")
	if r, err := web.New(cfg).Get(t.Context(), u, web.FetchOptions{Plain: true}); err != nil || r.URL != "http://example.org/hops/0" {
		t.Errorf("with leave: %v, %v", r, err)
	}
	if r, err := web.New(cfg).Get(t.Context(), u, web.FetchOptions{}); err == nil || !strings.Contains(err.Error(), "only for hosts that the user allowed") {
		t.Errorf("without leave: %v, %v", r, err)
	}
	cfg.Roots = nil // an invalid certificate must not cause a fallback to http
	cfg.Connect = s.Connect
	if r, err := web.New(cfg).Get(t.Context(), u, web.FetchOptions{Plain: true}); err == nil || !strings.Contains(err.Error(), "unknown authority") {
		t.Errorf("with a certificate that is not trusted: %v, %v", r, err)
	}
}

// Proves WFT-15.
func TestAbort(t *testing.T) {
	s := webtest.New(t, http.HandlerFunc(handler))
	stuck := func(ctx context.Context) { <-ctx.Done() }
	for name, change := range map[string]func(*web.Config){
		"the resolver": func(c *web.Config) {
			c.Resolve = func(ctx context.Context, _ string) ([]netip.Addr, error) { stuck(ctx); return nil, ctx.Err() }
		},
		"the connection": func(c *web.Config) {
			c.Connect = func(ctx context.Context, _ netip.AddrPort, _ func(netip.Addr) error) (net.Conn, error) {
				stuck(ctx)
				return nil, ctx.Err()
			}
		},
		"the handshake": connectTo(listen(t, "")),
		"hang":          func(*web.Config) {},
		"drip":          func(*web.Config) {},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := s.Client()
			change(&cfg)
			ctx, cancel := context.WithCancelCause(t.Context())
			stop := errors.New("stopped")
			time.AfterFunc(100*time.Millisecond, func() { cancel(stop) })
			began := time.Now()
			_, err := web.New(cfg).Get(ctx, at(t, "https://example.org/"+name), web.FetchOptions{})
			if took := time.Since(began); !errors.Is(err, stop) && name != "the handshake" || took > time.Minute {
				t.Errorf("%v after %v", err, took)
			}
		})
	}
}

// TestProxy checks that a proxy resolves names itself and that its block responses are
// reported.
//
// Proves WFT-02, WFT-07.
func TestProxy(t *testing.T) {
	s := webtest.New(t, http.HandlerFunc(handler))
	var asked []string
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Method+" "+r.Host)
		switch {
		case strings.HasPrefix(r.Host, "blocked."):
			w.Header().Set("X-Proxy-Error", "blocked-by-allowlist")
			w.WriteHeader(http.StatusForbidden)
		case strings.HasPrefix(r.Host, "login."):
			w.WriteHeader(http.StatusProxyAuthRequired)
		default:
			out, err := net.Dial("tcp", s.Listener.Addr().String())
			if err != nil {
				t.Error(err)
				return
			}
			in, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			io.WriteString(in, "HTTP/1.1 200 OK\r\n\r\n") // ok: the client sees it
			go func() { io.Copy(out, in); out.Close() }()
			go func() { io.Copy(in, out); in.Close() }()
		}
	}))
	defer proxy.Close()
	cfg := s.Client()
	cfg.Resolve = func(_ context.Context, host string) ([]netip.Addr, error) {
		t.Errorf("%s was looked up", host)
		return nil, errors.New("not here")
	}
	cfg.Proxy = func(*http.Request) (*url.URL, error) { return url.Parse(proxy.URL) }
	for text, want := range map[string]string{
		"https://example.org/hops/2": "", "https://blocked.example.org/": "outbound policy blocks blocked.example.org",
		"https://login.example.org/": "Proxy Authentication Required",
	} {
		r, err := web.New(cfg).Get(t.Context(), at(t, text), web.FetchOptions{})
		if want == "" && (err != nil || string(r.Body) != "here") || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, %v", text, r, err)
		}
	}
	if len(asked) != 5 || len(s.Connected()) != 0 {
		t.Errorf("the proxy was asked for %v", asked)
	}
}
