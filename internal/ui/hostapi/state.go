package hostapi

import (
	"context"
	"fmt"
	"strings"

	"adze/internal/commands"
	"adze/internal/hook"
	"adze/internal/model/cost"
	"adze/internal/platform/fs/scope"
	"adze/internal/platform/text/amount"
)

func (a api) version(context.Context, none) (any, error) {
	return object{"version": a.Version, "buildTime": nil}, nil
}

func (a api) models(context.Context, none) (any, error) {
	list := []object{}
	for _, m := range a.Models.Catalog.All() {
		list = append(list, object{"value": m.ID, "displayName": m.Name, "description": strings.Join(a.Models.Catalog.AliasesOf(m.ID), ", ")})
	}
	return object{"models": list}, nil
}

func (a api) hooks(context.Context, none) (any, error) {
	h := a.Extensions.Hooks()
	list := []object{}
	managed := 0
	for _, l := range h.List {
		o := object{
			"event": l.Event, "matcher": l.Matcher, "if": l.If, "type": l.Type, "label": l.Label,
			"source": l.Source, "file": l.File, "idle": l.Idle, "slow": l.Slow,
		}
		if l.Last != nil {
			o["lastOutcome"], o["lastDurationMs"] = l.Last.Outcome, l.Last.Duration.Milliseconds()
		}
		if l.Source == scope.Managed.String() {
			managed++
		}
		list = append(list, o)
	}
	return object{
		"events": hook.Names(), "hooks": list, "eventCatalog": []object{},
		"policy": object{
			"disabledByPolicy": h.Policy.DisableManaged, "managedOnly": h.Policy.ManagedOnly, "pluginOnly": false,
			"allDisabled": h.Policy.Disable, "policyHookCount": managed,
		},
	}, nil
}

func (a api) settings(context.Context, none) (any, error) {
	s := a.Env.Settings()
	var effort any
	if s.Effort != "" {
		effort = s.Effort
	}
	return object{
		"effective": s.Values, "sources": []object{},
		"applied": object{"model": a.Session.Model(), "effort": effort},
	}, nil
}

// usage returns the cost and time of the session.
func (a api) usage(context.Context, none) (any, error) {
	t := a.Session.Sum()
	models := t.Models
	if models == nil {
		models = map[string]cost.Model{}
	}
	return object{
		"session": object{
			"total_cost_usd": t.CostUSD, "total_api_duration_ms": t.API.Milliseconds(),
			"total_duration_ms": a.Age().Milliseconds(),
			"total_lines_added": t.LinesAdded, "total_lines_removed": t.LinesRemoved, "model_usage": models,
		},
		"subscription_type": nil, "rate_limits_available": false, "rate_limits": nil, "behaviors": nil,
	}, nil
}

func (a api) cost(context.Context, none) (any, error) {
	t := a.Session.Sum()
	var b strings.Builder
	fmt.Fprintf(&b, "Total cost: $%.4f", t.CostUSD)
	if t.HasUnknownCost {
		b.WriteString(", plus models without a known price")
	}
	fmt.Fprintf(&b, "\nAPI time: %s\n", amount.Seconds(t.API))
	fmt.Fprintf(&b, "Lines changed: %d added, %d removed\n", t.LinesAdded, t.LinesRemoved)
	return object{"text": b.String()}, nil
}

// context returns how full the context window is, from the usage in the last response.
func (a api) context(context.Context, none) (any, error) {
	u, err := a.Usage()
	if err != nil {
		return nil, err
	}
	var usage any
	used := 0
	if last := u.Last; last != nil {
		used = last.Total()
		usage = object{
			"input_tokens": last.Input, "output_tokens": last.Output,
			"cache_creation_input_tokens": last.CacheWrite, "cache_read_input_tokens": last.CacheRead,
		}
	}
	percentage := 0
	if u.Window > 0 {
		percentage = min(100, used*100/u.Window)
	}
	memory, files := 0, []object{}
	for _, f := range u.Files {
		memory += f.Tokens
		files = append(files, object{"path": f.Path, "type": f.Kind.String(), "tokens": f.Tokens})
	}
	remote := []object{}
	for _, t := range u.Remote {
		remote = append(remote, object{"name": t.Name, "serverName": t.Server, "tokens": t.Tokens, "isLoaded": t.Loaded})
	}
	system, tools := commands.Sum(u.System), commands.Sum(u.Tools)
	return object{
		"categories": []object{
			{"id": "system_prompt", "name": "System prompt", "tokens": system, "color": "cyan", "kind": "used"},
			{"id": "system_tools", "name": "Tools", "tokens": tools, "color": "magenta", "kind": "used"},
			{"id": "memory_files", "name": "Instructions", "tokens": memory, "color": "yellow", "kind": "used"},
			{"id": "messages", "name": "Conversation", "tokens": max(0, used-system-tools-memory), "color": "blue", "kind": "used"},
			{"id": "free_space", "name": "Free space", "tokens": max(0, u.Window-used), "color": "gray", "kind": "free"},
		},
		"totalTokens": used, "maxTokens": u.Window, "rawMaxTokens": u.Window, "percentage": percentage,
		"gridRows": [][]object{}, "model": u.Model, "memoryFiles": files, "mcpTools": remote, "agents": []object{},
		"isAutoCompactEnabled": a.Env.Settings().AutoCompact, "apiUsage": usage,
	}, nil
}

func (a api) rules(context.Context, none) (any, error) {
	p := a.Permission
	rules := []object{}
	for _, r := range p.Policy().Rules() {
		rules = append(rules, object{"behavior": r.Behavior, "source": string(r.Scope), "rule": r.Text(), "editability": "readonly"})
	}
	dirs := []object{{"path": a.Dir, "source": "cliArg"}}
	for _, dir := range p.Dirs() {
		dirs = append(dirs, object{"path": dir, "source": "cliArg"})
	}
	return object{"state": object{
		"rules": rules, "workspaceDirectories": dirs, "originalCwd": a.Dir, "managedOnly": false,
	}}, nil
}
