package popup

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"adze/internal/commands/suggest"
	"adze/internal/platform/text/rank"
	"adze/internal/ui/draw"
	"adze/internal/ui/keys"
)

// A world is a source of suggestions whose searches end on demand.
type world struct {
	commands []suggest.Item
	files    []string
	asked    []suggest.Query
	pending  []func() func()
	*Popup
}

func newWorld() *world {
	w := &world{
		commands: []suggest.Item{
			{Text: "/compact", Label: "/compact", Args: "[focus]", Doc: "summarise the conversation to make room"},
			{Text: "/context", Label: "/context", Doc: "what fills the window"},
			{Text: "/cost", Label: "/cost", Doc: "tokens and money so far"},
		},
		files: []string{"src/main.go", "src/match.go", "main_test.go", "docs/"},
	}
	w.Popup = New(w, draw.Unicode(), func(work func() func()) { w.pending = append(w.pending, work) })
	return w
}

func (w *world) Commands(typed string) []suggest.Item {
	var fit []suggest.Item
	for _, it := range w.commands {
		if rank.Match(it.Label[1:], typed) > 0 {
			for _, at := range rank.Positions(it.Label[1:], typed) {
				it.Matched = append(it.Matched, at+1)
			}
			fit = append(fit, it)
		}
	}
	return fit
}

func (w *world) Find(ctx context.Context, q suggest.Query) []suggest.Item {
	w.asked = append(w.asked, q)
	var fit []suggest.Item
	for _, name := range w.files {
		if rank.Match(name, q.Typed) > 0 {
			fit = append(fit, suggest.Item{Text: "@" + name, Label: name, Matched: rank.Positions(name, q.Typed), Continues: strings.HasSuffix(name, "/")})
		}
	}
	return fit
}

// settle ends the running searches.
func (w *world) settle() {
	for _, work := range w.pending {
		work()()
	}
	w.pending = nil
}

// press presses a key, and reports whether it was for the popup.
func (w *world) press(name string) bool {
	return w.Press(keys.Event{Key: keys.Key{Name: name}, At: time.Unix(1, 0)}, keys.Defaults())
}

// shown returns the rows as text.
func (w *world) shown(width, height int) string {
	rows, caret := w.Rows(width, height)
	if caret != nil {
		return "it has a caret"
	}
	return draw.Palette{}.Text(rows)
}

// TestDirectory checks that Enter sends a fully typed directory, and that Tab or a choice
// descends into it.
func TestDirectory(t *testing.T) {
	w := newWorld()
	w.files = []string{"src/main.go", "src/sub/", "sr/x/src/"}
	typed := func(before string) {
		w.Typed(before, true)
		w.settle()
	}
	typed("see @src/")
	if c, ok := w.Enter("see @src/"); ok {
		t.Errorf("Enter takes %+v", c)
	}
	if c, ok := w.Take("see @src/"); !ok || c.With != "@src/main.go " {
		t.Errorf("Tab: %+v", c)
	}
	w.press("down")
	if c, ok := w.Enter("see @src/"); !ok || c.With != "@src/sub/" {
		t.Errorf("Enter on a choice: %+v", c)
	}
	typed("see @src/sub/")
	if c, ok := w.Enter("see @src/sub/"); ok {
		t.Errorf("Enter in the directory that was chosen takes %+v", c)
	}
	typed("see @s/")
	if c, ok := w.Enter("see @s/"); !ok || !strings.HasPrefix(c.With, "@s") {
		t.Errorf("Enter does not complete a file name: %+v", c)
	}
	w.files = []string{"my docs/a.md"}
	typed(`see @"my docs/`)
	if c, ok := w.Enter(`see @"my docs/`); !ok || c != (Change{Typed: `@"my docs/`, With: `@"my docs/"`, Runs: true}) {
		t.Errorf("a name with blanks: %+v", c)
	}
}

