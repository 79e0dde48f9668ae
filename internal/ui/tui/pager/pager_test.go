package pager

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"adze/internal/commands"
	"adze/internal/platform/term/cells"
	"adze/internal/tool"
	"adze/internal/ui/draw"
	"adze/internal/ui/keys"
)

// A source is a text of numbered lines, some of them long. It counts the requested lines.
type source struct {
	total, asked int
	long         map[int]int
}

func (s *source) Len() int { return s.total }

func (s *source) Row(i int) draw.Row {
	s.asked++
	return draw.Line(draw.Text, fmt.Sprintf("line %d%s", i+1, strings.Repeat("x", s.long[i])))
}

func open(s Lines) *Pager {
	return New(Text{Title: "Output", Lines: func(int) Lines { return s }}, draw.Unicode())
}

// press presses keys separated by blanks, or types a word that begins with a quote.
func press(t testing.TB, p *Pager, names string) keys.Action {
	t.Helper()
	var action keys.Action
	for name := range strings.FieldsSeq(names) {
		if text, ok := strings.CutPrefix(name, "'"); ok {
			for _, r := range text {
				action = p.Press(keys.Event{Key: keys.Key{Name: string(r)}, Text: string(r), At: time.Unix(1, 0)}, keys.Defaults())
			}
			continue
		}
		key, err := keys.ParseKey(name)
		if err != nil {
			t.Fatal(err)
		}
		action = p.Press(keys.Event{Key: key, At: time.Unix(1, 0)}, keys.Defaults())
	}
	return action
}

func show(p *Pager, w, h int) string {
	rows, _ := p.Rows(w, h)
	return draw.Palette{}.Text(rows)
}

// first returns the first visible row.
func first(p *Pager) string {
	text, _, _ := strings.Cut(show(p, 40, 12), "\n")
	return text
}

func TestKeys(t *testing.T) {
	p := open(&source{total: 100})
	if got := show(p, 40, 12); !strings.HasPrefix(got, "line 1\n") || !strings.HasSuffix(got, "\nline 11\nOutput ∙ line 1 of 100, 11% ∙ q closes") {
		t.Fatal(got)
	}
	for _, tt := range []struct{ press, first string }{
		{"down j enter", "line 4"}, {"up k", "line 2"}, {"pagedown", "line 12"}, {"space f", "line 32"}, {"b pageup", "line 12"},
		{"d", "line 17"}, {"u", "line 12"}, {"G", "line 90"}, {"down", "line 90"}, {"g", "line 1"}, {"up", "line 1"}, {"end up", "line 89"}, {"home", "line 1"},
		{"/ 'line_5 backspace backspace", "line 1"},
	} {
		press(t, p, tt.press)
		if got := first(p); got != tt.first {
			t.Errorf("%s: %s is shown first, not %s", tt.press, got, tt.first)
		}
	}
	p = open(&source{total: 100})
	for _, name := range []string{"q", "escape", "ctrl+o", "ctrl+c"} {
		if got := press(t, p, name); got != keys.ClosePage {
			t.Errorf("%s: %q", name, got)
		}
	}
	if got := press(t, p, "ctrl+z"); got != keys.Suspend {
		t.Errorf("ctrl+z: %q", got)
	}
}

func TestSearch(t *testing.T) {
	p := open(&source{total: 100, long: map[int]int{70: 300}})
	show(p, 40, 12)
	press(t, p, "/ '77")
	rows, caret := p.Rows(40, 12)
	if got := rows[11].String(); got != "/77" || caret == nil || caret.Row != 11 || caret.Col != 3 {
		t.Errorf("typing shows %q with the cursor at %v", got, caret)
	}
	press(t, p, "enter")
	got := show(p, 40, 12)
	if !strings.Contains(got, "line 77\n") || !strings.HasSuffix(got, "Output ∙ line 74 of 100, 84% ∙ q closes") {
		t.Error(got)
	}
	rows, _ = p.Rows(40, 12)
	for _, row := range rows {
		if row.String() == "line 77" && cmp.Diff(draw.Row{{Text: "line "}, {Role: draw.Accent, Text: "77"}}, row) != "" {
			t.Errorf("the match is not marked: %v", row)
		}
	}
	press(t, p, "/ 'NE enter")
	if got := show(p, 40, 12); !strings.HasSuffix(got, "No line contains NE.") {
		t.Error("capitals do not matter:", got)
	}
	press(t, p, "g / '9 enter n n")
	if got := show(p, 40, 12); !strings.Contains(got, "line 29\n") {
		t.Error("the third match is not shown:", got)
	}
	press(t, p, "N N N")
	if got := show(p, 40, 12); !strings.Contains(got, "line 99\n") || !strings.HasSuffix(got, "The search continues from the other end.") {
		t.Error("the last match is not shown:", got)
	}
	if press(t, p, "/ 'x escape") != "" || p.typing != nil {
		t.Error("Esc does not end the search")
	}
}

// TestSearchInLongLine checks that a match in a heavily wrapped line is in view.
func TestSearchInLongLine(t *testing.T) {
	p := open(Rows{draw.Line(draw.Text, "one"), draw.Line(draw.Text, strings.Repeat("x", 2000)+"needle"+strings.Repeat("y", 2000)), draw.Line(draw.Text, "two")})
	show(p, 40, 12)
	press(t, p, "/ 'needle enter")
	if got := show(p, 40, 12); !strings.Contains(got, "needle") {
		t.Error(got)
	}
}

