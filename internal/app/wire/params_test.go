package wire

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"adze/internal/permission"
	"adze/internal/tool"
	"adze/internal/tools/cron"
	"adze/internal/tools/monitor"
	"adze/internal/tools/team"
	"adze/internal/tools/workflow"
	"adze/internal/tools/worktree"
)

// A parameter is one string in a tool's input.
type parameter struct {
	name string   // "outer/inner", without list indexes
	path []string // names, "*" for any name, "[]" for an element
}

// parameters returns the strings in a schema. A value without a type may be a string.
func parameters(schema map[string]any, path []string) []parameter {
	var found []parameter
	if _, listed := schema["enum"]; listed || schema["const"] != nil {
		return nil
	}
	types, _ := schema["type"].([]any)
	if t, ok := schema["type"].(string); ok {
		types = []any{t}
	}
	properties, _ := schema["properties"].(map[string]any)
	alternatives := slices.Concat(list(schema["anyOf"]), list(schema["oneOf"]), list(schema["allOf"]))
	if slices.Contains(types, any("string")) || len(types) == 0 && properties == nil && len(alternatives) == 0 {
		names := slices.DeleteFunc(slices.Clone(path), func(s string) bool { return s == "[]" || s == "*" })
		found = append(found, parameter{strings.Join(names, "/"), path})
	}
	for _, s := range alternatives {
		found = append(found, parameters(s, path)...)
	}
	for name, s := range properties {
		if s, ok := s.(map[string]any); ok {
			found = append(found, parameters(s, append(slices.Clip(path), name))...)
		}
	}
	if items, ok := schema["items"].(map[string]any); ok {
		found = append(found, parameters(items, append(slices.Clip(path), "[]"))...)
	}
	if more, ok := schema["additionalProperties"].(map[string]any); ok {
		found = append(found, parameters(more, append(slices.Clip(path), "*"))...)
	}
	return found
}

func list(v any) (all []map[string]any) {
	items, _ := v.([]any)
	for _, item := range items {
		if s, ok := item.(map[string]any); ok {
			all = append(all, s)
		}
	}
	return all
}

// everyTool returns a conversation's tools plus the ones added by settings.
func everyTool(t *testing.T) []tool.Tool {
	return slices.Concat(presentTools(t), cron.Tools(nil), worktree.Tools(nil), []tool.Tool{
		workflow.New(workflow.Config{}), team.Create(noTeams{}), team.Delete(noTeams{}), team.Send(noCarrier{}),
	})
}

