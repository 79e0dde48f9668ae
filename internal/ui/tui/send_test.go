package tui

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"adze/internal/msg"
	"adze/internal/platform/term/clipboard"
	"adze/internal/ui/edit"
)

// said returns the user's messages in a conversation.
func (c *console) said() (texts []string) {
	for _, e := range c.Sessions[0].Conversation() {
		if e.Message.Role == msg.User {
			texts = append(texts, e.Message.Text())
		}
	}
	return texts
}

// TestMessagesWait checks that, while the model works, Enter adds to the turn and Tab queues a
// message behind it; both are shown as queued, and written when the model receives them. Up
// withdraws the last one.
//
// Proves SESS-62, X-120.
func TestMessagesWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newConsole(t, 60, 24, "delay 5s\nsay One.\n---\nexpect last \"also\"\nsay Two.\n---\nexpect last \"then this\"\nsay Three.", nil)
		c.Enter("start\r")
		c.Enter("also\r")
		c.Enter("then that\t")
		c.Shows("  next: also\n  after this turn: then that\n❯")
		c.Enter("\x1b[A")
		c.Shows("  next: also\n❯ then that")
		c.Enter("\x17this\t")
		c.Shows("  after this turn: then this\n❯")
		time.Sleep(10 * time.Second)
		c.Shows("One.\n\n❯ also\n\nTwo.\n\n❯ then this\n\nThree.\n\n❯")
		if got := c.said(); !slices.Equal(got, []string{"start", "also", "then this"}) {
			t.Errorf("%q", got)
		}
		c.End()
	})
}

// TestMessagesThatWaitAreStored checks that queued messages are saved with the draft and
// restored if the program is killed, except messages the model has received.
//
// Proves X-120, SESS-62.
func TestMessagesThatWaitAreStored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var stored atomic.Pointer[[]byte]
		c := newConsole(t, 60, 24, "delay 5s\nsay One.\n---\nsay Two.\n---\ndelay 5s\nsay Three.", func(s *setup) {
			s.Typing.SaveDraft = func(_ string, data []byte) { stored.Store(&data) }
		})
		again := func() string {
			synctest.Wait()
			data := stored.Load()
			if data == nil || *data == nil {
				return ""
			}
			f := edit.New("> ", "  ")
			if err := f.Load(*data); err != nil {
				t.Fatal(err)
			}
			return f.Text()
		}
		c.Enter("start\r")
		c.Enter("also\r")
		c.Enter("then that\t")
		if got := again(); got != "also\nthen that" {
			t.Errorf("stored at once: %q", got)
		}
		c.Enter("half")
		time.Sleep(time.Second)
		if got := again(); got != "also\nthen that\nhalf" {
			t.Errorf("stored with the input: %q", got)
		}
		time.Sleep(6 * time.Second)
		if got := again(); got != "half" {
			t.Errorf("stored on delivery to the model: %q", got)
		}
		c.Enter("\x15")
		c.End()
	})
}

// TestTypingIsStoredWithoutAPause checks that a kill during continuous typing loses no more
// than the last words.
//
// Proves X-120.
func TestTypingIsStoredWithoutAPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var stored atomic.Pointer[[]byte]
		c := newConsole(t, 200, 24, "say One.", func(s *setup) {
			s.Typing.SaveDraft = func(_ string, data []byte) { stored.Store(&data) }
		})
		for i := range 100 {
			c.Enter("x")
			time.Sleep(100 * time.Millisecond)
			data := stored.Load()
			if i < 25 {
				continue
			}
			if data == nil {
				t.Fatalf("nothing is stored after %d keys", i+1)
			}
			if n := strings.Count(string(*data), "x"); n < i-20 {
				t.Fatalf("%d of %d keys are stored", n, i+1)
			}
		}
		c.Enter("\x15")
		c.End()
	})
}

// TestInterruptedComesBack checks that a message interrupted before the model received it or
// began to answer returns to the composer.
//
// Proves X-120.
func TestInterruptedComesBack(t *testing.T) {
	for _, key := range []string{"\x1b", "\x03"} {
		synctest.Test(t, func(t *testing.T) {
			c := newConsole(t, 60, 24, "delay 5s\nsay One.\n---\nsay never", nil)
			c.Enter("start\r")
			c.Enter("also\r")
			c.Enter("then that\t")
			c.Enter(key)
			time.Sleep(time.Second)
			c.Shows("❯ start\n  also\n  then that\n")
			c.Hides("next: also")
			time.Sleep(20 * time.Second)
			if got := c.said(); slices.Contains(got, "also") || slices.Contains(got, "then that") {
				t.Errorf("the model received %q", got)
			}
			c.Shows("❯ start\n\nCancelled. Your message is back in the input.\n")
			if got := c.Sessions[0].Conversation(); len(got) != 0 {
				t.Errorf("the conversation holds %v", got)
			}
			c.Enter("\x15\x15\x15\x15\x15")
			c.End()
		})
	}
}

