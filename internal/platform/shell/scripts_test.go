package shell

import (
	"errors"
	"strings"
	"testing"

	"adze/internal/platform/shell/scripttest"
)

var (
	sedScripts = scripttest.Program{
		Prints: func(script string) error {
			if !sedPrints(script, false) {
				return errors.New("it may do more")
			}
			return nil
		},
		Runs:   []string{"sed", "busybox sed", "toybox sed", "ssed", "/usr/lib/plan9/bin/sed"},
		Writes: "w M",
		Starts: []string{"", "s/a/b/", "/a/", "1", "s/", "p;", "{", "y/ab/cd/;", "$!"},
		Pieces: strings.Split("s|/|[|]|w M|w M\n|W M|e|e touch M|;|\n|{|}|a|i\\\n|c|\\|p|d|n|N|G|h|x|q|b|t|:a|ba|y|1|$|,|!|I|g|^|.|*|#| |M|r x.sh|/a/|s/a/b/|s/./touch M/|y/a/b/|%|~|+|0|[^/]|[:alpha:]|[]/]|\\/|\\n|=|l|F|z|D|P", "|"),
	}
	awkScripts = scripttest.Program{
		Prints: awkPrints,
		Runs:   []string{"mawk", "gawk", "busybox awk", "original-awk", "/usr/lib/plan9/bin/awk"},
		Writes: `{ print > "M" }`,
		Starts: []string{"", "{ print ", "BEGIN { ", "/a/ { ", "{ if (1) ", "NR > 1 { x = ", "{ print $1 / ", "{", "NR\n"},
		Pieces: strings.Split(`print~printf~"M"~>~>>~"~/~[~]~(~)~{~}~;~`+"\n"+`~$1~x~1~,~||~&&~system~system("touch M")~getline~<~"touch M"~|~|&~if~while~(1)~else~for~in~++~--~=~==~+~*~\~\"~\/~/a/~/[/]/~/"/~#~"/dev/stderr"~"/dev/null"~ENVIRON~length~NR~BEGIN~END~return~{system}~system ~@f1("touch M")~f1="system";~s=@f(1)~=/a|b/~/system/~return~ ~?~:~!~^~%~.~1e3~0x1~function f(~a[1]~delete~print > "M"~print 1 > "M"~print(1)>"M"~"touch M" | getline~case~switch~func~close("M")~@`, "~"),
	}
)

// The tests check that scripts that count as read-only outside a jail have no other effect in any
// installed sed or awk.
//
// Proves SHRO-02.
func TestSedScriptsOnlyPrint(t *testing.T) {
	t.Parallel()
	scripttest.OnlyPrints(t, sedScripts)
}

// Proves SHRO-02.
func TestAwkProgramsOnlyPrint(t *testing.T) {
	t.Parallel()
	scripttest.OnlyPrints(t, awkScripts)
}

func FuzzSedScript(f *testing.F) {
	scripttest.Fuzz(f, sedScripts, "s/[/]/w x/", "/a/{p;d}", "1i x", ":a;N;$!ba", "s/[/[:alpha:]/x/w M]/y/", `s/[\]/x/;s/]/w M/`, "#\\\nw M", "{b}#;w M", "#\\/x/a\\\nw M")
}

func FuzzAwkProgram(f *testing.F) {
	scripttest.Fuzz(f, awkScripts, `{ print > "M" }`, "NR > 1", `/[/]/ { print }`, `{ if (1) /a/ }`, "NR==1\n/\"/ { system(\"touch M\") } #\"", "{ print 1,\n2 > \"M\" }")
}

