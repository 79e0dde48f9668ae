package sandbox

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func webServer(t *testing.T) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprintf(w, "hello from %s", r.URL.Path) }))
	t.Cleanup(s.Close)
	return s.Listener.Addr().String()
}

func mustDomains(t *testing.T, texts ...string) []Domain {
	t.Helper()
	var list []Domain
	for _, text := range texts {
		d, err := ParseDomain(text)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, d)
	}
	return list
}

func resolveTo(addrs ...string) func(context.Context, string) ([]netip.Addr, error) {
	return func(context.Context, string) ([]netip.Addr, error) {
		var list []netip.Addr
		for _, a := range addrs {
			list = append(list, netip.MustParseAddr(a))
		}
		return list, nil
	}
}

func dialAlways(addr string) func(context.Context, string) (net.Conn, error) {
	return func(context.Context, string) (net.Conn, error) { return net.Dial("tcp", addr) }
}

// Proves PERM-61.
func TestDomains(t *testing.T) {
	for _, tt := range []struct {
		pattern, host string
		port          int
		want          bool
	}{
		{"example.org", "example.org", 443, true},
		{"example.org", "example.org", 80, true},
		{"example.org", "example.org", 22, false},
		{"example.org:22", "example.org", 22, true},
		{"example.org:22", "example.org", 443, false},
		{"Example.ORG.", "example.org", 443, true},
		{"example.org", "www.example.org", 443, false},
		{"example.org", "notexample.org", 443, false},
		{"example.org", "example.org.evil.net", 443, false},
		{"*.example.org", "www.example.org", 443, true},
		{"*.example.org", "a.b.example.org", 443, true},
		{"*.example.org", "example.org", 443, false},
		{"*.example.org", "evilexample.org", 443, false},
		{"10.0.0.5:8080", "10.0.0.5", 8080, true},
		{"[::1]:8080", "::1", 8080, true},
		{"::1", "::1", 443, true},
	} {
		d, err := ParseDomain(tt.pattern)
		if err != nil {
			t.Errorf("%s: %v", tt.pattern, err)
			continue
		}
		if got := d.matches(tt.host, tt.port); got != tt.want {
			t.Errorf("%s on %s:%d: %v", tt.pattern, tt.host, tt.port, got)
		}
	}
	for _, bad := range []string{"", "*", "*.", "*.org", "a b", "example.org\x00.evil.net", "ex%61mple.org", "https://example.org", "user@example.org", "example.org/path", "a..b", "-a.org", "127.1", "0x7f.1", "example.org:0", "example.org:x", "exämple.org", "*.*.org"} {
		if d, err := ParseDomain(bad); err == nil {
			t.Errorf("%q is taken for %+v", bad, d)
		}
	}
}

func TestPublicAddresses(t *testing.T) {
	for addr, want := range map[string]bool{
		"93.184.216.34": true, "2606:2800:220:1::1": true,
		"127.0.0.1": false, "10.1.2.3": false, "172.16.0.1": false, "192.168.1.1": false, "169.254.169.254": false, "100.64.0.1": false, "0.0.0.0": false, "198.18.0.1": false,
		"224.0.0.1": false, "255.255.255.255": false, "192.0.0.1": false, "240.0.0.1": false, "::1": false, "::": false, "fe80::1": false, "fc00::1": false, "fec0::1": false,
		"::ffff:127.0.0.1": false, "::ffff:10.0.0.1": false, "64:ff9b::7f00:1": false, "64:ff9b:1::1": false, "2002:7f00:1::": false, "::7f00:1": false, "ff02::1": false,
	} {
		if got := public(netip.MustParseAddr(addr)); got != want {
			t.Errorf("%s: %v", addr, got)
		}
	}
}

