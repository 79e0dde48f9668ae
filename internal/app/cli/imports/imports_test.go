//go:build unix

package imports

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"adze/internal/domain/agentdef"
	"adze/internal/domain/instruct"
	"adze/internal/domain/skill"
	"adze/internal/domain/skill/library"
	"adze/internal/domain/style"
	"adze/internal/mcp/roster"
	"adze/internal/platform/text/texts"
	"adze/internal/settings"
)

// A world is a home directory with a project in it.
type world struct {
	t         *testing.T
	home, dir string
}

func newWorld(t *testing.T) *world {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t, filepath.Join(root, "home"), filepath.Join(root, "home/work")}
	for _, dir := range []string{w.home, w.dir} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

func (w *world) write(path, text string) string {
	w.t.Helper()
	path = filepath.Join(w.home, path)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
	return path
}

// config returns the configuration the program would load, with the workspace trusted or not.
func (w *world) config(trusted bool) Config {
	env := map[string]string{"HOME": w.home, "ADZE_HOME": filepath.Join(w.home, ".adze")}
	p, _ := settings.Open(settings.Source{Dir: w.dir, Getenv: func(name string) string { return env[name] }, Trust: trusted})
	return Config{Project: p, Dir: w.dir, Skills: &library.Set{}, Styles: style.Load(nil, texts.English), Agents: &agentdef.Set{}, Servers: &roster.Roster{}}
}

// lines formats findings, omitting common parts.
func (w *world) lines(found []Finding) (lines []string) {
	for _, f := range found {
		used := "-"
		if f.Used {
			used = "+"
		}
		rel, _ := filepath.Rel(w.home, f.Path)
		what := f.What
		if f.Used && (what == "skills" || what == "agents") {
			what = fmt.Sprint(f.Count, " ", what)
		}
		line := strings.TrimSpace(strings.Join([]string{used, f.Tool + ":", what, rel, f.Note}, " "))
		lines = append(lines, strings.Join(append([]string{line}, f.Commands...), "\n  "))
	}
	return lines
}

