// Package internal_test checks rules for the whole tree: imports between packages, the status
// of the specification, and startup cost.
package internal_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"adze/internal/model/providers"
)

const module = "adze"

// rooms lists the directories, lowest first. A package imports from its own room and from the
// rooms above it in this list. Names are relative to internal, except those under cmd.
var rooms = []string{
	"changelog",
	"msg",
	"platform/text",
	"platform/term",
	"platform/fs",
	"platform/proc",
	"platform/net",
	"platform/sandbox",
	"platform/shell",
	"platform/git",
	"platform/search",
	"setup",
	"model",
	"tool",
	"agent",
	"permission",
	"hook",
	"mcp",
	"lsp",
	"domain",
	"tools",
	"prompt",
	"session",
	"commands",
	"ui",
	"settings",
	"feature",
	"app",
	"sdk",
	"bench",
	"dev",
	"site",
	"cmd",
}

// apart lists the rooms whose parts do not import each other, and for each the parts that the
// others may import, apart from the room's own package.
var apart = map[string][]string{
	"tools":   nil,
	"domain":  nil,
	"feature": {"feature/agents", "feature/startcache"},
}

// composers combine implementations: tools, the program, providers.
var composers = []string{"app/toolbox", "app/wire", "app/models"}

// implementations are imported only by composers; the rest of the tree uses their interfaces.
// The benchmarks, which are not part of the product, play scripts too.
var implementations = []string{
	"tools/*",
	"model/anthropic", "model/replay", "model/retry", "model/fit", "model/router", "model/mute",
}

// ownTools lists the tools that a package below app/wire binds to its own state.
var ownTools = map[string][]string{
	"app/artifacts":     {"tools/plan"},
	"app/conversation":  {"tools/bash", "tools/structured"},
	"feature/agents":    {"tools/agent"},
	"feature/deferred":  {"tools/extratools"},
	"feature/lsp":       {"tools/lsp", "tools/edit"},
	"feature/mcp":       {"tools/mcptool", "tools/mcpresource"},
	"feature/memory":    {"tools/agent"},
	"feature/questions": {"tools/askuser"},
	"feature/schedule":  {"tools/cron"},
	"feature/skills":    {"tools/skill", "tools/discover"},
	"feature/tasks":     {"tools/tasks", "tools/todo"},
	"feature/teams":     {"tools/team", "tools/agent"},
	"feature/workflows": {"tools/workflow", "tools/agent"},
	"feature/worktrees": {"tools/worktree"},
}

// frontEnds are started by app/cli with the components that app/wire has assembled.
var frontEnds = []string{"ui/headless", "ui/plain", "ui/tui", "ui/acp", "ui/web"}

// Proves LOOP-01.
func TestArchImports(t *testing.T) {
	imports := map[string][]string{}
	for name, file := range parseTree(t, parser.ImportsOnly) {
		imports[name] = nil
		for _, spec := range file.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			imports[name] = append(imports[name], imported)
		}
	}
	for _, problem := range checkImports(imports) {
		t.Error(problem)
	}
}

func TestArchPackageComments(t *testing.T) {
	for _, problem := range checkComments(parseTree(t, parser.PackageClauseOnly|parser.ParseComments)) {
		t.Error(problem)
	}
}

// Proves PROV-01.
func TestArchCode(t *testing.T) {
	for _, problem := range checkCode(parseTree(t, parser.SkipObjectResolution)) {
		t.Error(problem)
	}
}

// TestArchParts checks that no function of app/wire takes a conversation: a part gets what it needs,
// not everything.
func TestArchParts(t *testing.T) {
	for name, file := range parseTree(t, parser.SkipObjectResolution) {
		if path.Dir(name) != "internal/app/wire" {
			continue
		}
		for _, decl := range file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok || f.Recv != nil {
				continue
			}
			for _, p := range f.Type.Params.List {
				star, ok := p.Type.(*ast.StarExpr)
				if !ok {
					continue
				}
				if id, ok := star.X.(*ast.Ident); ok && id.Name == "Conversation" {
					t.Errorf("%s: %s has a parameter of type *Conversation; pass what it needs, or make it a method", name, f.Name.Name)
				}
			}
		}
	}
}

