package tui

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"adze/internal/commands"
	"adze/internal/platform/term/cells"
	"adze/internal/ui/controller"
	"adze/internal/ui/draw"
	"adze/internal/ui/tui/transcript"
)

// TestFrame checks the rule and the placeholder of the input, and that both the rule and the
// status row end at the right edge.
//
// Proves X-194.
func TestFrame(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {120, 40}, {200, 50}, {40, 12}, {40, 9}} {
		synctest.Test(t, func(t *testing.T) {
			c := newConsole(t, size[0], size[1], "say Done.", func(s *setup) { s.Palette = draw.PaletteFor(true, "dark", terminalEnv) })
			screen := c.Screen.Screen()
			at := 2
			if size[1] >= leastRuled {
				if got := screen[at]; got != strings.Repeat("─", size[0]-1) {
					t.Errorf("%v: the rule is %q", size, got)
				}
				at++
			}
			if got := screen[at]; got != "❯ Message…" {
				t.Errorf("%v: the input is %q", size, got)
			}
			if got := screen[at+1]; size[0] >= 80 && (cells.Width(got) != size[0]-1 || !strings.HasSuffix(got, "? keys")) {
				t.Errorf("%v: the status is %q", size, got)
			}
			c.Enter("x")
			if got := c.Screen.Screen()[at]; got != "❯ x" {
				t.Errorf("%v: the input is %q", size, got)
			}
			c.Hides("? keys") // it is a character now
			c.Enter("\x7f")
			c.Shows("❯ Message…")
			c.Enter("\x12") // history search
			c.Hides("Message…")
			c.Enter("\x07")
			c.Enter("!")
			c.Hides("Message…")
			c.Enter("\x7f")
			c.End()
		})
	}
	synctest.Test(t, func(t *testing.T) {
		c := newConsole(t, 80, 24, "say Done.", nil) // it could not be told from typed text
		c.Hides("Message")
		c.End()
	})
}

// terminalEnv returns the variables of a terminal with 24-bit color.
func terminalEnv(name string) string { return map[string]string{"COLORTERM": "truecolor"}[name] }

// TestMovingGlyph checks that one glyph moves eight times a second while something runs, at the
// cost of a cell, and that nothing moves while another window has the focus, with reduced
// motion, while a question waits, or at the end.
//
// Proves.
func TestMovingGlyph(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var reduced atomic.Bool
		c := newConsole(t, 80, 24, "delay 60s\nuse Wait {}\n---\nsay Never.", func(s *setup) {
			s.Palette = draw.PaletteFor(true, "dark", terminalEnv)
			s.Motion = func() bool { return !reduced.Load() }
		})
		glyph := func() string {
			t.Helper()
			for _, row := range c.Screen.Screen() {
				if r, n := utf8.DecodeRuneInString(row); strings.HasPrefix(row[n:], " Waiting for the model") || strings.HasPrefix(row[n:], " Wait ") {
					return string(r)
				}
			}
			t.Fatalf("nothing is running:\n%s", c.Text())
			return ""
		}
		second := func() (shown map[string]bool, written int) {
			shown = map[string]bool{}
			c.Written()
			for range 16 {
				time.Sleep(time.Second / 16)
				synctest.Wait()
				shown[glyph()] = true
			}
			return shown, len(c.Written())
		}
		c.Enter("go\r")
		time.Sleep(3 * time.Second)
		before := c.Screen.Written()
		shown, written := second()
		if len(shown) < 8 || written < 8 || written > 10 {
			t.Errorf("%d glyphs in %d frames", len(shown), written)
		}
		if got := c.Screen.Written() - before; got > 10*60 {
			t.Errorf("%d bytes were written in a second", got)
		}
		still := func(why string) {
			t.Helper()
			if shown, written := second(); len(shown) != 1 || !shown["▸"] || written > 2 { // the clock
				t.Errorf("%s: %d frames, %v", why, written, shown)
			}
		}
		c.Enter("\x1b[O")
		still("in another window")
		c.Enter("\x1b[I")
		if shown, _ := second(); len(shown) < 8 {
			t.Errorf("back in the window: %v", shown)
		}
		reduced.Store(true)
		time.Sleep(2 * time.Second)
		still("with reduced motion")
		reduced.Store(false)
		time.Sleep(55 * time.Second)
		if shown, _ := second(); len(shown) < 8 {
			t.Errorf("during a call: %v", shown)
		}
		c.Enter("\x1b")
		time.Sleep(time.Second)
		synctest.Wait()
		c.Written()
		time.Sleep(time.Hour)
		synctest.Wait()
		if n := len(c.Written()); n > 0 {
			t.Errorf("%d times something was written while idle", n)
		}
		c.End()
	})
}

