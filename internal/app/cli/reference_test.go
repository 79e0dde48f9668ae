package cli

import (
	goflag "flag"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"adze/internal/settings"
)

var rewrite = goflag.Bool("update", false, "rewrite golden files and generated documents")

// Proves CAT-02, CMD-04, X-140, X-141.
func TestReference(t *testing.T) {
	for name, got := range map[string]string{
		"commands.md": commandReference(),
		"flags.md":    flagReference(),
		"sessions.md": sessionReference(),
		"settings.md": settingsReference(),

		"settings.schema.json": settingsSchema((&Env{}).schemaID()),
	} {
		path := filepath.Join("..", "..", "..", "docs", "reference", name)
		if *rewrite {
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got); diff != "" {
			t.Errorf("%s is out of date; run with -update:\n%s", name, diff)
		}
	}
}

// TestVariablesAreDeclared checks that every variable the program refers to by name is in the
// settings table.
//
// Proves CAT-02.
func TestVariablesAreDeclared(t *testing.T) {
	declared := map[string]bool{}
	for _, k := range settings.Keys() {
		for _, name := range k.Env {
			if declared[name] {
				t.Errorf("%s is declared twice", name)
			}
			declared[name] = true
		}
	}
	// Not settings: variables withheld from child processes, the marker by which programs
	// started by adze are found, and the mechanism for passing commands.
	exempt := []string{
		filepath.Join("proc", "osproc", "env.go"), filepath.Join("tools", "powershell", "start.go"),
		filepath.Join("toolbox", "resolver_testbuild.go"), filepath.Join("proc", "osproc", "sweep_linux.go"), filepath.Join("proc", "osproc", "sweep_other.go"),
	}
	variable := regexp.MustCompile(`^(ADZE|ANTHROPIC|CLAUDE)_[A-Z0-9_]*[A-Z0-9]$`)
	err := filepath.WalkDir(filepath.Join("..", ".."), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		if slices.ContainsFunc(exempt, func(name string) bool { return strings.HasSuffix(path, name) }) {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			lit, ok := n.(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING {
				return true
			}
			if s, err := strconv.Unquote(lit.Value); err == nil && variable.MatchString(s) && !declared[s] {
				t.Errorf("%s knows the variable %s, which is not in the table of settings", path, s)
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestHelp(t *testing.T) {
	path := filepath.Join("testdata", "help.golden")
	got := helpText(80)
	if *rewrite {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("run with -update if this is meant:\n%s", diff)
	}
	for line := range strings.Lines(got) {
		if len(strings.TrimSuffix(line, "\n")) > 80 {
			t.Errorf("too wide: %s", line)
		}
	}
	if n := strings.Count(got, "\n"); n > 25 {
		t.Errorf("the help has %d lines", n)
	}
	pages := map[string]string{"flags": flagsText(79), "commands": commandsText(79)}
	for _, c := range commandTable() {
		pages[c.name] = c.help(79)
	}
	for name, page := range pages {
		for line := range strings.Lines(page) {
			if n := len(strings.TrimSuffix(line, "\n")); n > 79 && strings.Contains(strings.TrimSpace(line), " ") {
				t.Errorf("help %s is %d columns wide: %s", name, n, line)
			}
		}
	}
	for _, f := range (&runOptions{}).supported() {
		if f.Doc == "" || f.Set == nil {
			t.Errorf("--%s has no text or no effect", f.Name)
		}
	}
}