// Proves CMD-01.
func TestCommands(t *testing.T) {
	w := newWorld()
	w.Typed("/co", true)
	want := `▌ /compact [focus]  summarise the conversation to make room
  /context          what fills the window
  /cost             tokens and money so far`
	if diff := cmp.Diff(want, w.shown(80, 24)); diff != "" {
		t.Error(diff)
	}
	want = `▌ /compact  summarise the conversation ⋯
  /context  what fills the window
  /cost     tokens and money so far
  summarise the conversation to make
  room`
	if diff := cmp.Diff(want, w.shown(40, 12)); diff != "" {
		t.Error(diff)
	}
	if c, ok := w.Enter("/co"); !ok || c != (Change{Typed: "/co", With: "/compact "}) {
		t.Errorf("Enter on a command with arguments: %+v", c)
	}
	for range 2 {
		if !w.press("down") {
			t.Error("Down is not for the popup")
		}
	}
	if c, ok := w.Enter("/co"); !ok || c != (Change{Typed: "/co", With: "/cost", Runs: true}) {
		t.Errorf("Enter on a command without arguments: %+v", c)
	}
	if c, ok := w.Take("/co"); !ok || c != (Change{Typed: "/co", With: "/cost "}) {
		t.Errorf("Tab: %+v", c)
	}
	w.Typed("/cos", true)
	if want := "▌ /cost  tokens and money so far"; w.shown(80, 24) != want {
		t.Error(w.shown(80, 24))
	}
	w.Typed("/cost", true)
	if _, ok := w.Enter("/cost"); ok {
		t.Error("Enter selects the current input")
	}
	if !w.press("escape") || w.Open() || w.press("down") {
		t.Error("Esc does not close it")
	}
	w.Typed("/cos", true)
	if w.Open() {
		t.Error("it opens again for the same name")
	}
	w.Typed("", true)
	w.Typed("/c", true)
	if !w.Open() {
		t.Error("it does not open for another name")
	}
	w.Typed("/cst", true)
	if c, ok := w.Enter("/cst"); !ok || c != (Change{Typed: "/cst", With: "/cost "}) {
		t.Errorf("Enter on a name that has the letters: %+v", c)
	}
	w.press("down")
	if c, ok := w.Enter("/cst"); !ok || !c.Runs {
		t.Errorf("Enter on a name that was chosen: %+v", c)
	}
	w.Typed("/c", true)
	w.press("escape")
	w.Close()
	w.Typed("/c", true)
	if !w.Open() {
		t.Error("it stays closed when the text was sent")
	}
}

// TestMatchedLetters checks that the typed letters and the selection are strong.
func TestMatchedLetters(t *testing.T) {
	w := newWorld()
	w.Typed("/cst", true)
	rows, _ := w.Rows(80, 8)
	want := draw.Row{{Role: draw.Accent, Text: "▌ "}, {Role: draw.Strong, Text: "/cost"}, {Role: draw.Faint}, {Role: draw.Faint, Text: "  tokens and money so far"}}
	if diff := cmp.Diff([]draw.Row{want.On(draw.SelectedGround, true)}, rows); diff != "" {
		t.Error(diff)
	}
	got := label(suggest.Item{Label: "/cost", Matched: []int{1, 3}}, draw.Text)
	if diff := cmp.Diff(draw.Row{{Text: "/"}, {Role: draw.Strong, Text: "c"}, {Text: "o"}, {Role: draw.Strong, Text: "s"}, {Text: "t"}}, got); diff != "" {
		t.Error(diff)
	}
}

// TestFiles checks that files are searched in the background, that late results are dropped,
// and that the shown items always match the typed text.
//
// Proves IDX-08.
func TestFiles(t *testing.T) {
	w := newWorld()
	w.Typed("see @ma", true)
	if w.Open() {
		t.Error("something is shown before anything is found")
	}
	w.settle()
	if want := "▌ src/main.go\n  src/match.go\n  main_test.go"; w.shown(80, 24) != want {
		t.Error(w.shown(80, 24))
	}
	w.press("down")
	w.Typed("see @mat", true)
	if w.shown(80, 24) != "▌ src/match.go\n  main_test.go" {
		t.Errorf("while it is searched: %s", w.shown(80, 24))
	}
	late := w.pending
	w.pending = nil
	w.Typed("see @matc", true)
	w.settle()
	for _, work := range late {
		work()()
	}
	if want := "▌ src/match.go"; w.shown(80, 24) != want {
		t.Errorf("what came late is shown:\n%s", w.shown(80, 24))
	}
	if c, ok := w.Take("see @matc"); !ok || c != (Change{Typed: "@matc", With: "@src/match.go "}) {
		t.Errorf("%+v", c)
	}
	w.Typed("see @do", true)
	w.settle()
	if c, ok := w.Enter("see @do"); !ok || c != (Change{Typed: "@do", With: "@docs/"}) {
		t.Errorf("a directory: %+v", c)
	}
	w.Typed("see ", true)
	if w.Open() {
		t.Error("open without anything to continue")
	}
}

