//go:build !linux

package tasklist

import "context"

// notices returns nil, because change notifications are not supported here.
func notices(context.Context, string) func() bool { return nil }
