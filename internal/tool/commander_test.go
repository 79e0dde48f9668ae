package tool

import (
	"testing"

	"adze/internal/platform/shell"
)

// commanding is the input of a call that executes a line.
type commanding struct{ known *Command }

func (c commanding) Access() []Access {
	return []Access{{Verb: Read, Target: "a"}, {Verb: Execute, Target: "ls"}}
}
func (c commanding) Command() *Command { return c.known }

type executing struct{}

func (executing) Access() []Access { return []Access{{Verb: Execute, Target: "print 1"}} }

type mute struct{ executing }

func (mute) Command() *Command { panic("boom") }

func TestCommandOf(t *testing.T) {
	known := &Command{Line: "ls", Script: shell.Parse("ls", shell.Vars{})}
	if got := CommandOf(fixed{commanding{known}}); got != known {
		t.Errorf("got %+v", got)
	}
	if got := CommandOf(fixed{line("x")}); got != nil {
		t.Errorf("a call that executes nothing: %+v", got)
	}
	for name, in := range map[string]any{"no commander": executing{}, "a commander that panics": mute{}} {
		got := CommandOf(fixed{in})
		if got == nil || got.Line != "print 1" || got.Doubt == nil || got.Script != nil {
			t.Fatalf("%s: %+v", name, got)
		}
		if text, ok := got.Foreign.Suspected("rm:*"); !ok || text != "print 1" || got.Foreign.Covered([]string{"*"}) || !got.Foreign.Dynamic {
			t.Errorf("%s: rules receive %q, %v", name, text, ok)
		}
	}
}
