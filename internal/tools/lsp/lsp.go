// Package lsp implements the tool that queries language servers.
package lsp

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"adze/internal/agent/exec"
	"adze/internal/lsp"
	"adze/internal/platform/fs/paths"
	"adze/internal/tool"
	"adze/internal/tool/change"
)

// Name is the tool's name.
const Name = "LSP"

// Config configures the tool. All fields but Fits are required.
type Config struct {
	Servers *lsp.Servers
	Files   *change.Files
	// Edit is the tool as whose calls edits are judged.
	Edit tool.Tool
	// Roots returns the working directories. Their files are shown, except
	// hidden ones.
	Roots  func() []string
	Hidden func(path string) bool
	// Gates judge the edits of a rename or a code action, and Afters see their results.
	Gates func() ([]exec.Gate, []exec.After)
	// Fits reports whether a server fits the project. The tool is absent if it returns false.
	Fits func() bool
}

//go:embed lsp.md
var doc string

//go:embed lsp.schema.json
var inputSchema string

// Input is the tool's input.
type Input struct {
	Operation string `json:"operation"`
	FilePath  string `json:"file_path"`
	Line      int    `json:"line,omitempty"`
	Symbol    string `json:"symbol,omitempty"`
	Query     string `json:"query,omitempty"`
	NewName   string `json:"new_name,omitempty"`
	Action    string `json:"action,omitempty"`
}

// edits reports whether the call changes files.
func (in Input) edits() bool {
	return in.Operation == "rename" || in.Operation == "code_actions" && in.Action != ""
}

// positioned reports whether the operation is about a symbol on a line.
func (in Input) positioned() bool {
	switch in.Operation {
	case "definition", "references", "implementation", "hover", "incoming_calls", "outgoing_calls", "rename":
		return true
	}
	return false
}

// Validate checks that the operation has its parameters.
func (in Input) Validate() error {
	switch {
	case in.positioned() && (in.Line < 1 || in.Symbol == ""):
		return fmt.Errorf("%s needs line, from 1, and symbol, the name on that line", in.Operation)
	case in.Operation == "code_actions" && in.Line < 1:
		return errors.New("code_actions needs line, from 1")
	case in.Operation == "rename" && (in.NewName == "" || strings.ContainsFunc(in.NewName, unicode.IsControl)):
		return errors.New("rename needs new_name")
	}
	return nil
}

// New returns the tool.
func New(c Config) tool.Tool {
	return tool.NewBound(tool.Def{
		Name:   Name,
		Doc:    strings.TrimSpace(doc),
		Schema: json.RawMessage(strings.TrimSpace(inputSchema)),
		Strict: true,
		Traits: tool.Traits{
			Core: true, Background: true, Clearable: true,
			Params:   tool.Params{Paths: []string{"file_path"}, Texts: []string{"operation", "symbol", "query", "new_name", "action"}},
			Hint:     "definitions, references, types, symbols, renames by language server",
			MaxChars: 40_000,
			Enabled: func() error {
				if c.Fits != nil && !c.Fits() {
					return errors.New("no installed language server fits the project")
				}
				return c.Files.Enabled()
			},
		},
		Foreign: foreign,
	}, c.bind)
}

// foreign converts the names of other programs for the operations and parameters.
func foreign(fields map[string]json.RawMessage) (map[string]json.RawMessage, error) {
	var name string
	if json.Unmarshal(fields["operation"], &name) != nil {
		return nil, nil
	}
	ours := map[string]string{
		"goToDefinition": "definition", "findReferences": "references", "goToImplementation": "implementation", "documentSymbol": "document_symbols",
		"workspaceSymbol": "workspace_symbols", "incomingCalls": "incoming_calls", "outgoingCalls": "outgoing_calls", "codeAction": "code_actions",
	}
	if ours[name] != "" {
		fields["operation"], _ = json.Marshal(ours[name]) // ok: it is a string
	}
	if path, ok := fields["filePath"]; ok {
		fields["file_path"] = path
		delete(fields, "filePath")
	}
	if _, ok := fields["character"]; ok {
		return nil, errors.New("invalid input for LSP: give symbol, the name on the line, in place of character")
	}
	return fields, nil
}

// bind validates the path without accessing the disk.
func (c Config) bind(in Input) (tool.Call, error) {
	base := paths.Base{Dir: c.Files.Dir(), Home: paths.UserHome()}
	if c.Files.Home != nil {
		base.Home = c.Files.Home()
	}
	path, err := base.Expand(in.FilePath)
	if err != nil {
		return nil, err
	}
	return &call{Config: c, in: in, path: path, dir: base.Dir, set: sync.OnceValues(func() (paths.ResolvedPath, error) { return base.Resolve(in.FilePath) })}, nil
}

