package web_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"adze/internal/platform/net/web"
	"adze/internal/platform/net/web/webtest"
)

// forbidden lists blocks from the special-purpose registries that must never be connected to,
// with addresses from the ends and middle of each. The list is independent of the
// implementation on purpose.
const forbidden = `
0.0.0.0/8 0.0.0.0 0.0.0.1 0.255.255.255
10.0.0.0/8 10.0.0.0 10.1.2.3 10.255.255.255
100.64.0.0/10 100.64.0.0 100.100.100.200 100.127.255.255
127.0.0.0/8 127.0.0.0 127.0.0.1 127.0.1.1 127.255.255.255
169.254.0.0/16 169.254.0.0 169.254.169.254 169.254.170.2 169.254.255.255
172.16.0.0/12 172.16.0.0 172.17.0.1 172.31.255.255
192.0.0.0/24 192.0.0.0 192.0.0.8 192.0.0.192 192.0.0.255
192.0.2.0/24 192.0.2.0 192.0.2.255
192.31.196.0/24 192.31.196.1
192.52.193.0/24 192.52.193.1
192.88.99.0/24 192.88.99.0 192.88.99.1 192.88.99.255
192.168.0.0/16 192.168.0.0 192.168.1.1 192.168.255.255
192.175.48.0/24 192.175.48.1
198.18.0.0/15 198.18.0.0 198.19.255.255
198.51.100.0/24 198.51.100.0 198.51.100.255
203.0.113.0/24 203.0.113.0 203.0.113.255
224.0.0.0/4 224.0.0.1 239.255.255.255
240.0.0.0/4 240.0.0.0 254.1.1.1 255.255.255.254 255.255.255.255
::/96 :: ::1 ::127.0.0.1 ::169.254.169.254 ::808:808
::ffff:0:0/96 ::ffff:127.0.0.1 ::ffff:10.0.0.1 ::ffff:169.254.169.254 ::ffff:192.168.0.1
::ffff:0:0:0/96 ::ffff:0:127.0.0.1
64:ff9b::/96 64:ff9b:: 64:ff9b::127.0.0.1 64:ff9b::a9fe:a9fe 64:ff9b::808:808
64:ff9b:1::/48 64:ff9b:1:: 64:ff9b:1::7f00:1 64:ff9b:1:ffff::1
100::/64 100:: 100::1
100:0:0:1::/64 100:0:0:1::1
2001::/32 2001:: 2001:0:4136:e378:8000:63bf:3fff:fdd2
2001::/23 2001:1::1 2001:2::1 2001:10::1 2001:20::1 2001:30::1 2001:1ff:ffff::
2001:db8::/32 2001:db8:: 2001:db8:ffff::1
2002::/16 2002:: 2002:7f00:1:: 2002:a9fe:a9fe::1 2002:808:808::1
2620:4f:8000::/48 2620:4f:8000::1
3fff::/20 3fff:: 3fff:fff::1
4000::/3 4000::1
5f00::/16 5f00::1
fc00::/7 fc00:: fc00::1 fd00:ec2::254 fdff:ffff::1
fe80::/10 fe80:: fe80::1 febf:ffff::1
fec0::/10 fec0:: fec0::1 feff:ffff::1
ff00::/8 ff00:: ff02::1 ffff::1
`

