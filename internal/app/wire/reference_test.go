package wire

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"adze/internal/tool"
	"adze/internal/tools/cron"
	"adze/internal/tools/monitor"
	"adze/internal/tools/team"
	"adze/internal/tools/workflow"
	"adze/internal/tools/worktree"
)

var update = flag.Bool("update", false, "rewrite generated documents")

// presentTools returns a conversation's tools.
func presentTools(t *testing.T) []tool.Tool {
	t.Helper()
	return newPlace(t).following().tools()
}

type (
	noTeams   struct{ team.Teams }
	noCarrier struct{ team.Messenger }
)

// TestToolReference generates the tools page from a conversation's actual tools plus the ones
// added by settings.
//
// Proves CAT-01.
func TestToolReference(t *testing.T) {
	all := slices.Concat(presentTools(t), cron.Tools(nil), worktree.Tools(nil), []tool.Tool{monitor.New(monitor.Config{}), workflow.New(workflow.Config{}),
		team.Create(noTeams{}), team.Delete(noTeams{}), team.Send(noCarrier{})})
	slices.SortFunc(all, func(a, b tool.Tool) int { return strings.Compare(a.Spec().Name, b.Spec().Name) })
	var b strings.Builder
	b.WriteString("# Tools\n\nGenerated from the tools with `go test ./internal/app/wire -update`.\n\n" +
		"Which tools a session offers depends on its settings, its rules and whether a user can answer: `adze tools` lists them, and says why others are not available.\n\n" +
		"| Tool | What it is for |\n|---|---|\n")
	for _, tl := range all {
		name := "`" + tl.Spec().Name + "`"
		for _, alias := range tl.Traits().Aliases {
			name += " (alias `" + alias + "`)"
		}
		fmt.Fprintf(&b, "| %s | %s |\n", name, tl.Traits().Hint)
	}
	path := filepath.Join("..", "..", "..", "docs", "reference", "tools.md")
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Errorf("run with -update if this is meant:\n%s", diff)
	}

	chapter, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "spec", "20-tool-contract.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, tl := range all {
		if !strings.Contains(string(chapter), "`"+tl.Spec().Name+"`") {
			t.Errorf("%s is not in the specification", tl.Spec().Name)
		}
	}
}
