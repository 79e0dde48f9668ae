package plain

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
)

// What is typed while one session is left for another one goes to the other one. If that cannot be opened it goes nowhere:
// it was not meant for the session that stays.
func TestTypedAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newConsole(t, "forever\nexpect last \"hello\"\nsay Welcome.", func(c *setup) {
			byKeys(c)
			keepSession(t, &c.desk, "id-1", "a title")
		})
		c.enter("/resume id-1\rhello\rhalf a li")
		c.shows("Welcome.")
		c.shows("> half a li")
		c.enter("ne\x15/resume id-1\r/resume id-1\rhello there\r")
		c.enter("/resume nobody\rdelete it\r")
		c.shows("What was typed for it is dropped.")
		c.enter("\x03\x03")
		if diff := cmp.Diff([]string{"", "id-1", "id-1", "id-1"}, c.opened); diff != "" {
			t.Errorf("sessions (-want +got):\n%s", diff)
		}
		if got := c.text(); strings.Count(got, "Welcome.") != 2 {
			t.Errorf("the screen:\n%s", got)
		}
		c.end()
	})
}
