//go:build !unix

package mcptest

func ignoreSignals() {}
