package settings

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"adze/internal/platform/config"
	"adze/internal/platform/scope"
	"adze/internal/platform/term"
	"adze/internal/platform/trust"
)

// An Offer is what a workspace would enable if it were trusted.
type Offer struct {
	Broken  error     // why not everything is known; may be nil
	Outside []Include // files outside the workspace that the model would read

	root   string
	runs   []trust.Item // in order of the files
	grants []string     // rules, directories and variables, a line each
	texts  []string     // files that the model would read
}

// An Include is a file outside the project that a file of the project includes.
type Include struct{ Path, By string }

// items returns what is approved with the workspace.
func (o Offer) items() []trust.Item {
	items := slices.Clone(o.runs)
	for _, in := range o.Outside {
		items = append(items, trust.Include(in.Path))
	}
	return items
}

// Offer returns what the workspace would enable, without enabling it.
func (t *Trust) Offer() Offer {
	layout := config.Layout{Roots: t.roots(), Dir: t.Dir, Sources: []scope.Scope{scope.Project, scope.Local}, Grant: config.Workspace}
	s, _ := config.Load(config.Sources{Files: layout.Files(), Root: t.Root}, Keys()) // ok: told when they are used
	o := Offer{root: t.Root}
	for _, e := range s.Invalid() {
		o.Broken = e
	}
	for _, part := range s.Parts("hooks") {
		o.runs = append(o.runs, hookItems(part.JSON)...)
	}
	for _, part := range s.Parts("mcpServers") {
		o.runs = append(o.runs, serverItems(part.JSON)...)
	}
	for _, root := range t.roots() {
		o.runs = append(o.runs, serverFile(filepath.Join(root, ".mcp.json"))...)
	}
	for _, key := range []string{"statusLine", "subagentStatusLine", "fileSuggestion", "awsAuthRefresh", "awsCredentialExport", "otelHeadersHelper"} {
		for _, part := range s.Parts(key) {
			o.runs = append(o.runs, trust.Helper(key, part.JSON))
		}
	}
	for _, r := range s.Rules() {
		o.grants = append(o.grants, fmt.Sprintf("%-9s %s", r.Behavior, r.Text))
	}
	for _, d := range s.Directories() {
		o.grants = append(o.grants, "directory "+d.Path)
	}
	for _, v := range s.Env() {
		o.grants = append(o.grants, fmt.Sprintf("variable  %s=%s", v.Name, v.Value))
	}
	o.texts = t.texts()
	return o
}

// texts returns the files of the workspace that the model would get unasked, or that define commands, skills
// and agents.
func (t *Trust) texts() []string {
	var names []string
	for _, root := range t.roots() {
		for _, pattern := range []string{
			"AGENTS.md", "CLAUDE.md", "CLAUDE.local.md", "GEMINI.md", ".claude/CLAUDE.md", ".adze/*.md", ".claude/rules/*", ".adze/rules/*",
			".adze/skills/*", ".claude/skills/*", ".adze/commands/*", ".claude/commands/*", ".adze/agents/*", ".claude/agents/*",
			".adze/output-styles/*", ".claude/output-styles/*",
		} {
			found, err := filepath.Glob(filepath.Join(escapeGlob(root), pattern))
			if err != nil {
				continue
			}
			for _, path := range found {
				if rel, err := filepath.Rel(t.Root, path); err == nil && !slices.Contains(names, rel) {
					names = append(names, rel)
				}
			}
		}
	}
	return names
}

// escapeGlob returns a pattern that matches only path.
func escapeGlob(path string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}

// String describes the offer to the user, with every item in full.
func (o Offer) String() string {
	var b strings.Builder
	line := func(kind, text string) { fmt.Fprintf(&b, "  %-9s %s\n", kind, term.Sanitize(text)) }
	if len(o.runs)+len(o.grants)+len(o.texts)+len(o.Outside) == 0 {
		return fmt.Sprintf("%s contains nothing that needs trust.\n", term.Sanitize(o.root))
	}
	fmt.Fprintf(&b, "%s would enable:\n", term.Sanitize(o.root))
	for _, it := range o.runs {
		line(it.Kind, it.Name+": "+it.Text)
	}
	for _, text := range o.grants {
		fmt.Fprintf(&b, "  %s\n", term.Sanitize(text))
	}
	for _, name := range o.texts {
		line("text", name)
	}
	for _, in := range o.Outside {
		line("include", in.Path+", outside the workspace, included by "+in.By)
	}
	return b.String()
}

// hookItems returns the hooks of a settings file. Hooks that cannot be decoded are left out, and do not run.
func hookItems(raw json.RawMessage) (items []trust.Item) {
	var events map[string]json.RawMessage
	json.Unmarshal(raw, &events) // ok: see above
	for _, event := range slices.Sorted(maps.Keys(events)) {
		var groups []json.RawMessage
		json.Unmarshal(events[event], &groups) // ok: see above
		for _, text := range groups {
			var group struct {
				Matcher string            `json:"matcher"`
				Hooks   []json.RawMessage `json:"hooks"`
			}
			if json.Unmarshal(text, &group) != nil {
				continue
			}
			for _, handler := range group.Hooks {
				items = append(items, trust.Hook(event, group.Matcher, handler))
			}
		}
	}
	return items
}

func serverItems(raw json.RawMessage) (items []trust.Item) {
	var servers map[string]json.RawMessage
	if json.Unmarshal(raw, &servers) != nil {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(servers)) {
		items = append(items, trust.Server(name, servers[name]))
	}
	return items
}

// serverFile returns the servers in a separate file of servers.
func serverFile(path string) []trust.Item {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > 1<<20 {
		return nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	var file struct {
		Servers json.RawMessage `json:"mcpServers"`
	}
	if json.Unmarshal(data, &file) != nil {
		return nil
	}
	return serverItems(file.Servers)
}
