package picker

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"adze/internal/commands"
	"adze/internal/platform/term/cells"
	"adze/internal/ui/draw"
	"adze/internal/ui/keys"
)

// A user presses keys and runs the background work.
type user struct {
	t testing.TB
	*Picker
	last Step // last significant step
}

func open(t testing.TB, list commands.List) *user {
	p, step := New(list, draw.Unicode(), draw.Options{})
	u := &user{t: t, Picker: p}
	u.carry(step)
	return u
}

func (u *user) carry(s Step) {
	if s.Close || s.Action != "" {
		u.last = s
	}
	for _, w := range s.Background {
		u.carry(w(u.t.Context())())
	}
}

// press presses keys separated by blanks, and types a word that begins with a quote.
func (u *user) press(names string) *user {
	u.t.Helper()
	for name := range strings.FieldsSeq(names) {
		if text, ok := strings.CutPrefix(name, "'"); ok {
			for _, r := range text {
				u.carry(u.Press(keys.Event{Key: keys.Key{Name: string(r)}, Text: string(r), At: time.Unix(1, 0)}, keys.Defaults()))
			}
			continue
		}
		key, err := keys.ParseKey(name)
		if err != nil {
			u.t.Fatal(err)
		}
		u.carry(u.Press(keys.Event{Key: key, At: time.Unix(1, 0)}, keys.Defaults()))
	}
	return u
}