// urls lists ways to write URLs for this machine or its network. None of them may even be
// resolved.
const urls = `
http://127.0.0.1/ http://127.1/ http://127.0.1/ http://127.000.000.001/ http://2130706433/ http://017700000001/ http://0x7f000001/
http://0x7f.0x0.0x0.0x1/ http://0x7f.1/ http://0177.0.0.1/ http://0177.0.0.01/ http://0x7f.0.0.1/ http://127.0.0.1./ http://127.0.0.1:80/
http://0/ http://0.0.0.0/ http://00/ http://0x0/ http://0x/ http://1/ http://4294967295/ http://4294967296/ http://256.256.256.256/ http://999999999999/
http://169.254.169.254/latest/meta-data/ http://2852039166/ http://0xa9fea9fe/ http://0251.0376.0251.0376/ http://0xA9.0xFE.0xA9.0xFE/ http://169.254.43518/
http://10.0.0.1/ http://10.1/ http://192.168.1.1/ http://192.168.257/ http://172.16.0.1/ http://100.64.0.1/ http://198.18.0.1/ http://8.8.8.8/ http://1.1.1.1/
http://１２７.０.０.１/ http://127。0。0。1/ http://127．0．0．1/ http://127｡0｡0｡1/ http://①②⑦.⓪.⓪.①/ http://𝟏𝟐𝟕.𝟎.𝟎.𝟏/ http://１６９.254.169.254/
http://[::1]/ http://[::]/ http://[0:0:0:0:0:0:0:1]/ http://[::ffff:127.0.0.1]/ http://[::ffff:7f00:1]/ http://[::127.0.0.1]/ http://[::ffff:a9fe:a9fe]/
http://[fe80::1]/ http://[fe80::1%25eth0]/ http://[::1%25lo]/ http://[fd00:ec2::254]/ http://[64:ff9b::7f00:1]/ http://[2002:7f00:1::]/ http://[ff02::1]/ http://[fec0::1]/
http://[2001:db8::1]/ http://[2606:4700::1111]/ http://[v1.x]/ http://[127.0.0.1]/ http://[]/ http://::1/ http://[::1]:22/ http://[::1]@example.org/
http://localhost/ http://LOCALHOST/ http://localhost./ http://localhost:8080/ http://foo.localhost/ http://foo.LocalHost./ http://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ/ http://ｌｏｃａｌｈｏｓｔ/ http://l%6fcalhost/
http://localhost.localdomain/ http://host.docker.internal/ http://metadata.google.internal/ http://METADATA.google.INTERNAL./ http://instance-data/ http://metadata/ http://kubernetes.default.svc.cluster.local/
http://printer.local/ http://router.lan/ http://nas.home/ http://nas.home.arpa/ http://wiki.corp/ http://git.intranet/ http://db.private/ http://x.onion/ http://x.invalid/ http://intranet/
http://user@127.0.0.1/ http://example.org@127.0.0.1/ http://example.org:80@127.0.0.1/ http://127.0.0.1@example.org/ http://127.0.0.1%23@example.org/ http://127.0.0.1%2f@example.org/
http://example.org\@127.0.0.1/ http:\\127.0.0.1/ http://127.0.0.1\.example.org/ http:/\127.0.0.1/ http://127.0.0.1%00.example.org/ http://127.0.0.1%0d%0aHost:x/ http://127.0.0.1%09/
http:127.0.0.1 http:/127.0.0.1/ http:///127.0.0.1/ //127.0.0.1/ file:///etc/passwd file://localhost/etc/passwd gopher://127.0.0.1:6379/_INFO ftp://127.0.0.1/ dict://127.0.0.1:11211/ ldap://127.0.0.1/
jar:http://127.0.0.1!/ view-source:http://127.0.0.1/ unix:///var/run/docker.sock data:text/html,x javascript:fetch("http://127.0.0.1") ws://127.0.0.1/ about:blank blob:http://127.0.0.1/x
http://127.0.0.1.:80/ http://127.0.0.1..example.org/ http://.127.0.0.1/ http://example.org:80:127.0.0.1/ http://example.org,127.0.0.1/ http://example.org|127.0.0.1/ http://example.org;127.0.0.1/ http://{127.0.0.1}/
`

// A witness listens where forbidden requests would arrive.
type witness struct {
	port     uint16
	accepted atomic.Int32
}

func newWitness(t *testing.T) *witness {
	w := &witness{}
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { w.accepted.Add(1) }))
	t.Cleanup(s.Close)
	s.Config.ConnState = func(net.Conn, http.ConnState) { w.accepted.Add(1) }
	w.port = netip.MustParseAddrPort(s.Listener.Addr().String()).Port()
	return w
}

// A world is a client whose real connections are counted.
type world struct {
	*witness
	answers   [][]netip.Addr // successive resolver results; the last is repeated
	lookups   int
	connected []netip.AddrPort
}

