package imports

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"adze/internal/platform/fs/fsys"
	"adze/internal/platform/fs/paths"
	"adze/internal/platform/proc/osproc"
	"adze/internal/settings"
)

// keys returns the names of all settings.
func (s *search) keys() []string {
	var names []string
	for _, k := range settings.Keys() {
		names = append(names, k.Name)
	}
	return names
}

// others scans tools whose files adze does not read in place, and instructions, some of which
// it does.
func (s *search) others() {
	if home := s.Project.User; home != "" {
		s.codex(user, filepath.Join(home, ".codex"))
		s.gemini(user, filepath.Join(home, ".gemini"))
		s.config("OpenCode", user, filepath.Join(home, ".config/opencode/opencode.json"), "mcp")
		s.config("Crush", user, filepath.Join(home, ".config/crush/crush.json"), "mcp")
		s.config("Cursor", user, filepath.Join(home, ".cursor/mcp.json"), "mcpServers")
	}
	for _, dir := range s.places() {
		in := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
		s.codex(project, in(".codex"))
		s.gemini(project, in(".gemini"))
		s.instruction("several tools", project, in("AGENTS.md"), "it is not among the instructions that are read")
		include := func(path string) string { return "a line @" + path + " in AGENTS.md includes it" }
		for _, f := range []struct{ tool, path string }{
			{"Gemini CLI", "GEMINI.md"}, {"Crush", "CRUSH.md"}, {"Cursor", ".cursorrules"}, {"Windsurf", ".windsurfrules"},
			{"Cline", ".clinerules"}, {"GitHub Copilot", ".github/copilot-instructions.md"},
		} {
			s.instruction(f.tool, project, in(f.path), include(f.path))
		}
		for _, path := range list(in(".cursor/rules"), ".mdc", 3) {
			rel, _ := filepath.Rel(dir, path) // ok: it is below
			s.instruction("Cursor", project, path, include(filepath.ToSlash(rel)))
		}
		s.config("OpenCode", project, in("opencode.json"), "mcp")
		s.config("Crush", project, in("crush.json"), "mcp")
		s.config("Cursor", project, in(".cursor/mcp.json"), "mcpServers")
		s.config("VS Code", project, in(".vscode/mcp.json"), "servers")
		s.prompts("OpenCode", project, in(".opencode/command"), ".md")
	}
}

// own returns the user's place for files of a kind.
func (s *search) own(name string) string {
	return filepath.ToSlash(paths.Short(s.Project.User, filepath.Join(s.Project.Config, name)))
}

func (s *search) codex(level, dir string) {
	if !fsys.IsDir(dir) {
		return
	}
	if level == user {
		s.instruction("Codex CLI", level, filepath.Join(dir, "AGENTS.md"), "to use it, copy it to "+s.own("ADZE.md"))
		s.prompts("Codex CLI", level, filepath.Join(dir, "prompts"), ".md")
	}
	if path := filepath.Join(dir, "config.toml"); exists(path) {
		s.foreign("Codex CLI", level, path, tomlServers(string(read(path)), "mcp_servers"))
	}
}

func (s *search) gemini(level, dir string) {
	if !fsys.IsDir(dir) {
		return
	}
	if level == user {
		s.instruction("Gemini CLI", level, filepath.Join(dir, "GEMINI.md"), "to use it, copy it to "+s.own("ADZE.md"))
	}
	s.config("Gemini CLI", level, filepath.Join(dir, "settings.json"), "mcpServers")
	s.prompts("Gemini CLI", level, filepath.Join(dir, "commands"), ".toml")
}

// prompts finds prompts that users call by name.
func (s *search) prompts(tool, level, dir, suffix string) {
	files := list(dir, suffix, 3)
	if len(files) == 0 {
		return
	}
	f := Finding{Tool: tool, Level: level, What: "commands", Path: dir, Count: len(files), Note: "copy them to " + s.own("commands")}
	if level == project {
		f.Note = "copy them to .adze/commands"
	}
	if suffix == ".toml" {
		f.Note = "their format is another: put the prompt of each into a file NAME.md in " + strings.TrimPrefix(f.Note, "copy them to ")
	}
	s.add(f)
}

