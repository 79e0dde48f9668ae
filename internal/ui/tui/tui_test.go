package tui

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"adze/internal/model/replay"
	"adze/internal/ui/controller/controllertest"
	"adze/internal/ui/draw"
	"adze/internal/ui/screen/screentest"
)

var update = flag.Bool("update", false, "write golden files")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A setup holds the configuration a test may change before a front end starts.
type setup struct {
	Config
	*controllertest.Setup
}

// A console simulates a user at a terminal.
type console struct {
	*controllertest.Console
	front *Front
}

// newConsole starts a front end with a script, in a terminal of the given size.
func newConsole(t *testing.T, width, height int, script string, change func(*setup)) *console {
	t.Helper()
	parsed, err := replay.Parse("script", []byte(script))
	if err != nil {
		t.Fatal(err)
	}
	c, more := controllertest.New(t, replay.NewPlayer(parsed).Provider())
	c.ByKey, c.Screen = true, screentest.New(width, height)
	cfg := setup{Config{
		Terminal: Terminal{In: c.In, Out: c, Width: func() int { return width }, Height: func() int { return height }},
		Glyphs:   draw.Unicode(),
	}, more}
	cfg.Config.Open = more.Open
	if change != nil {
		change(&cfg)
	}
	f := New(cfg.Config)
	c.Start(f)
	return &console{c, f}
}

// golden compares the whole screen, including the scrollback, with a golden file.
func (c *console) golden(name string) {
	c.T.Helper()
	synctest.Wait()
	path := filepath.Join("testdata", name+".golden")
	got := strings.TrimRight(c.Text(), "\n") + "\n"
	got = regexp.MustCompile(`about \d+ to \d+ tokens`).ReplaceAllString(got, "about N to N tokens") // estimates
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			c.T.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			c.T.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		c.T.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		c.T.Errorf("the screen (-want +got):\n%s", diff)
	}
}

// TestConversation checks that input is answered and that the prompt stays in place.
func TestConversation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newConsole(t, 60, 24, "say First, a *plain* answer that is long enough to be broken into two lines.", nil)
		c.Enter("hello\r")
		c.Shows("First, a")
		c.End()
	})
}

// TestAllOutput checks that a key shows the full transcript, including folded and omitted
// parts.
//
// Proves TOOL-18, SHC-03.
func TestAllOutput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newConsole(t, 60, 24, "say First.\n---\nsay Second.", nil)
		c.Enter("hello\r")
		c.Shows("First.")
		c.Enter("\x0f")
		c.Shows("Transcript")
		c.Enter("q")
		c.Shows("❯ hello\n\nFirst.\n")
		c.End()
	})
}

// TestThinkingKey checks that a key toggles the display of the model's thinking.
//
// Proves PROV-42.
func TestThinkingKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newConsole(t, 60, 24, "think It is a greeting.\nsay Hello.\n---\nthink Again.\nsay Bye.", nil)
		c.Enter("\x1bt")
		c.Enter("hello\r")
		c.Shows("Thinking is shown.\n\n❯ hello\n\n▾ Thinking\n  It is a greeting.\n\nHello.\n")
		c.Enter("\x1bt")
		c.Enter("more\r")
		c.Shows("Thinking is hidden.\n\n❯ more\n\nBye.\n")
		c.End()
	})
}

// TestThinkingIsShown checks the setting for showing the model's thinking.
//
// Proves PROV-42.
func TestThinkingIsShown(t *testing.T) {
	for _, shown := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			c := newConsole(t, 60, 24, "think It is a greeting.\nsay Hello.", func(s *setup) { s.Thinking = func() bool { return shown } })
			c.Enter("hello\r")
			want := "❯ hello\n\nHello.\n"
			if shown {
				want = "❯ hello\n\n▾ Thinking\n  It is a greeting.\n\nHello.\n"
			}
			c.Shows(want)
			c.End()
		})
	}
}
