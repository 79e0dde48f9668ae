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
	nextAddrTime = 3 * time.Second // after which another address is tried
	maxAddrs     = 4               // that are tried
)

// A dialer connects to vetted addresses.
type dialer struct {
	hosts   Hosts
	resolve func(ctx context.Context, host string) ([]netip.Addr, error)
	connect func(ctx context.Context, addr netip.AddrPort, vet func(netip.Addr) error) (net.Conn, error)
}

// DialContext looks a host up once, vets all its addresses, and connects to one of those that it vetted.
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
			host += "." // a name of the internet, not of the network that this machine is in
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

// plain returns an IPv4 address without the IPv6 form that resolvers give it.
func plain(a netip.Addr) netip.Addr { return a.Unmap() }

// vet returns why no connection may be made to an address of a host, or nil. A host that the user named may be on this
// machine or in a private network, but is not where machines are told their secrets.
func vet(host string, a netip.Addr, named bool) error {
	if a.Is4In6() { // what a resolver answers for A records; see the dialer, which connects over IPv4
		a = a.Unmap()
	}
	c := ClassOf(a)
	if c == Public || named && (c == Loopback || c == Private || c == Shared) {
		return nil
	}
	return refusef("%s leads to %s, which is not on the public internet; nothing was sent to it", host, c)
}

// connectTCP connects to an address. That it is a vetted one is checked once more when the connection is made.
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
