package dialog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"adze/internal/msg"
	"adze/internal/permission"
	"adze/internal/platform/fs/scope"
	"adze/internal/session"
	"adze/internal/tool"
	"adze/internal/ui/ask"
	"adze/internal/ui/keys"
)

func decision(a permission.Answer) session.Reply { return session.Decision{Answer: a} }

// TestAnswers checks the replies that keys give to each kind of question.
//
// Proves PERM-17, PLAN-05, X-009.
func TestAnswers(t *testing.T) {
	yes := decision(permission.Answer{Behavior: permission.Allow})
	no := decision(permission.Answer{Behavior: permission.Deny, Interrupt: true})
	with := func(updates ...permission.Update) session.Reply {
		return decision(permission.Answer{Behavior: permission.Allow, Updates: updates})
	}
	to := func(m permission.Mode) permission.Update {
		return permission.Update{Type: permission.SetMode, Mode: m, Destination: scope.Session}
	}
	ruled := func(s scope.Scope, values ...permission.RuleValue) permission.Update {
		return permission.Update{Type: permission.AddRules, Behavior: permission.Allow, Destination: s, Rules: values}
	}
	exact := permission.RuleValue{Tool: "Bash", Content: removal().Command}
	plain := removal()
	plain.Suggestions = nil
	command := removal()
	command.Warning = ""
	visit := session.Visit{From: "docs", URL: "https://example.com", Host: "example.com"}
	done := visit
	done.Opened = true
	sampling := session.Sampling{From: "docs", Text: "x"}
	consent := session.Form{Message: "May it begin?"}
	filled := session.Filled{Action: session.Accept, Values: map[string]any{"city": "Lund", "days": int64(3), "hourly": true, "colours": []string{"blue"}}}
	for _, tt := range []struct {
		q    session.Question
		keys string
		want session.Reply
	}{
		{change(), "1", yes},
		{change(), "enter", yes},
		{change(), "2", with(to(permission.AcceptEdits))},
		{change(), "down enter", with(to(permission.AcceptEdits))},
		{change(), "shift+tab", with(to(permission.AcceptEdits))},
		{change(), "? 2", with(to(permission.AcceptEdits))},
		{command, "shift+tab", nil},
		{plan(""), "shift+tab", nil},
		{change(), "3", no},
		{change(), "escape", no},
		{change(), "down down enter", no},
		{change(), "4 'use_make enter", decision(permission.Answer{Behavior: permission.Deny, Message: "use make"})},
		{change(), "4 enter", nil},
		{change(), "4 'x escape", nil},
		{change(), "4 'x escape 1", yes},
		{change(), "5", nil},
		{change(), "down e", nil}, // a mode has no rule
		{change(), "down s enter", nil},
		{removal(), "enter", no}, // Enter alone never allows a call with a warning
		{removal(), "1", yes},
		{removal(), "up up enter", yes},
		{removal(), "2", nil}, // nothing lasting is offered
		{command, "2", with(ruled(scope.Local, exact))},
		{command, "down s enter", with(ruled(scope.Project, exact))},
		{command, "down s s s enter", with(ruled(scope.Session, exact))},
		{command, "down e ctrl+u 'Bash(git_status) enter enter", with(ruled(scope.Local, permission.RuleValue{Tool: "Bash", Content: "git status"}))},
		{command, "down e ctrl+u 'Bash(a),_Read enter enter", with(ruled(scope.Local, permission.RuleValue{Tool: "Bash", Content: "a"}, permission.RuleValue{Tool: "Read"}))},
		{command, "down e ctrl+u 'Bash(a enter", nil},
		{command, "down e ctrl+u enter", nil},
		{command, "down e ctrl+u 'Bash(a enter escape enter", with(ruled(scope.Local, exact))},
		{plain, "2", nil},
		{plain, "up up enter", yes}, // unavailable choices are skipped
		{plan("default"), "1", with(to(permission.AcceptEdits))},
		{plan("default"), "2", with(to(permission.Default))},
		{plan("auto"), "1", yes},
		{plan(""), "4 'smaller enter", decision(permission.Answer{Behavior: permission.Deny, Message: "smaller"})},
		{plan(""), "escape", no},
		{picks(), "2 1 enter", session.Selection{Chosen: [][]string{{"blue"}, {"red"}}}},
		{picks(), "2 1 2 enter", session.Selection{Chosen: [][]string{{"blue"}, {"red", "blue"}}}},
		{picks(), "3 'green enter space 3 'more enter", session.Selection{Chosen: [][]string{{"green"}, {"red", "more"}}}},
		{picks(), "enter down enter", session.Selection{Chosen: [][]string{{"red"}, {"blue"}}}},
		{picks(), "4 1 enter", session.Selection{Chosen: [][]string{nil, {"red"}}}},
		{picks(), "4 4", session.Selection{Declined: true}},
		{picks(), "1 escape", session.Selection{Declined: true}},
		{form(), "enter", nil},
		{form(), "'Lund enter 9 enter backspace enter 1 3 2 enter", filled},
		{form(), "'Lund enter escape 2 1 3 2 enter", filled},
		{form(), "'Lund enter escape 3", session.Filled{Action: session.Decline}},
		{form(), "down enter", session.Filled{Action: session.Decline}},
		{form(), "'Lund enter down enter 1 3 2 enter", filled},                            // the default
		{form(), "'Lund up down enter escape 3", session.Filled{Action: session.Decline}}, // typed text is kept
		{form(), "escape escape", session.Filled{Action: session.Cancel}},
		{consent, "1", session.Filled{Action: session.Accept}},
		{consent, "2", session.Filled{Action: session.Decline}},
		{visit, "enter", session.Visited{Action: session.Accept, Open: true}},
		{visit, "2", session.Visited{Action: session.Decline}},
		{visit, "escape", session.Visited{Action: session.Cancel}},
		{done, "1", session.Visited{Action: session.Accept}},
		{done, "2", session.Visited{Action: session.Cancel}},
		{sampling, "1", session.Filled{Action: session.Accept}},
		{sampling, "2", session.Filled{Action: session.Decline}},
	} {
		d := open(t, tt.q, 79, 10)
		r := d.press(tt.keys)
		if d.typed != "" && tt.want != nil {
			t.Errorf("%T %q: %q reached the composer", tt.q, tt.keys, d.typed)
		}
		if diff := cmp.Diff(tt.want, r.Reply); diff != "" && !strings.HasSuffix(tt.keys, "s enter") {
			t.Errorf("%T %q (-want +got):\n%s\n%s", tt.q, tt.keys, diff, d.text())
		}
	}
}

