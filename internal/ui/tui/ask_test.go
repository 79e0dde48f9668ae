package tui

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"adze/internal/commands"
	"adze/internal/session"
	"adze/internal/tool"
)

// TestQuestion checks that keys typed while a question opens reach the composer, and that a key
// pressed after it has been seen answers it. Its subject stays in the scrollback, once.
//
// Proves PERM-17.
func TestQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newConsole(t, 80, 24, "use Do {\"command\":\"dig a hole\"}\n---\nuse Do {\"command\":\"fill it\"}\n---\nsay Done.", nil)
		c.Enter("go\r")
		c.Shows("Tab to answer")
		c.Enter("1")
		c.Shows("❯ 1")
		c.Shows("Waiting for you")
		time.Sleep(5 * time.Second) // text in the composer: only Tab can answer
		c.Shows("Waiting for you")
		c.Enter("\x15") // Ctrl-U
		time.Sleep(1100 * time.Millisecond)
		c.Shows("Enter select")
		c.Enter("\t") // the question is already shown
		time.Sleep(300 * time.Millisecond)
		c.golden("question")
		c.Enter("1")
		c.Shows("✓ Updated")
		c.Shows("Enter select") // the next question: the answering key does not count as typing
		c.Enter("1")            // pressed twice by mistake
		c.Shows("❯ 1")
		c.Enter("\x15\t")
		c.Enter("\t")
		time.Sleep(400 * time.Millisecond)
		c.Enter("4")
		c.Enter("not now")
		c.Enter("\r")
		c.Shows("Done.")
		c.golden("question-answered")
		c.End()
	})
}

// TestQuestionsInARow checks that an answering key does not delay the next question: keys some
// time apart answer successive questions.
//
// Proves PERM-17.
func TestQuestionsInARow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newConsole(t, 80, 24, "use Do {\"command\":\"one\"}\n---\nuse Do {\"command\":\"two\"}\n---\nuse Do {\"command\":\"three\"}\n---\nsay Done.", nil)
		c.Enter("go\r")
		time.Sleep(2 * time.Second)
		synctest.Wait()
		for range 3 {
			c.Enter("1")
			time.Sleep(700 * time.Millisecond)
			synctest.Wait()
		}
		c.Shows("Done.")
		c.Hides("❯ 1")
		c.End()
	})
}

// TestKeysThatArriveTogether checks that arrows and Enter arriving together, as over a slow
// connection, answer like single keys, while text arriving together is a paste.
//
// Proves PERM-17.
func TestKeysThatArriveTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newConsole(t, 80, 24, "use Do {\"command\":\"one\"}\n---\nsay Never.", nil)
		c.Enter("go\r")
		time.Sleep(2 * time.Second)
		synctest.Wait()
		c.Enter("1\r")
		c.Shows("Waiting for you")
		c.Enter("\x15")
		time.Sleep(2 * time.Second)
		synctest.Wait()
		c.Enter("\x1b[B\x1b[B\r")
		c.Shows("you said no")
		c.End()
	})
}

// TestQuestionSettledElsewhere checks that a question settled elsewhere disappears, and that
// stopping a turn removes its question.
func TestQuestionSettledElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newConsole(t, 80, 24, "say never", nil)
		replies := make(chan session.Reply, 1)
		go func() {
			r, err := c.Sessions[0].Ask(t.Context(), session.Visit{From: "docs", URL: "https://example.com", Host: "example.com"})
			if err != nil {
				t.Error(err)
			}
			replies <- r
		}()
		synctest.Wait()
		c.Shows("Open it in the browser?")
		for e := range c.Sessions[0].Entries(t.Context(), 0, session.Latest) {
			if q, ok := e.Event.(session.Asked); ok {
				if err := c.Sessions[0].Submit(t.Context(), session.Answer{ID: q.ID, Reply: session.Visited{Action: session.Decline}}); err != nil {
					t.Error(err)
				}
				break
			}
		}
		<-replies
		c.Hides("Open it in the browser?")
		c.Shows("The question was answered elsewhere.")
		ctx, withdraw := context.WithCancelCause(t.Context())
		go func() {
			_, err := c.Sessions[0].Ask(ctx, session.Choices{From: "PreToolUse hook `x`", Items: []session.Choice{{Text: "Which?", Closed: true, Options: []session.Option{{Label: "this"}}}}})
			replies <- nil
			if err == nil {
				t.Error("a question that was withdrawn has an answer")
			}
		}()
		synctest.Wait()
		c.Shows("The PreToolUse hook `x` asks")
		withdraw(tool.Withdrawal("the hook has ended"))
		<-replies
		c.Hides("Skip this question")
		c.Shows("The question was withdrawn: the hook has ended.")
		c.End()
	})
}