func TestArchDirectoryNames(t *testing.T) {
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && d.Name() == "testdata" {
			return fs.SkipDir
		}
		if d.IsDir() && slices.Contains([]string{"util", "common", "shared", "helpers"}, d.Name()) {
			t.Errorf("internal/%s: name the directory after its content", filepath.ToSlash(name))
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// parseTree parses the module's Go files except tests, keyed by slash-separated name relative
// to its root.
func parseTree(t *testing.T, mode parser.Mode) map[string]*ast.File {
	t.Helper()
	files := map[string]*ast.File{}
	fset := token.NewFileSet()
	err := filepath.WalkDir("..", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := d.Name()
		if d.IsDir() {
			if base == ".." {
				return nil
			}
			if _, err := os.Stat(filepath.Join(name, "go.mod")); err == nil || base == "testdata" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") {
				return fs.SkipDir // another module, or no source
			}
			return nil
		}
		if !strings.HasSuffix(base, ".go") || strings.HasSuffix(base, "_test.go") {
			return nil
		}
		rel, err := filepath.Rel("..", name)
		if err != nil {
			return err
		}
		src, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(fset, filepath.ToSlash(rel), src, mode)
		if err != nil {
			return err
		}
		files[filepath.ToSlash(rel)] = file
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// checkImports applies the table to the import paths of each file.
func checkImports(imports map[string][]string) []string {
	var problems []string
	for _, file := range slices.Sorted(maps.Keys(imports)) {
		from := packageName(path.Dir(file))
		fromRank := rank(from)
		if fromRank < 0 {
			problems = append(problems, fmt.Sprintf("%s: package %s is in no room; add its directory to the list in internal/arch_test.go", file, from))
			continue
		}
		for _, imported := range imports[file] {
			rel, inside := strings.CutPrefix(imported, module+"/")
			if !inside {
				continue
			}
			to := packageName(rel)
			if toRank := rank(to); toRank >= 0 { // otherwise reported at the package itself
				if why := forbidden(from, to, fromRank, toRank); why != "" {
					problems = append(problems, fmt.Sprintf("%s imports %s: %s", file, imported, why))
				}
			}
		}
	}
	return problems
}

// forbidden returns the reason why from may not import to, or "" if it may.
func forbidden(from, to string, fromRank, toRank int) string {
	room := rooms[toRank]
	parts, separate := apart[room]
	switch {
	case toRank > fromRank:
		return fmt.Sprintf("%s is above %s", room, rooms[fromRank])
	case toRank == fromRank && separate && to != room && part(from, room) != part(to, room) && !slices.Contains(parts, part(to, room)):
		return fmt.Sprintf("%s and %s may not import each other; move shared code down a room", part(to, room), part(from, room))
	case matches(implementations, to) && !slices.Contains(composers, from) && from != "bench" && !slices.Contains(ownTools[from], to):
		return "only app/toolbox, app/wire and app/models import implementations"
	case matches(frontEnds, to) && from != "app/wire" && from != "app/cli":
		return "only app/cli and app/wire know front ends"
	case within(from, "tool") && within(to, "model"):
		return "tool and model do not know each other"
	case within(to, "model/modeltest") || to == "tool/tooltest" || to == "app/apptest" || to == "mcp/mcptest" || to == "lsp/lsptest":
		return "only tests import a contract suite"
	}
	return ""
}

// part returns the directory directly below a room that a package belongs to.
func part(name, room string) string {
	first, _, _ := strings.Cut(strings.TrimPrefix(name, room+"/"), "/")
	return room + "/" + first
}

func within(name, dir string) bool { return name == dir || strings.HasPrefix(name, dir+"/") }

// packageName returns a directory's name in the table.
func packageName(dir string) string { return strings.TrimPrefix(dir, "internal/") }

// rank returns the index of a package's room, or -1.
func rank(name string) int {
	return slices.IndexFunc(rooms, func(room string) bool { return within(name, room) })
}

func matches(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		ok, err := path.Match(pattern, name)
		return ok && err == nil
	})
}

// checkComments requires a package comment for each package, and that each begins in the form
// go doc expects.
func checkComments(files map[string]*ast.File) []string {
	var problems []string
	documented := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		file, dir := files[name], path.Dir(name)
		documented[dir] = documented[dir] || file.Doc != nil
		want := "Package " + file.Name.Name + " "
		if file.Name.Name == "main" {
			want = "Command " + path.Base(dir) + " "
		}
		if file.Doc != nil && !strings.HasPrefix(strings.ReplaceAll(file.Doc.Text(), "\n", " "), want) {
			problems = append(problems, fmt.Sprintf("%s: the package comment should start with %q", name, "// "+want))
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(documented)) {
		if !documented[dir] {
			problems = append(problems, fmt.Sprintf("%s: no package comment", dir))
		}
	}
	return problems
}

// namesTools are the packages that may refer to a tool by name: the tools, user-written rules
// and agents, and the packages that assemble or measure the program. A contract suite is a
// test. A key context has the name of a tool.
var namesTools = []string{"ui/keys", "tools/*", "permission/compat", "domain/agentdef", "feature/agents/builtin", "app", "app/*", "app/cli/*", "feature/*", "settings", "bench", "bench/*", "cmd/*", "model/modeltest"}

// listsTools are the packages that may list tools by name: the toolbox, and the definitions of
// built-in agents. Everything else is a trait of the tool.
var listsTools = []string{"app/toolbox", "tools/*", "permission/compat", "feature/agents", "feature/agents/builtin", "feature/memory", "bench", "bench/*", "model/modeltest"}

// providerNames are the providers that only app/models may decide by. Programs on this machine have the
// names of their servers.
var providerNames = func() (names []string) {
	for _, p := range providers.All() {
		if !p.Local {
			names = append(names, p.Name)
		}
	}
	return names
}()

// facetOf returns the exported type of the same package that a struct embeds by pointer, if it
// has no other field, or "".
func facetOf(t *ast.TypeSpec) string {
	s, ok := t.Type.(*ast.StructType)
	if !ok || len(s.Fields.List) != 1 || len(s.Fields.List[0].Names) > 0 {
		return ""
	}
	if p, ok := s.Fields.List[0].Type.(*ast.StarExpr); ok {
		if of, ok := p.X.(*ast.Ident); ok && of.IsExported() {
			return of.Name
		}
	}
	return ""
}

// checkCode reports init functions, types that only wrap another one, packages that refer to
// tools by name, and decisions by provider name outside the one place for them.
func checkCode(files map[string]*ast.File) []string {
	var problems []string
	tools := toolNames(files)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		report := func(format string, args ...any) {
			problems = append(problems, name+": "+fmt.Sprintf(format, args...))
		}
		byProvider := func(exprs ...ast.Expr) {
			for _, e := range exprs {
				if s, ok := stringLiteral(e); ok && slices.Contains(providerNames, s) && path.Dir(name) != "internal/app/models" {
					report("decides by the provider name %q; only internal/app/models may", s)
				}
			}
		}
		ast.Inspect(files[name], func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				if n.Recv == nil && n.Name.Name == "init" {
					report("has an init function; build the value where it is needed")
				}
			case *ast.TypeSpec:
				if of := facetOf(n); of != "" {
					report("%s only gives %s other methods; make them methods of %s, or move the state they use into a type", n.Name.Name, of, of)
				}
			case *ast.BinaryExpr:
				if n.Op == token.EQL || n.Op == token.NEQ {
					byProvider(n.X, n.Y)
				}
			case *ast.CaseClause:
				byProvider(n.List...)
			case *ast.CompositeLit:
				if count := countTools(n, tools); count >= 3 && !matches(listsTools, packageName(path.Dir(name))) {
					report("lists %d tools by name; use a trait", count)
				}
			case *ast.BasicLit:
				if s, ok := stringLiteral(n); ok && tools[s] && !matches(namesTools, packageName(path.Dir(name))) {
					report("knows the tool %q; use a trait or a capability, or have its name configured", s)
				}
			}
			return true
		})
	}
	return problems
}