// TestSedScripts checks scripts that count as read-only everywhere (=), only in a jail (+), or
// never (-).
//
// Proves SHRO-02.
func TestSedScripts(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"=", "= p", "= s/a/b/g;p", "= /a/I,/b/{//!d}", "= 1~2!{n;d}", "= 0,/a/s//b/2p", "= :a;N;$!ba;s/\\n/ /g", "= s/a/b\\\nc/",
		"= a\\\nw M", "= 1i x w M", "= s/w x/e y/", `= s/[\t ]*$//`, "= s/[[:space:]]*$//", "= # a\n# b\np", "= /x/{ba};:a", `= \,a,p`,
		"= s/[]]*//", "= s/[^]a]//", "= pd",
		"+ s/[^/]*$//", "+ s/[^/]*//;s/w/x/", "+ s/[/]w M/p/", "+ s/[/[:alpha:]/x/w M]/y/",
		"- w M", "- {w M}", "- 1!W M\np", "- s/a/b/gw M", "- s/a/b/ w M", "- s/a/b/i w M", "- s/a/b/;i\nw M", "- $!e rm v", "- e", "- s/x/rm v/ge", "- e rm \\\nv", "- r f", "- R f",
		"- v 4.2;w M", "- s;a;b;w M", "- s a b w M", "- sxaxbxw M", "- s/a\\\nb/c/", "- #\\\nw M", "- #\\/x/a\\\nw M", "- p # x\\\nw M", "- w M\\\ne x",
		"- b}w M", "- {b}#;w M", "- :a;w M", "- bw M\nw M", "- a\\\nx\nw M", "- a x\\\ny\nw M", "- i\n\nw M", "- y/[/]/;w M",
		"- :a;s,x,\\\nw M,", "- ba\ns/x/y/;s,x,\\\nw M,",
		"- s/a/b", "- K", "- s/[[:alpha:][]/x/;s/]/z/;w M", `- s/[\]/w M;]/y/`, `- s/[\]/x/w M;]/y/`, "- s/[/]/y/;w M",
	} {
		sign, script := text[:1], strings.TrimPrefix(text[1:], " ")
		if got := sedPrints(script, false); got != (sign == "=") {
			t.Errorf("%q is read-only outside a jail: %v", script, got)
		}
		if got := sedPrints(script, true); got != (sign != "-") {
			t.Errorf("%q is read-only in a jail: %v", script, got)
		}
	}
}

// TestAwkPrograms does the same for programs. Those that may run a command are marked with a
// second sign: ! if it is known, and ? if it is not.
//
// Proves SHRO-02, SHAST-05.
func TestAwkPrograms(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"=  1", "=  { print $1 }", "=  $1 > 5 { print $2 }", `=  { print $1 > "/dev/stderr" }`, `=  { print > "/dev/null"; next }`,
		"=  { s += $1 } END { print s / NR }", "=  BEGIN { while (1) /x/ }", "=  { if ($2 > m) m = $2 } END { print m }", "=  { getline; print }",
		"=  NR==FNR{a[$1];next} $1 in a", "=  /a/ || /b/", "=  $1 ~ /system/", "=  { print ($1 > 5) }", "=  { print ((1 + ($1 > 5)) ? 1 : 2) }", `=  /@example\.org/ { print }`,
		`=  { print $1 " -> " $2 }`, "=  /a|b/ || /system/ { n++ } END { print n / 2 }", `+? { s += $1 } END { print s / NR, "a|b" }`, `=  /a|b/ && $2 ~ /c/ { print $1 "|" ($2 > 5) }`, `+? { x = NR /system/ 2 }`, `+? NR > 1 { system }`, `+? $1 ~ /a/system/2`, `+? { x = $1system }`, `=  { ecosystem = _system = systems = $1 }`, `=  /x/ { print ($1 > 5 ? "a" : "b") }`, `=  /x/print ($1 > 5)`, `-  ~/x/ { print > "M" }`, `=  { print ($1 > 5 ? "a/b" : "b") }`, `=  { print ($1 > 5 ? "a" : "b") }`, `=  { print $1 "|" $2 > "/dev/stderr" }`,
		"+  { print $1 } $3 > 5", "+  { print $1, \\\n$2 }", `+  BEGIN { s\ystem("rm v") }`, "+  { print $1\n n = $2 > 5 }", "+  { print /(/ > x; y ~ /)/ }", `+  {x=1} /"/ {print > "M"}`,
		`-  { getline x < "f" }`, `-  { print ENVIRON["x"] }`, `-  BEGIN { ARGV[1] = "x" }`, `-  { print > "M" }`, `-  { print $1 >> "M"; printf("x") > "N" }`,
		`-  { print > $1 }`, "-  { print (1) > $1 }", "-  { print a[\"(\"] > b[\")\"] }", "-  { print 1 #(\nprint > x #)\n }", `-  { print > "M" ".txt" }`, `-  { print(1) > "x" }`, `-  { print (1>2) > "made" }`,
		`-! BEGIN { system("rm v") }`, `-? BEGIN { system("r\155 v") }`, `-? BEGIN { system("r" "m v") }`, `-? BEGIN { c = "rm v"; system(c) }`, "-? BEGIN { system\\\n(c) }",
		`-! BEGIN { "rm v" | getline }`, `-! BEGIN { while (("rm v" | getline x) > 0) n++ }`, `-? { $0 | getline }`, `-? { x "rm v" | getline }`, `-! { print | "rm v" }`, `-! { print $1 |& "rm v" }`,
		`-? { print | "rm " x }`, `-? { print "system(" | c ")" }`, `-? { printf("%s|\n", $1) | "rm" }`, `=  { printf("%s|%s\n", $1, $2) }`, `-? BEGIN { f = "system"; @f("rm v") }`, `-? BEGIN { f1 = "system"; @f1("rm v") }`, `-? @include "x"`, `-? @load "x"`,
		"-? NR==1\n/\"/ { system(\"touch M\") } #\"", "-? { print $1 | c }",
	} {
		sign, runs, program := text[:1], text[1:2], text[3:]
		if err := awkPrints(program); (err == nil) != (sign == "=") {
			t.Errorf("%q is read-only outside a jail: %v", program, err)
		}
		if err := awkPrintsJailed(program); (err == nil) != (sign != "-") {
			t.Errorf("%q is read-only in a jail: %v", program, err)
		}
		if got := awkRuns(program); got != (runs != " ") {
			t.Errorf("%q runs a command: %v", program, got)
		}
		if got := awkRuns(program) && awkRunsUnknown(program); got != (runs == "?") {
			t.Errorf("%q runs an unknown command: %v", program, got)
		}
	}
}

