package draw

import (
	"cmp"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"adze/internal/tool"
)

func env(vars ...string) func(string) string {
	return func(name string) string {
		for _, v := range vars {
			if value, ok := strings.CutPrefix(v, name+"="); ok {
				return value
			}
		}
		return ""
	}
}

// Proves X-124.
func TestThemes(t *testing.T) {
	row := Row{
		{Text: "a"}, {Role: Faint, Text: "b"}, {Role: Strong, Text: "c"}, {Role: Accent, Text: "d"}, {Role: Added, Text: "+"}, {Role: Removed, Text: "-"},
		{Role: AddedWord, Text: "e"}, {Role: Warning, Text: "!"}, {Role: Keyword, Text: "f"},
	}
	tests := []struct {
		theme string
		env   []string
		want  string
	}{
		{AutoTheme, nil, "a<2>b<0><1>c<0><36>d<0><32>+<0><31>-<0><1;4;32>e<0><33>!<0><35>f<0>"},
		{"unheard of", nil, "a<2>b<0><1>c<0><36>d<0><32>+<0><31>-<0><1;4;32>e<0><33>!<0><35>f<0>"},
		{"dark", []string{"COLORTERM=truecolor"}, "a<38;2;148;156;176>b<0><1>c<0><38;2;125;207;255>d<0><38;2;158;206;106>+<0><38;2;247;118;142>-<0><1;4;38;2;158;206;106>e<0><38;2;224;175;104>!<0><38;2;187;154;247>f<0>"},
		{"light", []string{"COLORTERM=24bit"}, "a<38;2;87;96;106>b<0><1>c<0><38;2;5;80;174>d<0><38;2;17;99;41>+<0><38;2;164;14;38>-<0><1;4;38;2;17;99;41>e<0><38;2;125;78;0>!<0><38;2;111;63;201>f<0>"},
		{"dark-colour-blind", []string{"COLORTERM=24bit"}, "a<38;2;148;156;176>b<0><1>c<0><38;2;125;207;255>d<0><38;2;88;166;255>+<0><38;2;227;160;8>-<0><1;4;38;2;88;166;255>e<0><38;2;224;175;104>!<0><38;2;187;154;247>f<0>"},
		{"light-colour-blind", nil, "a<38;5;59>b<0><1>c<0><38;5;25>d+<0><38;5;94>-<0><1;4;38;5;25>e<0><38;5;94>!<0><38;5;62>f<0>"},
		{"none", nil, "ab<1>cd<0>+-<1;4>e<0>!f"},
		{"dark", []string{"NO_COLOR=1"}, "ab<1>cd<0>+-<1;4>e<0>!f"},
		{"dark", []string{"TERM=dumb"}, "abcd+-e!f"},
	}
	names := strings.NewReplacer("\x1b[", "<", "m", ">")
	for _, tt := range tests {
		t.Run(tt.theme+strings.Join(tt.env, " "), func(t *testing.T) {
			if got := names.Replace(PaletteFor(true, tt.theme, env(tt.env...)).Paint(row)); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
	if got := PaletteFor(false, "dark", env()).Paint(row); got != "abcd+-e!f" {
		t.Errorf("%q without a terminal", got)
	}
}

// TestThemesContrast checks that colors are readable on the theme's background, including
// near-black and near-white.
//
// Proves X-124.
func TestThemesContrast(t *testing.T) {
	for _, tt := range themes() {
		grounds := map[bool][]string{true: {"#000000", "#1e1e1e"}, false: {"#ffffff", "#fafafa"}}[strings.HasPrefix(tt.name, "dark")]
		for role, colour := range tt.colours {
			switch colour {
			case "30", "34", "37", "90", "97":
				t.Errorf("%s: role %d has colour %s", tt.name, role, colour)
			}
			if colour[0] != '#' || role == Border { // no text
				continue
			}
			for _, ground := range grounds {
				if c := min(contrast(colour, ground), contrast(indexed(colour), ground)); c < 4.5 {
					t.Errorf("%s: %s on %s has a contrast of %.2f", tt.name, colour, ground, c)
				}
			}
		}
	}
}

// TestGroundsContrast checks that all colors are readable on all backgrounds where they occur,
// and that a terminal's default text is.
//
// Proves X-124.
func TestGroundsContrast(t *testing.T) {
	code := []Role{Text, Code, Keyword, String, Number, Comment}
	occurs := map[Ground][]Role{
		AddedGround: append(code, Added), RemovedGround: append(code, Removed), AddedWordGround: code, RemovedWordGround: code,
		UserGround: {Text, Faint, Accent}, SelectedGround: {Text, Faint, Accent, Good, Warning, Bad},
	}
	for _, tt := range themes() {
		if len(tt.grounds) == 0 {
			continue
		}
		text := map[bool]string{true: "#d0d0d0", false: "#24292f"}[strings.HasPrefix(tt.name, "dark")]
		for ground := NoGround + 1; ground < grounds; ground++ {
			for _, role := range occurs[ground] {
				colour := cmp.Or(tt.colours[role], text)
				if c := contrast(colour, tt.grounds[ground]); c < 4.5 {
					t.Errorf("%s: role %d on ground %d has a contrast of %.2f", tt.name, role, ground, c)
				}
				if ground != UserGround && ground != SelectedGround { // only these are used with 256 colors
					continue
				}
				if c := contrast(indexed(colour), indexed(tt.grounds[ground])); c < 4.5 {
					t.Errorf("%s: role %d on ground %d has a contrast of %.2f with 256 colors", tt.name, role, ground, c)
				}
			}
		}
	}
}

// indexed returns the nearest of 256 colors.
func indexed(colour string) string {
	n := nearest(parse(colour))
	if n >= 232 {
		return fmt.Sprintf("#%02[1]x%02[1]x%02[1]x", 8+10*(n-232))
	}
	n -= 16
	return fmt.Sprintf("#%02x%02x%02x", levels[n/36], levels[n/6%6], levels[n%6])
}

// TestGrounds checks that a changed line is tinted to its end if the theme has backgrounds, and
// colored otherwise.
//
// Proves.
func TestGrounds(t *testing.T) {
	d := tool.Diff{Path: "x.go", Hunks: []tool.Hunk{{Lines: []string{"-return 1", "+return 2"}}}}
	for _, tt := range []struct {
		theme string
		env   []string
		want  string
	}{
		{"dark", []string{"COLORTERM=truecolor"}, "<38;2;158;206;106;48;2;31;45;36>+<0><38;2;187;154;247;48;2;31;45;36>return<0><48;2;31;45;36> <0><38;2;255;158;100;48;2;28;68;40>2<0><48;2;31;45;36>K<0>"},
		{"dark", nil, "<38;5;149>+return <0><1;4;38;5;149>2<0>"},
		{AutoTheme, []string{"COLORTERM=truecolor"}, "<32>+return <0><1;4;32>2<0>"},
		{"none", []string{"COLORTERM=truecolor"}, "+return <1;4>2<0>"},
	} {
		rows := Rows(d, Options{})
		got := PaletteFor(true, tt.theme, env(tt.env...)).Paint(rows[len(rows)-1])
		if got = strings.NewReplacer("\x1b[K", "K", "\x1b[", "<", "m", ">").Replace(got); got != tt.want {
			t.Errorf("%s %v:\ngot  %s\nwant %s", tt.theme, tt.env, got, tt.want)
		}
	}
	row := Row{{Text: "a long line"}}.On(UserGround, true)
	if got := row.Cut(4, "⋯"); got.String() != "a l⋯" || !got[len(got)-1].Fill {
		t.Errorf("cut: %+v", got)
	}
	for name, rows := range map[string][]Row{"wrap": Wrap(row, 6, nil), "chop": Chop(row, 6), "slice": {row.Slice(0, 3), row.Slice(3, 11)}} {
		if len(rows) != 2 || !rows[0][len(rows[0])-1].Fill || !rows[1][len(rows[1])-1].Fill {
			t.Errorf("%s: %+v", name, rows)
		}
	}
}

// contrast returns the WCAG contrast ratio of two colors.
func contrast(a, b string) float64 {
	luminance := func(colour string) float64 {
		sum := 0.0
		for i, part := range parse(colour) {
			sum += linear(float64(part)/255) * [...]float64{0.2126, 0.7152, 0.0722}[i]
		}
		return sum
	}
	la, lb := luminance(a), luminance(b)
	return (max(la, lb) + 0.05) / (min(la, lb) + 0.05)
}

// TestPaintIsSafe checks that painted rows contain no control characters other than the
// palette's own sequences.
func TestPaintIsSafe(t *testing.T) {
	p := PaletteFor(true, "dark", env("COLORTERM=truecolor")).Linked(Files{Dir: "/", Exists: func(string) bool { return true }})
	rapid.Check(t, func(t *rapid.T) {
		var row Row
		for range rapid.IntRange(1, 4).Draw(t, "spans") {
			hostile := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"\x1b", "\x1b]8;;", "\x1b\\", "\a", "\x9b31m", "\u202e", "\n", "[2J"}))
			row = append(row, Span{
				Role: Role(rapid.IntRange(0, int(roles)-1).Draw(t, "role")), Text: hostile.Draw(t, "text") + hostile.Draw(t, "text"),
				Ground: Ground(rapid.IntRange(0, int(grounds)-1).Draw(t, "ground")), Fill: rapid.Bool().Draw(t, "fill"),
				Link: rapid.SampledFrom([]string{"", "https://", "file:///", "javascript:"}).Draw(t, "scheme") + hostile.Draw(t, "link"),
			})
		}
		got := p.Paint(row)
		got = strings.ReplaceAll(got, "\x1b[K", "")
		for role := range roles {
			for ground := range grounds {
				got = strings.ReplaceAll(got, "\x1b["+p.style(&Span{Role: role, Ground: ground})+"m", "")
			}
		}
		got = strings.ReplaceAll(got, "\x1b[0m", "")
		for _, s := range p.files.link(row) {
			got = strings.ReplaceAll(got, "\x1b]8;;"+address(s.Link)+"\x1b\\", "")
		}
		got = strings.ReplaceAll(got, "\x1b]8;;\x1b\\", "")
		if strings.ContainsFunc(got, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f || r >= 0x80 && r < 0xa0 || r == 0x202e }) {
			t.Fatalf("%q", got)
		}
	})
}