// TestArguments checks that an argument is sent as typed: a suggestion is accepted only with
// Tab, or after the user has moved to it.
//
// Proves CMD-01.
func TestArguments(t *testing.T) {
	w := newWorld()
	w.files = []string{"models", "model"}
	w.Typed("/config model", true)
	w.settle()
	if want := "  models\n  model"; w.shown(80, 24) != want {
		t.Error(w.shown(80, 24))
	}
	if c, ok := w.Enter("/config model"); ok {
		t.Errorf("Enter accepts an unselected entry: %+v", c)
	}
	if c, ok := w.Take("/config model"); !ok || c.With != "@models " {
		t.Errorf("Tab: %+v", c)
	}
	w.press("down")
	if want := "▌ models\n  model"; w.shown(80, 24) != want {
		t.Error(w.shown(80, 24))
	}
	if c, ok := w.Enter("/config model"); !ok || c != (Change{Typed: "model", With: "@models "}) {
		t.Errorf("Enter: %+v", c)
	}
}

// TestScrolls checks that a long list scrolls with the selection, which wraps around.
func TestScrolls(t *testing.T) {
	w := newWorld()
	w.commands = nil
	for _, r := range "abcdefghijklmnopqrst" {
		w.commands = append(w.commands, suggest.Item{Text: "/x" + string(r), Label: "/x" + string(r)})
	}
	w.Typed("/x", true)
	if rows := strings.Split(w.shown(80, 24), "\n"); len(rows) != mostRows+1 || rows[0] != "▌ /xa" || rows[mostRows] != "  1/20" {
		t.Errorf("%q", rows)
	}
	for range 10 {
		w.press("down")
	}
	if rows := strings.Split(w.shown(80, 24), "\n"); len(rows) != mostRows+1 || rows[mostRows-1] != "▌ /xk" || rows[mostRows] != "  11/20" {
		t.Errorf("%q", rows)
	}
	for range 11 {
		w.press("up")
	}
	if rows := strings.Split(w.shown(80, 3), "\n"); len(rows) != 3 || rows[1] != "▌ /xt" || rows[2] != "  20/20" {
		t.Errorf("%q", rows)
	}
	if rows, _ := w.Rows(80, 0); rows != nil {
		t.Errorf("%q in no rows", rows)
	}
}

// TestHostileNames checks that untrusted file names and plugin descriptions cannot break out of
// their row.
func TestHostileNames(t *testing.T) {
	w := newWorld()
	w.commands = []suggest.Item{{Text: "/x", Label: "/x\x1b[31m\n\t", Args: "[\x1b]0;t\a]", Doc: strings.Repeat("字\n\x1b[2J", 100)}}
	w.Typed("/x", true)
	for _, width := range []int{10, 20, 40, 80, 200} {
		rows, _ := w.Rows(width, 8)
		if len(rows) > 3 {
			t.Errorf("%d rows: %q", len(rows), rows)
		}
		for _, row := range rows {
			if row.Width() > width {
				t.Errorf("%d cells in %d: %q", row.Width(), width, row)
			}
		}
		if text := strings.Join((draw.Palette{}).Lines(rows), ""); strings.ContainsAny(text, "\x1b\n\t\a") {
			t.Errorf("%q", text)
		}
	}
}

// TestBareSlash checks that a bare slash runs nothing until the user has moved to a command.
func TestBareSlash(t *testing.T) {
	w := newWorld()
	w.Typed("/", true)
	if c, ok := w.Enter("/"); !ok || c.Runs || c.With != "/" {
		t.Errorf("%+v, %v", c, ok)
	}
	w.Press(keys.Event{Key: keys.Key{Name: "down"}}, keys.Defaults())
	w.Press(keys.Event{Key: keys.Key{Name: "down"}}, keys.Defaults())
	if c, ok := w.Enter("/"); !ok || !c.Runs || c.With != "/context" {
		t.Errorf("%+v, %v", c, ok)
	}
}
