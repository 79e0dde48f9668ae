package plain

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"adze/internal/instruct"
)

// A notebook keeps what is added to instruction files.
type notebook struct {
	places []instruct.Place
	added  []string
}

func (n *notebook) Load(context.Context) {}

func (n *notebook) Files() []instruct.File { return nil }

func (n *notebook) Problems() []instruct.Problem { return nil }

func (n *notebook) Places() []instruct.Place { return n.places }

func (n *notebook) Add(_ context.Context, path, line string) error {
	if strings.Contains(line, "never") {
		return errors.New("the file is full")
	}
	n.added = append(n.added, path+": "+line)
	return nil
}

func (n *notebook) serve(c *setup) {
	n.places = []instruct.Place{{Path: "/repo/AGENTS.md", Kind: instruct.Project}, {Path: "/home/ADZE.md", Kind: instruct.User, New: true, Keeps: "/home/CLAUDE.md"}}
	c.desk.Instructions = n
}

// A line that begins with a number sign goes into instructions, and not to the model.
//
// Proves CTX-26.
func TestNumberSign(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var n notebook
		c := newConsole(t, `
expect messages 1
expect last "# a space before it"
say One.
---
expect messages 3
expect last "# Title\n\nText"
say Two.
---
expect messages 5
expect last "never mind"
say Three.
`, n.serve)
		for _, line := range []string{
			"#  use tabs ", "2", "#", "# this never fits", "1",
			" # a space before it", "# Title\\\n\\\nText", "# given up", "", "never mind",
		} {
			c.enter(line + "\n")
		}
		c.close("notes")
		if diff := cmp.Diff([]string{"/home/ADZE.md: use tabs"}, n.added); diff != "" {
			t.Errorf("added (-want +got):\n%s", diff)
		}
	})
}

// While the model works no question comes between the list and the number.
func TestNumberSignWhileItWorks(t *testing.T) {
	for _, keys := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			var n notebook
			c := newConsole(t, "use Wait {}\n---\nuse Do {}\n---\nexpect error-result toolu_2_1\nsay As you like.", func(c *setup) {
				c.Keys = keys
				n.serve(c)
			})
			end := "\n"
			if keys {
				end = "\r"
			}
			c.enter("go" + end)
			c.enter("# use tabs" + end)
			time.Sleep(20 * time.Second) // by now it asks about Do
			if strings.Contains(c.text(), "Allow?") {
				t.Errorf("asked meanwhile: %s", c.text())
			}
			c.enter("1" + end)
			if diff := cmp.Diff([]string{"/repo/AGENTS.md: use tabs"}, n.added); diff != "" {
				t.Errorf("added (-want +got):\n%s", diff)
			}
			if !strings.Contains(c.text(), "Allow?") {
				t.Errorf("not asked: %s", c.text())
			}
			c.enter("please leave it" + end)
			c.keys.Close()
			<-c.done
			if !strings.Contains(c.text(), "As you like.") {
				t.Errorf("the end: %s", c.text())
			}
			for _, s := range c.sessions {
				s.Close()
			}
		})
	}
}

// An interrupt takes the list away, and the end of the input does not wait for an answer.
func TestNumberSignIsGivenUp(t *testing.T) {
	for _, interrupt := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			var n notebook
			c := newConsole(t, "use Wait {}\n---\nforever\nsay Fine.", func(c *setup) {
				c.Keys = true
				n.serve(c)
			})
			c.enter("go\r")
			c.enter("# use tabs\r")
			if interrupt {
				c.enter("\x03")
				if !strings.Contains(c.text(), "Interrupted.") {
					t.Errorf("not interrupted: %s", c.text())
				}
				c.enter("1\r")
			}
			c.keys.Close()
			<-c.done
			if len(n.added) > 0 || !strings.Contains(c.text(), "Fine.") {
				t.Errorf("added %v; %s", n.added, c.text())
			}
			for _, s := range c.sessions {
				s.Close()
			}
		})
	}
}

func TestNowhereToAdd(t *testing.T) {
	for _, tt := range []struct {
		change func(*setup)
		want   string
	}{
		{nil, "This session reads no instruction files"},
		{func(c *setup) { c.desk.Instructions = new(notebook) }, "There is no instruction file to add to"},
	} {
		synctest.Test(t, func(t *testing.T) {
			c := newConsole(t, "say never", tt.change)
			c.enter("# use tabs\n")
			if !strings.Contains(c.text(), tt.want) {
				t.Errorf("%q is not in %q", tt.want, c.text())
			}
			c.keys.Close()
			<-c.done
		})
	}
}