// TestPlanAfresh checks that a yes with a fresh context ends the turn, and that the work starts
// with only the plan, as the user edited it.
//
// Proves PLAN-04, PLAN-05.
func TestPlanAfresh(t *testing.T) {
	d := open(t, plan("default"), 79, 10)
	r := d.press("ctrl+g")
	if r.Edit == nil || *r.Edit != "# Rounding\n\n1. Round **once**, in *Cart.Total*\n2. Drop Round\n" {
		t.Fatalf("%+v", r)
	}
	d.Edited("1. Only this\x1b[2J\n")
	d.frame()
	if !strings.Contains(d.text(), "  1. Only this\\x1b[2J\n") {
		t.Error(d.text())
	}
	r = d.press("3")
	a := r.Reply.(session.Decision).Answer
	var input map[string]any
	if err := json.Unmarshal(a.Input, &input); err != nil || input["clearContext"] != true || input["plan"] != "1. Only this\x1b[2J\n" || input["allowedPrompts"] == nil {
		t.Errorf("%s, %v", a.Input, err)
	}
	if !a.Interrupt || a.Behavior != permission.Allow || len(a.Updates) > 0 {
		t.Errorf("%+v", a)
	}
	want := []session.Op{session.Clear{}, session.Prompt{Quoted: true, Parts: []msg.Part{&msg.Text{Text: "Carry out this plan, which is in /home/u/.adze/plans/calm-silver-otter.md:\n\n1. Only this\x1b[2J\n"}}}}
	if diff := cmp.Diff(want, r.Then); diff != "" {
		t.Error(diff)
	}
}