// TestStoppedByAQuestion checks that a queued message returns when a question is answered with
// Esc, which stops the turn.
func TestStoppedByAQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newConsole(t, 60, 24, "delay 2s\nuse Do {\"command\":\"dig\"}\n---\nsay never", nil)
		c.Enter("start\r")
		c.Enter("also\r")
		c.Enter("then that\t")
		time.Sleep(5 * time.Second)
		c.Shows("Enter select")
		c.Enter("\x1b")
		time.Sleep(5 * time.Second)
		c.Shows("❯ also\n  then that\n")
		c.Hides("next: also")
		c.Enter("\x15\x15\x15")
		c.End()
	})
}

// TestDroppedStays checks that dropped text is in the history.
//
// Proves X-120.
func TestDroppedStays(t *testing.T) {
	for _, keys := range []string{"\x03", "\x1b\x1b"} {
		synctest.Test(t, func(t *testing.T) {
			var kept []string
			c := newConsole(t, 60, 24, "say never", func(s *setup) {
				s.Typing.Remember = func(text string, sent bool) {
					if !sent {
						kept = append(kept, text)
					}
				}
			})
			c.Enter("half a thought")
			for _, k := range keys {
				c.Enter(string(k))
				time.Sleep(100 * time.Millisecond)
			}
			c.Hides("half a thought")
			c.Enter("\x1b[A")
			c.Shows("❯ half a thought")
			if !slices.Equal(kept, []string{"half a thought"}) {
				t.Errorf("%q", kept)
			}
			c.Enter("\x15")
			c.End()
		})
	}
}

// TestCommandsAreSuggested checks that a leading slash suggests commands, that Tab completes
// one, and that Enter runs one without arguments.
//
// Proves CMD-01.
func TestCommandsAreSuggested(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newConsole(t, 80, 24, "say never", nil)
		c.Enter("/versi")
		c.Shows("❯ /versi\n▌ /version  show the version")
		c.Enter("\x1b")
		time.Sleep(100 * time.Millisecond)
		c.Hides("show the version")
		c.Enter("\x15/mod")
		c.Shows("▌ /model")
		c.Enter("\t")
		c.Shows("❯ /model\n  default")
		c.Enter("\x1b[B")
		c.Shows("❯ /model\n▌ default")
		c.Enter("\x15/versi\r")
		c.Shows("❯ /version\n\nadze")
		c.End()
	})
}

// A store keeps images in memory.
type store struct{}

func (store) Read(_ context.Context, path string) (edit.Image, error) {
	if !strings.HasSuffix(path, "there.png") {
		return edit.Image{}, errors.New("no such file")
	}
	return store{}.Take(context.Background(), []byte(path))
}

func (store) Take(_ context.Context, data []byte) (edit.Image, error) {
	return edit.Image{MediaType: "image/png", Width: 3, Height: 2, Data: data}, nil
}

func (store) Part(image edit.Image) (msg.Part, error) {
	return &msg.Image{MediaType: image.MediaType, Data: image.Data}, nil
}

// TestPictures checks that images from the clipboard and from dropped paths are sent with the
// message, even if it is edited.
//
// Proves, SESS-62.
func TestPictures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		holds := clipboard.Content{Image: []byte("copied")}
		c := newConsole(t, 80, 24, "say I see.", func(s *setup) {
			s.Typing.Pictures = store{}
			s.Typing.Clipboard = func(context.Context) (clipboard.Content, error) { return holds, nil }
			s.Programs.Edit = func(path string) error {
				text, err := os.ReadFile(path)
				return errors.Join(err, os.WriteFile(path, append(text, '!'), 0o600))
			}
		})
		c.Enter("see \x16")
		c.Shows("❯ see [Image #1 3x2]")
		c.Enter(" and \x1b[200~/tmp/there.png\x1b[201~")
		c.Enter(", not \x1b[200~/tmp/gone.png\x1b[201~")
		c.Shows("❯ see [Image #1 3x2] and [Image #2 3x2], not /tmp/gone.png")
		holds = clipboard.Content{Text: " text"}
		c.Enter("\x16")
		c.Shows("gone.png text")
		c.Enter("\x07\r") // an editor preserves them
		c.Shows("I see.")
		var sent []string
		for _, p := range c.Sessions[0].Conversation()[0].Message.Parts {
			switch p := p.(type) {
			case *msg.Text:
				sent = append(sent, p.Text)
			case *msg.Image:
				sent = append(sent, string(p.Data))
			}
		}
		if want := []string{"see [Image #1 3x2] and [Image #2 3x2], not /tmp/gone.png text!", "copied", "/tmp/there.png"}; !slices.Equal(sent, want) {
			t.Errorf("sent %q", sent)
		}
		c.End()
	})
}
