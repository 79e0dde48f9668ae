package web

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strconv"
	"syscall"
	"time"
)

const (
	dialTimeout  = 10 * time.Second
	nextAddrTime = 3 * time.Second // before trying the next address
	maxAddrs     = 4               // maximum number of addresses to try
)

// A dialer connects to vetted addresses.
type dialer struct {
	hosts   Hosts
	resolve func(ctx context.Context, host string) ([]netip.Addr, error)
	connect func(ctx context.Context, addr netip.AddrPort, vet func(netip.Addr) error) (net.Conn, error)
}

// DialContext resolves a host once, vets all its addresses and connects to a vetted address.
func (d *dialer) DialContext(ctx context.Context, _, addr string) (net.Conn, error) {
	host, service, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	port, err := strconv.ParseUint(service, 10, 16)
	if err != nil {
		return nil, err
	}
	named := d.hosts.has(host, service)
	literal, err := netip.ParseAddr(host)
	addrs := []netip.Addr{literal}
	vet := func(a netip.Addr) error { return vet(host, a, named) }
	switch {
	case err != nil:
		if !named {
			host += "." // fully qualified, so that no local search domain applies
		}
		if addrs, err = d.resolve(ctx, host); err != nil {
			return nil, err
		}
		if !named {
			host = host[:len(host)-1]
		}
	case named:
		vet = func(a netip.Addr) error {
			if a != literal {
				return refusef("%s leads elsewhere", host)
			}
			return nil
		}
	}
	for _, a := range addrs {
		if err := vet(a); err != nil {
			return nil, err
		}
	}
	err = errors.New("the host has no address")
	addrs = addrs[:min(len(addrs), maxAddrs)]
	for i, a := range addrs {
		limit := nextAddrTime
		if i == len(addrs)-1 {
			limit = dialTimeout
		}
		limited, cancel := context.WithTimeout(ctx, limit)
		var conn net.Conn
		conn, err = d.connect(limited, netip.AddrPortFrom(plain(a), uint16(port)), vet)
		if cancel(); err == nil {
			return conn, nil
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	return nil, err
}

// plain converts an IPv4-mapped IPv6 address to IPv4.
func plain(a netip.Addr) netip.Addr { return a.Unmap() }

// vet returns an error if connecting to an address of a host is not allowed. A host that the
// user named may be on this machine or in a private network, but not link-local, where cloud
// metadata services are.
func vet(host string, a netip.Addr, named bool) error {
	if a.Is4In6() { // resolvers return this form for A records; the dialer connects over IPv4
		a = a.Unmap()
	}
	c := ClassOf(a)
	if c == Public || named && (c == Loopback || c == Private || c == Shared) {
		return nil
	}
	return refusef("%s leads to %s, which is not on the public internet; nothing was sent to it", host, c)
}

// connectTCP connects to an address. It vets the actual address again when the connection is
// made.
func connectTCP(ctx context.Context, addr netip.AddrPort, vet func(netip.Addr) error) (net.Conn, error) {
	d := net.Dialer{
		ControlContext: func(_ context.Context, _, address string, _ syscall.RawConn) error {
			to, err := netip.ParseAddrPort(address)
			if err != nil {
				return err
			}
			return vet(to.Addr())
		},
	}
	return d.DialContext(ctx, "tcp", addr.String())
}

func lookUp(ctx context.Context, host string) ([]netip.Addr, error) {
	return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
}
