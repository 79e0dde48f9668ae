package internal_test

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"adze/internal/platform/text/texts"
)

// elsewhere maps texts for the model whose Chinese version does not have the usual file name to
// that version.
var elsewhere = map[string]string{
	"tools/plan/eager.md":      "enter.zh.md",
	"tools/plan/restrained.md": "enter.zh.md",
}

// TestTextsAreBilingual logs the texts for the model that have no Chinese version, for which English is
// used, and checks that the others have the same placeholders. Bundled skills are prompts, which
// are English like user-written ones. Tool parameters are checked where all tools are known.
//
// Proves X-149, CTX-10.
func TestTextsAreBilingual(t *testing.T) {
	checked := 0
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		slashed := filepath.ToSlash(name)
		if d.IsDir() && (d.Name() == "testdata" || slashed == "feature/skills/bundled") {
			return fs.SkipDir
		}
		base, ok := strings.CutSuffix(d.Name(), ".md")
		if d.IsDir() || !ok || slashed == "README.md" || strings.HasSuffix(base, ".zh") {
			return nil
		}
		other := strings.TrimSuffix(base, ".en") + ".zh.md"
		if file, ok := elsewhere[slashed]; ok {
			other = file
		}
		chinese, err := os.ReadFile(filepath.Join(filepath.Dir(name), other))
		if errors.Is(err, fs.ErrNotExist) {
			t.Logf("%s has no Chinese version", slashed)
			return nil
		}
		if err != nil {
			return err
		}
		english, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		checked++
		if strings.HasSuffix(base, ".en") {
			for _, problem := range texts.New(string(english), string(chinese)).Check() {
				t.Errorf("%s: %s", slashed, problem)
			}
			have := texts.Parse(string(chinese))
			for text := range texts.Parse(string(english)) {
				if _, ok := have[text]; !ok {
					t.Logf("%s: %s has no Chinese version", slashed, text)
				}
			}
		} else if len(texts.Parse(string(chinese))) == 0 {
			t.Errorf("%s: %s has no texts", slashed, other)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if checked < 25 {
		t.Errorf("only %d texts were found", checked)
	}
}

// ambiguous are characters that are two cells wide in some terminals and one in others.
const ambiguous = "●•·…→│─○"

// TestTextGlyphs checks that drawn text contains no characters of ambiguous width, which would
// break the layout where they are wide. Row marks come from draw.Glyphs, which has alternatives
// for terminals without UTF-8.
func TestTextGlyphs(t *testing.T) {
	checked := 0
	for name, file := range parseTree(t, parser.SkipObjectResolution) {
		pkg := packageName(path.Dir(name))
		if strings.HasSuffix(name, "draw/glyphs.go") { // has alternatives
			continue
		}
		if pkg != "commands" && !strings.HasPrefix(pkg, "commands/") && !strings.HasPrefix(pkg, "ui/") && pkg != "app/cli/demo" && pkg != "platform/term/cells" {
			continue
		}
		checked++
		ast.Inspect(file, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING && strings.ContainsAny(lit.Value, ambiguous) {
				t.Errorf("%s: %s holds a character whose width is ambiguous", name, lit.Value)
			}
			return true
		})
	}
	if checked < 100 {
		t.Errorf("only %d files were found", checked)
	}
}