// TestEditedProposal checks that the call gets the user's edited text.
//
// Proves EDIT-12.
func TestEditedProposal(t *testing.T) {
	d := open(t, change(), 79, 10)
	if r := d.press("ctrl+g"); r.Edit == nil || *r.Edit != "b\n" {
		t.Fatalf("%+v", r)
	}
	d.Edited("b\n")
	if strings.Contains(d.text(), "You changed") {
		t.Error("nothing was changed")
	}
	d.Edited("c\n")
	d.frame()
	a := d.press("1").Reply.(session.Decision).Answer
	want := `{"file_path":"/home/u/src/shop/cart.go","new_string":"c\n","old_string":"a"}`
	if string(a.Input) != want {
		t.Errorf("%s", a.Input)
	}
	if r := open(t, removal(), 79, 10).press("ctrl+g"); r.Used {
		t.Error("a command has no text to edit")
	}
}

// TestEditedPreview checks that an edited proposal is shown as the resulting change, in full
// before it can be approved, or with the error it would cause.
//
// Proves EDIT-12.
func TestEditedPreview(t *testing.T) {
	q := change()
	var given []string
	q.Draft.Preview = func(_ context.Context, input json.RawMessage) (tool.Display, error) {
		given = append(given, string(input))
		if strings.Contains(string(input), "bad") {
			return nil, errors.New("old_string is not there\x1b[2J")
		}
		return long(300).Preview, nil
	}
	d := open(t, q, 79, 10)
	d.press("ctrl+g")
	d.Edited("bad\n")
	if !strings.Contains(d.text(), "This would fail: old_string is not there") {
		t.Error(d.text())
	}
	d.Edited("c\n")
	d.frame()
	if got := d.text(); !strings.Contains(got, "  +300 -0 ──") || !strings.Contains(got, "+line 1\n") || strings.Contains(got, "line 300") {
		t.Error(got)
	}
	if r := d.press("1"); r.Reply != nil {
		t.Error("it is approved half-seen")
	}
	for range 10 {
		d.frame()
		if r := d.press("1"); r.Reply != nil {
			break
		}
	}
	if !strings.Contains(d.text(), "+line 300\n") {
		t.Error(d.text())
	}
	want := `{"file_path":"/home/u/src/shop/cart.go","new_string":"c\n","old_string":"a"}`
	if len(given) != 2 || given[1] != want {
		t.Errorf("%q", given)
	}
}

// long returns a question about a change of n lines.
func long(n int) session.Permission {
	q := change()
	lines := make([]string, n)
	for i := range lines {
		lines[i] = fmt.Sprintf("+line %d", i+1)
	}
	q.Preview = tool.Diff{Path: "new.txt", Created: true, Added: n, Hunks: []tool.Hunk{{Lines: lines}}}
	return q
}

// TestAllOfItIsShown checks that nothing can be approved half-seen: a change is shown to its
// last line, in pages if it is long, whichever key is pressed before. A no is accepted
// immediately.
func TestAllOfItIsShown(t *testing.T) {
	for strokes, pages := range map[string]int{"1": 1, "enter enter": 2, "enter enter enter": 3, "1 1 1": 3, "2 down space 1": 3} {
		n := map[int]int{1: 190, 2: 380, 3: 450}[pages]
		d := open(t, long(n), 79, 10)
		all := strings.Fields(strokes)
		for i, stroke := range all {
			if i > 0 && d.last.Reply != nil {
				t.Fatalf("%q: answered by %q", strokes, all[:i])
			}
			if i < pages-1 && !strings.Contains(d.text(), " more lines: Enter to show") {
				t.Error(d.text())
			}
			d.press(stroke)
		}
		if a, ok := d.last.Reply.(session.Decision); strokes != "2 down space 1" && (!ok || a.Behavior != permission.Allow) {
			t.Errorf("%q: %+v", strokes, d.last)
		}
		for i := range n {
			if strings.Count(d.text(), fmt.Sprintf("  +line %d\n", i+1)) != 1 {
				t.Fatalf("%q: line %d is not shown once", strokes, i+1)
			}
		}
	}
	for _, strokes := range []string{"3", "escape", "4 'x enter"} {
		if r := open(t, long(450), 79, 10).press(strokes); r.Reply == nil || r.Reply.(session.Decision).Behavior != permission.Deny {
			t.Errorf("%q: %+v", strokes, r)
		}
	}
	if d := open(t, long(ask.MaxPage+3), 79, 10); len(d.rest) > 0 {
		t.Error("a few lines are kept back")
	}
}

