//go:build !unix

package osproc

// unlinkOpen says that an open file can lose its name.
const unlinkOpen = false
