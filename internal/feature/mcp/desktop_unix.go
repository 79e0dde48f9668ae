//go:build unix && !darwin

package mcp

// unixDesktop reports whether environment variables indicate a desktop.
const unixDesktop = true
