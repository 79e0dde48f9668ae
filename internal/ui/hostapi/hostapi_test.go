package hostapi

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"adze/internal/agent"
	"adze/internal/commands"
	"adze/internal/hook"
	"adze/internal/model"
	"adze/internal/msg"
	"adze/internal/permission"
	"adze/internal/permission/rule"
	"adze/internal/platform/fs/filestate"
	"adze/internal/platform/fs/scope"
	"adze/internal/platform/search/fileindex"
	"adze/internal/prompt"
	"adze/internal/session"
	"adze/internal/tool"
)

// newRegistry returns a registry over a directory with one readable file, and a session without a
// model.
func newRegistry(t *testing.T) (*commands.Registry, string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "note.txt"), []byte("a n\xf6te\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	resolve := func(name string) (agent.Model, error) { return agent.Model{ID: name, Window: 1000}, nil }
	s := session.Open(t.Context(), session.Config{ID: "id", Tools: session.Tools{Registry: tool.NewRegistry()}, Models: session.Models{Main: "m", Resolve: resolve}})
	t.Cleanup(s.Close)
	index := fileindex.New(fileindex.Config{Dir: dir})
	t.Cleanup(index.Close)
	policy := permission.Compile(permission.Config{Rules: []rule.Rule{{Tool: "Bash", Behavior: rule.Deny, Scope: scope.User}}})
	return commands.New(commands.Config{
		Session: s, Dir: dir, Version: "1", Now: time.Now,
		Permission: commands.Permission{Mode: func() string { return "default" }, Policy: func() *permission.Policy { return policy }, Dirs: func() []string { return []string{"/other"} }},
		Files: commands.Files{Dir: dir, State: filestate.New(), Index: index, MayRead: func(_ context.Context, path string) error {
			if strings.HasSuffix(path, "secret") {
				return errors.New("it may not be read")
			}
			return nil
		}},
		Env: commands.Env{Settings: func() commands.Settings {
			return commands.Settings{Values: map[string]json.RawMessage{"effort": json.RawMessage(`"low"`)}, AutoCompact: true}
		}},
		Extensions: commands.Extensions{Hooks: func() commands.Hooks { return commands.Hooks{Policy: hook.Policy{ManagedOnly: true}} }},
		Models:     commands.Models{Thinking: func(*int) model.Thinking { return model.Thinking{} }},
		Preamble: commands.Preamble{
			Resolve: resolve, Describe: func(s []msg.ToolSpec) []msg.ToolSpec { return s }, Watch: new(prompt.Watch),
			Blocks: func(agent.Model, []msg.ToolSpec) []prompt.Block { return nil },
		},
	}), dir
}

// Proves X-137.
func TestRequests(t *testing.T) {
	r, dir := newRegistry(t)
	all := Actions(r)
	for name, query := range Queries(r) {
		all[name] = query
	}
	path, err := json.Marshal(filepath.Join(dir, "note.txt"))
	if err != nil {
		t.Fatal(err)
	}
	quoted, err := json.Marshal(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ name, body, want string }{
		{"get_binary_version", `{}`, `{"buildTime":null,"version":"1"}`},
		{"mcp_status", `{}`, `{"mcpServers":[]}`},
		{"list_tasks", `{}`, `{"tasks":[]}`},
		{"get_task_output", `{"task_id":"x"}`, "unsupported_request: background tasks are disabled"},
		{"get_settings", `{}`, `{"applied":{"effort":null,"model":"m"},"effective":{"effort":"low"},"sources":[]}`},
		{"get_session_cost", `{}`, `{"text":"Total cost: $0.0000\nAPI time: 0s\nLines changed: 0 added, 0 removed\n"}`},
		{"list_permission_rules", `{}`, `{"state":{"managedOnly":false,"originalCwd":` + string(quoted) + `,"rules":[{"behavior":"deny","editability":"readonly","rule":"Bash","source":"` +
			string(scope.User) + `"}],"workspaceDirectories":[{"path":` + string(quoted) + `,"source":"cliArg"},{"path":"/other","source":"cliArg"}]}}`},
		{"read_file", `{"path":"note.txt"}`, `{"absPath":` + string(path) + `,"contents":"a n�te\n","lossy":true}`},
		{"read_file", `{"path":"note.txt","max_bytes":1,"encoding":"base64"}`, `{"absPath":` + string(path) + `,"contents":"YQ==","encoding":"base64","truncated":true}`},
		{"read_file", `{"path":"secret"}`, "it may not be read"},
		{"read_file", `[]`, "invalid_request: invalid request: it cannot be of the type array"},
		{"read_file", `{"path":1}`, "invalid_request: invalid request: path cannot be of the type number"},
		{"seed_read_state", `{"path":"note.txt","mtime":99999999999999}`, `{}`},
		{"rewind_files", `{"user_message_id":"x"}`, `{"canRewind":false,"error":"no file history: the setting fileHistory.enabled is false"}`},
		{"set_max_thinking_tokens", `{"max_thinking_tokens":-1}`, "invalid_request: max_thinking_tokens is negative"},
		{"set_max_thinking_tokens", `{"max_thinking_tokens":0}`, `{}`},
		{"generate_session_title", `{"description":"Fix it. Then rest."}`, `{"title":"Fix it"}`},
		{"generate_session_title", `{"description":" "}`, `{"title":null}`},
		{"rename_session", `{"title":"x"}`, "this session is not saved on disk"},
		{"rename_session", `{"title":"x","session_id":"other"}`, "session other is not the open one; use adze sessions rename"},
		{"background_tasks", `{}`, "unsupported_request: background tasks are disabled"},
	} {
		value, err := all[tt.name](t.Context(), json.RawMessage(tt.body))
		got := ""
		var known *Refusal
		switch {
		case errors.As(err, &known):
			got = known.Code + ": " + known.Text
		case err != nil:
			got = err.Error()
		default:
			data, err := json.Marshal(value)
			if err != nil {
				t.Fatal(err)
			}
			got = string(data)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s %s: %s", tt.name, tt.body, diff)
		}
	}
	for _, name := range []string{"get_context_usage", "get_usage", "get_hooks_listing", "list_models"} {
		value, err := all[name](t.Context(), json.RawMessage(`{}`))
		if data, wrong := json.Marshal(value); err != nil || wrong != nil || !strings.HasPrefix(string(data), "{") {
			t.Errorf("%s: %s, %v, %v", name, data, err, wrong)
		}
	}
	found, err := all["file_suggestions"](t.Context(), json.RawMessage(`{"query":"note"}`))
	if err != nil || !slices.ContainsFunc(found.(object)["suggestions"].([]object), func(o object) bool { return o["path"] == "note.txt" }) {
		t.Errorf("%v, %v", found, err)
	}
}
