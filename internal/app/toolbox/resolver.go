//go:build !testresolver

package toolbox

import (
	"context"
	"net/netip"
)

// resolver returns the lookup function for hosts of pages; nil means the system's resolver. A
// test build has another one: see docs/testing.md.
func resolver(func(string) string) func(context.Context, string) ([]netip.Addr, error) { return nil }
