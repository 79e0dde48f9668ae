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

	"adze/internal/platform/contacts"
)

// A Network says which hosts confined programs may reach, always through a proxy of ours. If nothing can be
// allowed there is no network.
type Network struct {
	// On reports whether any host can be reached; nil means yes.
	On func() bool
	// Allow and Deny return hosts; one in both is denied. Each may be nil.
	Allow, Deny func() []Domain
	// Judge says whether rules allow or deny a host, which has its port behind it unless that is 80 or 443. It may be nil.
	Judge func(host string) (allow, deny bool)
	// Ask asks, once, whether a host that is in neither may be reached; nil means no.
	Ask func(ctx context.Context, host string) bool
	// Resolve and Dial replace those of the system, for tests.
	Resolve func(ctx context.Context, host string) ([]netip.Addr, error)
	Dial    func(ctx context.Context, addr string) (net.Conn, error)
}

// on reports whether anything can be reached at all.
func (n *Network) on() bool {
	if n.On != nil && !n.On() {
		return false
	}
	return n.Ask != nil || n.Judge != nil || n.Allow != nil && len(n.Allow()) > 0
}

const dialTimeout = 30 * time.Second

// A refusal is why a host is not reached, for the program that asked for it.
type refusal struct{ text string }

func (r *refusal) Error() string { return r.text }

// vet returns the host as it is dialled, or why it is not.
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

// denied reports whether a host is denied, at whichever port.
func denied(domains []Domain, host string) bool {
	return slices.ContainsFunc(domains, func(d Domain) bool {
		if d.port == 0 {
			d.port = webPort
		}
		return d.matches(host, d.port)
	})
}

const webPort = 443

// dial connects to a host after it was vetted. Its addresses are looked up once, all of them are vetted,
// and one of those is dialled.
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

// netAccess is a command's way to the network.
type netAccess struct {
	proxy  string // the address of the proxy as the command sees it; empty means no network
	socket string // where the helper hands over the listener of the inside, if it is another network
	allow  []Domain
	end    func() []string
}

// listed reports whether a name of this machine is among what may be reached outside. It must not be taken for the inside
// then: programs connect to it through the proxy.
func (n *netAccess) listed(host string) bool {
	return slices.ContainsFunc(n.allow, func(d Domain) bool { return !d.wild && d.host == host })
}

// insideProxy is where the proxy listens in a network of its own.
const insideProxy = "127.0.0.1:3128"

// reach opens a command's way to the network, if it has one.
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
	own := (&policy{temp: dir}).own()
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

// handOver waits for the listener of a network namespace to arrive at l, and serves it. The returned
// function ends that and returns what was refused.
func (p *proxy) handOver(ctx context.Context, l *net.UnixListener) func() []string {
	var mu sync.Mutex
	var served *service
	var wg sync.WaitGroup
	wg.Go(func() {
		conn, err := l.AcceptUnix()
		l.Close() // ok: one is enough, and this removes its name
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
		l.Close() // ok: it may be closed
		wg.Wait()
		mu.Lock()
		defer mu.Unlock()
		if served == nil {
			return nil
		}
		return served.end()
	}
}

// errNoListener says that what was handed over is of no use.
var errNoListener = errors.New("no listener was handed over")

// listenerOf returns the listener behind a file descriptor.
func listenerOf(fd int) (net.Listener, error) {
	f := os.NewFile(uintptr(fd), "listener")
	defer f.Close()
	return net.FileListener(f)
}