// config finds the MCP servers under a key of a JSON file.
func (s *search) config(tool, level, path, name string) {
	if !exists(path) {
		return
	}
	var file map[string]json.RawMessage
	var entries map[string]json.RawMessage
	if plain, err := standard(read(path)); err != nil || json.Unmarshal(plain, &file) != nil {
		s.add(Finding{Tool: tool, Level: level, What: "settings", Path: path, Note: "it is not valid JSON"})
		return
	}
	json.Unmarshal(file[name], &entries) // ok: counts as empty
	var all []server
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		all = append(all, decodeServer(name, entries[name]))
	}
	s.foreign(tool, level, path, all)
}

// foreign adds another tool's settings file, and its servers with the commands that add them.
func (s *search) foreign(tool, level, path string, all []server) {
	if filepath.Base(path) != "mcp.json" { // mcp.json holds nothing else
		s.add(Finding{Tool: tool, Level: level, What: "settings", Path: path, Note: "adze cannot read this format; adze config list shows its own settings"})
	}
	if len(all) == 0 {
		return
	}
	f := Finding{Tool: tool, Level: level, What: "MCP servers", Path: path, Count: len(all), Note: "add them with the commands below"}
	for _, sv := range all {
		if sv.known(s) {
			f.Note, f.Used = "adze has servers of these names", true
			continue
		}
		f.Commands = append(f.Commands, sv.command())
	}
	if len(f.Commands) > 0 {
		f.Used = false
		f.Note = "add them with the commands below"
	}
	s.add(f)
}

// A server is another tool's MCP server.
type server struct {
	name    string
	words   []string // program and arguments
	url     string
	env     []string // names of variables; their values are not shown
	headers []string // header names
}

// decodeServer decodes an entry in any of the tools' formats.
func decodeServer(name string, data json.RawMessage) server {
	var e struct {
		Command     json.RawMessage   `json:"command"`
		Args        []string          `json:"args"`
		URL         string            `json:"url"`
		HTTPURL     string            `json:"httpUrl"`
		Env         map[string]any    `json:"env"`
		Environment map[string]any    `json:"environment"`
		Headers     map[string]string `json:"headers"`
	}
	json.Unmarshal(data, &e) // ok: partial results are fine
	sv := server{name: name, url: e.URL + e.HTTPURL, headers: slices.Sorted(maps.Keys(e.Headers))}
	var word string
	if json.Unmarshal(e.Command, &word) == nil && word != "" {
		sv.words = []string{word}
	} else {
		json.Unmarshal(e.Command, &sv.words) // ok: likewise
	}
	sv.words = append(sv.words, e.Args...)
	sv.env = append(slices.Sorted(maps.Keys(e.Env)), slices.Sorted(maps.Keys(e.Environment))...)
	return sv
}

// known reports whether adze has a server of that name.
func (sv server) known(s *search) bool { return s.Servers.Find(sv.name) != nil }

// command returns the command line that adds the server. Values of variables and headers, and
// words that look like secrets, are placeholders for the user to fill in.
func (sv server) command() string {
	words := []string{"adze", "mcp", "add", "--scope", "user"}
	for _, name := range sv.env {
		words = append(words, "--env", name+"=...")
	}
	for _, name := range sv.headers {
		words = append(words, "--header", name+": ...")
	}
	if sv.url != "" {
		return quote(append(words, "--transport", "http", sv.name, hidden(sv.url)))
	}
	words = append(words, sv.name, "--")
	secret := false
	for _, w := range sv.words {
		if secret {
			w = "..."
		}
		secret = strings.HasPrefix(w, "-") && !strings.Contains(w, "=") && osproc.SecretName(strings.TrimLeft(w, "-"))
		words = append(words, hidden(w))
	}
	return quote(words)
}

// hidden masks a possible secret in a word: after a telling name, or in a URL.
func hidden(word string) string {
	if head, rest, ok := strings.Cut(word, "://"); ok {
		if _, host, ok := strings.Cut(rest, "@"); ok {
			rest = "...@" + host
		}
		if path, _, ok := strings.Cut(rest, "?"); ok {
			rest = path + "?..."
		}
		word = head + "://" + rest
	}
	if name, _, ok := strings.Cut(word, "="); ok && !strings.Contains(name, "://") && osproc.SecretName(strings.TrimLeft(name, "-")) {
		return name + "=..."
	}
	return word
}

// quote quotes words for a shell.
func quote(words []string) string {
	for i, w := range words {
		if w == "" || strings.ContainsFunc(w, func(r rune) bool {
			return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("@%+=:,./-_", r))
		}) {
			words[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(words, " ")
}