func (u *user) show(w, h int) string {
	rows, _ := u.Rows(w, h)
	var b strings.Builder
	for _, line := range (draw.Palette{}).Lines(rows) {
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return b.String()
}

// sessions returns a list like the list of earlier sessions.
func sessions() commands.List {
	here := []commands.Choice{
		{ID: "1", Title: "Fix rounding in checkout", Cells: []string{"2 h", "main", "48 messages"}},
		{ID: "2", Title: "Tax rates for Norway", Cells: []string{"3 d", "norway", "12 messages"}},
		{ID: "3", Title: "Invoice export as PDF", Cells: []string{"9 d", "main", "131 messages"}},
	}
	elsewhere := commands.Choice{ID: "4", Title: "Elsewhere \x1b[31mred", Cells: []string{"1 y", "", "1 message"}}
	return commands.List{
		Full: true, Title: "Resume", Verb: "opens", Choices: here,
		Views: []commands.View{
			{Name: "this project", Choices: here},
			{Name: "all", Load: func(context.Context) ([]commands.Choice, error) { return append(here[:3:3], elsewhere), nil }},
		},
		Choose: func(context.Context, commands.Choice) (commands.Answer, error) { return nil, nil },
		Preview: func(_ context.Context, c commands.Choice) (commands.Page, error) {
			if c.ID == "3" {
				return commands.Page{}, errors.New("it cannot be read")
			}
			return commands.Say(`"why does checkout round wrong?" ⋯ "All tests pass."`), nil
		},
		Search: func(_ context.Context, text string) ([]commands.Found, error) {
			if text == "0.335" {
				return []commands.Found{{ID: "3", Text: "three items at 0.335 come to 1.02"}}, nil
			}
			return nil, nil
		},
		Actions: []commands.Action{
			{Key: "ctrl+f", Name: "forks", Run: func(_ context.Context, c commands.Choice, _ string) (commands.Answer, error) {
				return commands.Switch{Session: "fork of " + c.ID}, nil
			}},
			{Key: "ctrl+r", Name: "renames", Ask: "New title:", Text: func(c commands.Choice) string { return c.Title },
				Run: func(_ context.Context, _ commands.Choice, text string) (commands.Answer, error) {
					if text == "" {
						return nil, errors.New("a title must not be empty")
					}
					return commands.Say("It is now called " + text + "."), nil
				}},
			{Key: "ctrl+x", Name: "deletes", Confirm: func(c commands.Choice) string { return "Delete " + c.Title + "?" },
				Run: func(_ context.Context, c commands.Choice, _ string) (commands.Answer, error) {
					return commands.Say("Deleted."), nil
				}},
		},
	}
}

// Proves SESS-20.
func TestScreens(t *testing.T) {
	u := open(t, sessions())
	want := `Resume                                                        this project ∙ all
▌ Fix rounding in checkout  2 h  main    48 messages
  Tax rates for Norway      3 d  norway  12 messages
  Invoice export as PDF     9 d  main    131 messages
` + strings.Repeat("\n", 17) + `
  "why does checkout round wrong?" ⋯ "All tests pass."
  Enter opens ∙ Ctrl-F forks ∙ Ctrl-R renames ∙ Ctrl-X deletes ∙ Tab all ∙ Esc
`
	if diff := cmp.Diff(want, u.show(80, 24)); diff != "" {
		t.Error(diff)
	}
	u.press("tab 'tax")
	want = `Resume  tax           this project ∙ all
▌ Tax rates for Norway      3 d  norway
` + strings.Repeat("\n", 7) + `  "why does checkout round wrong?" ⋯
  "All tests pass."
  Enter opens ∙ Ctrl-F forks ∙ Esc
`
	if diff := cmp.Diff(want, u.show(40, 12)); diff != "" {
		t.Error(diff)
	}
	if _, caret := u.Rows(40, 12); caret == nil || caret.Row != 0 || caret.Col != 11 {
		t.Errorf("the cursor is at %v", caret)
	}
}

func TestChoosing(t *testing.T) {
	for _, tt := range []struct{ press, id string }{
		{"enter", "1"}, {"down enter", "2"}, {"down up enter", "1"}, {"end enter", "3"}, {"end home enter", "1"}, {"pagedown enter", "3"}, {"up enter", "1"},
		{"'nor enter", "2"}, {"'irc enter", "1"}, {"'norway enter", "2"}, {"'zzz enter", ""}, {"tab end enter", "4"}, {"tab tab end enter", "3"}, {"ctrl+a end enter", "4"},
		{"'0.335 enter", "3"}, {"'0.33 enter", ""}, {"'nor escape enter", "1"},
	} {
		u := open(t, sessions())
		u.show(80, 24)
		u.press(tt.press)
		got := ""
		if u.last.Choice != nil {
			got = u.last.Choice.ID
		}
		if got != tt.id {
			t.Errorf("%s: %q is chosen, not %q", tt.press, got, tt.id)
		}
	}
	for _, name := range []string{"escape", "ctrl+c", "ctrl+d", "'x escape escape"} {
		if u := open(t, sessions()).press(name); !u.last.Close || u.last.Choice != nil {
			t.Errorf("%s does not close the list", name)
		}
	}
	if u := open(t, sessions()).press("ctrl+z"); u.last.Action != keys.Suspend || u.last.Close {
		t.Error("Ctrl-Z is not handed on")
	}
}

// TestContents checks that content matches are shown with the surrounding text.
func TestContents(t *testing.T) {
	u := open(t, sessions()).press("'0.335")
	if got := u.show(80, 24); !strings.Contains(got, "⋯ three items at 0.335 come to 1.02 ⋯") || !strings.Contains(got, "It cannot be read") {
		t.Error(got)
	}
}

func TestActions(t *testing.T) {
	u := open(t, sessions()).press("down ctrl+f")
	if diff := cmp.Diff(commands.Answer(commands.Switch{Session: "fork of 2"}), u.last.Answer); diff != "" || !u.last.Close {
		t.Error(diff)
	}
	u = open(t, sessions()).press("ctrl+r 'XY")
	rows, caret := u.Rows(80, 24)
	if got := rows[23].String(); got != "New title: Fix rounding in checkoutXY" || caret == nil || caret.Row != 23 || caret.Col != 37 {
		t.Errorf("%q with the cursor at %v", got, caret)
	}
	u.press("enter")
	if got := u.show(80, 24); !strings.Contains(got, "It is now called Fix rounding in checkoutXY.") || u.last.Close {
		t.Error(got)
	}
	u.press("ctrl+r ctrl+u enter")
	if got := u.show(80, 24); !strings.Contains(got, "A title must not be empty") {
		t.Error(got)
	}
	u.press("ctrl+r 'x escape")
	if got := u.show(80, 24); strings.Contains(got, "New title") || u.last.Close {
		t.Error(got)
	}
	u.press("ctrl+x")
	if got := u.show(80, 24); !strings.Contains(got, "Delete Fix rounding in checkout? y or n") {
		t.Error(got)
	}
	if got := u.press("enter").show(80, 24); strings.Contains(got, "Deleted.") {
		t.Error("Enter alone deletes")
	}
	if got := u.press("ctrl+x 'y").show(80, 24); !strings.Contains(got, "Deleted.") {
		t.Error(got)
	}
}

// TestValues checks that a value is changed in place, and that a list that does not save it
// passes it on with the choice.
func TestValues(t *testing.T) {
	list := commands.List{Choices: []commands.Choice{{ID: "colour", Title: "colour", Values: []string{"red", "green", "blue"}}, {ID: "other", Title: "other", Values: []string{"a", "b"}, Value: -1}}}
	list.Choose = func(context.Context, commands.Choice) (commands.Answer, error) { return nil, nil }
	u := open(t, list).press("left left right")
	if got := u.show(40, 12); !strings.Contains(got, "▌ colour  < blue >\n  other") {
		t.Error(got)
	}
	if u.press("enter"); u.last.Choice == nil || u.last.Choice.Value != 2 {
		t.Errorf("%+v", u.last)
	}
	var set []string
	list.Choose = nil
	list.Set = func(_ context.Context, c commands.Choice) (string, error) {
		set = append(set, c.ID+"="+c.Values[c.Value])
		return "The " + c.ID + " is now " + c.Values[c.Value] + ".", nil
	}
	u = open(t, list).press("right down left")
	if got := u.show(40, 12); !strings.Contains(got, "The other is now b.") || strings.Contains(got, "Enter") {
		t.Error(got)
	}
	if diff := cmp.Diff([]string{"colour=green", "other=b"}, set); diff != "" {
		t.Error(diff)
	}
}

// TestLateSearch checks that an obsolete search is canceled and its results are dropped.
func TestLateSearch(t *testing.T) {
	list := sessions()
	list.Search = func(ctx context.Context, text string) ([]commands.Found, error) {
		if text == "abc" {
			<-ctx.Done()
		}
		return []commands.Found{{ID: "1", Text: text}}, nil
	}
	p, _ := New(list, draw.Unicode(), draw.Options{})
	u := &user{t: t, Picker: p}
	var slow []Work
	for _, r := range "abc" {
		slow = p.Press(keys.Event{Key: keys.Key{Name: string(r)}, Text: string(r), At: time.Unix(1, 0)}, keys.Defaults()).Background
	}
	done := make(chan func() Step)
	go func() { done <- slow[len(slow)-1](t.Context()) }()
	u.press("'d")
	if (<-done)(); !strings.Contains(u.show(80, 24), "⋯ abcd ⋯") {
		t.Error(u.show(80, 24))
	}
}

// TestPageAbove checks that a page before the choices leaves room for them, uses the remaining
// rows, and can be scrolled to its end.
func TestPageAbove(t *testing.T) {
	list := commands.List{Choices: []commands.Choice{{ID: "a", Title: "take it", About: "all of it"}}, Choose: func(context.Context, commands.Choice) (commands.Answer, error) { return nil, nil }}
	for i := range 50 {
		list.Add(commands.Text(fmt.Sprint("line ", i)))
	}
	u := open(t, list)
	if got := u.show(40, 12); !strings.Contains(got, "line 7\n⋯ 42 more rows\n▌ take it  all of it\n  Enter chooses ∙ PageDown more ∙ Esc\n") {
		t.Error(got)
	}
	if got := u.press("pagedown").show(40, 12); !strings.Contains(got, "Choose\nline 8\n") {
		t.Error(got)
	}
	u.press("pagedown pagedown pagedown pagedown pagedown pagedown")
	if got := u.show(40, 12); !strings.Contains(got, "line 49\n▌ take it") {
		t.Error(got)
	}
	u.press("pageup pageup pageup pageup pageup pageup pageup")
	if got := u.show(40, 12); !strings.Contains(got, "Choose\nline 0\n") {
		t.Error(got)
	}
	for i := range 30 {
		list.Choices = append(list.Choices, commands.Choice{ID: fmt.Sprint(i), Title: fmt.Sprint("choice ", i)})
	}
	u = open(t, list)
	if got := u.show(40, 12); !strings.Contains(got, "line 2\n⋯ 47 more rows\n▌ take it") || strings.Contains(got, "PageDown") {
		t.Error(got)
	}
	if got := u.press("pagedown").show(40, 12); !strings.Contains(got, "▌ choice 5") {
		t.Error(got)
	}
}

// TestPageAboveIsWhole checks that nothing the user decides about is cut off at the edge of the
// screen.
func TestPageAboveIsWhole(t *testing.T) {
	list := commands.List{Choices: []commands.Choice{{ID: "a", Title: "take it"}}}
	list.Add(commands.Items{"runs " + strings.Repeat("x", 70) + "END"})
	if got := open(t, list).show(40, 12); !strings.Contains(got, "xEND\n▌ take it") {
		t.Error(got)
	}
}

// TestLongAnswer checks that a long message from an action is opened as a page.
func TestLongAnswer(t *testing.T) {
	var page commands.Page
	list := commands.List{Choices: []commands.Choice{{ID: "a", Title: "one"}}, Actions: []commands.Action{{Key: "enter", Name: "shows",
		Run: func(context.Context, commands.Choice, string) (commands.Answer, error) { return page, nil }}}}
	p, step := New(list, draw.Unicode(), draw.Options{})
	enter := keys.Event{Key: keys.Key{Name: "enter"}, At: time.Unix(1, 0)}
	do := func() Step {
		p.Rows(40, 12)
		step = p.Press(enter, keys.Defaults())
		return step.Background[len(step.Background)-1](t.Context())()
	}
	page = commands.Say("short")
	if got := do(); got.Read != nil || len(p.said) != 1 {
		t.Errorf("a short page: %+v", got)
	}
	for i := range 12 {
		page.Add(commands.Text(fmt.Sprint("line ", i)))
	}
	if got := do(); got.Read == nil || got.Close || len(p.said) > 0 {
		t.Errorf("a long page: %+v, %v", got, p.said)
	}
}

// TestHeight checks that a list takes no more rows than it needs, and keeps its height while it
// is filtered.
//
// Proves CMD-04.
func TestHeight(t *testing.T) {
	list := sessions()
	list.Full, list.Preview = false, nil
	u := open(t, list)
	want := `Resume                                                        this project ∙ all
▌ Fix rounding in checkout  2 h  main    48 messages
  Tax rates for Norway      3 d  norway  12 messages
  Invoice export as PDF     9 d  main    131 messages
  Enter opens ∙ Ctrl-F forks ∙ Ctrl-R renames ∙ Ctrl-X deletes ∙ Tab all ∙ Esc
`
	if diff := cmp.Diff(want, u.show(80, 24)); diff != "" {
		t.Error(diff)
	}
	u.press("'tax")
	want = `Resume  tax                                                   this project ∙ all
▌ Tax rates for Norway      3 d  norway  12 messages


  Enter opens ∙ Ctrl-F forks ∙ Ctrl-R renames ∙ Ctrl-X deletes ∙ Tab all ∙ Esc
`
	if diff := cmp.Diff(want, u.show(80, 24)); diff != "" {
		t.Error(diff)
	}
}

// TestRowsFit checks that rows always fit the screen.
func TestRowsFit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.OneOf(rapid.StringMatching(`[a字 ]{0,30}`), rapid.String())
		var list commands.List
		for i := range rapid.IntRange(0, 30).Draw(t, "choices") {
			c := commands.Choice{ID: fmt.Sprint(i), Title: word.Draw(t, "title"), About: word.Draw(t, "about")}
			c.Cells = rapid.SliceOfN(word, 0, 3).Draw(t, "cells")
			c.Values = rapid.SliceOfN(word, 0, 3).Draw(t, "values")
			list.Choices = append(list.Choices, c)
		}
		list.Title, list.Full = word.Draw(t, "title"), rapid.Bool().Draw(t, "full")
		list.Views = []commands.View{{Name: word.Draw(t, "view"), Choices: list.Choices}, {Name: "two"}}
		list.Actions = []commands.Action{{Key: "ctrl+r", Name: "renames", Ask: word.Draw(t, "ask"), Alone: true, Run: func(context.Context, commands.Choice, string) (commands.Answer, error) {
			return commands.Say(word.Draw(t, "said")), nil
		}}}
		p, _ := New(list, draw.Unicode(), draw.Options{})
		for range rapid.IntRange(0, 12).Draw(t, "presses") {
			name := rapid.SampledFrom([]string{"up", "down", "end", "pagedown", "a", "tab", "right", "left", "enter", "escape", "ctrl+r", "backspace"}).Draw(t, "key")
			key, err := keys.ParseKey(name)
			if err != nil {
				t.Fatal(err)
			}
			ev := keys.Event{Key: key, At: time.Unix(1, 0)}
			if len(name) == 1 {
				ev.Text = name
			}
			for _, w := range p.Press(ev, keys.Defaults()).Background {
				w(context.Background())()
			}
			w, h := rapid.IntRange(2, 60).Draw(t, "width"), rapid.IntRange(2, 15).Draw(t, "height")
			rows, caret := p.Rows(w, h)
			if len(rows) > h || len(rows) < h && list.Full || caret != nil && (caret.Row >= len(rows) || caret.Col >= w) {
				t.Fatalf("%d rows, not %d; the cursor is at %v", len(rows), h, caret)
			}
			for _, row := range rows {
				if text := (draw.Palette{}).Paint(row); cells.Width(text) > w {
					t.Fatalf("%q is wider than %d", text, w)
				}
			}
		}
	})
}

