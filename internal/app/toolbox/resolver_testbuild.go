//go:build testresolver

package toolbox

import (
	"context"
	"net"
	"net/netip"
)

// resolver returns the lookup function for hosts of pages: the name server at
// ADZE_TEST_RESOLVER, or nil for the system's resolver.
func resolver(getenv func(string) string) func(context.Context, string) ([]netip.Addr, error) {
	server := getenv("ADZE_TEST_RESOLVER")
	if server == "" {
		return nil
	}
	r := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, server)
	}}
	return func(ctx context.Context, host string) ([]netip.Addr, error) { return r.LookupNetIP(ctx, "ip", host) }
}