// countTools returns how many of a literal's elements or keys are tool names.
func countTools(list *ast.CompositeLit, tools map[string]bool) (n int) {
	for _, e := range list.Elts {
		if pair, ok := e.(*ast.KeyValueExpr); ok {
			e = pair.Key
		}
		if s, ok := stringLiteral(e); ok && tools[s] {
			n++
		}
	}
	return n
}

// toolNames returns the names and aliases that the tools declare, and the names of tools in
// other programs' files.
func toolNames(files map[string]*ast.File) map[string]bool {
	names := map[string]bool{"MultiEdit": true, "WebFetch": true, "WebSearch": true, "TodoWrite": true, "AskUserQuestion": true}
	add := func(e ast.Expr) {
		if s, ok := stringLiteral(e); ok {
			names[s] = true
		}
	}
	aliases := func(e ast.Expr) {
		if list, ok := e.(*ast.CompositeLit); ok {
			for _, alias := range list.Elts {
				add(alias)
			}
		}
	}
	for name, file := range files {
		if !strings.HasPrefix(name, "internal/tools/") {
			continue
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ValueSpec: // const Name = "Read"
				if len(n.Values) == 1 && n.Names[0].Name == "Name" {
					add(n.Values[0])
				}
			case *ast.CompositeLit:
				typ, ok := n.Type.(*ast.SelectorExpr)
				if !ok || typ.Sel.Name != "Def" && typ.Sel.Name != "Traits" {
					break
				}
				for _, elt := range n.Elts {
					field, ok := elt.(*ast.KeyValueExpr)
					if !ok {
						continue
					}
					switch key, _ := field.Key.(*ast.Ident); {
					case key == nil:
					case typ.Sel.Name == "Def" && key.Name == "Name":
						add(field.Value)
					case key.Name == "Aliases":
						aliases(field.Value)
					}
				}
			case *ast.AssignStmt: // def.Aliases = []string{"Shell"}
				if to, ok := n.Lhs[0].(*ast.SelectorExpr); ok && to.Sel.Name == "Aliases" {
					aliases(n.Rhs[0])
				}
			}
			return true
		})
	}
	return names
}

