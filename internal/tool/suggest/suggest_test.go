package suggest

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"adze/internal/msg"
)

// A record holds the names seen.
type record map[string]bool

func (r record) Has(name string) bool { return r[name] }

func (r record) Add(names ...string) {
	for _, name := range names {
		r[name] = true
	}
}

// Proves PRE-01, PRE-03.
func TestSuggest(t *testing.T) {
	said := func(texts ...string) (parts []msg.Part) {
		for _, text := range texts {
			parts = append(parts, &msg.Text{Text: text})
		}
		return parts
	}
	before := []msg.Entry{
		{Message: msg.UserText("ask")},
		{Message: msg.Message{Role: msg.Assistant, Parts: append(said("I will\n```\nsecret code\n```\nschedule it."), msg.NewToolUse("1", "Read", "{}"))}},
		{Message: msg.Message{Role: msg.User, Parts: []msg.Part{&msg.ToolResult{ID: "1", Parts: said("a result")}}}},
	}
	var asked []string
	find := func(text string, atLeast float64, n int, skip func(string) bool) (found []Suggestion) {
		asked = append(asked, text)
		for _, name := range []string{"CronCreate", "CronDelete", "CronList"}[:min(n, 3)] {
			if !skip(name) && atLeast == 0.10 {
				found = append(found, Suggestion{Name: name})
			}
		}
		return found
	}
	seen := record{}
	long := strings.Repeat("é", 600)
	got := For(find, seen, append(said("~~~\nlog\n~~~ \nRemind me.", long), msg.Reminder("ours")), before)
	if len(got) != 3 {
		t.Errorf("suggested %v", got)
	}
	want := "Remind me.\n" + strings.Repeat("é", 489) + "\nI will\nschedule it."
	if diff := cmp.Diff([]string{want}, asked); diff != "" {
		t.Errorf("asked for (-want +got):\n%s", diff)
	}
	if got := For(find, seen, said("every day"), before); got != nil {
		t.Errorf("suggested again: %v", got)
	}
	asked = nil
	if got := For(find, seen, said("```\nonly code"), before[:1]); got != nil || asked != nil {
		t.Errorf("without words: %v, asked for %q", got, asked)
	}
	broken := func(string, float64, int, func(string) bool) []Suggestion { panic("no index") }
	if got := For(broken, seen, said("every day"), before); got != nil {
		t.Errorf("after a panic: %v", got)
	}
	synctest.Test(t, func(t *testing.T) {
		slow := func(string, float64, int, func(string) bool) []Suggestion {
			time.Sleep(time.Second)
			return []Suggestion{{Name: "Late"}}
		}
		seen, began := record{}, time.Now()
		if got := For(slow, seen, said("every day"), before); got != nil || time.Since(began) != maxTime || seen.Has("Late") {
			t.Errorf("%v after %s", got, time.Since(began))
		}
		time.Sleep(time.Second)
	})
}
