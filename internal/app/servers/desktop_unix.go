//go:build unix && !darwin

package servers

// unixDesktop reports whether environment variables indicate a desktop.
const unixDesktop = true