// TestReply checks that replies of the terminal are passed on, early ones before the first
// frame, and that keys around them are not lost.
//
// Proves X-124.
func TestReply(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var replies []string
		var painted int // number of replies at the first frame
		opening := make(chan bool)
		c := newConsole(t, 80, 24, "say Done.", func(s *setup) {
			s.Reply = func(text string) {
				mu.Lock()
				defer mu.Unlock()
				replies = append(replies, text)
			}
			s.Repaint = func() (draw.Palette, bool) {
				mu.Lock()
				defer mu.Unlock()
				painted = len(replies)
				return draw.Palette{}, false
			}
			open := s.Config.Open
			s.Config.Open = func(ctx context.Context, resume string) (*controller.Conversation, error) {
				<-opening
				return open(ctx, resume)
			}
		})
		go func() { c.Keys.Write([]byte("ea\x1b]11;rgb:0000/0000/0000\x1b\\r")) }() // ok: the test fails if it is lost
		synctest.Wait()
		opening <- true
		synctest.Wait()
		c.Shows("❯ ear")
		c.Enter("ly\x1b]11;rgb:ffff/")
		c.Enter("ffff/ffff\alate")
		c.Shows("❯ earlylate")
		mu.Lock()
		if got := fmt.Sprint(replies); painted == 0 || got != "[11;rgb:0000/0000/0000 11;rgb:0000/0000/0000 11;rgb:ffff/ffff/ffff]" {
			t.Errorf("%d, %v", painted, got)
		}
		mu.Unlock()
		c.End()
	})
}

// TestGreeting checks the header of a conversation at several widths and with other glyphs.
//
// Proves X-194.
func TestGreeting(t *testing.T) {
	g := commands.Greeting{
		Program: "adze 0.1.0", Model: "opus 5.5", Dir: "~/src/jsonparser", Branch: "main", Mode: "plan", Invitation: "What shall we do?",
		Help: "/ commands ∙ @ files ∙ ! shell ∙ # note ∙ ? keys", Notes: "Continuing \"numbers\".",
	}
	for _, tt := range []struct {
		width  int
		glyphs draw.Glyphs
		want   string
	}{
		{100, draw.Unicode(), "adze 0.1.0  opus 5.5 ∙ ~/src/jsonparser ⎇ main ∙ permission mode plan\nWhat shall we do?   / commands ∙ @ files ∙ ! shell ∙ # note ∙ ? keys\nContinuing \"numbers\"."},
		{40, draw.Unicode(), "adze 0.1.0  opus 5.5 ∙ ~/src/jsonparser\n⎇ main ∙ permission mode plan\nWhat shall we do?   / commands ∙ @\nfiles ∙ ! shell ∙ # note ∙ ? keys\nContinuing \"numbers\"."},
		{100, draw.ASCII(), "adze 0.1.0  opus 5.5 - ~/src/jsonparser (main) - permission mode plan\nWhat shall we do?   / commands ∙ @ files ∙ ! shell ∙ # note ∙ ? keys\nContinuing \"numbers\"."},
	} {
		s := transcript.New(transcript.Config{Glyphs: tt.glyphs})
		s.Greet(g)
		if got := (draw.Palette{}).Text(s.Final(tt.width)); got != tt.want {
			t.Errorf("%d:\n%s", tt.width, got)
		}
	}
	s := transcript.New(transcript.Config{})
	s.Greet(commands.Greeting{Program: "adze\x1b[2J"})
	if got := (draw.Palette{}).Text(s.Final(80)); got != "adze" {
		t.Errorf("%q", got)
	}
	s.Greet(commands.Greeting{Program: "adze", Model: "opus"})
	p := draw.PaletteFor(true, "ansi", terminalEnv)
	if got := p.Lines(s.Final(80))[0]; got != "\x1b[1;36madze\x1b[0m\x1b[2m  \x1b[0mopus" {
		t.Errorf("%q", got)
	}
}
