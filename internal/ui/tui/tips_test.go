package tui

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// tipped returns a setup change that provides tips by name and sends each name to given.
func tipped(given chan<- string) func(*setup) {
	return func(s *setup) {
		s.Config.Config.Tip = func(_ context.Context, name string) string {
			given <- name
			return "Tip: " + name + "."
		}
	}
}

// TestTips checks that a tip is shown after a turn, and at most one per session.
//
// Proves X-134.
func TestTips(t *testing.T) {
	elsewhere := t.TempDir()
	if err := os.WriteFile(filepath.Join(elsewhere, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, script string
		keys         []string
		want         string
	}{
		{"nothing", manyTurns, []string{"hello\r"}, ""},
		{"undo", manyTurns, []string{"hello\r", "undo that\r"}, "undo"},
		{"paste", manyTurns, []string{"\x1b[200~" + strings.Repeat("x\n", 50) + "\x1b[201~", "\r"}, "paste"},
		{"continue", manyTurns, []string{"continue\r"}, "resume"},
		{"continue later", manyTurns, []string{"hello\r", "continue\r"}, ""},
		{"another directory", "delay 100ms\nsay Done.", []string{"look at " + elsewhere + "\r"}, "directory"},
		{"a file elsewhere", manyTurns, []string{"look at " + elsewhere + "/file\r"}, ""},
		{"corrected", "use Wait {}\n---\nforever\nsay Done.", []string{"go\r", "\x1b", "\x15", "no, the other one\r"}, "steer"},
		{"three yeses", "use Do {}\n---\nuse Do {}\n---\nuse Do {}\n---\nsay Done.", []string{"go\r", "", "1", "", "1", "", "1"}, "rule"},
		{"two yeses, and a rule", "use Do {}\n---\nuse Do {}\n---\nuse Do {}\n---\nsay Done.", []string{"go\r", "", "1", "", "1", "", "2"}, ""},
		{"one alone", manyTurns, []string{"undo that\r", "remember: tabs\r"}, "undo"},
		{"a command", manyTurns, []string{"/cost\r", "!undo\r", "#undo\r"}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				given := make(chan string, 10)
				c := newConsole(t, 200, 24, tt.script, tipped(given))
				for _, keys := range tt.keys {
					c.Enter(keys)
					time.Sleep(time.Second)
				}
				synctest.Wait()
				close(given)
				var all []string
				for name := range given {
					all = append(all, name)
				}
				if got := strings.Join(all, " "); got != tt.want {
					t.Errorf("%q was given", got)
				}
				if tt.want != "" {
					c.Shows("Tip: " + tt.want + ".")
				}
				c.End()
			})
		})
	}
}

// TestTipsWait checks that a tip is shown after the turn and not during it, and that tips of a
// previous session are dropped.
//
// Proves X-134.
func TestTipsWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		given := make(chan string, 10)
		c := newConsole(t, 80, 24, "delay 5s\nsay Done.", tipped(given))
		c.Enter("undo that\r")
		time.Sleep(3 * time.Second)
		if len(given) > 0 {
			t.Error("it disturbs")
		}
		time.Sleep(3 * time.Second)
		c.Shows("Done.\n\nTip: undo.\n\n❯")
		c.End()
	})
}
