package internal_test

import (
	"go/ast"
	"go/parser"
	"path"
	"slices"
	"testing"

	"adze/internal/settings"
	"adze/internal/settings/config"
)

// readers are the methods of [config.Settings] that read a key.
var readers = []string{"Text", "Bool", "Int", "Float", "Strings", "Object", "Origin"}

// TestSettingsAreRead checks that every declared setting is read somewhere, that every setting
// read by name is declared, and that only package settings does so.
//
// Proves CAT-02.
func TestSettingsAreRead(t *testing.T) {
	declared := map[string]bool{}
	for _, k := range settings.Keys() {
		declared[k.ID()] = true
	}
	read := map[string]bool{"statusLine.type": true} // other programs' files have it; it has only one value
	for name, file := range parseTree(t, parser.SkipObjectResolution) {
		if name == "internal/settings/keys.go" {
			continue
		}
		importsConfig := slices.ContainsFunc(file.Imports, func(i *ast.ImportSpec) bool {
			p, _ := stringLiteral(i.Path) // ok: an import path is a literal
			return p == "adze/internal/settings" || p == "adze/internal/settings/config"
		})
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BasicLit:
				if s, ok := stringLiteral(n); ok && declared[s] {
					read[s] = true
				}
			case *ast.CallExpr:
				f, ok := n.Fun.(*ast.SelectorExpr)
				if !ok || len(n.Args) != 1 || !slices.Contains(readers, f.Sel.Name) || !importsConfig && path.Dir(name) != "internal/settings" {
					break
				}
				if pkg, ok := f.X.(*ast.Ident); ok && pkg.Name == "tool" {
					break // tool.Text is a result
				}
				switch s, ok := stringLiteral(n.Args[0]); {
				case ok && !declared[s]:
					t.Errorf("%s: reads %q, which is not declared", name, s)
				case ok && path.Dir(name) != "internal/settings":
					t.Errorf("%s: reads %q by name; add a field to a section of the settings", name, s)
				}
			}
			return true
		})
	}
	for _, k := range settings.Keys() {
		switch k.Kind {
		case config.Rules, config.Dirs, config.Vars: // read by kind
			continue
		}
		if !read[k.ID()] {
			t.Errorf("%s is declared, but nothing reads it", k.ID())
		}
	}
}
