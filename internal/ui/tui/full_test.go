package tui

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"adze/internal/commands"
	"adze/internal/ui/controller"
)

// TestNestedLists checks that Esc returns from a list or long text to the list that led to it,
// with its filter and selection, and closes the first list. Ctrl-C closes everything
// immediately.
func TestNestedLists(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		loads := 0
		list := func(title string, choose func(commands.Choice) commands.Answer, names ...string) commands.List {
			var choices []commands.Choice
			for _, name := range names {
				choices = append(choices, commands.Choice{ID: name, Title: name})
			}
			return commands.List{
				Title: title, Views: []commands.View{{Name: "all", Load: func(context.Context) ([]commands.Choice, error) { loads++; return choices, nil }}},
				Choose: func(_ context.Context, c commands.Choice) (commands.Answer, error) {
					if c.ID == "slow" {
						time.Sleep(time.Second)
					}
					return choose(c), nil
				},
			}
		}
		third := list("Third", func(c commands.Choice) commands.Answer { return commands.Say("Chosen: " + c.ID) }, "deep")
		second := list("Second", func(c commands.Choice) commands.Answer {
			if c.ID == "long" {
				return commands.Say(slices.Repeat([]string{"a long text"}, 40)...)
			}
			return third
		}, "red", "slow", "long")
		first := list("First", func(commands.Choice) commands.Answer { return second }, "one", "two")
		c := newConsole(t, 80, 24, "say I see.", func(c *setup) {
			c.Commands.Env.Sections = []commands.Section{{Name: "Test", Commands: []commands.Command{{
				Name: "nest", Run: func(context.Context, *commands.Registry, string) (commands.Answer, error) { return first, nil },
			}}}}
		})
		press := func(keys, shows string) {
			t.Helper()
			c.Enter(keys)
			time.Sleep(2 * time.Second) // a lone escape is a key only after a delay, and one choice takes a while
			synctest.Wait()
			c.Shows(shows)
		}
		press("/nest\r", "First")
		press("two", "First  two")
		press("\r", "Second")
		c.Shows("Esc back")
		press("\x1b[B\r", "Third")
		press("\x1b", "▌ slow")
		press("\x1b[B\r", "a long text")
		c.Hides("Second")
		press("q", "▌ long")
		before := loads
		press("\x1b", "First  two")
		if loads != before+1 {
			t.Error("no second lookup of listed names")
		}
		press("\x1b", "First")
		c.Hides("First  two")
		press("\x1b", "❯\n")
		c.Hides("First")
		press("/nest\r", "First")
		press("\r", "Second")
		press("\r", "Third")
		press("\x03", "❯\n")
		press("hello\r", "I see.")
		press("/nest\r", "First")
		press("\r", "Second")
		press("\r", "Third")
		press("\r", "Chosen: deep")
		press("\x0f", "Transcript")
		press("q", "❯\n")
		c.Hides("Second")
		c.End()
	})
}

// TestSuggestionBehindPage checks that keys for a page do not answer a suggestion behind it.
func TestSuggestionBehindPage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answered := false
		c := newConsole(t, 80, 24, "say I see.", func(c *setup) {
			c.Suggest = func(context.Context) *controller.Suggestion {
				time.Sleep(time.Second)
				return &controller.Suggestion{Question: "Try it?", Answers: []string{"yes", "no"}, Answer: func(context.Context, int) (string, error) {
					answered = true
					return "", nil
				}}
			}
		})
		c.Enter("\x0f") // Ctrl-O
		time.Sleep(5 * time.Second)
		synctest.Wait()
		c.Enter("1")
		c.Enter("2")
		c.Enter("q")
		synctest.Wait()
		if got := c.Text(); answered || !strings.Contains(got, "Try it?") {
			t.Errorf("answered: %v\n%s", answered, got)
		}
		c.End()
	})
}
