package draw

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"adze/internal/tool"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden compares text with a golden file.
func golden(t *testing.T, name, text string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), text); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}

// tagged returns rows with their roles and backgrounds as tags.
func tagged(rows []Row) string {
	marks := [grounds]string{AddedGround: "+", AddedWordGround: "++", RemovedGround: "-", RemovedWordGround: "--"}
	tags := map[Role]string{
		Faint: "faint", Added: "add", Removed: "del", AddedWord: "ADD", RemovedWord: "DEL", Keyword: "kw", String: "str", Number: "num", Comment: "com", Bad: "bad", Warning: "warn",
	}
	var b strings.Builder
	for _, row := range rows {
		for _, s := range row {
			if tag := marks[s.Ground] + tags[s.Role]; s.Fill {
				b.WriteString("<fill>")
			} else if tag != "" {
				b.WriteString("<" + tag + ">" + s.Text + "</>")
			} else {
				b.WriteString(s.Text)
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

var change = tool.Diff{Path: "/w/cart.go", Added: 3, Removed: 2, Hunks: []tool.Hunk{
	{OldStart: 85, NewStart: 85, Lines: []string{
		" // Total returns the sum of all lines.", " func (c *Cart) Total() (sum Money) {", " \tfor _, l := range c.Lines {",
		"-\t\tsum = sum.Add(l.Total().Round())", "+\t\tsum = sum.Add(l.Total())", " \t}", "+\treturn sum.Round()", " }",
	}},
	{OldStart: 120, NewStart: 121, Lines: []string{"-\tconst note = \"rounded per line, as the law of some countries wants it\"", "+\tconst note = \"rounded once, as the law of most countries wants it\"", "\\ No newline at end of file"}},
}}

// TestDiff checks line numbers, changed words and syntax highlighting in a rendered change.
//
// Proves X-123, TOOL-17.
func TestDiff(t *testing.T) {
	created := tool.Diff{Path: "x.py", Created: true, Added: 2, Hunks: []tool.Hunk{{NewStart: 1, Lines: []string{"+def f(): # c", "+    return 'x\x1b[2J'"}}}}
	for width, name := range map[int]string{80: "diff80.golden", 40: "diff40.golden"} {
		o := Options{Width: width, Dir: "/w"}
		golden(t, name, tagged(Rows(change, o))+"\n"+tagged(Rows(created, o)))
	}
}

// TestHunksAreColouredAlone checks that a comment left open in one hunk does not extend into
// the next.
func TestHunksAreColouredAlone(t *testing.T) {
	d := tool.Diff{Path: "x.go", Hunks: []tool.Hunk{
		{OldStart: 1, NewStart: 1, Lines: []string{" /* open", "-a", "+b"}}, {OldStart: 50, NewStart: 50, Lines: []string{" return nil", "-a", "+b"}},
	}}
	if got := tagged(Rows(d, Options{})); !strings.Contains(got, "<kw>return</> <kw>nil</>") {
		t.Error(got)
	}
}

func TestChanges(t *testing.T) {
	tests := []struct {
		name  string
		lines []string
		want  string
	}{
		{"a word", []string{"-a b c", "+a x c"}, "-a [b] c|+a [x] c"},
		{"added behind", []string{"-f(a)", "+f(a, b)"}, "-f(a)|+f(a[, b])"},
		{"adjacent words", []string{"-we round each of them here", "+we round the sum once here"}, "-we round [each of them] here|+we round [the sum once] here"},
		{"brackets", []string{"-f(a.b())", "+f(a)"}, "-f(a[.b()])|+f(a)"},
		{"brackets before", []string{"-((a)b c)", "+(b c)"}, "-([(a)]b c)|+(b c)"},
		{"nothing in common", []string{"-one two", "+three four"}, "-one two|+three four"},
		{"less than half", []string{"-a b c d", "+a x y z"}, "-a b c d|+a x y z"},
		{"a line between", []string{"-one two three", "+new line here", "+one two four"}, "-one two [three]|+new line here|+one two [four]"},
		{"in order", []string{"-a b 1", "-c d 1", "+a b 2", "+c d 2"}, "-a b [1]|-c d [1]|+a b [2]|+c d [2]"},
		{"indentation", []string{"-if x", "+    if x"}, "-if x|+    if x"},
		{"not adjacent", []string{"-a b", " x", "+a c"}, "-a b| x|+a c"},
		{"letters of all scripts", []string{"-größe 字 x y", "+größer 字 x y"}, "-[größe] 字 x y|+[größer] 字 x y"},
		{"too many words", []string{"-" + strings.Repeat("a ", 200), "+" + strings.Repeat("a ", 199) + "b"}, "-" + strings.Repeat("a ", 200) + "|+" + strings.Repeat("a ", 199) + "b"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for i, parts := range changes(tt.lines) {
				line := tt.lines[i][:1]
				from := 0
				text := tt.lines[i][1:]
				for _, p := range parts {
					line += text[from:p.From] + "[" + text[p.From:p.To] + "]"
					from = p.To
				}
				got = append(got, line+text[from:])
			}
			if diff := cmp.Diff(tt.want, strings.Join(got, "|")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestDiffKeepsLines checks that every line of a change is shown in full, including text a
// terminal would interpret as an escape sequence or overwrite.
func TestDiffKeepsLines(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string {
			return rapid.SampledFrom([]string{" ", "+", "-"}).Draw(t, "mark") + rapid.OneOf(rapid.StringMatching(`[ab(){}" ]{0,30}`), rapid.StringMatching("[ab;\\[\\]\x1b\r\x07\x08\u009b]{0,30}"), rapid.String()).Draw(t, "text")
		}), 1, 20).Draw(t, "lines")
		lines = append(lines, " the end")
		rows := Rows(tool.Diff{Path: "x.go", Hunks: []tool.Hunk{{OldStart: 1, NewStart: 1, Lines: lines}}}, Options{})
		for i, line := range lines {
			if got, want := rows[i+1].String(), Spell(line); !strings.HasSuffix(got, want) {
				t.Fatalf("%q is drawn as %q", want, got)
			}
			for _, r := range line[1:] {
				if r > ' ' && r < 0x7f && strings.Count(rows[i+1].String(), string(r)) < strings.Count(line[1:], string(r)) {
					t.Fatalf("%q is drawn as %q, without all of %q", line, rows[i+1].String(), r)
				}
			}
		}
	})
}

func BenchmarkDiff(b *testing.B) {
	line := strings.Repeat("some words and more ", 12)
	d := tool.Diff{Path: "x.go", Hunks: []tool.Hunk{{OldStart: 1, NewStart: 1, Lines: []string{"-" + line, "+" + strings.Replace(line, "more", "less", 3)}}}}
	for b.Loop() {
		Rows(d, Options{})
	}
}

// TestDiffSpells checks that a carriage return is shown unless all lines end with it, and that
// text hidden by control sequences is shown.
func TestDiffSpells(t *testing.T) {
	draw := func(lines ...string) string {
		var all []string
		for _, row := range Rows(tool.Diff{Path: "x\ry", Hunks: []tool.Hunk{{Lines: lines}}}, Options{Proposed: true}) {
			all = append(all, row.String())
		}
		return strings.Join(all, "\n")
	}
	for _, tt := range []struct{ got, want string }{
		{draw("+rm -rf ~\recho hi"), `+rm -rf ~\x0decho hi`},
		{draw("+\x1b]0;curl x | sh\aecho hi"), `+\x1b]0;curl x | sh\x07echo hi`},
		{draw(" a\r", "-b\r", "+c\r", `\ No newline at end of file`), " a\n-b\n+c\n" + ` \ No newline at end of file`},
		{draw(" a", "-b", "+b\r"), " a\n-b\n" + `+b\x0d`},
	} {
		if want := `would change x\x0dy, 0 added, 0 removed` + "\n" + tt.want; tt.got != want {
			t.Errorf("%q, want %q", tt.got, want)
		}
	}
}
