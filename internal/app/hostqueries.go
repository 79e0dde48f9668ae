package app

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"adze/internal/model/cost"
	"adze/internal/model/tokens"
	"adze/internal/msg"
)

// object is a JSON object that is put together by hand.
type object = map[string]any

func (d *hosting) version(context.Context, none) (any, error) {
	return object{"version": Version, "buildTime": nil}, nil
}

func (d *hosting) models(context.Context, none) (any, error) {
	list := []object{}
	for _, m := range d.b.table.All() {
		list = append(list, object{"value": m.ID, "displayName": m.Name, "description": strings.Join(aliasesOf(m.ID), ", ")})
	}
	return object{"models": list}, nil
}

// servers are there to be listed, and there are none.
func (d *hosting) servers(context.Context, none) (any, error) {
	return object{"mcpServers": []object{}}, nil
}

func (d *hosting) hooks(context.Context, none) (any, error) { return d.b.hookList(), nil }

// settings are those that a file can give: variables hold keys, which nobody is told.
func (d *hosting) settings(context.Context, none) (any, error) {
	effective := map[string]json.RawMessage{}
	for _, key := range settingKeys() {
		if key.Name != "" && d.b.settings.Origin(key.Name) != "" {
			effective[key.Name] = d.b.settings.JSON(key.Name)
		}
	}
	return object{
		"effective": effective, "sources": []object{},
		"applied": object{"model": d.s.Model(), "effort": nullIfEmpty(string(d.b.o.effort))},
	}, nil
}

func nullIfEmpty(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// usage is what the session has used, for a display.
func (d *hosting) usage(context.Context, none) (any, error) {
	t := d.s.Totals()
	models := t.Models
	if models == nil {
		models = map[string]cost.Model{}
	}
	return object{
		"session": object{
			"total_cost_usd": t.CostUSD, "total_api_duration_ms": t.API.Milliseconds(),
			"total_duration_ms": d.b.env.Now().Sub(d.began).Milliseconds(),
			"total_lines_added": t.LinesAdded, "total_lines_removed": t.LinesRemoved, "model_usage": models,
		},
		"subscription_type": nil, "rate_limits_available": false, "rate_limits": nil, "behaviors": nil,
	}, nil
}

func (d *hosting) costText(context.Context, none) (any, error) {
	t := d.s.Totals()
	var b strings.Builder
	fmt.Fprintf(&b, "Total cost: $%.4f", t.CostUSD)
	if t.HasUnknownCost {
		b.WriteString(", and what models without a price cost")
	}
	fmt.Fprintf(&b, "\nTime of the API: %s\n", t.API.Round(100*time.Millisecond))
	fmt.Fprintf(&b, "Lines changed: %d added, %d removed\n", t.LinesAdded, t.LinesRemoved)
	return object{"text": b.String()}, nil
}

// contextUsage says how full the window is, by what the last response reported.
func (d *hosting) contextUsage(ctx context.Context, _ none) (any, error) {
	m, err := d.b.lookup(d.s.Model())
	if err != nil {
		return nil, err
	}
	var usage any
	used := 0
	for _, e := range slices.Backward(d.s.Conversation()) {
		if u := e.Usage; e.Message.Role == msg.Assistant && u != nil {
			used = u.Total()
			usage = object{
				"input_tokens": u.Input, "output_tokens": u.Output,
				"cache_creation_input_tokens": u.CacheWrite, "cache_read_input_tokens": u.CacheRead,
			}
			break
		}
	}
	window := m.ContextWindow
	percentage := 0
	if window > 0 {
		percentage = min(100, used*100/window)
	}
	system, tools, memory, files := d.standing(ctx)
	return object{
		"categories": []object{
			{"id": "system_prompt", "name": "System prompt", "tokens": system, "color": "cyan", "kind": "used"},
			{"id": "system_tools", "name": "Tools", "tokens": tools, "color": "magenta", "kind": "used"},
			{"id": "memory_files", "name": "Instructions", "tokens": memory, "color": "yellow", "kind": "used"},
			{"id": "messages", "name": "Conversation", "tokens": max(0, used-system-tools-memory), "color": "blue", "kind": "used"},
			{"id": "free_space", "name": "Free space", "tokens": max(0, window-used), "color": "gray", "kind": "free"},
		},
		"totalTokens": used, "maxTokens": window, "rawMaxTokens": window, "percentage": percentage,
		"gridRows": [][]object{}, "model": m.ID, "memoryFiles": files, "mcpTools": []object{}, "agents": []object{},
		"isAutoCompactEnabled": d.b.settings.Bool("autoCompact"), "apiUsage": usage,
	}, nil
}

// standing estimates what every request holds besides the conversation, in tokens.
func (d *hosting) standing(ctx context.Context) (system, tools, memory int, files []object) {
	m, err := d.b.resolve(d.s.Model())
	if err != nil {
		return 0, 0, 0, []object{}
	}
	specs := d.b.describeTools(d.s.ToolSpecs())
	parts, _ := d.b.prompts.Parts(m.ID, specs)
	gauge := tokens.New(m.ID)
	system, tools = gauge.Parts(parts...), gauge.Request(nil, specs, nil)
	files = []object{}
	if d.b.announcer != nil {
		for _, f := range d.b.announcer.Files() {
			n := gauge.Text(f.Text)
			memory += n
			files = append(files, object{"path": f.Path, "type": f.Kind.String(), "tokens": n})
		}
	}
	return system, tools, memory, files
}

func (d *hosting) rules(context.Context, none) (any, error) {
	rules := []object{}
	for _, r := range d.b.gate.Policy().Rules() {
		rules = append(rules, object{"behavior": r.Behavior, "source": string(r.Scope), "rule": r.Text(), "editability": "readonly"})
	}
	dirs := []object{{"path": d.b.env.Dir, "source": "cliArg"}}
	for _, dir := range d.b.o.dirs {
		dirs = append(dirs, object{"path": dir, "source": "cliArg"})
	}
	return object{"state": object{
		"rules": rules, "workspaceDirectories": dirs, "originalCwd": d.b.env.Dir, "managedOnly": false,
	}}, nil
}
