package awk

import (
	"strings"
	"testing"

	"adze/internal/platform/shell/scripttest"
)

var program = scripttest.Program{
	Prints: func(text string) error { return Parse(text).Prints() },
	Runs:   []string{"mawk", "gawk", "busybox awk", "original-awk"},
	Writes: `{ print > "M" }`,
	Starts: []string{"", "{ print ", "BEGIN { ", "/a/ { ", "{ if (1) ", "NR > 1 { x = ", "{ print $1 / ", "{", "NR\n"},
	Pieces: strings.Split(`print~printf~"M"~>~>>~"~/~[~]~(~)~{~}~;~`+"\n"+`~$1~x~1~,~||~&&~system~system("touch M")~getline~<~"touch M"~|~|&~if~while~(1)~else~for~in~++~--~=~==~+~*~\~\"~\/~/a/~/[/]/~/"/~#~"/dev/stderr"~"/dev/null"~ENVIRON~length~NR~BEGIN~END~return~ ~?~:~!~^~%~.~1e3~0x1~function f(~a[1]~delete~print > "M"~print 1 > "M"~print(1)>"M"~"touch M" | getline~case~switch~func~close("M")~@`, "~"),
}

// TestOnlyPrints checks that programs considered print-only have no other effect in any
// installed awk.
//
// Proves SHRO-02.
func TestOnlyPrints(t *testing.T) {
	t.Parallel()
	scripttest.OnlyPrints(t, program)
}

// FuzzProgram checks that accepted programs only print.
func FuzzProgram(f *testing.F) {
	scripttest.Fuzz(f, program, `{ print > "M" }`, "NR > 1", `/[/]/ { print }`, `{ if (1) /a/ }`, "NR==1\n/\"/ { system(\"touch M\") } #\"", "{ print 1,\n2 > \"M\" }")
}

func TestParse(t *testing.T) {
	tests := []struct {
		program string
		want    string // files written, then "computes", "reads", commands run, and "unknown"
		prints  bool
	}{
		{"1", "", true},
		{"{ print $1 }", "", true},
		{"$1 > 5 { print $2 }", "", true},
		{"{ print ($1 > 5) }", "", true},
		{`{ print $1 > "/dev/stderr" }`, "", true},
		{`{ print > "/dev/null"; next }`, "", true},
		{"/a|b/ || /system/ { n++ } END { print n / 2 }", "", true},
		{"{ s += $1 } END { print s / NR, \"a|b\" }", "", true},
		{"BEGIN { while (1) /x/ }", "", true},
		{"NR == 1\n/a|\"/ { print }", "", true},
		{"{ getline; print }", "reads", true},
		{`{ getline x < "f" }`, "reads", false},
		{`{ print ENVIRON["x"] }`, "", false},
		{"{ print $1, \\\n$2 }", "", false},
		{"{ print $1\n n = $2 > 5 }", "", false},
		{"{ print 1,\n\n2 > \"M\" }", "w M", false},
		{`{ print > "M" }`, "w M", false},
		{`{ print $1 >> "M"; printf("x") > "N" }`, "w M w N", false},
		{`{x=1} /"/ {print > "M"}`, "w M", false},
		{`{print /"/ > "M"}`, "w M", false},
		{`{ print > $1 }`, "computes", false},
		{`{ print > "M" ".txt" }`, "computes", false},
		{`{ print > "\115" }`, "computes", false},
		{`BEGIN { system("rm v") }`, "x rm v", false},
		{`BEGIN { system("rm\tv") }`, "x rm\tv", false},
		{`BEGIN { system("r\155 v") }`, "x r155 v unknown", false},
		{`BEGIN { system("r" "m v") }`, "x r x m v unknown", false},
		{`BEGIN { c = "rm v"; system(c) }`, "x rm v unknown", false},
		{`BEGIN { "rm v" | getline }`, "reads x rm v", false},
		{`BEGIN { while (("rm v" | getline x) > 0) n++ }`, "reads x rm v", false},
		{`{ $0 | getline }`, "reads unknown", false},
		{`{ print | "rm v" }`, "x rm v", false},
		{`{ print $1 |& "rm v" }`, "x rm v", false},
		{`BEGIN { f = "system"; @f("rm v") }`, "x system x rm v unknown", false},
		{`@include "x"`, "x x unknown", false},
		// Implementations read these differently.
		{`/[/]/ { print }`, "", false},
		{`/[/]/ { print > "M" }`, "w M computes", false},
		{`/[/]x|y/ { print }`, "unknown", false},
		{`{ x++ / 2 }`, "", false},
		{`{ print "a`, "", false},
		{`{ print `, "", false},
		{`{ print ) }`, "", false},
		{`{ print 0x1 }`, "", false},
		{"# \\\n1", "", false},
		{"BEGIN { x = (1\n/2/ 3) }", "", false},
		// A line end ends a pattern, so the following slash starts a regular expression.
		{"NR==1\n/\"/ { system(\"touch M\") } #\"", "x touch M", false},
		{"{ x = y\n/\"/ ? system(\"touch M\") : 1 } #\"", "x touch M", false},
		{"{ x = f(y)\n/\"/ ? system(\"touch M\") : 1 } #\"", "x touch M", false},
	}
	for _, tt := range tests {
		p := Parse(tt.program)
		var got []string
		for _, file := range p.Writes {
			got = append(got, "w "+file)
		}
		if p.Computes {
			got = append(got, "computes")
		}
		if p.Reads {
			got = append(got, "reads")
		}
		for _, command := range p.Commands {
			got = append(got, "x "+command)
		}
		if p.Unknown {
			got = append(got, "unknown")
		}
		if text := strings.Join(got, " "); text != tt.want || p.Runs != (p.Unknown || len(p.Commands) > 0) {
			t.Errorf("%q: %q, runs %v, want %q", tt.program, text, p.Runs, tt.want)
		}
		if err := p.Prints(); (err == nil) != tt.prints {
			t.Errorf("%q only prints: %v, want %v", tt.program, err, tt.prints)
		}
	}
}