// TestSedOutputs checks which files the script of a sed counts as writing.
func TestSedOutputs(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"sed p f": "", "sed 's/w/x/' f": "", "sed 'w out' f": "out", "sed -n '/a/w out\n}' f": "out", "sed 's/a/b/w out' f": "out", "sed '{w out}' f": "out} out", "sed 'w out ' f": "out  out", "sed -i'*.o' p f": "f f.o f*.o",
		"sed -e p -e 'W out' f": "out", "sed -i.bak 's/[^/]*$//' f": "f f.bak", "sed -l 5 'w out' f": "out",
	} {
		_, g := usageOf(Parse(line, Vars{}).Parts[0].Words)
		var got []string
		for _, u := range sedOutputs(g) {
			got = append(got, u.word.Value)
		}
		if text := strings.Join(got, " "); text != want {
			t.Errorf("%s writes %q, not %q", line, text, want)
		}
	}
}

// TestAwkOutputs does the same for programs of awk; a question mark is a file that is not known.
func TestAwkOutputs(t *testing.T) {
	t.Parallel()
	for program, want := range map[string]string{
		"{print $1}": "", `{print > "out"}`: "out", `{print $1 > "a"; print $2 >> "b"}`: "a b", `{print > $1}`: "?", `{print "a >" x > f ";"}`: "?", `{print > "a" x}`: "?", `{print $1/2 > "a"}`: "a ?",
		`{print > "a" / 2}`: "?", `{if ($1 > 5) print}`: "", `{print ($1 > 5)}`: "", `/"/ {print > "a"}`: "a ?",
	} {
		_, g := usageOf([]Word{plainWord("awk"), plainWord(program)})
		var got []string
		for _, u := range awkOutputs(g) {
			if got = append(got, u.word.Value); !u.word.Static {
				got[len(got)-1] = "?"
			}
		}
		if text := strings.Join(got, " "); text != want {
			t.Errorf("%s writes %q, not %q", program, text, want)
		}
	}
}
