package status

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"adze/internal/commands"
	"adze/internal/ui/draw"
)

var update = flag.Bool("update", false, "rewrite golden files")

func usual() Bar {
	return Bar{Glyphs: draw.Unicode(), Session: commands.Glance{Mode: "default", Model: "opus 5.5", Percent: 14, Cost: "$0.08", Branch: "main"}}
}

func changed(change func(*Bar)) Bar {
	b := usual()
	change(&b)
	return b
}

// TestRows checks the row at the sizes of the design, and in narrow terminals.
//
// Proves, SESS-46, PERM-21, X-125, X-133.
func TestRows(t *testing.T) {
	var out strings.Builder
	for _, tt := range []struct {
		name string
		bar  Bar
	}{
		{"usual", usual()},
		{"hint", changed(func(b *Bar) { b.Hint = "? keys" })},
		{"hint and chord", changed(func(b *Bar) { b.Hint, b.Typing = "? keys", "Ctrl-X" })},
		{"nothing known", Bar{Glyphs: draw.Unicode()}},
		{"no window, no price, no repository", changed(func(b *Bar) { b.Session.Percent, b.Session.Cost, b.Session.Branch = -1, "", "" })},
		{"plan", changed(func(b *Bar) { b.Session.Mode = "plan" })},
		{"edits", changed(func(b *Bar) { b.Session.Mode = "acceptEdits" })},
		{"bypass", changed(func(b *Bar) { b.Session.Mode = "bypassPermissions" })},
		{"auto", changed(func(b *Bar) { b.Session.Mode = "auto" })},
		{"much", changed(func(b *Bar) { b.Session.Percent = 80 })},
		{"almost full", changed(func(b *Bar) { b.Session.Percent = 95 })},
		{"tight", changed(func(b *Bar) { b.Session.Percent, b.Session.Fill = 72, commands.Tight })},
		{"full", changed(func(b *Bar) { b.Session.Percent, b.Session.Fill = 99, commands.Full })},
		{"request", changed(func(b *Bar) { b.Request = commands.Request{Text: "#12 checks fail", Mood: commands.Ill} })},
		{"long branch", changed(func(b *Bar) { b.Session.Branch = "feature/rounding-of-taxes-in-every-country" })},
		{"chord", changed(func(b *Bar) { b.Typing = "Ctrl-X" })},
		{"vim", changed(func(b *Bar) { b.Typing = "NORMAL 2d" })},
		{"custom", changed(func(b *Bar) { b.Custom = "\x1b[32mshop\x1b[0m on \x1b]0;title\amain" })},
		{"custom in plan mode", changed(func(b *Bar) { b.Custom, b.Session.Mode = "shop", "plan" })},
		{"note", changed(func(b *Bar) { b.Note = "Ctrl-C again exits." })},
		{"not UTF-8", changed(func(b *Bar) { b.Glyphs = draw.ASCII() })},
		{"hostile", changed(func(b *Bar) { b.Session.Branch, b.Session.Model = "a\x1b[2Jb\u202e", "x\ny" })},
	} {
		for _, w := range []int{199, 119, 79, 39, 24, 12} {
			b := tt.bar
			rows, caret := b.Rows(w, 1)
			if caret != nil {
				t.Error("there is a caret")
			}
			fmt.Fprintf(&out, "%-36s %3d|%s\n", tt.name, w, draw.Palette{}.Text(rows))
		}
		fmt.Fprintln(&out, "   ", roles(tt.bar))
	}
	golden(t, "rows.golden", out.String())
}

// roles returns the texts of a row that are not faint, with their roles.
func roles(b Bar) string {
	rows, _ := b.Rows(79, 1)
	names := map[draw.Role]string{draw.Accent: "accent", draw.Good: "good", draw.Warning: "warning", draw.Bad: "bad", draw.Text: "text"}
	var list []string
	for _, row := range rows {
		for _, s := range row {
			if strings.TrimSpace(s.Text) != "" && names[s.Role] != "" {
				list = append(list, fmt.Sprintf("%s=%q%s", names[s.Role], s.Text, s.Style))
			}
		}
	}
	return strings.Join(list, " ")
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Error(diff)
	}
}

// TestRowsFit checks that the result is always one row that fits.
func TestRowsFit(t *testing.T) {
	text := rapid.StringOf(rapid.SampledFrom([]rune("ab 世界é\x1b[31m\n\u200d👍🏽")))
	rapid.Check(t, func(t *rapid.T) {
		b := Bar{
			Glyphs: draw.Unicode(), Custom: text.Draw(t, "custom"), Typing: text.Draw(t, "typing"), Note: text.Draw(t, "note"), Hint: rapid.SampledFrom([]string{"", "? keys"}).Draw(t, "hint"), Request: commands.Request{Text: text.Draw(t, "request")},
			Session: commands.Glance{
				Mode: rapid.SampledFrom([]string{"", "default", "plan", "bypassPermissions", "new"}).Draw(t, "mode"), Model: text.Draw(t, "model"),
				Percent: rapid.IntRange(-1, 100).Draw(t, "percent"), Fill: commands.FillLevel(rapid.IntRange(0, 2).Draw(t, "fill")), Cost: text.Draw(t, "cost"), Branch: text.Draw(t, "branch"),
			},
		}
		if rapid.Bool().Draw(t, "usual") {
			b.Custom, b.Note = "", ""
		}
		w := rapid.IntRange(0, 100).Draw(t, "w")
		rows, _ := b.Rows(w, rapid.IntRange(0, 2).Draw(t, "h"))
		for _, row := range rows {
			if len(rows) > 1 || row.Width() > w {
				t.Errorf("%d rows, %d of %d cells: %q", len(rows), row.Width(), w, row.String())
			}
		}
	})
}