// through sends a request through the proxy and returns the status line and the rest of the
// response.
func through(t *testing.T, n Network, request string) (status, rest string, refused []string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := newProxy(n).serve(t.Context(), l)
	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	io.WriteString(conn, request)
	r := bufio.NewReader(conn)
	status, err = r.ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	if strings.HasPrefix(request, "CONNECT") && strings.Contains(status, " 200 ") {
		r.ReadString('\n')
		io.WriteString(conn, "GET /tunnel HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
	}
	all, _ := io.ReadAll(r)
	return strings.TrimSpace(status), string(all), s.end()
}

// Proves PERM-61.
func TestProxy(t *testing.T) {
	server := webServer(t)
	base := Network{
		Allow: func() []Domain {
			return mustDomains(t, "good.example.org", "*.wide.example.org", "good.example.org:8443", "10.9.9.9")
		},
		Deny:    func() []Domain { return mustDomains(t, "bad.wide.example.org") },
		Judge:   func(host string) (bool, bool) { return host == "rule.example.org", host == "denied.example.org" },
		Resolve: resolveTo("93.184.216.34"), Dial: dialAlways(server),
	}
	private := base
	private.Resolve = resolveTo("93.184.216.34", "192.168.0.1")
	listed := base
	listed.Resolve = resolveTo("10.9.9.9")
	asking := base
	asking.Ask = func(_ context.Context, host string) bool { return host == "yes.example.org" }
	get := func(url, host string) string {
		return "GET " + url + " HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n\r\n"
	}
	connect := func(target string) string { return "CONNECT " + target + " HTTP/1.1\r\nHost: " + target + "\r\n\r\n" }
	for _, tt := range []struct {
		name    string
		network Network
		request string
		want    string // status, or text in the body
		refused string
	}{
		{"plain", base, get("http://good.example.org/a", "good.example.org"), "hello from /a", ""},
		{"tunnel", base, connect("good.example.org:443"), "hello from /tunnel", ""},
		{"upper case and dot", base, connect("GOOD.Example.Org.:443"), "hello from /tunnel", ""},
		{"below", base, connect("a.wide.example.org:443"), "hello from /tunnel", ""},
		{"listed port", base, connect("good.example.org:8443"), "hello from /tunnel", ""},
		{"by rule", base, connect("rule.example.org:443"), "hello from /tunnel", ""},
		{"address of its own", base, connect("10.9.9.9:443"), "hello from /tunnel", ""},
		{"private but listed", listed, connect("good.example.org:443"), "hello from /tunnel", ""},
		{"asked", asking, connect("yes.example.org:443"), "hello from /tunnel", ""},
		{"asked in vain", asking, connect("no.example.org:443"), "403", "the host no.example.org is not allowed"},
		{"nobody to ask", base, connect("no.example.org:443"), "403", "the host no.example.org is not allowed"},
		{"denied below", base, connect("bad.wide.example.org:443"), "403", "the host bad.wide.example.org is denied"},
		{"denied by rule", base, connect("denied.example.org:443"), "403", "the host denied.example.org is denied"},
		{"other port", base, connect("good.example.org:22"), "403", "port 22 of the host good.example.org is not allowed"},
		{"leads inside", private, connect("good.example.org:443"), "403", "the host good.example.org leads to 192.168.0.1, which is not on the internet and not allowed"},
		{"address", base, connect("93.184.216.34:443"), "403", "the address 93.184.216.34 is not allowed"},
		{"loopback", base, connect("127.0.0.1:80"), "403", "the address 127.0.0.1 is not allowed"},
		{"loopback in disguise", base, connect("2130706433:80"), "403", `"2130706433" is not a host name`},
		{"null byte", base, "CONNECT good.example.org\x00.evil.net:443 HTTP/1.1\r\nHost: x\r\n\r\n", "400", ""},
		{"percent", base, connect("good.example.org%00.evil.net:443"), "40", ""},
		{"suffix", base, connect("good.example.org.evil.net:443"), "403", "the host good.example.org.evil.net is not allowed"},
		{"host header lies", base, get("http://evil.net/", "good.example.org"), "403", "the host evil.net is not allowed"},
		{"host header is overruled", base, get("http://good.example.org/a", "evil.net"), "hello from /a", ""},
		{"user in the address", base, get("http://user@good.example.org/", "good.example.org"), "400", ""},
		{"no proxy request", base, get("/", "good.example.org"), "400", ""},
		{"other scheme", base, get("ftp://good.example.org/", "good.example.org"), "400", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			status, rest, refused := through(t, tt.network, tt.request)
			if !strings.Contains(status+"\n"+rest, tt.want) {
				t.Errorf("%s\n%s", status, rest)
			}
			var want []string
			if tt.refused != "" {
				want = []string{"refused the network: " + tt.refused}
			}
			if diff := cmp.Diff(want, refused); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestProxyDialsWhatItVetted checks that the proxy dials the address it vetted: a name that
// resolves differently the second time gains nothing.
func TestProxyDialsWhatItVetted(t *testing.T) {
	var lookups atomic.Int32
	var dialled []string
	n := Network{
		Allow: func() []Domain { return mustDomains(t, "good.example.org") },
		Resolve: func(context.Context, string) ([]netip.Addr, error) {
			if lookups.Add(1) > 1 {
				return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
			}
			return []netip.Addr{netip.MustParseAddr("93.184.216.34")}, nil
		},
		Dial: func(_ context.Context, addr string) (net.Conn, error) {
			dialled = append(dialled, addr)
			return nil, errors.New("refused")
		},
	}
	status, _, _ := through(t, n, "CONNECT good.example.org:443 HTTP/1.1\r\nHost: x\r\n\r\n")
	if !strings.Contains(status, "502") || !cmp.Equal(dialled, []string{"93.184.216.34:443"}) || lookups.Load() != 1 {
		t.Errorf("%s, dialled %q after %d lookups", status, dialled, lookups.Load())
	}
}

func FuzzHostName(f *testing.F) {
	for _, seed := range []string{"example.org", "a.b.c", "127.0.0.1", "x\x00y", "ex%61mple", "a..b", "[::1]", "xn--exmple-cua.org", "-", "a-.org"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		name, err := hostName(text)
		if err != nil {
			return
		}
		if again, err := hostName(name); err != nil || again != name {
			t.Errorf("%q becomes %q, which becomes %q: %v", text, name, again, err)
		}
		if _, err := netip.ParseAddr(name); err == nil || strings.ContainsAny(name, "\x00%/@: \\") {
			t.Errorf("%q is taken for the name %q", text, name)
		}
	})
}
