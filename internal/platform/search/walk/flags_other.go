//go:build !unix

package walk

import "os"

// Elsewhere nothing waits on opening, and links show in the listing of their directory.
const (
	openFlags = os.O_RDONLY
	noFollow  = 0
)
