//go:build !unix

package osproc

// unlinkOpen reports whether an open file can be unlinked.
const unlinkOpen = false
