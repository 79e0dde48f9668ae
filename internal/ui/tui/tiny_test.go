package tui

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// TestTinyTerminals checks that everything works in a terminal that is far too small: sending,
// answering questions, opening and closing lists and long texts. The screen never gets a row
// that is too wide, which the test terminal would show.
//
// Proves X-193.
func TestTinyTerminals(t *testing.T) {
	for _, size := range [][2]int{{1, 1}, {1, 5}, {2, 2}, {3, 2}, {5, 1}, {10, 5}, {19, 5}, {80, 1}} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newConsole(t, size[0], size[1], "use Do {\"command\":\"dig\"}\n---\nsay A long answer, which does not fit.", nil)
				press := func(keys string) {
					t.Helper()
					c.Enter(keys)
					time.Sleep(3 * time.Second) // a question has to be seen
					synctest.Wait()
				}
				press("/mod")
				press("\x1b")
				press("\x15/model\r")
				press("\x1b[B\x1b")
				press("\x0f")
				press("q")
				press("go\r")
				for range 10 { // the first ones may show more of it
					if len(c.Sessions[0].Conversation()) < 4 {
						press("1")
					}
				}
				if got := c.said(); !slices.Contains(got, "go") {
					t.Errorf("the model received %q", got)
				}
				if n := len(c.Sessions[0].Conversation()); n != 4 {
					t.Errorf("the question was not answered: %d entries", n)
				}
				press("typed")
				if size[0] >= 10 && size[1] > 1 {
					c.Shows("❯ typed")
				}
				press("\x15")
				c.End()
			})
		})
	}
}
