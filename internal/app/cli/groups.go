package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"adze/internal/app/cli/flags"
	"adze/internal/app/wire"
	"adze/internal/feature/agents"
	"adze/internal/feature/mcp"
	"adze/internal/model"
	"adze/internal/platform/fs/fsys"
	"adze/internal/platform/fs/scope"
	"adze/internal/settings"
)

// Groups of flags shared by several commands. Each is bound to the value it fills in.

const (
	thinkAdaptive = "adaptive"
	thinkEnabled  = "enabled"
	thinkDisabled = "disabled"
)

func modelFlags(m *wire.ModelSpec) []flag {
	return []flag{
		{Name: "model", Value: "NAME", Doc: "a model id or alias (adze models lists them), or replay:FILE for a script",
			Source: modelNames, Set: flags.SetText(&m.Name)},
		{Name: "fallback-model", Value: "NAME", Doc: "the model that finishes a turn when the main one is overloaded",
			Source: modelNames, Set: flags.SetText(&m.Fallback)},
		{Name: "provider", Value: "NAME", Doc: "model provider, such as anthropic",
			Source: providerNames,
			Set:    flags.SetText(&m.Provider)},
		flags.OneOf(flag{Name: "effort", Value: "LEVEL", Doc: "the model's effort level: low, medium, high, xhigh or max"},
			&m.Effort, model.EffortLow, model.EffortMedium, model.EffortHigh, model.EffortXHigh, model.EffortMax),
		{Name: "thinking", Value: "MODE", Doc: "adaptive, enabled or disabled",
			Choices: []string{thinkAdaptive, thinkEnabled, thinkDisabled},
			Set: func(v string) error {
				var mode string
				err := flags.SetChoice(&mode, thinkAdaptive, thinkEnabled, thinkDisabled)(v)
				m.Thinks, m.NoThinking = err == nil, mode == thinkDisabled
				return err
			}},
		{Name: "max-thinking-tokens", Value: "N", Doc: "the token budget for thinking; 0 turns thinking off",
			Set: func(v string) error {
				m.Budgeted = true
				return flags.SetCount(&m.ThinkingBudget, 0)(v)
			}},
		{Name: "betas", Value: "LIST", Doc: "beta features to ask the provider for, separated by commas",
			Set: func(v string) error {
				for name := range strings.SplitSeq(v, ",") {
					if name = strings.TrimSpace(name); name != "" {
						m.Betas = append(m.Betas, name)
					}
				}
				return nil
			}},
	}
}

// agentFlags returns the flags that select the conversation's agent and define additional ones.
func agentFlags(name *string, more **agents.Flags) []flag {
	return []flag{
		{Name: "agent", Value: "NAME", Doc: "the agent that holds the conversation, with its prompt, tools, model and hooks (adze agents lists them)",
			Source: agentNames, Set: flags.SetText(name)},
		{Name: "agents", Inherited: true, Value: "JSON", Doc: "agents for this run: an object by name, each with description, prompt and the other fields of an agent file",
			Set: func(v string) error {
				if *more == nil {
					*more = &agents.Flags{}
				}
				return (*more).Add([]byte(v))
			}},
	}
}

// A promptText holds the flags that replace or extend the system prompt, as text or files.
type promptText struct {
	system, systemFile, extra, extraFile string
	replaced                             bool
}

