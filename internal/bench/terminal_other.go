//go:build !unix

package main

import "errors"

// runTerminal requires a pseudo-terminal.
func runTerminal(int) error { return errors.New("the terminal is measured on Unix only") }
