package shell

import (
	"slices"
	"strings"
	"testing"
)

// TestTablesNameEachProgramOnce checks that every name is in at most one row of the readers and
// one of the writers, and that its options are listed once.
func TestTablesNameEachProgramOnce(t *testing.T) {
	for _, tables := range [][][]program{readers, writers} {
		seen := map[string]bool{}
		for _, row := range slices.Concat(tables...) {
			for name := range strings.FieldsSeq(row.name) {
				if seen[name] {
					t.Errorf("%s is in two rows", name)
				}
				seen[name] = true
			}
			var options []string
			for option := range strings.FieldsSeq(row.reads) {
				name, _, _ := strings.Cut(option, ":")
				if slices.Contains(options, name) {
					t.Errorf("%s: %s is there twice", row.name, name)
				}
				options = append(options, name)
			}
			for option := range strings.FieldsSeq(row.must + " " + row.needsJail) {
				if row.operands != anything && !slices.Contains(options, option) {
					t.Errorf("%s: %s is not among the options", row.name, option)
				}
			}
		}
	}
}

// TestColumnsAgree checks that the rows of a program give its options the same kinds of values.
func TestColumnsAgree(t *testing.T) {
	for name, e := range programs() {
		if !e.reader || !e.writer {
			continue
		}
		kinds := map[string]string{}
		for option := range strings.FieldsSeq(e.options) {
			name, kind, _ := strings.Cut(option, ":")
			kinds[name] = kind
		}
		for option := range strings.FieldsSeq(e.reads) {
			o, kind, _ := strings.Cut(option, ":")
			if other, ok := kinds[o]; ok && kind != other {
				t.Errorf("%s: %s has the kinds %q and %q", name, o, kind, other)
			}
		}
	}
}

// TestEverydayLinesRunInAJail checks that at most three percent of harmless everyday lines need
// a prompt.
//
// Proves SHRO-01, SHRO-02.
func TestEverydayLinesRunInAJail(t *testing.T) {
	var lines int
	var asked []string
	readLines(t, "testdata/everyday.txt", func(line string) {
		lines++
		s := Parse(line, Vars{Home: "/home/u", Dir: "/work", User: "u", Temp: "/tmp"})
		if _, err := s.Jailed(); err != nil {
			asked = append(asked, line+"\n\t"+err.Error())
		}
	})
	if lines < 450 || len(asked)*100 > lines*3 {
		t.Errorf("%d of %d lines are asked about:\n%s", len(asked), lines, strings.Join(asked, "\n"))
	}
}

// TestIntentsAreAskedAbout checks that lines meant to write, execute or connect cause a prompt
// and are not tried in a jail.
//
// Proves SHRO-02, SHRO-06.
func TestIntentsAreAskedAbout(t *testing.T) {
	var lines int
	readLines(t, "testdata/intents.txt", func(line string) {
		lines++
		if n, err := Parse(line, Vars{Home: "/home/u", Dir: "/work", User: "u", Temp: "/tmp"}).Jailed(); err == nil {
			t.Errorf("%q needs %+v", line, n)
		}
	})
	if lines < 150 {
		t.Errorf("only %d lines", lines)
	}
}

func TestNeeds(t *testing.T) {
	tests := []struct{ line, programs, git string }{
		{"ls", "ls", ""},
		{"echo a; test -f b; pwd", "", ""},
		{"ls | xargs -n1 echo", "ls xargs echo", ""},
		{"ls | xargs", "ls xargs echo", ""},
		{"timeout 5 nice -n 3 env LANG=C grep x f", "timeout nice env grep", ""},
		{"egrep x f", "egrep grep", ""},
		{"zcat f", "zcat gzip", ""},
		{"find . -exec wc -l {} + -exec file {} \\;", "wc file find", ""},
		{"for f in $(ls); do x=$(cat $f); diff <(sort a) b; done", "ls cat diff sort", ""},
		{"/usr/bin/ls; /bin/cat f", "/usr/bin/ls /bin/cat", ""},
		{"f() { ls; }; f", "ls", ""},
		{"time ls; command cat f", "ls cat", ""},
		{"cd a && git log; cd /b && git status", "git", "./a .//b"},
		{"git -C x log | head -1", "git head", "./x"},
		{"timeout 5 git log", "timeout git", "./"},
	}
	for _, tt := range tests {
		n, err := Parse(tt.line, Vars{}).Jailed()
		if err != nil {
			t.Errorf("%s: %v", tt.line, err)
			continue
		}
		if got := strings.Join(n.Programs, " "); !sameWords(got, tt.programs) {
			t.Errorf("%s needs %q, not %q", tt.line, got, tt.programs)
		}
		var dirs []string
		for _, use := range n.Git {
			dirs = append(dirs, "./"+use.Dir)
		}
		if got := strings.Join(dirs, " "); got != tt.git {
			t.Errorf("%s runs git in %q, not %q", tt.line, got, tt.git)
		}
	}
	for line, want := range map[string]Needs{
		"ps aux": {Processes: true}, "ss -t": {Processes: true, Network: true}, "ip addr": {Network: true}, "df": {Processes: true}, "ls": {},
	} {
		if n, err := Parse(line, Vars{}).Jailed(); err != nil || n.Processes != want.Processes || n.Network != want.Network {
			t.Errorf("%s: %+v, %v", line, n, err)
		}
	}
}

func sameWords(a, b string) bool {
	x, y := strings.Fields(a), strings.Fields(b)
	slices.Sort(x)
	slices.Sort(y)
	return slices.Equal(x, y)
}
