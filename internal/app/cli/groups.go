package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"adze/internal/app/settings"
	"adze/internal/app/wire"
	"adze/internal/model"
	"adze/internal/platform/scope"
)

// The groups of flags that several commands share. Each is bound to the value it fills in.

const (
	thinkAdaptive = "adaptive"
	thinkEnabled  = "enabled"
	thinkDisabled = "disabled"
)

func modelFlags(m *wire.ModelSpec) []flag {
	return []flag{
		{name: "model", value: "NAME", doc: "a model id or alias (adze models lists them), or replay:FILE for a script",
			set: setText(&m.Name)},
		{name: "fallback-model", value: "NAME", doc: "the model that finishes a turn when the main one is overloaded",
			set: setText(&m.Fallback)},
		{name: "provider", value: "NAME", doc: "model provider, such as anthropic",
			set: setText(&m.Provider)},
		{name: "effort", value: "LEVEL", doc: "the model's effort level: low, medium, high or max",
			set: setChoice(&m.Effort, model.EffortLow, model.EffortMedium, model.EffortHigh, model.EffortMax)},
		{name: "thinking", value: "MODE", doc: "adaptive, enabled or disabled",
			set: func(v string) error {
				var mode string
				err := setChoice(&mode, thinkAdaptive, thinkEnabled, thinkDisabled)(v)
				m.Thinks, m.NoThinking = err == nil, mode == thinkDisabled
				return err
			}},
		{name: "max-thinking-tokens", value: "N", doc: "the token budget for thinking; 0 turns thinking off",
			set: func(v string) error {
				m.Budgeted = true
				return setCount(&m.ThinkingBudget, 0)(v)
			}},
		{name: "record-requests", value: "DIR", doc: "record requests and responses in DIR, as a script that can be replayed",
			set: setText(&m.Record)},
	}
}

// A promptText holds the flags that replace or extend the system prompt, as texts or files.
type promptText struct {
	system, systemFile, extra, extraFile string
	replaced                             bool
}

func promptFlags(p *promptText) []flag {
	replace := func(field *string) func(string) error {
		return func(v string) error { *field, p.replaced = v, true; return nil }
	}
	return []flag{
		{name: "system-prompt", value: "TEXT", doc: "replace the system prompt", set: replace(&p.system)},
		{name: "system-prompt-file", value: "FILE", doc: "replace the system prompt with the contents of FILE", set: replace(&p.systemFile)},
		{name: "append-system-prompt", value: "TEXT", doc: "append TEXT to the system prompt", set: setText(&p.extra)},
		{name: "append-system-prompt-file", value: "FILE", doc: "append the contents of FILE to the system prompt", set: setText(&p.extraFile)},
	}
}

// spec reads the files.
func (p *promptText) spec() (spec wire.PromptSpec, err error) {
	system, err := textOrFile(p.system, p.systemFile, "--system-prompt-file")
	if err != nil {
		return spec, err
	}
	if p.replaced {
		spec.System = &system
	}
	spec.Append, err = textOrFile(p.extra, p.extraFile, "--append-system-prompt-file")
	return spec, err
}

func bareFlag(p *bool) flag {
	return flag{name: "bare", doc: "read no instruction files except those in --add-dir directories, and run no hooks", set: setBool(p)}
}

