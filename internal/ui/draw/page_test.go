package draw

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"adze/internal/commands"
	"adze/internal/commands/about"
	"adze/internal/commands/display"
	"adze/internal/commands/extensions"
	"adze/internal/commands/memory"
	"adze/internal/commands/rules"
	"adze/internal/platform/term/cells"
	"adze/internal/tool"
)

func TestPage(t *testing.T) {
	p := commands.Page{Blocks: []commands.Block{
		commands.Text("A paragraph of text that is broken\nwhere it has to be."),
		commands.Fields{{Name: "字符", Value: "wide"}, {Name: "Name", Value: "a value that goes on behind its name"}},
		commands.Table{
			Columns: []commands.Column{{Name: "Name", Cut: true}, {Name: "n", Right: true}, {Name: "about"}},
			Rows:    [][]string{{"字符 has wide cells", "1", "x"}, {"e\u0301\x1b[31m", "12", "a text of some words"}},
		},
		commands.Table{Columns: make([]commands.Column, 2), Rows: [][]string{{"/a", "first"}, {"/long", "  second"}}, Indented: true},
		commands.Items{"an item that does not fit on one line"},
		commands.Notice("something is odd"),
		commands.Remark("a remark that\x1b[2J does not matter"),
		commands.Output{Display: tool.Plain{Text: "printed"}},
	}}
	want := `
A paragraph of text that is
broken
where it has to be.
字符:  wide
Name:  a value that goes on
       behind its name
Name       n  about
字符 ha⋯   1  x
é         12  a text of some
              words
  /a     first
  /long    second
  an item that does not fit on
  one line
  note: something is odd
a remark that does not matter
  printed`
	got := "\n" + Palette{}.Text(Page(p, Options{Width: 30}))
	if diff := cmp.Diff(want, strings.ReplaceAll(got, "e\u0301", "é")); diff != "" {
		t.Error(diff)
	}
}

// TestPageInLittleRoom checks that a table's cells are stacked if its columns do not fit, and
// that a long path is placed below its name.
func TestPageInLittleRoom(t *testing.T) {
	p := commands.Page{Blocks: []commands.Block{
		commands.Fields{{Name: "Transcript", Value: "/home/ada/.adze/projects/x.jsonl"}, {Name: "Cost", Value: "$1.00"}},
		commands.Table{
			Columns: []commands.Column{{Name: "Model"}, {Name: "input", Right: true}, {Name: "output", Right: true}, {Name: "cache read", Right: true}, {Name: "cost", Right: true}},
			Rows:    [][]string{{"opus", "38,246", "214", "", "$0.50"}, {"haiku", "1,000", "2", "0", "unknown"}},
		},
		commands.Table{Indented: true, Columns: []commands.Column{{}, {}, {Cut: true}}, Rows: [][]string{{"/commit-push-pr", "by you only", "commit the changes, push the branch and open a pull request"}}},
	}}
	want := `
Transcript:
  /home/ada/.adze/projects/x.jsonl
Cost:        $1.00
opus
  input: 38,246
  output: 214
  cost: $0.50
haiku
  input: 1,000
  output: 2
  cache read: 0
  cost: unknown
  /commit-push-pr
    by you only
    commit the changes, push the branch
    and open a pull request`
	if diff := cmp.Diff(want, "\n"+Palette{}.Text(Page(p, Options{Width: 39}))); diff != "" {
		t.Error(diff)
	}
	want = `
Model   input  output      cache     cost
                            read
opus   38,246     214               $0.50
haiku   1,000       2          0  unknown
  /commit-push-pr  by you      commit the
                   only        changes,
                               push the
                               branch and
                               open a
                               pull
                               request`
	p.Blocks = p.Blocks[1:]
	if diff := cmp.Diff(want, "\n"+Palette{}.Text(Page(p, Options{Width: 41}))); diff != "" {
		t.Error(diff)
	}
}

// TestTablesAlign checks that rendered tables are aligned and contain no control characters.
func TestTablesAlign(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		table := commands.Table{Columns: []commands.Column{{Cut: true}, {Right: true}, {Cut: true}}}
		for range rapid.IntRange(1, 5).Draw(t, "rows") {
			table.Rows = append(table.Rows, []string{rapid.String().Draw(t, "a"), rapid.StringMatching(`[0-9]{1,3}`).Draw(t, "n"), "|"})
		}
		o := Options{Width: rapid.IntRange(30, 60).Draw(t, "width")}
		lines := Palette{}.Lines(Page(commands.Page{Blocks: []commands.Block{table}}, o))
		for _, line := range lines {
			if w := cells.Width(line); w != cells.Width(lines[0]) || w > o.Width {
				t.Fatalf("%q takes %d cells of %d, %q %d", line, w, o.Width, lines[0], cells.Width(lines[0]))
			}
			if strings.ContainsFunc(line, func(r rune) bool { return r < ' ' || r == 0x7f }) {
				t.Fatalf("control characters in %q", line)
			}
		}
	})
}

// TestHelpFits checks that the command list, including listed skills, fits an 80x24 screen.
//
// Proves CMD-04.
func TestHelpFits(t *testing.T) {
	var skills []commands.Command
	for i := range 200 {
		skills = append(skills, commands.Command{Name: fmt.Sprintf("team:skill-%d", i), Origin: "the project"})
	}
	r := commands.New(commands.Config{Terminal: true, Env: commands.Env{
		Commands: func(bool) []commands.Command { return skills }, Sections: slices.Concat(about.Sections(about.Config{}), extensions.Sections(), display.Sections(display.Config{}), rules.Sections(), memory.Sections()),
	}})
	page, err := r.Run(t.Context(), "help", "")
	if err != nil {
		t.Fatal(err)
	}
	lines := Palette{}.Lines(Page(page.(commands.Page), Options{Width: 80}))
	if len(lines) > 24 {
		t.Errorf("%d rows:\n%s", len(lines), strings.Join(lines, "\n"))
	}
}
