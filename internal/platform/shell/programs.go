package shell

import (
	"cmp"
	"slices"
	"strings"
)

// Named returns the names of the programs that the line runs, in the order in which it names them, for users to see: also
// those that other programs are told to run, if they are known ones. What is known only when the line runs is missing; see
// [Script.Unknown].
func (s *Script) Named() []string {
	var names []string
	add := func(name string) {
		if name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, p := range s.Parts {
		for _, name := range p.Programs() {
			add(name)
		}
	}
	rest := s.Source
	for _, p := range s.Parts {
		if queries(p.program()) { // its arguments are not shell
			rest = strings.ReplaceAll(rest, p.source, "")
		}
	}
	for name := range s.Programs() {
		if strings.Contains(rest, name) && (find(name) != nil || (callee{name: name}).files() != "") {
			add(name)
		}
	}
	slices.SortStableFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(strings.Index(s.Source, a), strings.Index(s.Source, b)), cmp.Compare(a, b))
	})
	return names
}

// queries reports whether a program is the client of a database.
func queries(name string) bool {
	switch name {
	case "psql", "mysql", "mariadb", "sqlite3", "duckdb", "sqlcmd", "clickhouse-client", "cqlsh":
		return true
	}
	return false
}