// TestLongRulesAreShown checks that the rules of a lasting yes are shown in full before it is
// accepted.
func TestLongRulesAreShown(t *testing.T) {
	q := removal()
	q.Warning = ""
	q.Suggestions = rules(scope.Local, strings.Repeat("make long names ", 20)+":*", "go test:*")
	d := open(t, q, 39, 7)
	if r := d.press("2"); r.Reply != nil {
		t.Error("a choice was taken that was not shown whole")
	}
	if r := d.press("2"); r.Reply != nil || !strings.Contains(strings.Join(strings.Fields(d.text()), " "), "`go test ...` in this project") {
		t.Errorf("%+v\n%s", r, d.text())
	}
	if r := d.press("2"); r.Reply == nil {
		t.Errorf("%+v\n%s", r, d.text())
	}
}

// TestPastes checks that several keys read together never answer, even in a field, where a
// paste belongs to the text.
func TestPastes(t *testing.T) {
	d := open(t, change(), 79, 10)
	for _, r := range []keys.Event{{Key: keys.Key{Name: "1"}, Text: "1", At: d.now}, {Key: keys.Key{Name: "enter"}, At: d.now}} {
		if got := d.Press(r, false); got.Used || got.Reply != nil {
			t.Errorf("%v: %+v", r, got)
		}
	}
	d = open(t, change(), 79, 10)
	d.press("4")
	for _, ev := range []keys.Event{{Key: keys.Key{Name: "x"}, Text: "x"}, {Key: keys.Key{Name: "enter"}}, {Kind: keys.Paste, Text: "1\n2"}} {
		ev.At = d.now
		if got := d.Press(ev, false); !got.Used || got.Reply != nil {
			t.Errorf("%v: %+v", ev, got)
		}
	}
	if a := d.press("enter").Reply; a == nil || a.(session.Decision).Message != "x\n1\n2" {
		t.Errorf("%+v", a)
	}
}

// TestFormsTakeNoMessage checks that text typed while a form opens does not go to its field: a
// server must not receive the beginning of a message.
func TestFormsTakeNoMessage(t *testing.T) {
	d := open(t, form(), 79, 10)
	d.Disturb()
	for _, text := range []string{"p", "w"} {
		d.Rows(79, 10)
		d.Shown(d.now)
		d.now = d.now.Add(100 * time.Millisecond)
		if r := d.Press(keys.Event{Key: keys.Key{Name: text}, Text: text, At: d.now}, true); r.Used {
			t.Errorf("%q went into the form", text)
		}
	}
	if d.Active() || d.menu().field.Text() != "" {
		t.Error("the form still takes keys")
	}
	// A user who is filling in the form may type the next value immediately.
	d = open(t, form(), 79, 10)
	d.press("'Lund enter")
	d.Guard.Disturb()
	if r := d.Press(keys.Event{Key: keys.Key{Name: "2"}, Text: "2", At: d.now}, true); !r.Used || d.menu().field.Text() != "2" {
		t.Errorf("%+v", r)
	}
	if r := d.Press(keys.Event{Key: keys.Key{Name: "enter"}, At: d.now}, true); !r.Used || d.kind.(*formKind).at != 1 {
		t.Error("the field was not seen yet")
	}
	d.Press(keys.Event{Kind: keys.FocusIn, At: d.now}, true)
	if r := d.Press(keys.Event{Key: keys.Key{Name: "3"}, Text: "3", At: d.now}, true); r.Used {
		t.Error("a key that came with the focus was taken")
	}
}

