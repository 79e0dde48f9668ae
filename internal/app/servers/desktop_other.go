//go:build !unix || darwin

package servers

// unixDesktop says that there is a desktop without a variable that says so.
const unixDesktop = false
