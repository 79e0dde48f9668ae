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
	lsptool "adze/internal/tools/lsp"
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

// TestToolReference generates the tools page and the list of names for rules from a conversation's
// actual tools plus the ones added by settings.
//
// Proves CAT-01, DEF-02, AGENT-11.
func TestToolReference(t *testing.T) {
	all := slices.Concat(presentTools(t), cron.Tools(nil), worktree.Tools(nil), []tool.Tool{monitor.New(monitor.Config{}), workflow.New(workflow.Config{}), lsptool.New(lsptool.Config{}),
		team.Create(noTeams{}), team.Delete(noTeams{}), team.Send(noCarrier{})})
	slices.SortFunc(all, func(a, b tool.Tool) int { return strings.Compare(a.Spec().Name, b.Spec().Name) })
	var b strings.Builder
	b.WriteString("# Tools\n\nGenerated from the tools with `go test ./internal/app/wire -update`.\n\n" +
		"Which tools a session offers depends on its settings, its rules and whether a user can answer: `adze tools` lists them, and why others are not available.\n\n" +
		"A core tool is in every request; the model looks up others. Tools with *yes* are also available to sub-agents in the background, tools with *no* only to forks (ExitPlanMode also to agents in plan mode and to teammates), and the rest to sub-agents in the foreground.\n\n" +
		"| Tool | What it is for | Core | Sub-agents | `adze mcp serve` |\n|---|---|---|---|---|\n")
	for _, tl := range all {
		name := "`" + tl.Spec().Name + "`"
		for _, alias := range tl.Traits().Aliases {
			name += " (alias `" + alias + "`)"
		}
		traits := tl.Traits()
		agents := ""
		switch {
		case traits.MainOnly:
			agents = "no"
		case traits.Background:
			agents = "yes"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", name, traits.Hint, yes(traits.Core), agents, yes(traits.Served != nil))
	}
	generated(t, filepath.Join("..", "..", "..", "docs", "reference", "tools.md"), b.String())

	var names strings.Builder
	for _, tl := range all {
		fmt.Fprintln(&names, strings.Join(append([]string{tl.Spec().Name}, tl.Traits().Aliases...), " "))
	}
	generated(t, filepath.Join("..", "..", "permission", "compat", "builtin.txt"), names.String())
}

// yes returns "yes" or nothing.
func yes(is bool) string {
	if is {
		return "yes"
	}
	return ""
}

// generated compares a generated file with its content, or rewrites it.
func generated(t *testing.T, path, content string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(got), content); diff != "" {
		t.Errorf("run with -update if this is meant:\n%s", diff)
	}
}
