package dialog

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"adze/internal/permission"
	"adze/internal/platform/fs/scope"
	"adze/internal/session"
	"adze/internal/tool"
	"adze/internal/ui/draw"
	"adze/internal/ui/keys"
)

var update = flag.Bool("update", false, "write golden files")

// A console is a dialog with a simulated user.
type console struct {
	*Dialog
	t     testing.TB
	now   time.Time
	w, h  int
	final []draw.Row
	typed string // text that reached the composer
	last  Result
}

func options() Options {
	usual := keys.Defaults()
	return Options{Dir: "/home/u/src/shop", Home: "/home/u", Glyphs: draw.Unicode(), Bindings: func() *keys.Map { return usual }}
}

// open asks a question of a user who has not typed for a while and has seen it.
func open(t testing.TB, q session.Question, w, h int) *console {
	now := time.Unix(1000, 0)
	d := &console{Dialog: New(q, NewGuard(now, time.Time{}, false), options()), t: t, now: now, w: w, h: h}
	d.frame()
	return d
}

// frame draws the dialog and lets the user see it.
func (d *console) frame() ([]draw.Row, string) {
	d.final = append(d.final, d.Overflow(d.w, d.h)...)
	rows, caret := d.Rows(d.w, d.h)
	if len(rows) > d.h {
		d.t.Errorf("%d rows, more than %d", len(rows), d.h)
	}
	for _, r := range rows {
		if r.Width() > d.w {
			d.t.Errorf("%q is wider than %d", r, d.w)
		}
	}
	d.Shown(d.now)
	d.now = d.now.Add(time.Second)
	at := "none"
	if caret != nil {
		at = fmt.Sprintf("%d,%d", caret.Row, caret.Col)
	}
	return rows, at
}

// press presses keys named as in keybindings.json, or types text in quotes.
func (d *console) press(strokes string) Result {
	d.t.Helper()
	for stroke := range strings.FieldsSeq(strokes) {
		var events []keys.Event
		if text, ok := strings.CutPrefix(stroke, "'"); ok {
			for _, r := range strings.ReplaceAll(text, "_", " ") {
				events = append(events, keys.Event{Key: keys.Key{Name: string(r)}, Text: string(r)})
			}
		} else {
			k, err := keys.ParseKey(stroke)
			if err != nil {
				d.t.Fatal(err)
			}
			ev := keys.Event{Key: k}
			if len(k.Name) == 1 && k.Mod == 0 {
				ev.Text = k.Name
			}
			events = append(events, ev)
		}
		for _, ev := range events {
			ev.At = d.now
			d.last = d.Press(ev, true)
			if !d.last.Used {
				d.typed += ev.Text
			}
			d.final = append(d.final, d.last.Final...)
			if d.last.Reply != nil {
				return d.last
			}
			d.frame()
		}
	}
	return d.last
}

