package commands

import (
	"strings"
	"time"

	"adze/internal/platform/text/amount"
	"adze/internal/tool/change"
)

// AddWork shows the files that running agents have changed last, if any. The main conversation
// is shown too.
func AddWork(p *Page, work []change.Work, short func(path string) string, now time.Time) {
	table := Table{Columns: []Column{{Name: "Who", Cut: true}, {Name: "works on", Cut: true}}}
	agents := false
	for _, w := range work {
		agents = agents || w.By.ID != ""
		var files []string
		for _, f := range w.Files {
			files = append(files, short(f.Path)+" ("+amount.Age(now.Sub(f.At))+")")
		}
		table.Rows = append(table.Rows, []string{strings.TrimPrefix(w.By.String(), "the "), strings.Join(files, ", ")})
	}
	if agents {
		p.Add(table)
	}
}