func (w *world) client() *web.Client {
	return web.New(web.Config{
		Resolve: func(context.Context, string) ([]netip.Addr, error) {
			w.lookups++
			return w.answers[min(w.lookups, len(w.answers))-1], nil
		},
		Connect: func(_ context.Context, addr netip.AddrPort, _ func(netip.Addr) error) (net.Conn, error) {
			w.connected = append(w.connected, addr)
			return nil, fmt.Errorf("not connected")
		},
	})
}

// TestNoWayInside checks that no URL and no resolver result leads to a non-public address.
//
// Proves WFT-02.
func TestNoWayInside(t *testing.T) {
	cases := 0
	seen := newWitness(t)
	for _, text := range strings.Fields(urls) {
		cases++
		for _, text := range []string{text, strings.Replace(text, "http:", "https:", 1)} {
			w := &world{witness: seen, answers: [][]netip.Addr{{netip.MustParseAddr("127.0.0.1")}}}
			c := w.client()
			if u, err := c.Check(text); err == nil {
				_, err = c.Get(t.Context(), u, web.FetchOptions{Plain: true})
				t.Errorf("%s was accepted as %s (%v)", text, u, err)
			}
			if w.lookups > 0 || len(w.connected) > 0 {
				t.Errorf("%s was looked up", text)
			}
		}
	}
	good := netip.MustParseAddr("93.184.215.14")
	for line := range strings.Lines(forbidden) {
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		block := netip.MustParsePrefix(fields[0])
		for _, text := range fields[1:] {
			bad := netip.MustParseAddr(text)
			if !block.Contains(bad) && !bad.Is4In6() {
				t.Errorf("%s is not in %s", bad, block)
			}
			if web.ClassOf(bad) == web.Public {
				t.Errorf("%s is public", bad)
			}
			for name, answers := range map[string][][]netip.Addr{
				"alone": {{bad}}, "after a public one": {{good, bad}}, "before a public one": {{bad, good}},
				"among many": {{good, good, good, good, good, bad}},
			} {
				cases++
				w := &world{witness: seen, answers: answers}
				_, err := w.client().Get(t.Context(), at(t, "http://example.org/"), web.FetchOptions{Plain: true})
				if err == nil || !strings.Contains(err.Error(), "not on the public internet") || strings.Contains(err.Error(), text) && len(text) > 3 {
					t.Errorf("%s %s: %v", text, name, err)
				}
				if len(w.connected) > 0 {
					t.Errorf("%s %s: connected to %v", text, name, w.connected)
				}
			}
		}
	}
	if seen.accepted.Load() > 0 {
		t.Error("the witness was reached")
	}
	if t.Logf("%d cases", cases); cases < 150 {
		t.Errorf("only %d cases", cases)
	}
}

// TestTheAddressOfAConnectionIsVetted checks that the address is vetted again when the
// connection is made.
func TestTheAddressOfAConnectionIsVetted(t *testing.T) {
	seen := newWitness(t)
	for _, host := range []string{"127.0.0.1", "[::ffff:127.0.0.1]"} {
		conn, err := web.ConnectTCP(t.Context(), netip.MustParseAddrPort(fmt.Sprintf("%s:%d", host, seen.port)),
			func(a netip.Addr) error { return web.Vet("example.org", a) })
		if err == nil || !strings.Contains(err.Error(), "a loopback address") {
			t.Errorf("%s: %v, %v", host, conn, err)
		}
	}
	if seen.accepted.Load() > 0 {
		t.Error("the witness was reached")
	}
}

// TestRebinding checks that a name that resolves differently the second time is vetted again.
func TestRebinding(t *testing.T) {
	s := webtest.New(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/again", http.StatusFound)
	}))
	cfg := s.Client()
	lookups := 0
	cfg.Resolve = func(_ context.Context, host string) ([]netip.Addr, error) {
		if lookups++; host != "example.org." {
			t.Errorf("%q was looked up", host)
		}
		return []netip.Addr{netip.MustParseAddr([]string{"93.184.215.14", "169.254.169.254"}[min(lookups, 2)-1])}, nil
	}
	_, err := web.New(cfg).Get(t.Context(), at(t, "https://example.org/"), web.FetchOptions{})
	if err == nil || !strings.Contains(err.Error(), "a link-local address") || len(s.Connected()) != 1 {
		t.Errorf("%v, connected to %v", err, s.Connected())
	}
}