// TestArchToolNames checks that toolNames finds the tools' names.
func TestArchToolNames(t *testing.T) {
	names := toolNames(parseTree(t, parser.SkipObjectResolution))
	for _, name := range []string{"Bash", "Shell", "Read", "Edit", "Write", "NotebookEdit", "Glob", "Grep", "Snip", "TaskStop", "StructuredOutput", "ExitPlanMode"} {
		if !names[name] {
			t.Errorf("%s was not found", name)
		}
	}
}

func stringLiteral(e ast.Expr) (string, bool) {
	lit, ok := e.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return "", false
	}
	s, err := strconv.Unquote(lit.Value)
	return s, err == nil
}

func TestArchCheckImports(t *testing.T) {
	tests := []struct {
		name string
		file string
		to   string
		want string // part of the problem; empty means allowed
	}{
		{"downward", "internal/agent/agent.go", "adze/internal/tool", ""},
		{"outside the module", "internal/msg/msg.go", "encoding/json", ""},
		{"outside, similar name", "internal/msg/msg.go", "adzes/internal/app", ""},
		{"parent over its part", "internal/agent/agent.go", "adze/internal/agent/exec", ""},
		{"command", "cmd/adze/main.go", "adze/internal/app", ""},
		{"wire and an implementation", "internal/app/wire/tools.go", "adze/internal/tools/read", ""},
		{"feature and agents", "internal/feature/teams/teams.go", "adze/internal/feature/agents", ""},
		{"feature and its contract", "internal/feature/teams/teams.go", "adze/internal/feature", ""},
		{"feature and its part", "internal/feature/memory/memory.go", "adze/internal/feature/memory/recall", ""},
		{"front end part", "internal/ui/tui/tui.go", "adze/internal/ui/tui/composer", ""},

		{"upward", "internal/agent/agent.go", "adze/internal/session", "session is above agent"},
		{"upward to a command", "internal/app/main.go", "adze/cmd/adze", "cmd is above app"},
		{"upward within platform", "internal/platform/fs/paths/paths.go", "adze/internal/platform/git/gitinfo", "platform/git is above platform/fs"},
		{"tool and tool", "internal/tools/edit/edit.go", "adze/internal/tools/read", "tools/read and tools/edit may not import each other"},
		{"feature and feature", "internal/feature/skills/skills.go", "adze/internal/feature/plugins/market", "feature/plugins and feature/skills may not import each other"},
		{"implementation", "internal/agent/agent.go", "adze/internal/model/retry", "only app/toolbox, app/wire and app/models import implementations"},
		{"implementation by a command", "cmd/adze/main.go", "adze/internal/ui/tui", "only app/cli and app/wire know front ends"},
		{"tool and model", "internal/tool/tool.go", "adze/internal/model", "do not know each other"},
		{"tool part and model part", "internal/tool/schema/s.go", "adze/internal/model/cost", "do not know each other"},
		{"model and tool", "internal/model/model.go", "adze/internal/tool", "tool is above model"},
		{"contract suite", "internal/agent/agent.go", "adze/internal/tool/tooltest", "only tests import"},
		{"unknown package", "internal/stuff/stuff.go", "adze/internal/msg", "stuff is in no room; add its directory"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			problems := checkImports(map[string][]string{tt.file: {tt.to}})
			if tt.want == "" {
				if len(problems) != 0 {
					t.Errorf("unexpected: %q", problems)
				}
				return
			}
			if len(problems) != 1 || !strings.Contains(problems[0], tt.want) || !strings.HasPrefix(problems[0], tt.file) {
				t.Errorf("got %q, want one problem of %s with %q", problems, tt.file, tt.want)
			}
		})
	}
}