// BenchmarkFilter measures a key press in a list of 2,000 choices.
func BenchmarkFilter(b *testing.B) {
	var list commands.List
	for i := range 2000 {
		list.Choices = append(list.Choices, commands.Choice{ID: fmt.Sprint(i), Title: fmt.Sprintf("Session %d about rounding in the checkout of the shop", i), Cells: []string{"2 h", "main", "48 messages"}})
	}
	p, _ := New(list, draw.Unicode(), draw.Options{})
	m := keys.Defaults()
	names := "checkout 19"
	i := 0
	for b.Loop() {
		if i++; i%len(names) == 0 {
			p.field.Clear()
		}
		r := names[i%len(names) : i%len(names)+1]
		p.Press(keys.Event{Key: keys.Key{Name: r}, Text: r, At: time.Unix(1, 0)}, m)
		p.Rows(200, 50)
	}
}

// TestAbout checks that the full description of the current choice is shown if its row has no
// room for it.
func TestAbout(t *testing.T) {
	u := open(t, commands.List{
		Title:   "Mode",
		Choices: []commands.Choice{{ID: "a", Title: "ask", About: "short"}, {ID: "b", Title: "auto", About: "a model answers the prompts for the user"}},
		Choose:  func(context.Context, commands.Choice) (commands.Answer, error) { return nil, nil },
	})
	if got := u.show(30, 10); strings.Count(got, "short") != 1 {
		t.Error(got)
	}
	u.press("down")
	if got := u.show(30, 10); !strings.HasSuffix(got, "\n  a model answers the prompts\n  for the user\n  Enter chooses ∙ Esc\n") {
		t.Error(got)
	}
}
