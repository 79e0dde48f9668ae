//go:build unix

package tui

import (
	"os"
	"syscall"
	"testing"
	"testing/synctest"
)

// The program takes the terminal again when something else has stopped it, also right after the user did: of the signals that
// resume it, only the one that belongs to Ctrl-Z is known already.
//
// Proves X-120.
func TestStoppedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		changes := make(chan os.Signal)
		suspended, resumed := 0, 0
		c := newConsole(t, 80, 24, "say Never.", func(s *setup) {
			s.Changes = changes
			s.Suspend = func() { suspended++ }
			s.Resume = func() { resumed++ }
		})
		for i := range 3 {
			c.Enter("\x1a")
			changes <- syscall.SIGCONT // of Ctrl-Z
			synctest.Wait()
			if suspended != i+1 || resumed != i {
				t.Fatalf("Ctrl-Z: suspended %d times, resumed %d", suspended, resumed)
			}
			changes <- syscall.SIGCONT // of a stop at once after it
			synctest.Wait()
			if resumed != i+1 {
				t.Fatalf("stopped again: resumed %d times", resumed)
			}
		}
		c.End()
	})
}
