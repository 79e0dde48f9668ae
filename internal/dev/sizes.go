package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
)

// A size is a measured part of the source.
type size struct {
	name  string
	n     int
	tests int // lines of test files; packages only
}

// reportSizes prints the size of the Go source below root and its largest parts, for reviewers.
// There are no limits.
func reportSizes(root string, out io.Writer) error {
	packages := map[string]*size{}
	var files, functions, structs []size
	var source, tests int
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || d.Name() == "node_modules"):
			return fs.SkipDir
		case d.IsDir() || filepath.Ext(path) != ".go":
			return nil
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		lines := set.File(file.Pos()).LineCount()
		dir := filepath.ToSlash(filepath.Dir(path))
		p := packages[dir]
		if p == nil {
			p = &size{name: dir}
			packages[dir] = p
		}
		if strings.HasSuffix(path, "_test.go") {
			tests += lines
			p.tests += lines
			return nil
		}
		source += lines
		p.n += lines
		files = append(files, size{name: filepath.ToSlash(path), n: lines})
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				functions = append(functions, size{name: dir + "." + funcName(n), n: set.Position(n.End()).Line - set.Position(n.Pos()).Line + 1})
			case *ast.TypeSpec:
				if t, ok := n.Type.(*ast.StructType); ok {
					structs = append(structs, size{name: dir + "." + n.Name.Name, n: t.Fields.NumFields()})
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		return err
	}
	var all []size
	for _, p := range packages {
		all = append(all, *p)
	}
	fmt.Fprintf(out, "%d packages, %d files, %d lines of source, %d of tests\n", len(all), len(files), source, tests)
	largest(out, "packages by lines (and lines of tests)", all)
	largest(out, "files by lines", files)
	largest(out, "functions by lines", functions)
	largest(out, "structs by fields", structs)
	return nil
}

// largest prints the ten largest parts.
func largest(out io.Writer, title string, list []size) {
	slices.SortFunc(list, func(a, b size) int { return cmp.Or(b.n-a.n, strings.Compare(a.name, b.name)) })
	fmt.Fprintf(out, "\nlargest %s\n", title)
	for _, s := range list[:min(10, len(list))] {
		fmt.Fprintf(out, "%8d  %s", s.n, s.name)
		if s.tests > 0 {
			fmt.Fprintf(out, " (%d)", s.tests)
		}
		fmt.Fprintln(out)
	}
}

// funcName returns the name of a function, or Type.Name of a method.
func funcName(f *ast.FuncDecl) string {
	if f.Recv == nil || len(f.Recv.List) == 0 {
		return f.Name.Name
	}
	t := f.Recv.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			return x.Name + "." + f.Name.Name
		default:
			return f.Name.Name
		}
	}
}
