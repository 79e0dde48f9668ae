package internal_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Limits on size. Beyond them a package or type has more than one subject.
const (
	maxLines   = 4400 // of a package above platform, without tests
	maxMethods = 25   // of a type
	maxFields  = 20   // of a struct
)

// large names what may be larger than the limits, and why: tables and decoded
// inputs, if any. A package is named as in layers, a type as package.Type.
var large = map[string]string{
	"app/settings.Trust":      "trust, approval by content and the limits that stay are one decision",
	"app/subagents.Config":    "what a conversation gives its agents",
	"app/teams.Lead":          "the lead's side of a team",
	"permission":              "rules, modes, paths and commands are judged by one function",
	"permission.Policy":       "one decision",
	"platform/shell.Part":     "one command: matching, read-only proof, paths, input",
	"platform/shell.Script":   "one line: matching, read-only proof, suspects",
	"platform/worktree.Trees": "worktrees and their records",
	"plugin.Store":            "the seal of a plugin is read and written with the store's places",
	"session/store.Log":       "one log: records, notes, signatures",
}

func TestArchSizes(t *testing.T) {
	files := parseTree(t, parser.SkipObjectResolution)
	sizes := typeSizes(files)
	for name := range files {
		src, err := os.ReadFile(filepath.Join("..", filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		if pkg := packageName(path.Dir(name)); !strings.HasPrefix(pkg, "platform/") {
			s := sizes[pkg]
			s.lines += bytes.Count(src, []byte("\n"))
			sizes[pkg] = s
		}
	}
	for _, problem := range checkSizes(sizes, large) {
		t.Error(problem)
	}
}

// A size is that of a package or a type.
type size struct {
	lines   int
	methods int
	fields  int
}

// String names what is over a limit.
func (s size) String() string {
	var over []string
	for _, f := range []struct {
		what     string
		got, max int
	}{{"lines", s.lines, maxLines}, {"methods", s.methods, maxMethods}, {"fields", s.fields, maxFields}} {
		if f.got > f.max {
			over = append(over, fmt.Sprintf("%d %s, more than %d", f.got, f.what, f.max))
		}
	}
	return strings.Join(over, "; ")
}

// typeSizes counts the methods and fields of each type. A method that several
// platforms implement counts once.
func typeSizes(files map[string]*ast.File) map[string]size {
	methods := map[string]map[string]bool{}
	sizes := map[string]size{}
	for name, file := range files {
		pkg := packageName(path.Dir(name))
		for _, decl := range file.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil {
					continue
				}
				typ := pkg + "." + receiver(d.Recv.List[0].Type)
				if methods[typ] == nil {
					methods[typ] = map[string]bool{}
				}
				methods[typ][d.Name.Name] = true
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					t, ok := spec.(*ast.TypeSpec)
					if !ok {
						continue
					}
					if s, ok := t.Type.(*ast.StructType); ok {
						sizes[pkg+"."+t.Name.Name] = size{fields: s.Fields.NumFields()}
					}
				}
			}
		}
	}
	for typ, names := range methods {
		s := sizes[typ]
		s.methods = len(names)
		sizes[typ] = s
	}
	return sizes
}

// receiver returns the type name of a method's receiver.
func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

// checkSizes reports what is over a limit, and exceptions that are not needed.
func checkSizes(sizes map[string]size, large map[string]string) []string {
	var problems []string
	for _, name := range slices.Sorted(maps.Keys(sizes)) {
		over := sizes[name].String()
		_, allowed := large[name]
		if over != "" && !allowed {
			problems = append(problems, fmt.Sprintf("%s has %s: find the two nouns in it", name, over))
		}
		if over == "" && allowed {
			problems = append(problems, fmt.Sprintf("%s is within the limits; remove it from the exceptions", name))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(large)) {
		if _, ok := sizes[name]; !ok {
			problems = append(problems, fmt.Sprintf("%s is gone; remove it from the exceptions", name))
		}
	}
	return problems
}

func TestArchCheckSizes(t *testing.T) {
	sources := map[string]string{
		"internal/a/a.go":       "package a\ntype S struct { a, b int; T; U[int] }\ntype T int\ntype U[V any] struct{ v V }\n",
		"internal/a/a_linux.go": "package a\nfunc (t *T) one() {}\nfunc (t T) two() {}\nfunc (u *U[V]) three() {}\nfunc f() {}\n",
		"internal/a/a_other.go": "package a\nfunc (t *T) one() {}\n",
	}
	files := map[string]*ast.File{}
	for name, src := range sources {
		file, err := parser.ParseFile(token.NewFileSet(), name, src, 0)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = file
	}
	want := map[string]size{"a.S": {fields: 4}, "a.T": {methods: 2}, "a.U": {methods: 1, fields: 1}}
	got := typeSizes(files)
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(size{})); diff != "" {
		t.Error(diff)
	}

	problems := checkSizes(map[string]size{
		"a":    {lines: maxLines + 1},
		"b":    {lines: maxLines},
		"a.S":  {methods: maxMethods + 1, fields: maxFields + 1},
		"a.T":  {methods: maxMethods, fields: maxFields},
		"a.In": {fields: maxFields + 1},
	}, map[string]string{"a.T": "of no reason", "a.In": "an input", "a.Old": "was one"})
	wanted := []string{
		"a has 4401 lines, more than 4400: find the two nouns in it",
		"a.S has 26 methods, more than 25; 21 fields, more than 20: find the two nouns in it",
		"a.T is within the limits; remove it from the exceptions",
		"a.Old is gone; remove it from the exceptions",
	}
	if diff := cmp.Diff(wanted, problems); diff != "" {
		t.Error(diff)
	}
}