func TestArchCheckSources(t *testing.T) {
	tests := []struct {
		name string
		file string
		src  string
		want []string
	}{
		{
			name: "clean",
			file: "internal/ui/draw/draw.go",
			src:  "// Package draw draws.\npackage draw\nvar s = \"Reading\"\nfunc (t T) init() {}\n",
		},
		{
			name: "no comment",
			file: "internal/msg/msg.go",
			src:  "package msg\n",
			want: []string{"internal/msg: no package comment"},
		},
		{
			name: "comment of another form",
			file: "internal/msg/msg.go",
			src:  "// Messages and such.\npackage msg\n",
			want: []string{`internal/msg/msg.go: the package comment should start with "// Package msg "`},
		},
		{
			name: "command",
			file: "cmd/adze/main.go",
			src:  "// Command adze is an agent.\npackage main\n",
		},
		{
			name: "init",
			file: "internal/msg/msg.go",
			src:  "// Package msg is.\npackage msg\nfunc init() {}\n",
			want: []string{"internal/msg/msg.go: has an init function; build the value where it is needed"},
		},
		{
			name: "facet",
			file: "internal/ui/tui/tui.go",
			src:  "// Package tui is.\npackage tui\ntype sender struct{ *Front }\n",
			want: []string{"internal/ui/tui/tui.go: sender only gives Front other methods; make them methods of Front, or move the state they use into a type"},
		},
		{
			name: "wrappers",
			file: "internal/ui/tui/tui.go",
			src:  "// Package tui is.\npackage tui\ntype (\n\ta struct{ *front }\n\tb struct{ *draw.Page }\n\tc struct {\n\t\t*Front\n\t\tn int\n\t}\n)\n",
		},
		{
			name: "tool in a front end",
			file: "internal/ui/tui/tui.go",
			src:  "// Package tui is.\npackage tui\nfunc f(s string) { switch s { case \"WebFetch\": } }\n",
			want: []string{`internal/ui/tui/tui.go: knows the tool "WebFetch"; use a trait or a capability, or have its name configured`},
		},
		{
			name: "tool elsewhere",
			file: "internal/permission/compat/compat.go",
			src:  "// Package compat is.\npackage compat\nconst name = \"WebFetch\"\n",
		},
		{
			name: "list of tools",
			file: "internal/domain/agentdef/tools.go",
			src:  "// Package agentdef is.\npackage agentdef\nvar async = []string{\"WebFetch\", \"WebSearch\", \"TodoWrite\"}\n",
			want: []string{`internal/domain/agentdef/tools.go: lists 3 tools by name; use a trait`},
		},
		{
			name: "provider in a condition and a case",
			file: "internal/agent/agent.go",
			src:  "// Package agent is.\npackage agent\nfunc f(s string) bool { switch s { case \"a\", `vertex`: }; return s != \"openai\" }\n",
			want: []string{
				`internal/agent/agent.go: decides by the provider name "vertex"; only internal/app/models may`,
				`internal/agent/agent.go: decides by the provider name "openai"; only internal/app/models may`,
			},
		},
		{
			name: "provider as a value",
			file: "internal/model/catalog/catalog.go",
			src:  "// Package catalog is.\npackage catalog\nvar all = []string{\"openai\"}\n",
		},
		{
			name: "provider in its place",
			file: "internal/app/models/providers.go",
			src:  "// Package app is.\npackage app\nfunc f(s string) bool { return s == \"openai\" }\n",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			file, err := parser.ParseFile(token.NewFileSet(), tt.file, tt.src, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			files := map[string]*ast.File{tt.file: file}
			got := slices.Concat(checkComments(files), checkCode(files))
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
