package tui

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"adze/internal/ui/draw"
)

// TestWithoutUnicode checks that everything the program itself draws is ASCII in a locale
// without UTF-8.
func TestWithoutUnicode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newConsole(t, 30, 12, "use Do {\"command\":\"dig\"}\n---\nsay Done.", func(s *setup) { s.Glyphs = draw.ASCII() })
		seen := ""
		press := func(keys string) {
			c.Enter(keys)
			time.Sleep(3 * time.Second)
			synctest.Wait()
			seen += c.Text()
		}
		press("/")
		press("\x15/model\r")
		press("\x1b")
		press("\x0f")
		press("q")
		press("go\r")
		press("3")
		press("/help all\r")
		press("q")
		c.End()
		if at := strings.IndexFunc(seen, func(r rune) bool { return r > 127 }); at >= 0 {
			t.Errorf("%q is not ASCII", seen[max(0, at-40):at+10])
		}
		if !strings.Contains(seen, "...") {
			t.Error("nothing was cut")
		}
	})
}
