package sandbox

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"adze/internal/platform/net/contacts"
)

// A Network configures the hosts that confined programs may reach, always through the sandbox's
// proxy. If no host can be allowed, commands have no network.
type Network struct {
	// On reports whether any host can be reached; nil means yes.
	On func() bool
	// Allow and Deny return hosts; Deny takes precedence. Each may be nil.
	Allow, Deny func() []Domain
	// Judge, if non-nil, reports whether rules allow or deny a host, which includes its port
	// unless that is 80 or 443.
	Judge func(host string) (allow, deny bool)
	// Ask asks, once per host, whether a host that is neither allowed nor denied may be
	// reached; nil means no.
	Ask func(ctx context.Context, host string) bool
	// Resolve and Dial replace the system's functions in tests.
	Resolve func(ctx context.Context, host string) ([]netip.Addr, error)
	Dial    func(ctx context.Context, addr string) (net.Conn, error)
}

// on reports whether any host can be reached.
func (n *Network) on() bool {
	if n.On != nil && !n.On() {
		return false
	}
	return n.Ask != nil || n.Judge != nil || n.Allow != nil && len(n.Allow()) > 0
}

const dialTimeout = 30 * time.Second

// A refusal is the reason a host was refused, for the program that requested it.
type refusal struct{ text string }

func (r *refusal) Error() string { return r.text }

// vet returns the host to dial, or an error if it is refused.
func (p *proxy) vet(ctx context.Context, host string, port int) (name string, addr netip.Addr, err error) {
	if addr, err := netip.ParseAddr(host); err == nil {
		addr = addr.Unmap()
		if listed(p.allow(), addr.String(), port) && !denied(p.deny(), addr.String()) {
			return "", addr, nil
		}
		return "", netip.Addr{}, &refusal{fmt.Sprintf("the address %s is not allowed", addr)}
	}
	name, err = hostName(host)
	if err != nil {
		return "", netip.Addr{}, &refusal{err.Error()}
	}
	judged := name
	if port != 80 && port != webPort {
		judged = net.JoinHostPort(name, strconv.Itoa(port))
	}
	allow, deny := p.judge(judged)
	switch {
	case deny || denied(p.deny(), name):
		return "", netip.Addr{}, &refusal{fmt.Sprintf("the host %s is denied", name)}
	case allow || listed(p.allow(), name, port):
		return name, netip.Addr{}, nil
	case port != 80 && port != 443:
		return "", netip.Addr{}, &refusal{fmt.Sprintf("port %d of the host %s is not allowed", port, name)}
	case p.ask(ctx, name):
		return name, netip.Addr{}, nil
	}
	return "", netip.Addr{}, &refusal{fmt.Sprintf("the host %s is not allowed", name)}
}

func listed(domains []Domain, host string, port int) bool {
	return slices.ContainsFunc(domains, func(d Domain) bool { return d.matches(host, port) })
}

// denied reports whether a host is denied at any port.
func denied(domains []Domain, host string) bool {
	return slices.ContainsFunc(domains, func(d Domain) bool {
		if d.port == 0 {
			d.port = webPort
		}
		return d.matches(host, d.port)
	})
}

const webPort = 443

// dial connects to a host after vetting it. It resolves the name once, vets all addresses and
// dials a vetted one.
func (p *proxy) dial(ctx context.Context, host string, port int) (net.Conn, error) {
	name, addr, err := p.vet(ctx, host, port)
	if err != nil {
		return nil, err
	}
	addrs := []netip.Addr{addr}
	if name != "" {
		if addrs, err = p.network.Resolve(ctx, name); err != nil {
			return nil, fmt.Errorf("looking up %s: %w", name, err)
		}
		for _, a := range addrs {
			if a = a.Unmap(); !public(a) && !listed(p.allow(), a.String(), port) {
				return nil, &refusal{fmt.Sprintf("the host %s leads to %s, which is not on the internet and not allowed", name, a)}
			}
		}
	}
	err = fmt.Errorf("the host %s has no address", host)
	contacts.Add(net.JoinHostPort(host, strconv.Itoa(port)), contacts.Commands)
	for _, a := range addrs {
		var conn net.Conn
		if conn, err = p.network.Dial(ctx, netip.AddrPortFrom(a.Unmap(), uint16(port)).String()); err == nil {
			return conn, nil
		}
	}
	return nil, err
}

func lookUp(ctx context.Context, host string) ([]netip.Addr, error) {
	return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
}

func dialTCP(ctx context.Context, addr string) (net.Conn, error) {
	return (&net.Dialer{Timeout: dialTimeout}).DialContext(ctx, "tcp", addr)
}

// netAccess is a command's access to the network.
type netAccess struct {
	proxy  string // proxy address as the command sees it; empty means no network
	socket string // socket on which the helper hands over the inner listener, if the network is separate
	allow  []Domain
	end    func() []string
}

// listed reports whether a local host name is allowed outside. It must not be treated as local
// inside then: programs connect to it through the proxy.
func (n *netAccess) listed(host string) bool {
	return slices.ContainsFunc(n.allow, func(d Domain) bool { return !d.wild && d.host == host })
}

// insideProxy is the proxy's address in a separate network namespace.
const insideProxy = "127.0.0.1:3128"

// reach sets up a command's network access, if it has any.
func (s *Sandbox) reach(ctx context.Context, t Tier) (*netAccess, error) {
	if !s.config.Network.on() || t != Bubblewrap && t != Seatbelt {
		return &netAccess{end: func() []string { return nil }}, nil
	}
	p := s.sharedProxy()
	if t == Seatbelt {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		served := p.serve(ctx, l)
		return &netAccess{proxy: l.Addr().String(), allow: p.allow(), end: served.end}, nil
	}
	dir, err := s.temp()
	if err != nil {
		return nil, err
	}
	own := (&policy{temp: dir}).private()
	path := filepath.Join(own, strconv.FormatInt(p.next.Add(1), 10))
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("opening the way to the network: %w", err)
	}
	return &netAccess{proxy: insideProxy, socket: path, allow: p.allow(), end: p.handOver(ctx, l)}, nil
}

func (s *Sandbox) sharedProxy() *proxy {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.proxy == nil {
		s.proxy = newProxy(s.config.Network)
	}
	return s.proxy
}

// handOver waits for a network namespace's listener to arrive at l, and serves it. The returned
// function stops it and returns the refused hosts.
func (p *proxy) handOver(ctx context.Context, l *net.UnixListener) func() []string {
	var mu sync.Mutex
	var served *service
	var wg sync.WaitGroup
	wg.Go(func() {
		conn, err := l.AcceptUnix()
		l.Close() // ok: only one is needed, and this removes the socket
		if err != nil {
			return
		}
		defer conn.Close()
		inner, err := receiveListener(conn)
		if err != nil {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		served = p.serve(ctx, inner)
	})
	return func() []string {
		l.Close() // ok: may be closed
		wg.Wait()
		mu.Lock()
		defer mu.Unlock()
		if served == nil {
			return nil
		}
		return served.end()
	}
}

// errNoListener means that the helper did not send a listener.
var errNoListener = errors.New("no listener was handed over")

// listenerOf returns the listener behind a file descriptor.
func listenerOf(fd int) (net.Listener, error) {
	f := os.NewFile(uintptr(fd), "listener")
	defer f.Close()
	return net.FileListener(f)
}
