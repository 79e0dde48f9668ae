package shell

import (
	"slices"
	"strings"
	"testing"
)

// Every name is in one row only, and its options are spelled once.
func TestTablesNameEachCommandOnce(t *testing.T) {
	seen := map[string]bool{}
	for _, table := range [][]command{
		searchTable, readTable, systemTable, listTable, neutralTable, gitTable, toolTable,
		textTable, archiveTable, binaryTable, machineTable, packageTable, versionTable, builtinTable,
	} {
		for _, c := range table {
			for name := range strings.FieldsSeq(c.name) {
				if seen[name] {
					t.Errorf("%s is in two rows", name)
				}
				seen[name] = true
			}
			for option := range strings.FieldsSeq(c.must) {
				if !slices.Contains(strings.Fields(c.options), option) {
					t.Errorf("%s: %s is not among the options", c.name, option)
				}
			}
			both := strings.Fields(c.options)
			for option := range strings.FieldsSeq(c.more) {
				if slices.Contains(both, option) {
					t.Errorf("%s: %s is there twice", c.name, option)
				}
			}
		}
	}
}

// At most three of a hundred harmless lines of every day are asked about.
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
	if lines < 450 || len(asked)*100 > lines*4 {
		t.Errorf("%d of %d lines are asked about:\n%s", len(asked), lines, strings.Join(asked, "\n"))
	}
}

// What means to write, to execute or to connect is asked about, not tried in a jail.
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
