package sed

import (
	"strings"
	"testing"

	"adze/internal/platform/shell/scripttest"
)

var program = scripttest.Program{
	Prints: Prints,
	Runs:   []string{"sed", "busybox sed"},
	Writes: "w M",
	Starts: []string{"", "s/a/b/", "/a/", "1", "s/", "p;", "{", "y/ab/cd/;", "$!"},
	Pieces: strings.Split("s|/|[|]|w M|w M\n|W M|e|e touch M|;|\n|{|}|a|i\\\n|c|\\|p|d|n|N|G|h|x|q|b|t|:a|ba|y|1|$|,|!|I|g|^|.|*|#| |M|r x.sh|/a/|s/a/b/|s/./touch M/|y/a/b/|%|~|+|0|[^/]|[:alpha:]|[]/]|\\/|\\n|=|l|F|z|D|P", "|"),
}

// TestOnlyPrints checks that scripts considered print-only have no other effect in any
// installed sed.
//
// Proves SHRO-02.
func TestOnlyPrints(t *testing.T) {
	t.Parallel()
	scripttest.OnlyPrints(t, program)
}

// FuzzScript checks that accepted scripts only print.
func FuzzScript(f *testing.F) {
	scripttest.Fuzz(f, program, "s/[/]/w x/", "/a/{p;d}", "1i x", ":a;N;$!ba", "s/[/[:alpha:]/x/w M]/y/", `s/[\]/x/;s/]/w M/`, "#\\\nw M", "{b}#;w M")
}

func TestParse(t *testing.T) {
	tests := []struct {
		script string
		want   string // files written, then commands run, then "input", and "?" if it is not understood
		prints bool
	}{
		{"", "", true},
		{"p", "", true},
		{"s/a/b/g;p", "", true},
		{"/a/I,/b/{//!d}", "", true},
		{"1~2!{n;d}", "", true},
		{"0,/a/s//b/2p", "", true},
		{":a;N;$!ba;s/\\n/ /g", "", true},
		{"s/a/b\\\nc/", "", true},
		{"a\\\nw M\\\ne x", "", true},
		{"s/w x/e y/", "", true},
		{`s/[\t ]*$//`, "", true},
		{"s/[[:space:]]*$//", "", true},
		{"s/[^/]*$//", "?", true},
		{"s/[^/]*//;s/w/x/", "?", true},
		{"w M", "w M", false},
		{"{w M}", "w M}?", false},
		{"1!W M\np", "w M", false},
		{"s/a/b/gw M", "w M", false},
		{"$!e rm v", "x rm v", false},
		{"e", "x  input", false},
		{"s/x/rm v/ge", "x rm v input", false},
		{"e rm \\\nv", "x rm \\\nv", false},
		{"r f", "", false},
		{"v 4.2;w M", "w M", false},
		{"s;a;b;w M", "w M", false},
		{"s a b w M", "w M", false},
		{"s/a\\\nb/c/", "", false},
		{"#\\\nw M", "w M", false},
		{"w M\\\ne x", "w M\\?", false},
		{"b}w M", "?", false},
		{"/x/{ba};:a", "", true},
		{"{b}#;w M", "?", false},
		{"{{b}}#;w M", "?", false},
		{"pd", "?", false},
		{"s/a/b", "?", false},
		{"{p", "?", false},
		{"1,p", "?", false},
		{"K", "?", false},
		// Most implementations parse a character class; in busybox its bracket ends the whole
		// expression.
		{"s/[/[:alpha:]/x/w M]/y/", "w M]/y/?", false},
		{"s/[[:alpha:][]/x/;s/]/z/;w M", "w M", false},
		// For most implementations a bracket after a backslash ends the expression.
		{`s/[\]/w M;]/y/`, "?", false},
		{`s/[\]/x/w M;]/y/`, "w M;]/y/", false},
		{"s/[/]/y/;w M", "w M?", false},
	}
	for _, tt := range tests {
		s, err := Parse(tt.script)
		var got []string
		for _, file := range s.Writes {
			got = append(got, "w "+file)
		}
		for _, command := range s.Commands {
			got = append(got, "x "+command)
		}
		if s.Input {
			got = append(got, "input")
		}
		text := strings.Join(got, " ")
		if err != nil {
			text += "?"
		}
		if text != tt.want || s.Runs != (len(s.Commands) > 0) {
			t.Errorf("%q: %q, runs %v (%v), want %q", tt.script, text, s.Runs, err, tt.want)
		}
		if err := Prints(tt.script); (err == nil) != tt.prints {
			t.Errorf("%q only prints: %v, want %v", tt.script, err, tt.prints)
		}
	}
}
