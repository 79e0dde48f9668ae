package app

import (
	"fmt"
	"os"
	"testing"
)

// TestMain gives the tests a home directory of their own: commands start in a
// shell that reads the start-up files there.
func TestMain(m *testing.M) {
	home, err := os.MkdirTemp("", "adze-home")
	if err == nil {
		err = os.Setenv("HOME", home)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	os.RemoveAll(home) // ok: it is in a temporary directory
	os.Exit(code)
}