// TestFollow checks that the end is followed while lines are added, until the user moves away.
func TestFollow(t *testing.T) {
	s := &source{total: 50}
	p := New(Text{Title: "All", Lines: func(int) Lines { return s }, End: true}, draw.ASCII())
	if got := show(p, 40, 5); got != "line 47\nline 48\nline 49\nline 50\nAll - end of 50 lines, followed" {
		t.Fatal(got)
	}
	s.total = 60
	if got := show(p, 40, 5); !strings.HasPrefix(got, "line 57\n") {
		t.Error(got)
	}
	press(t, p, "up")
	s.total = 70
	if got := show(p, 40, 5); !strings.HasPrefix(got, "line 56\n") {
		t.Error(got)
	}
	press(t, p, "G")
	s.total = 80
	if got := show(p, 40, 5); !strings.HasPrefix(got, "line 77\n") {
		t.Error(got)
	}
}

// TestPage checks that a command page is rendered for the width, keeps all program output, and
// has its diffs as parts.
func TestPage(t *testing.T) {
	var page commands.Page
	for _, name := range []string{"a.go", "b.go", "c.go"} {
		page.Add(commands.Output{Display: tool.Diff{Path: name, Added: 1, Hunks: []tool.Hunk{{NewStart: 1, Lines: []string{"+" + strings.Repeat("long ", 20)}}}}})
		page.Add(commands.Text("A text between the files that is broken where it has to be."))
	}
	p := New(Text{Title: "/diff", Lines: Page(page, draw.Options{})}, draw.Unicode())
	if got := show(p, 40, 6); !strings.Contains(got, "a.go") || !strings.HasSuffix(got, "[ ] parts ∙ / searches ∙ q closes") && !strings.Contains(got, "/diff ∙ line 1 of") {
		t.Error(got)
	}
	for _, tt := range []struct{ press, want string }{{"]", "b.go"}, {"tab", "c.go"}, {"[", "b.go"}, {"[ [", "a.go"}} {
		press(t, p, tt.press)
		if got := show(p, 40, 6); !strings.Contains(strings.Split(got, "\n")[0], tt.want) {
			t.Errorf("%s: %s", tt.press, got)
		}
	}
	if got := strings.ReplaceAll(show(p, 40, 60), "\n", ""); strings.Count(got, "long") != 60 {
		t.Errorf("%d words are shown: %s", strings.Count(got, "long"), got)
	}
}

// TestCost checks that a 20 MB text costs only as much as its visible part.
func TestCost(t *testing.T) {
	s := &source{total: 400_000}
	p := open(s)
	show(p, 200, 50)
	s.asked = 0
	press(t, p, "G")
	show(p, 200, 50)
	press(t, p, "up pageup")
	show(p, 200, 50)
	if s.asked > 2000 {
		t.Errorf("%d lines requested", s.asked)
	}
}

// TestRowsFit checks that rows always fit the screen and that moving down shows all of them.
func TestRowsFit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var lines Rows
		for range rapid.IntRange(0, 20).Draw(t, "lines") {
			line := draw.Row{}
			for range rapid.IntRange(0, 3).Draw(t, "spans") {
				line = append(line, draw.Span{Role: draw.Faint, Text: rapid.OneOf(rapid.StringMatching(`[a字 \t]{0,60}`), rapid.String()).Draw(t, "text")})
			}
			lines = append(lines, line)
		}
		p := open(lines)
		w, h := rapid.IntRange(2, 40).Draw(t, "width"), rapid.IntRange(1, 12).Draw(t, "height")
		for range rapid.IntRange(0, 12).Draw(t, "presses") {
			name := rapid.SampledFrom([]string{"up", "down", "space", "b", "G", "g", "d", "u", "n", "N", "/", "enter", "]", "["}).Draw(t, "key")
			p.Press(keys.Event{Key: mustKey(name), Text: name, At: time.Unix(1, 0)}, keys.Defaults())
			if rapid.IntRange(0, 4).Draw(t, "resize") == 0 {
				w = rapid.IntRange(2, 40).Draw(t, "width")
			}
			rows, _ := p.Rows(w, h)
			if len(rows) != max(2, h) && len(rows) != h {
				t.Fatalf("%d rows, not %d", len(rows), h)
			}
			for _, row := range rows {
				if text := (draw.Palette{}).Paint(row); cells.Width(text) > w {
					t.Fatalf("%q is wider than %d", text, w)
				}
			}
		}
	})
}

func mustKey(name string) keys.Key {
	k, err := keys.ParseKey(name)
	if err != nil {
		panic(err)
	}
	return k
}

// BenchmarkSearch measures searching 20 MB without a match.
func BenchmarkSearch(b *testing.B) {
	lines := make(Rows, 200_000)
	for i := range lines {
		lines[i] = draw.Line(draw.Text, fmt.Sprintf("%07d %s", i, strings.Repeat("Some output of a program. ", 4)))
	}
	p := open(lines)
	p.Rows(200, 50)
	p.query = newQuery("needle")
	for b.Loop() {
		p.find(1)
	}
}