// TestRandomKeys presses keys at random times before, during and after each kind of question.
// It checks that no key read before the question had been seen for a while answers it, that
// each character reaches the composer or the question it was meant for, and that rows stay
// within any size.
//
// Proves PERM-17.
func TestRandomKeys(t *testing.T) {
	questions := []func() session.Question{
		func() session.Question { return removal() }, func() session.Question { return change() }, func() session.Question { return plan("auto") },
		func() session.Question { return server() }, func() session.Question { return long(250) }, func() session.Question { return picks() },
		func() session.Question { return form() }, func() session.Question { return session.Visit{From: "x", URL: "https://x", Host: "x"} },
		func() session.Question { return session.Sampling{Text: strings.Repeat("line\n", 250)} },
	}
	strokes := []string{"1", "2", "3", "4", "5", "x", "e", "s", "space", "enter", "escape", "tab", "up", "down", "ctrl+g", "ctrl+u", "left", "backspace", "?", "shift+tab"}
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 2))
		now := time.Unix(1000, 0)
		composer := strings.Repeat("t", r.IntN(2))
		lastKey := now.Add(-time.Duration(r.IntN(3000)) * time.Millisecond)
		d := New(questions[r.IntN(len(questions))](), NewGuard(now, lastKey, composer != ""), options())
		w, h := 1+r.IntN(100), 1+r.IntN(14)
		var seen time.Time // time since a frame shows it active
		for range 80 {
			if r.IntN(2) == 0 {
				now = now.Add(time.Duration(r.IntN(1500)) * time.Millisecond)
				d.Look(now, composer != "")
				d.Overflow(w, h)
				rows, _ := d.Rows(w, h)
				if len(rows) > h {
					t.Fatalf("seed %d: %d rows of %d", seed, len(rows), h)
				}
				for _, row := range rows {
					if w >= 20 && row.Width() > w {
						t.Fatalf("seed %d: %q is wider than %d", seed, row, w)
					}
				}
				d.Shown(now)
				if d.Active() && seen.IsZero() {
					seen = now
				}
			}
			now = now.Add(time.Duration(r.IntN(200)) * time.Millisecond)
			k, _ := keys.ParseKey(strokes[r.IntN(len(strokes))])
			ev := keys.Event{Key: k, At: now.Add(-time.Duration(r.IntN(30)) * time.Millisecond)}
			if len(k.Name) == 1 && k.Mod == 0 {
				ev.Text = k.Name
			}
			alone := r.IntN(5) > 0
			typing := d.menu().field != nil && d.engaged
			seenIn := !seen.IsZero() && ev.At.Sub(seen) >= 350*time.Millisecond && d.menu().field != nil
			active, rest := d.Active(), len(d.rest)
			got := d.Press(ev, alone)
			fresh := active && alone && !seen.IsZero() && ev.At.Sub(seen) >= 350*time.Millisecond
			if got.Reply != nil {
				allows := false
				switch reply := got.Reply.(type) {
				case session.Decision:
					allows = reply.Behavior == permission.Allow
				case session.Filled:
					allows = reply.Action == session.Accept
				}
				if !fresh || allows && rest > 0 {
					t.Fatalf("seed %d: %v answers, active %v, alone %v, seen %v before", seed, ev, active, alone, ev.At.Sub(seen))
				}
				break
			}
			if !got.Used {
				composer += ev.Text
			} else if ev.Text != "" && !fresh && !typing && !seenIn {
				t.Fatalf("seed %d: %v was meant for the composer", seed, ev)
			}
			if d.shown.IsZero() {
				seen = time.Time{}
			}
			if r.IntN(10) == 0 {
				w, h = 1+r.IntN(100), 1+r.IntN(14)
			}
			if r.IntN(6) == 0 {
				composer = ""
			}
		}
	}
}

// TestLongWordInChange checks that a word wider than the terminal stays after its line number,
// with the continuation aligned below its beginning.
func TestLongWordInChange(t *testing.T) {
	word := strings.Repeat("x", 100)
	q := change()
	q.Preview = tool.Diff{Path: "new.txt", Created: true, Added: 2, Hunks: []tool.Hunk{{NewStart: 1, Lines: []string{"+" + word + " then", "+12 " + word}}}}
	d := open(t, q, 79, 10)
	for _, want := range []string{"\n    1 +" + word + "\n       then\n", "\n    2 +12\n       " + word + "\n"} {
		if !strings.Contains(d.text(), want) {
			t.Errorf("%q is not in\n%s", want, d.text())
		}
	}
}
