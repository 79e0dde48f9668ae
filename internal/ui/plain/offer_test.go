package plain

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"adze/internal/domain/instruct"
)

// A notebook records text added to instruction files.
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
	c.Commands.Instructions = n
}

// TestNumberSign checks that a line beginning with a number sign is added to instructions and
// not sent to the model.
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
			c.Enter(line + "\n")
		}
		c.close("notes")
		if diff := cmp.Diff([]string{"/home/ADZE.md: use tabs"}, n.added); diff != "" {
			t.Errorf("added (-want +got):\n%s", diff)
		}
	})
}

// TestNumberSignWhileItWorks checks that a question from the model does not appear between the
// list and the number.
func TestNumberSignWhileItWorks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var n notebook
		c := newConsole(t, "use Wait {}\n---\nuse Do {}\n---\nexpect error-result toolu_2_1\nsay As you like.", func(c *setup) {
			n.serve(c)
		})
		c.Enter("go\n")
		c.Enter("# use tabs\n")
		time.Sleep(20 * time.Second) // the model now asks about Do
		if strings.Contains(c.Text(), "Apply this edit to it?") {
			t.Errorf("unexpected prompt: %s", c.Text())
		}
		c.Enter("1\n")
		if diff := cmp.Diff([]string{"/repo/AGENTS.md: use tabs"}, n.added); diff != "" {
			t.Errorf("added (-want +got):\n%s", diff)
		}
		if !strings.Contains(c.Text(), "Apply this edit to it?") {
			t.Errorf("not asked: %s", c.Text())
		}
		c.Enter("please leave it\n")
		c.Keys.Close()
		<-c.Done
		if !strings.Contains(c.Text(), "As you like.") {
			t.Errorf("the end: %s", c.Text())
		}
		for _, s := range c.Sessions {
			s.Close()
		}
	})
}

// TestNumberSignIsGivenUp checks that an interrupt dismisses the list, and that the end of
// input does not wait for an answer.
func TestNumberSignIsGivenUp(t *testing.T) {
	for _, interrupt := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			var n notebook
			c := newConsole(t, "use Wait {}\n---\nforever\nsay Fine.", func(c *setup) {
				n.serve(c)
			})
			c.Enter("go\n")
			c.Enter("# use tabs\n")
			if interrupt {
				c.interrupt()
				if !strings.Contains(c.Text(), "Stopped.") {
					t.Errorf("not interrupted: %s", c.Text())
				}
				c.Enter("1\n")
			}
			c.Keys.Close()
			<-c.Done
			if len(n.added) > 0 || !strings.Contains(c.Text(), "Fine.") {
				t.Errorf("added %v; %s", n.added, c.Text())
			}
			for _, s := range c.Sessions {
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
		{func(c *setup) { c.Commands.Instructions = new(notebook) }, "No instruction file to add to"},
	} {
		synctest.Test(t, func(t *testing.T) {
			c := newConsole(t, "say never", tt.change)
			c.Enter("# use tabs\n")
			if !strings.Contains(c.Text(), tt.want) {
				t.Errorf("%q is not in %q", tt.want, c.Text())
			}
			c.Keys.Close()
			<-c.Done
		})
	}
}
