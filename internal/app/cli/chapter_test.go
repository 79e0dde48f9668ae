package cli

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"adze/internal/feature/skills/bundled"
)

var (
	tableRow     = regexp.MustCompile(`(?m)^\| (.*` + "`/" + `.*) \|$`)
	namedCommand = regexp.MustCompile("`/([a-z][a-z_-]*)[^`]*`")
)

// TestCommandsOfTheChapter checks the chapter's tables: a command marked yes exists under its
// name or the given one, and a command marked not planned does not.
//
// Proves CMD-03, CMD-04.
func TestCommandsOfTheChapter(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "spec", "33-skills-commands.md"))
	if err != nil {
		t.Fatal(err)
	}
	exists := map[string]bool{}
	for _, c := range everyCommand().Commands() {
		for _, name := range append(c.Aliases, c.Name) {
			exists[name] = true
		}
	}
	bundle := bundled.New(t.TempDir())
	defer bundle.Close()
	for _, s := range bundle.Skills() {
		exists[s.Name] = true
	}
	_, text, _ := strings.Cut(string(data), "### CMD-03 ")
	text, _, _ = strings.Cut(text, "### CMD-05 ")
	seen := 0
	for _, row := range tableRow.FindAllStringSubmatch(text, -1) {
		cells := strings.Split(row[1], " | ")
		state := cells[len(cells)-1]
		names := namedCommand.FindAllStringSubmatch(cells[0], -1)
		if other := namedCommand.FindAllStringSubmatch(state, -1); strings.HasPrefix(state, "yes, as ") {
			names = other
		}
		for _, name := range names {
			seen++
			switch word, _, _ := strings.Cut(state, ","); {
			case word == "yes" && !exists[name[1]]:
				t.Errorf("/%s does not exist, and its state is: %s", name[1], state)
			case strings.HasPrefix(state, "not planned: ") && exists[name[1]]:
				t.Errorf("/%s exists, and its state is: %s", name[1], state)
			case word != "yes" && !strings.HasPrefix(state, "not planned: ") && !strings.HasPrefix(state, "later: "):
				t.Errorf("the state of /%s is %q: it is yes, later or not planned", name[1], state)
			}
		}
	}
	if seen < 80 {
		t.Errorf("only %d commands were found in the chapter", seen)
	}
}

// TestFrontEndsKnowNoCommands checks that front ends and the command line refer to no command
// by name: package commands maps keys to commands.
//
// Proves CMD-01.
func TestFrontEndsKnowNoCommands(t *testing.T) {
	names := map[string]bool{}
	for _, c := range everyCommand().Commands() {
		for _, name := range append(c.Aliases, c.Name) {
			names["/"+name] = true
		}
	}
	for _, dir := range []string{filepath.Join("..", "..", "ui"), "..", filepath.Join("..", "..", "session")} {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(n ast.Node) bool {
				if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
					if s, err := strconv.Unquote(lit.Value); err == nil && names[s] {
						t.Errorf("%s knows the command %s", path, s)
					}
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