func promptFlags(p *promptText) []flag {
	replace := func(field *string) func(string) error {
		return func(v string) error { *field, p.replaced = v, true; return nil }
	}
	return []flag{
		{Name: "system-prompt", Value: "TEXT", Doc: "replace the system prompt", Set: replace(&p.system)},
		{Name: "system-prompt-file", Value: "FILE", Doc: "replace the system prompt with the contents of FILE", Set: replace(&p.systemFile)},
		{Name: "append-system-prompt", Value: "TEXT", Doc: "append TEXT to the system prompt", Set: flags.SetText(&p.extra)},
		{Name: "append-system-prompt-file", Value: "FILE", Doc: "append the contents of FILE to the system prompt", Set: flags.SetText(&p.extraFile)},
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
	return flag{Name: "bare", Inherited: true, Doc: "read no instruction files except those in --add-dir directories, and run no hooks", Set: flags.SetBool(p)}
}

func accessFlags(a *wire.AccessSpec) []flag {
	return []flag{
		{Name: "allowed-tools", Inherited: true, Aliases: []string{"allowedTools", "allow"}, Value: "RULES", More: looksLikeRule,
			Doc:    "tool calls to run without asking, such as Bash or \"Bash(git status)\"; separate several by commas or spaces",
			Source: toolNames,
			Set:    flags.AddTo(&a.Allow)},
		{Name: "disallowed-tools", Inherited: true, Aliases: []string{"disallowedTools", "deny"}, Value: "RULES", More: looksLikeRule,
			Doc: "tool calls to refuse",
			Set: flags.AddTo(&a.Deny)},
		{Name: "tools", Inherited: true, Value: "NAMES", More: looksLikeRule, Doc: "offer only these tools; \"default\" means all of them, an empty value none",
			Set: func(v string) error { a.Chosen = true; return flags.AddTo(&a.Tools)(v) }},
		{Name: "permission-mode", Value: "MODE", Doc: "default, acceptEdits, plan, dontAsk, auto or bypassPermissions",
			Source: modeNames,
			Set:    flags.SetText(&a.Mode)},
		{Name: "dangerously-skip-permissions", Doc: "the same as --permission-mode bypassPermissions",
			Set: flags.SetBool(&a.Skip)},
		{Name: "allow-dangerously-skip-permissions", Doc: "let the host switch to bypassPermissions later",
			Set: flags.SetBool(&a.MayBypass)},
		{Name: "add-dir", Inherited: true, Value: "DIR", More: fsys.IsDir, Doc: "an additional working directory; may be repeated",
			Set: func(v string) error {
				if !fsys.IsDir(v) {
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
		{Name: "max-turns", Value: "N", Doc: "stop after N model responses", Set: flags.SetCount(&l.MaxTurns, 1)},
		{Name: "max-budget-usd", Inherited: true, Value: "USD", Doc: "stop when the session has cost this many US dollars",
			Set: func(v string) error {
				usd, err := strconv.ParseFloat(v, 64)
				if err != nil || !(usd > 0) || usd > 1e9 {
					return fmt.Errorf("%q is not a positive number of US dollars", v)
				}
				l.MaxBudgetUSD = usd
				return nil
			}},
		{Name: "token-budget", Value: "N", Doc: "keep working until about N output tokens are used", Set: flags.SetCount(&l.TokenBudget, 1)},
	}
}

func projectFlags(src *settings.Source) []flag {
	return []flag{
		{Name: "settings", Inherited: true, Value: "FILE|JSON", Doc: "additional settings", Set: flags.SetText(&src.Inline)},
		{Name: "setting-sources", Inherited: true, Value: "LIST", Doc: "the settings files to read: user, project, local; an empty list reads none",
			Choices: []string{"user", "project", "local"},
			Set:     func(v string) error { return setScopes(&src.Scopes, v) }},
		{Name: "managed-settings", Inherited: true, Value: "FILE|JSON", Doc: "additional settings that cannot be overridden", Set: flags.SetText(&src.ManagedInline)},
		{Name: "project-config-root", Inherited: true, Value: "DIR", Doc: "the directory of the project's settings, if not the working directory",
			Set: func(v string) (err error) { src.Root, err = filepath.Abs(v); return err }},
		{Name: "trust", Inherited: true, Doc: "trust the workspace for this run", Set: flags.SetBool(&src.Trust)},
		inherited(flags.OneOf(flag{Name: "prompt-size", Value: "SIZE", Doc: "how much context the model gets before the conversation: auto, small, medium or full; small suits local models with little memory"},
			&src.Size, settings.AutoPrompt, settings.SmallPrompt, settings.MediumPrompt, settings.FullPrompt)),
	}
}

// inherited marks a flag as passed on to programs started by this one.
func inherited(f flag) flag {
	f.Inherited = true
	return f
}

func serverFlags(f *mcp.Flags) []flag {
	return []flag{
		{Name: "mcp-config", Inherited: true, Value: "FILE|JSON", More: isConfig, Doc: "MCP servers to add to those in the settings; may be repeated",
			Set: func(v string) error { f.Configs = append(f.Configs, v); return nil }},
		{Name: "ide", Doc: "connect to the editor that has the working directory open, to see its diagnostics", Set: flags.SetBool(&f.Editor)},
		{Name: "strict-mcp-config", Inherited: true, Doc: "use only the MCP servers of --mcp-config", Set: flags.SetBool(&f.Strict)},
	}
}

func pluginDirFlag(dirs *[]string) flag {
	return flag{Name: "plugin-dir", Inherited: true, Value: "DIR", Doc: "use the plugin in this folder, for this run; may be repeated",
		Set: func(v string) error { *dirs = append(*dirs, v); return nil }}
}

// isConfig reports whether an argument following a server file is another one rather than a
// prompt.
func isConfig(arg string) bool {
	info, err := os.Stat(arg)
	return err == nil && info.Mode().IsRegular() && strings.HasSuffix(arg, ".json") || strings.HasPrefix(arg, `{"mcpServers"`)
}

// setScopes parses --setting-sources.
func setScopes(scopes *[]scope.Scope, v string) error {
	*scopes = []scope.Scope{}
	for name := range strings.SplitSeq(v, ",") {
		if name = strings.TrimSpace(name); name == "" {
			continue
		}
		from, err := scope.Parse(name)
		if err != nil || !from.Writable() {
			return fmt.Errorf("invalid value %q (want user, project or local)", name)
		}
		*scopes = append(*scopes, from)
	}
	return nil
}

func debugFlags(d *wire.DebugSpec) []flag {
	return []flag{
		{Name: "debug", Value: "FILTER", Optional: true, Doc: "write a debug log; FILTER is a comma-separated list of words that lines must contain, or with ! must not contain",
			Set: func(v string) error { d.On, d.Filter = true, v; return nil }},
		{Name: "debug-file", Value: "FILE", Doc: "write the debug log to FILE",
			Set: func(v string) error { d.On, d.File = true, v; return nil }},
	}
}

func helpFlag(p *bool) flag {
	return flag{Name: "help", Short: "h", Doc: "print help", Set: flags.SetBool(p)}
}

func jsonFlag(p *bool) flag { return flag{Name: "json", Doc: "print JSON", Set: flags.SetBool(p)} }

// looksLikeRule reports whether an argument following a list of rules belongs to the list: a
// prompt of several words does not.
func looksLikeRule(arg string) bool {
	name, _, content := strings.Cut(arg, "(")
	if name == "" || content && !strings.HasSuffix(arg, ")") {
		return false
	}
	return strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-*,") == "" && name[0] != '-'
}
