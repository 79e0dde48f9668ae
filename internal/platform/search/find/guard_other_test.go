//go:build !unix

package find

import "testing"

func guarded(t *testing.T, n int) []byte { return make([]byte, n) }
