//go:build !unix || darwin

package mcp

// unixDesktop reports whether environment variables indicate a desktop. Here one is always
// assumed.
const unixDesktop = false