func accessFlags(a *wire.AccessSpec) []flag {
	return []flag{
		{name: "allowed-tools", aliases: []string{"allowedTools", "allow"}, value: "RULES", more: looksLikeRule,
			doc: "tool calls to run without asking, such as Bash or \"Bash(git status)\"; separate several by commas or spaces",
			set: addTo(&a.Allow)},
		{name: "disallowed-tools", aliases: []string{"disallowedTools", "deny"}, value: "RULES", more: looksLikeRule,
			doc: "tool calls to refuse",
			set: addTo(&a.Deny)},
		{name: "tools", value: "NAMES", more: looksLikeRule, doc: "offer only these tools; \"default\" means all of them, an empty value none",
			set: func(v string) error { a.Chosen = true; return addTo(&a.Tools)(v) }},
		{name: "permission-mode", value: "MODE", doc: "default, acceptEdits, plan, dontAsk, auto or bypassPermissions",
			set: setText(&a.Mode)},
		{name: "dangerously-skip-permissions", doc: "the same as --permission-mode bypassPermissions",
			set: setBool(&a.Skip)},
		{name: "allow-dangerously-skip-permissions", doc: "let the host switch to bypassPermissions later",
			set: setBool(&a.MayBypass)},
		{name: "add-dir", value: "DIR", more: isDir, doc: "an additional working directory; may be repeated",
			set: func(v string) error {
				if !isDir(v) {
					return fmt.Errorf("%s is not a directory", v)
				}
				abs, err := filepath.Abs(v)
				a.Dirs = append(a.Dirs, abs)
				return err
			}},
	}
}

func limitFlags(l *wire.Limits) []flag {
	return []flag{
		{name: "max-turns", value: "N", doc: "stop after N model responses", set: setCount(&l.MaxTurns, 1)},
		{name: "max-budget-usd", value: "USD", doc: "stop when the session has cost this many US dollars",
			set: func(v string) error {
				usd, err := strconv.ParseFloat(v, 64)
				if err != nil || !(usd > 0) || usd > 1e9 {
					return fmt.Errorf("%q is not a positive number of US dollars", v)
				}
				l.MaxBudgetUSD = usd
				return nil
			}},
		{name: "token-budget", value: "N", doc: "keep working until about N output tokens are used", set: setCount(&l.TokenBudget, 1)},
	}
}

func projectFlags(src *settings.Source) []flag {
	return []flag{
		{name: "settings", value: "FILE|JSON", doc: "additional settings", set: setText(&src.Inline)},
		{name: "setting-sources", value: "LIST", doc: "the settings files to read: user, project, local; an empty list reads none",
			set: func(v string) error { return setScopes(&src.Scopes, v) }},
		{name: "managed-settings", value: "FILE|JSON", doc: "additional settings that cannot be overridden", set: setText(&src.ManagedInline)},
		{name: "project-config-root", value: "DIR", doc: "the directory of the project's settings, if not the working directory",
			set: func(v string) (err error) { src.Root, err = filepath.Abs(v); return err }},
		{name: "trust", doc: "trust the workspace for this run", set: setBool(&src.Trust)},
	}
}

// setScopes reads --setting-sources.
func setScopes(scopes *[]scope.Scope, v string) error {
	*scopes = []scope.Scope{}
	for name := range strings.SplitSeq(v, ",") {
		if name = strings.TrimSpace(name); name == "" {
			continue
		}
		from, err := scope.Parse(name)
		if err != nil || !from.Writable() {
			return fmt.Errorf("%q is not one of user, project, local", name)
		}
		*scopes = append(*scopes, from)
	}
	return nil
}

func debugFlags(d *wire.DebugSpec) []flag {
	return []flag{
		{name: "debug", value: "FILTER", optional: true, doc: "write a debug log; FILTER is a comma-separated list of words that lines must contain, or with ! must not contain",
			set: func(v string) error { d.On, d.Filter = true, v; return nil }},
		{name: "debug-file", value: "FILE", doc: "write the debug log to FILE",
			set: func(v string) error { d.On, d.File = true, v; return nil }},
	}
}

func helpFlag(p *bool) flag {
	return flag{name: "help", short: "h", doc: "print help", set: setBool(p)}
}

func jsonFlag(p *bool) flag { return flag{name: "json", doc: "print JSON", set: setBool(p)} }

// looksLikeRule reports whether an argument that follows a list of rules belongs to the list: a prompt of
// several words does not.
func looksLikeRule(arg string) bool {
	name, _, content := strings.Cut(arg, "(")
	if name == "" || content && !strings.HasSuffix(arg, ")") {
		return false
	}
	return strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-*,") == "" && name[0] != '-'
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
