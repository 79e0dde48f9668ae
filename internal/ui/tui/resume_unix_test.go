//go:build unix

package tui

import (
	"os"
	"syscall"
	"testing"
	"testing/synctest"
)

// TestStoppedAgain checks that the program reclaims the terminal after being stopped
// externally, even right after the user suspended it: only the SIGCONT that belongs to Ctrl-Z
// is ignored.
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
			changes <- syscall.SIGCONT // signal of Ctrl-Z
			synctest.Wait()
			if suspended != i+1 || resumed != i {
				t.Fatalf("Ctrl-Z: suspended %d times, resumed %d", suspended, resumed)
			}
			changes <- syscall.SIGCONT // signal of an immediate second stop
			synctest.Wait()
			if resumed != i+1 {
				t.Fatalf("stopped again: resumed %d times", resumed)
			}
		}
		c.End()
	})
}
