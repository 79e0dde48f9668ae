package shell

import (
	"cmp"
	"slices"
	"strings"
)

// Named returns the names of the programs that the line runs, in order, for display. It
// includes known programs that other programs run. Programs known only at run time are missing;
// see [Script.Unknown].
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
		if Is(p.program(), database) { // its arguments are not shell code
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