// A call is a request about a file.
type call struct {
	Config
	in   Input
	path string
	dir  string
	set  func() (paths.ResolvedPath, error)
}

func (c *call) Input() any       { return c.in }
func (c *call) ReadOnly() bool   { return !c.in.edits() && !paths.IsUNC(c.in.FilePath) }
func (c *call) Concurrent() bool { return !c.in.edits() }
func (c *call) OpenWorld() bool  { return paths.IsUNC(c.in.FilePath) }
func (c *call) Path() string     { return c.path }
func (c *call) Activity() string { return "Asking the language server" }

// Access returns the file that the request is about. The edits of a rename are judged one by one.
func (c *call) Access() []tool.Access {
	return []tool.Access{{Verb: tool.Read, Target: c.in.FilePath}}
}

// Paths returns the file with every path it resolves through.
func (c *call) Paths(string) (paths.ResolvedPath, error) { return c.set() }

func (c *call) Title() string {
	subject := c.in.Symbol
	switch c.in.Operation {
	case "workspace_symbols":
		subject = c.in.Query
	case "rename":
		subject += " to " + c.in.NewName
	case "code_actions":
		subject = c.in.Action
	}
	return strings.Join(strings.Fields("LSP "+c.in.Operation+" "+subject+" in "+c.shown(c.path)), " ")
}

// requestTime limits a request. Servers that are starting may need most of it.
const requestTime = 60 * time.Second

// Run performs the request.
func (c *call) Run(ctx context.Context, _ func(tool.Progress)) (tool.Result, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, requestTime, errors.New("the language server did not answer in time"))
	defer cancel()
	set, err := c.set()
	if err != nil {
		return tool.Result{}, err
	}
	if set.Info == nil {
		return tool.Result{}, fmt.Errorf("%s does not exist. The working directory is %s.", c.path, c.dir)
	}
	c.Servers.Refresh()
	d, err := c.Servers.Use(ctx, c.path, c.Roots())
	if err != nil {
		return tool.Result{}, err
	}
	var at lsp.Position
	if c.in.positioned() {
		if at, err = c.position(d); err != nil {
			return tool.Result{}, err
		}
	}
	switch c.in.Operation {
	case "definition":
		return c.locations(d.Definition(ctx, at))
	case "references":
		return c.locations(d.References(ctx, at))
	case "implementation":
		return c.locations(d.Implementation(ctx, at))
	case "hover":
		return c.hover(d.Hover(ctx, at))
	case "document_symbols":
		return c.symbols(d.Symbols(ctx))
	case "workspace_symbols":
		return c.symbols(d.WorkspaceSymbols(ctx, c.in.Query))
	case "incoming_calls", "outgoing_calls":
		return c.calls(d.Calls(ctx, at, c.in.Operation == "outgoing_calls"))
	case "diagnostics":
		return c.diagnostics(ctx)
	case "rename":
		edit, err := d.Rename(ctx, at, c.in.NewName)
		if err != nil {
			return tool.Result{}, err
		}
		return c.apply(ctx, edit, c.in.Symbol)
	}
	return c.actions(ctx, d)
}

// position returns the position of the symbol on its line.
func (c *call) position(d *lsp.Document) (lsp.Position, error) {
	text := lsp.Line(d.Text, c.in.Line-1)
	i := wordIndex(text, c.in.Symbol)
	if i < 0 {
		if text = strings.TrimSpace(text); text == "" {
			return lsp.Position{}, fmt.Errorf("line %d of %s is empty.", c.in.Line, c.shown(c.path))
		}
		return lsp.Position{}, fmt.Errorf("%q is not in line %d of %s, which reads: %s", c.in.Symbol, c.in.Line, c.shown(c.path), tool.OneLine(text, 200))
	}
	p := lsp.PositionAt(text, i)
	p.Line = c.in.Line - 1
	return p, nil
}

// wordIndex returns the offset of a name in a line, as a whole word if possible. Of a qualified name
// such as "a.b" it is the offset of the last part.
func wordIndex(text, name string) int {
	found := -1
	for from := 0; from <= len(text); {
		i := strings.Index(text[from:], name)
		if i < 0 {
			break
		}
		i += from
		before, _ := utf8.DecodeLastRuneInString(text[:i])
		after, _ := utf8.DecodeRuneInString(text[i+len(name):])
		if !inWord(before) && !inWord(after) {
			found = i
			break
		}
		if found < 0 {
			found = i
		}
		from = i + len(name)
	}
	if found >= 0 {
		if dot := strings.LastIndexAny(name, ".:>"); dot >= 0 && dot < len(name)-1 {
			found += dot + 1
		}
	}
	return found
}

func inWord(r rune) bool {
	return r == '_' || r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r))
}

func (c *call) shown(path string) string { return paths.Relative(c.dir, filepath.Clean(path)) }