// TestRedirectsInside checks that redirects are restricted like URLs.
func TestRedirectsInside(t *testing.T) {
	var to string
	s := webtest.New(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" {
			w.Header()["Location"] = []string{to}
			w.WriteHeader(http.StatusFound)
		}
	}))
	for _, to = range strings.Fields(urls) {
		before := len(s.Connected())
		_, err := web.New(s.Client()).Get(t.Context(), at(t, "https://example.org/"), web.FetchOptions{Plain: true})
		if n := len(s.Connected()) - before; err == nil || n != 1 {
			t.Errorf("%s: %v after %d connections", to, err, n)
		}
	}
}

// TestNamedHosts checks that a private host named by the user is reachable at its port, but
// only at private addresses.
func TestNamedHosts(t *testing.T) {
	hosts, err := web.ParseHosts([]string{"localhost:3000", "dev.internal", "127.0.0.1:9"})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		url, addr string
		want      bool
	}{
		{"http://localhost:3000/", "127.0.0.1", true},
		{"http://localhost:3000/", "::1", true},
		{"https://dev.internal/", "10.0.0.1", true},
		{"https://dev.internal/", "fd00::1", true},
		{"https://dev.internal/", "100.64.0.1", true},
		{"https://dev.internal/", "93.184.215.14", true},
		{"http://127.0.0.1:9/", "10.0.0.1", true}, // never resolved
		{"https://dev.internal/", "169.254.169.254", false},
		{"https://dev.internal/", "0.0.0.0", false},
		{"https://dev.internal/", "ff02::1", false},
		{"https://dev.internal/", "64:ff9b::7f00:1", false},
		{"https://dev.internal/", "192.0.0.192", false},
	} {
		connected := ""
		c := web.New(web.Config{
			Hosts: hosts,
			Resolve: func(context.Context, string) ([]netip.Addr, error) {
				return []netip.Addr{netip.MustParseAddr(tt.addr)}, nil
			},
			Connect: func(_ context.Context, a netip.AddrPort, vet func(netip.Addr) error) (net.Conn, error) {
				if err := vet(a.Addr()); err != nil {
					t.Errorf("%s was not vetted: %v", a, err)
				}
				connected = a.String()
				return nil, fmt.Errorf("connected")
			},
		})
		u, err := c.Check(tt.url)
		if err != nil {
			t.Fatal(err)
		}
		c.Get(t.Context(), u, web.FetchOptions{}) // ok: nothing answers
		if (connected != "") != tt.want {
			t.Errorf("%s at %s: connected to %q", tt.url, tt.addr, connected)
		}
	}
}

func at(t testing.TB, text string) *url.URL {
	t.Helper()
	u, err := web.Hosts{}.Check(text)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// TestPublicAddresses checks that addresses adjacent to non-public blocks are public.
func TestPublicAddresses(t *testing.T) {
	for _, text := range strings.Fields(`1.0.0.0 8.8.8.8 9.255.255.255 11.0.0.0 93.184.215.14 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0 169.253.255.255
		169.255.0.0 172.15.255.255 172.32.0.0 191.255.255.255 192.0.1.0 192.0.3.0 192.88.98.255 192.88.100.0 192.167.255.255 192.169.0.0 198.17.255.255 198.20.0.0
		198.51.99.255 198.51.101.0 203.0.112.255 203.0.114.0 223.255.255.255 2001:200:: 2001:db7:ffff:: 2001:db9:: 2003:: 2400:cb00:: 2606:2800:220:1::1 2620:4f:8001:: 2a00:: 3ffe::`) {
		if got := web.ClassOf(netip.MustParseAddr(text)); got != web.Public {
			t.Errorf("%s is %s", text, got)
		}
	}
}
