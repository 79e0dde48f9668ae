//go:build !unix

package main

import "errors"

// runTerminal needs a terminal that it owns both ends of.
func runTerminal(int) error { return errors.New("the terminal is measured on Unix only") }