func TestOtherTools(t *testing.T) {
	w := newWorld(t)
	w.write(".codex/config.toml", "model = \"x\"\n[mcp_servers.docs]\ncommand = \"npx\"\nargs = [\"-y\", \"docs server\", '--api-key=s3cret', \"--token\", \"s3cret\"] # note\n"+
		"env = { \"API_KEY\" = \"s3cret\", B = \"x\" }\n[mcp_servers.\"my.web\"]\nurl = \"https://u:s3cret@example.org/mcp?key=s3cret\"\nhttp_headers = { \"X-Key\" = \"s3cret\" }\nbearer_token_env_var = \"T\"\n[mcp_servers.docs2.env]\nTOKEN = \"s3cret\"\n[other]\ncommand = \"no\"\n")
	w.write(".codex/AGENTS.md", "x")
	w.write(".codex/prompts/fix.md", "x")
	w.write(".gemini/settings.json", `{"mcpServers":{"g":{"command":"g","env":{"KEY":"s3cret"}},"h":{"httpUrl":"https://example.org","headers":{"Authorization":"s3cret"}}}, /* c */}`)
	w.write(".gemini/commands/a/b.toml", "x")
	w.write(".config/opencode/opencode.json", `{"mcp":{"o":{"type":"local","command":["bun","x"],"environment":{"A":"s3cret"}}}}`)
	w.write(".config/crush/crush.json", `{`)
	w.write("work/.cursorrules", "x")
	w.write("work/.cursor/mcp.json", `{"mcpServers":{"c":{"command":"c"}}}`)
	w.write("work/.cursor/rules/a.mdc", "x")
	w.write("work/.github/copilot-instructions.md", "x")
	agents := w.write("work/AGENTS.md", "x")
	c := w.config(false)
	c.Instructions = []instruct.File{{Path: agents}}
	got := w.lines(Find(c))
	want := []string{
		"- Codex CLI: instructions .codex/AGENTS.md to use it, copy it to ~/.adze/ADZE.md",
		"- Codex CLI: commands .codex/prompts copy them to ~/.adze/commands",
		"- Codex CLI: settings .codex/config.toml adze cannot read this format; adze config list shows its own settings",
		"- Codex CLI: MCP servers .codex/config.toml add them with the commands below" +
			"\n  adze mcp add --scope user --env API_KEY=... --env B=... docs -- npx -y 'docs server' --api-key=... --token ..." +
			"\n  adze mcp add --scope user --header 'X-Key: ...' --header 'Authorization: ...' --transport http my.web 'https://...@example.org/mcp?...'" +
			"\n  adze mcp add --scope user --env TOKEN=... docs2 --",
		"- Gemini CLI: settings .gemini/settings.json adze cannot read this format; adze config list shows its own settings",
		"- Gemini CLI: MCP servers .gemini/settings.json add them with the commands below" +
			"\n  adze mcp add --scope user --env KEY=... g -- g" +
			"\n  adze mcp add --scope user --header 'Authorization: ...' --transport http h https://example.org",
		"- Gemini CLI: commands .gemini/commands their format is another: put the prompt of each into a file NAME.md in ~/.adze/commands",
		"- OpenCode: settings .config/opencode/opencode.json adze cannot read this format; adze config list shows its own settings",
		"- OpenCode: MCP servers .config/opencode/opencode.json add them with the commands below\n  adze mcp add --scope user --env A=... o -- bun x",
		"- Crush: settings .config/crush/crush.json it is not valid JSON",
		"+ several tools: instructions work/AGENTS.md",
		"- Cursor: instructions work/.cursorrules a line @.cursorrules in AGENTS.md includes it",
		"- GitHub Copilot: instructions work/.github/copilot-instructions.md a line @.github/copilot-instructions.md in AGENTS.md includes it",
		"- Cursor: instructions work/.cursor/rules/a.mdc a line @.cursor/rules/a.mdc in AGENTS.md includes it",
		"- Cursor: MCP servers work/.cursor/mcp.json add them with the commands below\n  adze mcp add --scope user c -- c",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestEcosystem(t *testing.T) {
	w := newWorld(t)
	w.write(".claude/settings.json", `{"$schema":"x","model":"opus","env":{"A":"b"},"permissions":{"allow":["Bash(ls)"]},"sandbox":{"enabled":true},"spinnerVerbs":["x"]}`)
	w.write("work/.claude/settings.json", `{"hooks":{},"statusLine":{"type":"command","command":"x"},"cleanupPeriodDays":3,"model":"opus"}`)
	w.write("work/.claude/settings.local.json", `{`)
	mine := w.write(".claude/skills/a/SKILL.md", "x")
	w.write("shared/b/SKILL.md", "x")
	if err := os.Symlink(filepath.Join(w.home, "shared/b"), filepath.Join(w.home, ".claude/skills/b")); err != nil {
		t.Fatal(err)
	}
	linked := filepath.Join(w.home, ".claude/skills/b/SKILL.md")
	agent := w.write(".claude/agents/x.md", "x")
	helper := w.write("work/.claude/agents/team/y.md", "y")
	theirs := w.write("work/.claude/commands/help.md", "x")
	w.write("work/.claude/rules/a.md", "x")
	servers := w.write("work/.mcp.json", `{"mcpServers":{"a":{"command":"x"}}}`)
	claudeMD := w.write("work/CLAUDE.md", "x")
	outside := w.write("work/CLAUDE.local.md", "x")
	c := w.config(true)
	c.Instructions = []instruct.File{{Path: claudeMD}}
	c.Problems = []instruct.Problem{{Path: outside, Text: "is too long"}}
	c.Skills = &library.Set{
		Skills:   []*skill.Skill{{Name: "a", File: mine}, {Name: "b", File: linked}},
		Shadowed: []library.Shadowed{{Skill: &skill.Skill{Name: "help", File: theirs}}},
	}
	c.Agents = &agentdef.Set{
		Definitions: []*agentdef.Definition{{Name: "y", File: helper}}, Problems: []agentdef.Problem{{File: agent, Text: "not an agent"}},
	}
	e := &roster.Entry{Name: "a", File: servers, Unapproved: true}
	c.Servers = &roster.Roster{Entries: []*roster.Entry{e}, Unapproved: []*roster.Entry{e}}
	want := []string{
		"+ Claude Code: settings .claude/settings.json without spinnerVerbs, which adze does not have",
		"+ Claude Code: 2 skills .claude/skills",
		"- Claude Code: agents .claude/agents x.md: not an agent",
		"+ Claude Code: settings work/.claude/settings.json without cleanupPeriodDays, statusLine, which a project cannot set: put it into your own settings",
		"- Claude Code: settings work/.claude/settings.local.json it is not valid JSON",
		"- Claude Code: commands work/.claude/commands /help is taken by a built-in command",
		"+ Claude Code: rules work/.claude/rules 1 holds when a file that it names is read",
		"+ Claude Code: 1 agents work/.claude/agents",
		"+ Claude Code: instructions work/CLAUDE.md",
		"- Claude Code: instructions work/CLAUDE.local.md is too long",
		"- Claude Code: MCP servers work/.mcp.json a: approve with /mcp",
	}
	if diff := cmp.Diff(want, w.lines(Find(c))); diff != "" {
		t.Error(diff)
	}
	w.write("work/.claude/skills/c/SKILL.md", "x")
	w.write("work/.claude/skills/c/reference.md", "x")
	c = w.config(false)
	c.Servers = &roster.Roster{Entries: []*roster.Entry{e}, Unapproved: []*roster.Entry{e}}
	found := Find(c)
	if i := slices.IndexFunc(found, func(f Finding) bool { return f.Path == filepath.Join(w.dir, ".claude/skills") }); i < 0 || found[i].Count != 1 {
		t.Errorf("skills that are not used: %+v", found)
	}
	for _, line := range w.lines(found) {
		if strings.HasPrefix(line, "+") && strings.Contains(line, " work/") && !strings.Contains(line, "rules") {
			t.Errorf("not trusted: %s", line)
		}
	}
}

// TestHostileFolders checks that special files, endless files and symlink cycles are skipped.
func TestHostileFolders(t *testing.T) {
	w := newWorld(t)
	w.write(".gemini/settings.json", strings.Repeat("[", 1<<20))
	w.write(".codex/x", "")
	for _, name := range []string{".codex/config.toml", "work/.cursorrules", "work/opencode.json"} {
		if err := syscall.Mkfifo(filepath.Join(w.home, name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(w.dir, filepath.Join(w.dir, "loop")); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(w.dir, ".claude"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(w.dir, filepath.Join(w.dir, ".claude/rules")); err != nil {
		t.Fatal(err)
	}
	want := []string{"- Gemini CLI: settings .gemini/settings.json it is not valid JSON"}
	if diff := cmp.Diff(want, w.lines(Find(w.config(true)))); diff != "" {
		t.Error(diff)
	}
}

func FuzzServers(f *testing.F) {
	f.Add("[mcp_servers.a]\ncommand = \"x\"\nargs = ['a', \"b\"]\nenv = {A=\"b\"}\n[mcp_servers.\"a.b\".env]\nC=1")
	f.Fuzz(func(t *testing.T, text string) {
		for _, sv := range tomlServers(text, "mcp_servers") {
			sv.command()
		}
		if plain, err := standard([]byte(text)); err == nil {
			decodeServer("x", plain)
		}
	})
}
