package agents

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"adze/internal/feature/agents/builtin"
	"adze/internal/msg"
	"adze/internal/platform/text/texts"
	"adze/internal/session"
	"adze/internal/settings"
)

// Proves AGENT-45, SESS-22.
func TestDecide(t *testing.T) {
	const on, broken = `{"on":true}`, `{"on":"yes`
	tests := []struct {
		name           string
		allowed, asked bool
		resumed        bool
		last           string
		want           bool
		said           string
	}{
		{"nothing", false, false, false, "", false, ""},
		{"allowed only", true, false, false, "", false, ""},
		{"asked only", false, true, false, "", false, "experimental.coordinator is off"},
		{"both", true, true, false, "", true, ""},
		{"goes on in it", true, true, true, on, true, ""},
		{"was in it", true, false, true, on, true, "was in the coordinator mode; continuing in it"},
		{"was not in it", true, true, true, "", false, "was not in the coordinator mode"},
		{"not allowed any more", false, false, true, on, false, "does not allow"},
		{"neither", true, false, true, "", false, ""},
		{"a broken note", true, true, true, broken, false, "was not in the coordinator mode"},
	}
	for _, tt := range tests {
		var said []string
		m := OpenCoordinator(CoordinatorConfig{
			Settings: settings.Agents{Coordination: tt.allowed, Coordinator: tt.asked}, Resumed: tt.resumed,
			Last: map[string]json.RawMessage{noteKind: json.RawMessage(tt.last)}, Say: func(s string) { said = append(said, s) },
			Language: func() texts.Language { return texts.English },
		})
		if (m != nil) != tt.want || (tt.said == "") != (len(said) == 0) || !strings.Contains(strings.Join(said, "\n"), tt.said) {
			t.Errorf("%s: %v, %q", tt.name, m != nil, said)
		}
	}
}

// Proves AGENT-48.
func TestHearTellsOnce(t *testing.T) {
	kept := map[string]json.RawMessage{}
	cfg := CoordinatorConfig{
		Settings: settings.Agents{Coordination: true, Coordinator: true}, Last: kept, Simple: true,
		Language: func() texts.Language { return texts.English }, Say: func(s string) { t.Error(s) },
		Note: func(kind string, fields map[string]any) { kept[kind], _ = json.Marshal(fields) },
	}
	specs := []msg.ToolSpec{{Name: "Bash"}, {Name: "Read"}, {Name: "mcp__db__ask"}, {Name: "mcp__db__tell"}}
	open := func() *Coordinator {
		m := OpenCoordinator(cfg)
		m.Workers = func() builtin.WorkerInfo { return DescribeTools(specs, "/scratch") }
		return m
	}
	told := func(m *Coordinator) (all []string) {
		for _, p := range m.PromptHook(t.Context(), session.Prompt{}).Context {
			all = append(all, msg.PlainText([]msg.Part{p}))
		}
		return all
	}
	m := open()
	first := strings.Join(told(m), "\n")
	for _, want := range []string{"these tools: Bash, Read\n", "MCP servers: db\n", "directory: /scratch\n"} {
		if !strings.Contains(first, want) {
			t.Errorf("announcement lacks %q: %s", want, first)
		}
	}
	if again := told(m); again != nil {
		t.Errorf("announced again: %q", again)
	}
	cfg.Resumed = true
	if again := told(open()); again != nil {
		t.Errorf("announced again on resume: %q", again)
	}
	m.reset()
	if len(told(m)) != 1 {
		t.Error("not announced again after a reset")
	}
	specs = specs[:2]
	if news := told(m); len(news) != 1 || strings.Contains(news[0], "MCP") {
		t.Errorf("change announced as %q", news)
	}
	if diff := cmp.Diff([]string{"Bash", "Read", "Edit"}, m.Worker().Tools); diff != "" {
		t.Error(diff)
	}
}