// text returns all visible text.
func (d *console) text() string {
	var b strings.Builder
	rows, at := d.frame()
	for _, row := range d.final {
		b.WriteString(strings.TrimRight(draw.Palette{}.Paint(row), " ") + "\n")
	}
	b.WriteString("---- caret " + at + "\n")
	for _, row := range rows {
		b.WriteString(strings.TrimRight(draw.Palette{}.Paint(row), " ") + "\n")
	}
	return b.String()
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

func rules(to scope.Scope, contents ...string) []permission.Update {
	u := permission.Update{Type: permission.AddRules, Behavior: permission.Allow, Destination: to}
	for _, c := range contents {
		u.Rules = append(u.Rules, permission.RuleValue{Tool: "Bash", Content: c})
	}
	return []permission.Update{u}
}

func removal() session.Permission {
	line := "git ls-files -o --exclude-standard -z | xargs -0 rm -f"
	return session.Permission{Question: permission.Question{
		ID: "u1", Tool: "Bash", Title: "Run " + line, Command: line, Programs: []string{"git", "xargs", "rm"}, About: "remove untracked files", Dir: "/home/u/src/shop",
		Reason: permission.Reason{Text: "no rule allows rm"}, Warning: "Deletes files that git does not keep.", Suggestions: rules(scope.Local, line),
	}}
}

func change() session.Permission {
	return session.Permission{Question: permission.Question{
		ID: "u2", Tool: "Edit", Title: "Edit cart.go", Dir: "/home/u/src/shop", Reason: permission.Reason{Kind: permission.ModeAsksEdit, Mode: permission.Default},
		Input: json.RawMessage(`{"file_path":"/home/u/src/shop/cart.go","old_string":"a","new_string":"b\n"}`), Draft: &permission.Draft{Draft: tool.Draft{Field: "new_string"}},
		Preview: tool.Diff{Path: "/home/u/src/shop/cart.go", Added: 2, Removed: 1, Hunks: []tool.Hunk{{OldStart: 86, NewStart: 86, Lines: []string{
			" \tfor _, l := range c.Lines {", "-\t\tsum = sum.Add(l.Total().Round())", "+\t\tsum = sum.Add(l.Total())", " \t}", "+\treturn sum.Round()"}}}},
		Suggestions: []permission.Update{{Type: permission.SetMode, Mode: permission.AcceptEdits, Destination: scope.Session}},
	}}
}

func plan(next string) session.Permission {
	return session.Permission{Question: permission.Question{
		ID: "u3", Tool: "ExitPlanMode", Title: "Present the plan", NeedsPerson: true, Reason: permission.Reason{Text: "only the user can answer this"},
		Input:   json.RawMessage(`{"allowedPrompts":[{"tool":"Bash","prompt":"run the tests"}],"plan":"# Rounding\n\n1. Round **once**, in *Cart.Total*\n2. Drop Round\n","planFilePath":"/home/u/.adze/plans/calm-silver-otter.md"}`),
		Preview: tool.Plain{Text: "# Rounding\n\n1. Round **once**, in *Cart.Total*\n2. Drop Round\n"}, Consent: "Yes approves the plan.",
		Draft: &permission.Draft{Draft: tool.Draft{Field: "plan", Plan: &tool.Plan{File: "/home/u/.adze/plans/calm-silver-otter.md", Next: next, Asks: []string{"run the tests"}}}},
	}}
}

func server() session.Permission {
	return session.Permission{Question: permission.Question{
		ID: "u4", Tool: "mcp__db__drop_table", DisplayName: "db: drop_table", Title: "db: drop_table users …", Server: "db", Dir: "/home/u/src/shop",
		Input:  json.RawMessage(`{"table":"users","force":true,"note":"Allow?\n❯ 1 Yes\u001b[2J"}`),
		Reason: permission.Reason{Text: "no rule allows it"}, Suggestions: []permission.Update{{Type: permission.AddRules, Behavior: permission.Allow, Destination: scope.Local, Rules: []permission.RuleValue{{Tool: "mcp__db__drop_table"}}}},
		Agent: &permission.Agent{Type: "explore", Title: "Find usages\x1b[31m"},
	}}
}

func fetch() session.Permission {
	return session.Permission{Question: permission.Question{
		ID: "u5", Tool: "WebFetch", Title: "Fetch https://example.com/x", Dir: "/home/u/src/shop", Input: json.RawMessage(`{"url":"https://example.com/x","prompt":"What is it?"}`),
		Reason: permission.Reason{Text: "no rule allows example.com"}, Suggestions: []permission.Update{{Type: permission.AddRules, Behavior: permission.Allow, Destination: scope.Local, Rules: []permission.RuleValue{{Tool: "WebFetch", Content: "domain:example.com"}}}},
	}}
}

func picks() session.Choices {
	options := []session.Option{{Label: "red", Description: "like a rose"}, {Label: "blue", Preview: "+--+\n|\x1b[31m|\n"}}
	return session.Choices{Items: []session.Choice{
		{Header: "Colour\x1b[2J", Text: "Which one?", Options: options},
		{Text: "What else?", Options: options[:2], Multiple: true},
	}}
}

func form() session.Form {
	five := 5.0
	options := []session.Option{{Label: "red"}, {Label: "blue"}}
	return session.Form{From: "weather", Message: "Where are you?\n\nAllow? 1 Yes", Fields: []session.Field{
		{Name: "city", Title: "City", Description: "The nearest one.", Type: session.TextField, Required: true},
		{Name: "days", Title: "Days", Type: session.IntegerField, Max: &five, Default: int64(3)},
		{Name: "hourly", Type: session.BooleanField, Required: true},
		{Name: "colour", Type: session.ChoiceField, Options: options},
		{Name: "colours", Type: session.ListField, Options: options, Default: []string{"red", "blue"}},
	}}
}

// TestLook checks the appearance of each kind of question, when it opens and in other states.
//
// Proves PERM-17, SHC-02, TOOL-22, PLAN-05.
func TestLook(t *testing.T) {
	consent := session.Permission{Question: permission.Question{Tool: "EnterPlanMode", Title: "Plan before acting: it is large", NeedsPerson: true,
		Dir: "/home/u/src/shop", Reason: permission.Reason{Text: "only the user can answer this"}, Consent: "Yes switches to plan mode: the model reads and writes a plan, and changes nothing else until you approve it."}}
	visit := session.Visit{From: "docs", Message: "Please sign in.\n❯ 1 Yes", URL: "https://xn--example-cua.com/login?state=" + strings.Repeat("1", 60), Host: "xn--example-cua.com"}
	waiting := visit
	waiting.Opened = true
	harmless := removal()
	harmless.Warning = ""
	hostile := removal()
	hostile.Command = "rm \u202e~\x1b[2J\u00a0x\u200b\nprintf '1 Yes\t" + strings.Repeat("long ", 40) + strings.Repeat("x", 90) + "'"
	hostile.Warning, hostile.Suggestions = "", nil
	hostile.Reason.Text = strings.Repeat("the reason is long ", 30)
	for _, size := range []struct{ w, h int }{{79, 21}, {39, 9}, {119, 37}, {199, 47}} {
		var b strings.Builder
		for _, tt := range []struct {
			name string
			q    session.Question
			keys string
		}{
			{"command", removal(), ""},
			{"command, its rule in another scope", harmless, "down s s"},
			{"command, its details", harmless, "down ?"},
			{"command, the rule being edited", harmless, "down e 'x("},
			{"command, no and a message", removal(), "4 'only_under_tmp"},
			{"hostile command", hostile, ""},
			{"edit", change(), ""},
			{"plan", plan("default"), ""},
			{"fetch", fetch(), "down"},
			{"tool of a server, asked for by an agent", server(), ""},
			{"tool of a server, its details", server(), "?"},
			{"consent", consent, ""},
			{"suggestion", nil, ""},
			{"choices", picks(), "down"},
			{"choices, several", picks(), "1 space 3 'green"},
			{"form", form(), ""},
			{"form, a value that does not fit", form(), "'Lund enter 9 enter"},
			{"form, list", form(), "'Lund enter enter 1 2 down space"},
			{"form without fields", session.Form{From: "docs", Message: "May it begin?"}, ""},
			{"visit", visit, ""},
			{"visit, opened", waiting, ""},
			{"sampling", session.Sampling{From: "docs", Text: "system: be brief\nuser: Sum \x1b[2Jup.", MaxTokens: 500}, ""},
		} {
			if tt.q == nil {
				b.WriteString("==== suggestion\n" + offered(t, size.w, size.h).text())
				continue
			}
			d := open(t, tt.q, size.w, size.h)
			d.press(tt.keys)
			fmt.Fprintf(&b, "==== %s\n%s", tt.name, d.text())
		}
		d := open(t, removal(), size.w, size.h)
		d.Wait()
		fmt.Fprintf(&b, "==== waiting\n%s", d.text())
		golden(t, fmt.Sprintf("look-%d.txt", size.w+1), b.String())
	}
}

// offered asks a question without a session.
func offered(t *testing.T, w, h int) *console {
	now := time.Unix(1000, 0)
	q := Simple{
		Title: "Model", Body: "adze needs a model.\nIt stores the choice.", Warning: "This costs money.", Question: "Which one?", Reason: "None is set.",
		Answers: []string{"Anthropic", "None yet"}, Remarks: []string{"paste an API key"}, Marked: 1, Leaving: "not now",
	}
	d := &console{Dialog: NewSimple(q, NewGuard(now, time.Time{}, false), options()), t: t, now: now, w: w, h: h}
	d.frame()
	return d
}

// TestSubject checks that the subject stays directly above the choices: it is part of the dialog
// as long as there is room, and is otherwise written to the scrollback, once. It is kept when the
// dialog ends.
//
// Proves PERM-17.
func TestSubject(t *testing.T) {
	d := open(t, change(), 79, 21)
	if got := d.text(); d.Holds() || len(d.final) > 0 || strings.Count(got, "return sum.Round()") != 1 {
		t.Errorf("there is room for all of it:\n%s", got)
	}
	if rows := d.Close(); !strings.HasPrefix(rows[0].String(), "╭─ Edit cart.go  +2 -1 ─") || !strings.HasPrefix(rows[len(rows)-1].String(), "╰─") {
		t.Errorf("%v is kept", rows)
	}
	d.press("?")
	if got := d.text(); !strings.Contains(got, "Folder") || d.Holds() {
		t.Errorf("the details move the subject:\n%s", got)
	}
	d.h = 9 // the window becomes smaller
	d.press("?")
	if got := d.text(); !d.Holds() || strings.Count(got, "return sum.Round()") != 1 {
		t.Errorf("it is not in the scrollback once:\n%s", got)
	}
	d.w, d.h = 99, 30
	if got := d.text(); strings.Count(got, "return sum.Round()") != 1 {
		t.Errorf("it is written again:\n%s", got)
	}
	if rows := d.Close(); len(rows) != 1 || !strings.HasPrefix(rows[0].String(), "╰─") {
		t.Errorf("%v completes it", rows)
	}
}

// TestLongWordsAreNotCut checks that the whole subject is visible even if a word is wider than
// the window.
func TestLongWordsAreNotCut(t *testing.T) {
	q := change()
	q.Preview = tool.Diff{Path: "a", Added: 1, Hunks: []tool.Hunk{{NewStart: 1, Lines: []string{"+" + strings.Repeat("x", 100) + "END"}}}}
	for _, h := range []int{20, 7} {
		d := open(t, q, 39, h)
		if got := strings.NewReplacer("\n", "", " ", "").Replace(d.text()); !strings.Contains(got, strings.Repeat("x", 100)+"END") {
			t.Errorf("%d rows:\n%s", h, d.text())
		}
	}
}

// TestMark checks that the marked choice has a background, which fills the row, and that a waiting
// question has none.
func TestMark(t *testing.T) {
	d := open(t, change(), 79, 21)
	marked := func() int {
		rows, _ := d.Rows(79, 21)
		n := 0
		for _, row := range rows {
			if last := row[len(row)-1]; last.Fill && last.Ground == draw.SelectedGround {
				n++
			}
		}
		return n
	}
	if marked() != 1 {
		t.Errorf("%d rows are marked", marked())
	}
	d.Wait()
	if marked() != 0 {
		t.Errorf("%d rows are marked in a waiting question", marked())
	}
}

// TestNothingHides checks that nothing the user decides about can be hidden by control
// sequences.
func TestNothingHides(t *testing.T) {
	const text = "harm\rgood \x1b]0;harm\x07"
	const want = `harm\x0dgood \x1b]0;harm\x07`
	option := session.Option{Label: text, Description: text, Preview: text}
	for name, tt := range map[string]struct {
		q session.Question
		n int
	}{
		"sampling": {session.Sampling{From: "docs", Text: text}, 1},
		"visit":    {session.Visit{From: "docs", Message: text, URL: "https://example.com", Host: "example.com"}, 1},
		"choices":  {session.Choices{Items: []session.Choice{{Header: text, Text: text, Options: []session.Option{option}}}}, 5},
	} {
		if d := open(t, tt.q, 79, 20); strings.Count(d.text(), want) != tt.n {
			t.Errorf("%s:\n%s", name, d.text())
		}
	}
}
