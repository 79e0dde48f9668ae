package lsp

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
)

// A Server is a language server that can be started.
type Server struct {
	Name string
	// Command is a program in PATH, or a path. Env is added to the environment.
	Command string
	Args    []string
	Env     map[string]string
	// Languages maps file extensions, such as ".go", and file names to language identifiers.
	Languages map[string]string
	// Markers are names of files at the root of a project.
	Markers []string
	// Options is sent with the initialization, and Settings when the server requests it.
	Options, Settings json.RawMessage
	// Origin names the source of the definition; empty for built-in servers.
	Origin string
	// Check returns the reason not to start the server now; may be nil.
	Check func() error
	// fits reports whether the program that was found is the right one; nil means that it is.
	fits func(program string) bool
}

// language returns the language of a file, or "".
func (s *Server) language(path string) string {
	base := filepath.Base(path)
	if l := s.Languages[base]; l != "" {
		return l
	}
	return s.Languages[strings.ToLower(filepath.Ext(base))]
}

// BuiltIn returns the servers that are used without configuration if their programs are installed.
// Of several servers for a language, the first that is installed is used.
func BuiltIn() []Server {
	script := map[string]string{
		".ts": "typescript", ".mts": "typescript", ".cts": "typescript", ".tsx": "typescriptreact",
		".js": "javascript", ".mjs": "javascript", ".cjs": "javascript", ".jsx": "javascriptreact",
	}
	scriptMarkers := []string{"tsconfig.json", "jsconfig.json", "package.json"}
	python := map[string]string{".py": "python", ".pyi": "python"}
	pythonMarkers := []string{"pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "pyrightconfig.json"}
	web := json.RawMessage(`{"provideFormatter":false,"handledSchemaProtocols":["file"]}`)
	return []Server{
		{Name: "gopls", Command: "gopls", Languages: map[string]string{".go": "go", "go.mod": "go.mod", "go.work": "go.work"}, Markers: []string{"go.work", "go.mod"}},
		{Name: "typescript", Command: "tsc", Args: []string{"--lsp", "--stdio"}, Languages: script, Markers: scriptMarkers, fits: nativeTypeScript},
		{
			Name: "typescript-language-server", Command: "typescript-language-server", Args: []string{"--stdio"}, Languages: script, Markers: scriptMarkers,
			Options: json.RawMessage(`{"disableAutomaticTypingAcquisition":true}`),
		},
		{Name: "basedpyright", Command: "basedpyright-langserver", Args: []string{"--stdio"}, Languages: python, Markers: pythonMarkers},
		{Name: "pyright", Command: "pyright-langserver", Args: []string{"--stdio"}, Languages: python, Markers: pythonMarkers},
		{Name: "rust-analyzer", Command: "rust-analyzer", Languages: map[string]string{".rs": "rust"}, Markers: []string{"Cargo.toml"}},
		{
			Name: "clangd", Command: "clangd", Args: []string{"--background-index=false"}, // the index would be written into the project
			Languages: map[string]string{".c": "c", ".h": "c", ".cc": "cpp", ".cpp": "cpp", ".cxx": "cpp", ".hh": "cpp", ".hpp": "cpp", ".hxx": "cpp", ".m": "objective-c", ".mm": "objective-cpp"},
			Markers:   []string{"compile_commands.json", "compile_flags.txt", ".clangd", "CMakeLists.txt", "meson.build", "configure.ac"},
		},
		{
			Name: "bash-language-server", Command: "bash-language-server", Args: []string{"start"},
			Languages: map[string]string{".sh": "shellscript", ".bash": "shellscript"},
		},
		{
			Name: "yaml-language-server", Command: "yaml-language-server", Args: []string{"--stdio"},
			Languages: map[string]string{".yaml": "yaml", ".yml": "yaml"},
			Settings:  json.RawMessage(`{"yaml":{"validate":true,"schemaStore":{"enable":false}},"redhat":{"telemetry":{"enabled":false}}}`), // no downloads
		},
		{
			Name: "vscode-json-language-server", Command: "vscode-json-language-server", Args: []string{"--stdio"},
			Languages: map[string]string{".json": "json", ".jsonc": "jsonc"}, Options: web, Settings: json.RawMessage(`{"json":{"validate":{"enable":true},"schemaDownload":{"enable":false}}}`),
		},
		{Name: "vscode-html-language-server", Command: "vscode-html-language-server", Args: []string{"--stdio"}, Languages: map[string]string{".html": "html", ".htm": "html"}, Options: web},
		{
			Name: "vscode-css-language-server", Command: "vscode-css-language-server", Args: []string{"--stdio"},
			Languages: map[string]string{".css": "css", ".scss": "scss", ".less": "less"}, Options: web,
			Settings: json.RawMessage(`{"css":{"validate":true},"scss":{"validate":true},"less":{"validate":true}}`),
		},
		{Name: "lua-language-server", Command: "lua-language-server", Languages: map[string]string{".lua": "lua"}, Markers: []string{".luarc.json", ".luarc.jsonc"}},
	}
}

// nativeTypeScript reports whether a tsc program is of TypeScript 7 or later, which has a language
// server.
func nativeTypeScript(program string) bool {
	real, err := filepath.EvalSymlinks(program)
	if err != nil {
		return false
	}
	data, err := os.ReadFile(filepath.Join(filepath.Dir(filepath.Dir(real)), "package.json"))
	if err != nil {
		return false
	}
	var pkg struct{ Name, Version string }
	if json.Unmarshal(data, &pkg) != nil || pkg.Name != "typescript" {
		return false
	}
	major, _, _ := strings.Cut(pkg.Version, ".")
	return len(major) > 1 || major >= "7"
}