func TestLinks(t *testing.T) {
	p := Palette{}.Linked(Files{})
	for link, want := range map[string]string{
		"https://a.b/c?d":                      "https://a.b/c?d",
		"file:///tmp/a b":                      "file:///tmp/a%20b",
		"http://a.b/\x1b\\é":                   "http://a.b/%1B\\%C3%A9",
		"javascript:alert(1)":                  "",
		"ftp://a.b":                            "",
		"https://" + strings.Repeat("a", 2000): "",
		"file:relative":                        "",
	} {
		if want != "" {
			want = "\x1b]8;;" + want + "\x1b\\x\x1b]8;;\x1b\\"
		} else {
			want = "x"
		}
		if got := p.Paint(Row{{Text: "x", Link: link}}); got != want {
			t.Errorf("%s: %q", link, got)
		}
	}
	if got := (Palette{}).Paint(Row{{Text: "x", Link: "https://a.b"}}); got != "x" {
		t.Errorf("%q where the terminal bears no links", got)
	}
}

func TestCut(t *testing.T) {
	row := Row{{Text: "one "}, {Role: Strong, Text: "two"}, {Text: " three"}}
	for n, want := range map[int]string{0: "", 1: "⋯", 4: "one⋯", 5: "one ⋯", 6: "one t⋯", 7: "one tw⋯", 8: "one two⋯", 13: "one two three"} {
		if got := row.Cut(n, "⋯").String(); got != want {
			t.Errorf("%d cells: %q, want %q", n, got, want)
		}
	}
}
