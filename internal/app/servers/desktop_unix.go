//go:build unix && !darwin

package servers

// unixDesktop says that a desktop is known by a variable.
const unixDesktop = true
