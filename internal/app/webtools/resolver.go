//go:build !testresolver

package webtools

import (
	"context"
	"net/netip"
)

// resolver returns what looks up the hosts of pages; nil means the system's resolver. A build for tests has another one:
// see docs/testing.md.
func resolver(func(string) string) func(context.Context, string) ([]netip.Addr, error) { return nil }
