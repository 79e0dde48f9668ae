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