// TestNothingComesBetween checks that output that arrives during a question is shown above it, and
// that it waits if the subject is too long for the window and is in the scrollback.
//
// Proves PERM-17.
func TestNothingComesBetween(t *testing.T) {
	for _, tt := range []struct {
		height int
		waits  bool
	}{{24, false}, {9, true}} {
		synctest.Test(t, func(t *testing.T) {
			c := newConsole(t, 80, tt.height, "use Do {\"command\":\"one\\ntwo\\nthree\\nfour\\nfive\"}\n---\nsay Done.", nil)
			c.Enter("go\r")
			time.Sleep(2 * time.Second)
			synctest.Wait()
			c.front.Post(t.Context(), func(context.Context) { c.front.Say("Something happened.") })
			synctest.Wait()
			text := c.Text()
			if tt.waits == strings.Contains(text, "Something happened.") {
				t.Errorf("%d rows:\n%s", tt.height, text)
			}
			subject, choices, _ := strings.Cut(text[strings.Index(text, "  five\n"):], "▌1 Yes")
			if strings.Contains(subject, "Something") || choices == "" {
				t.Errorf("it comes between:\n%s", text)
			}
			c.Enter("1")
			c.Shows("Done.")
			c.Shows("Something happened.")
			if text = c.Text(); strings.Count(text, "  five\n") != 1 || strings.Count(text, "╰─") != 1 {
				t.Errorf("the subject is not kept once:\n%s", text)
			}
			c.End()
		})
	}
}

// TestPageDuringLongQuestion checks that a page that the user asks for is readable although the
// transcript waits.
func TestPageDuringLongQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newConsole(t, 80, 9, "use Do {\"command\":\"one\\ntwo\\nthree\\nfour\\nfive\"}\n---\nsay Done.", nil)
		c.Enter("go\r")
		time.Sleep(2 * time.Second)
		synctest.Wait()
		c.Enter("/cost\r")
		c.Shows("A question waits for you: Esc closes this.")
		c.Enter("q")
		c.Hides("A question waits")
		time.Sleep(2 * time.Second)
		synctest.Wait()
		c.Enter("1")
		c.Shows("Done.")
		c.End()
	})
}

// TestListIsAskedAsQuestion checks that a list with a question leaves the conversation visible, and
// that it is answered and left like other questions.
func TestListIsAskedAsQuestion(t *testing.T) {
	for keys, want := range map[string]string{"2": "You took second.", "\x1b[B\r": "You took second.", "\x1b": ""} {
		synctest.Test(t, func(t *testing.T) {
			c := newConsole(t, 80, 24, "say Done.", nil)
			synctest.Wait()
			list := commands.List{
				Page: commands.Say("A note."), Title: "Title", Question: "Which one?", Choices: []commands.Choice{{ID: "1", Title: "first"}, {ID: "2", Title: "second", About: "better"}},
				Choose: func(_ context.Context, c commands.Choice) (commands.Answer, error) {
					return commands.Say("You took " + c.Title + "."), nil
				},
			}
			f := c.front
			f.Post(t.Context(), func(ctx context.Context) {
				f.Reoffer(list)
				f.Offer(ctx, list)
			})
			synctest.Wait()
			c.Shows("Hello.\n\n╭─ Title ─")
			c.Shows("A note.")
			c.Shows("▌1 first\n 2 second   better\n Enter select ∙ Esc cancel\n❯")
			time.Sleep(time.Second)
			synctest.Wait()
			c.Enter(keys)
			time.Sleep(time.Second)
			c.Hides("Which one?")
			if want != "" {
				c.Shows(want)
			}
			c.Enter("go\r")
			c.Shows("Done.")
			c.End()
		})
	}
}

// TestManyFrames checks that a question accepts keys although frames follow each other quickly.
//
// Proves PERM-17.
func TestManyFrames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newConsole(t, 80, 24, "use Do {\"command\":\"one\"}\n---\nsay Done.", nil)
		c.Enter("go\r")
		for range 400 {
			c.front.Post(t.Context(), func(context.Context) {}) // a frame follows
			time.Sleep(written / 2)
		}
		c.Shows("Enter select")
		c.Enter("1")
		c.Shows("Done.")
		c.End()
	})
}