// TestEveryParameterIsJudged checks that each string a model can pass to a tool is declared as
// a path, host, program, command or plain text, and that the gate judges all but the last. One
// forgotten path (Agent.cwd) exposed the whole file system.
//
// Proves PERM-76.
func TestEveryParameterIsJudged(t *testing.T) {
	c := newPlace(t).following()
	policy := c.Gate.Policy()
	// Other required fields of the input.
	rest := map[string]string{
		"Agent":        `{"description":"x","prompt":"x","subagent_type":"general-purpose"}`,
		"Edit":         `{"file_path":"a","old_string":"x","new_string":"y"}`,
		"Glob":         `{"pattern":"*"}`,
		"Grep":         `{"pattern":"x"}`,
		"NotebookEdit": `{"notebook_path":"a.ipynb","cell_id":"x","new_source":"x"}`,
		"WebFetch":     `{"url":"https://example.org","prompt":"x"}`,
		"Write":        `{"file_path":"a","content":"x"}`,
		"Monitor":      `{"description":"x"}`,
	}
	seen := map[string]bool{}
	for _, tl := range append(everyTool(t), monitorOf(t, c)) {
		name, declared := tl.Spec().Name, tl.Traits().Params
		seen[name] = true
		var schema map[string]any
		if err := json.Unmarshal(tl.Spec().Schema, &schema); err != nil {
			t.Fatal(err)
		}
		for _, p := range parameters(schema, nil) {
			var judged string
			switch {
			case slices.Contains(declared.Texts, p.name):
				continue
			case slices.Contains(declared.Paths, p.name):
				judged = "/marked/place"
				if name == "NotebookEdit" {
					judged += ".ipynb"
				}
			case slices.Contains(declared.Hosts, p.name):
				judged = "https://marked.example.org/x"
			case slices.Contains(declared.Commands, p.name), slices.Contains(declared.Programs, p.name):
				judged = "marked-program"
			default:
				t.Errorf("%s: the parameter %s is not declared", name, p.name)
				continue
			}
			var input map[string]any
			if err := json.Unmarshal([]byte(cmp.Or(rest[name], "{}")), &input); err != nil {
				t.Fatal(err)
			}
			if len(p.path) != 1 {
				t.Fatalf("%s: the test cannot set %s", name, p.name)
			}
			input[p.name] = judged
			data, err := json.Marshal(input)
			if err != nil {
				t.Fatal(err)
			}
			call, err := tl.Bind(data)
			if err != nil {
				t.Errorf("%s: %s: %v", name, data, err)
				continue
			}
			facts := permission.FactsOf(policy, tl, call)
			if !mentions(&facts, judged) {
				t.Errorf("%s: the gate does not see %s", name, p.name)
			}
			if d := permission.Decide(policy, facts); d.Behavior == permission.Allow {
				t.Errorf("%s: %s is allowed: %+v", name, data, d.Reason)
			}
		}
	}
	for _, name := range []string{"Bash", "Read", "Agent", "WebFetch", "Monitor", "CronCreate", "SendMessage", "EnterWorktree", "Workflow"} {
		if !seen[name] {
			t.Errorf("%s was not looked at", name)
		}
	}
}

// monitorOf returns the Monitor tool, which needs the shell tool.
func monitorOf(t *testing.T, c *Conversation) tool.Tool {
	for _, tl := range c.tools() {
		if tl.Spec().Name == "Bash" {
			return monitor.New(monitor.Config{Shell: tl})
		}
	}
	t.Fatal("no Bash")
	return nil
}

// mentions reports whether the judged facts of a call include a value.
func mentions(f *permission.Facts, value string) bool {
	for i := range f.Targets {
		if strings.HasPrefix(value, f.Targets[i].Set.Path) && f.Targets[i].Set.Path != "/" {
			return true
		}
	}
	for _, host := range f.Hosts {
		if host != "" && strings.Contains(value, host) {
			return true
		}
	}
	if c := f.Command; c != nil {
		if c.Script.Parts[0].Words[0].Value == value {
			return true
		}
		for _, u := range c.Uses {
			if u.Set.Path == value {
				return true
			}
		}
	}
	return f.Foreign != nil
}

// TestToolsOfServersAreJudgedAsAWhole checks that server tools need confirmation regardless of
// their own claims about themselves and their parameters.
//
// Proves PERM-76.
func TestToolsOfServersAreJudgedAsAWhole(t *testing.T) {
	served := tool.New(tool.Def{
		Name: "mcp__files__read", Doc: "x", Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}}}`),
		Traits: tool.Traits{Origin: "mcp:files"},
	}, func(context.Context, servedInput, func(tool.Progress)) (tool.Result, error) {
		return tool.Result{}, nil
	})
	call, err := served.Bind(json.RawMessage(`{"path":"a.txt"}`))
	if err != nil {
		t.Fatal(err)
	}
	policy := newPlace(t).following().Gate.Policy()
	if d := permission.Decide(policy, permission.FactsOf(policy, served, call)); d.Behavior != permission.Ask {
		t.Errorf("%s, %+v", d.Behavior, d.Reason)
	}
}

// A servedInput claims that its call is read-only.
type servedInput struct {
	Path string `json:"path"`
}

func (servedInput) ReadOnly() bool { return true }
