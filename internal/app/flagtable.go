package app

import (
	"adze/internal/model"
	"adze/internal/ui/headless"
)

// runFlags are the flags of a run, in the order of the help text.
func runFlags() []flag {
	return append(supportedFlags(), missingFlags()...)
}

func supportedFlags() []flag {
	return []flag{
		{name: "print", short: "p", doc: "run one turn and print the answer; the default when stdin or stdout is not a terminal",
			set: setBool(func(o *options) *bool { return &o.print })},
		{name: "plain", doc: "leave line editing to the terminal and use no colours, for screen readers and simple terminals",
			set: setBool(func(o *options) *bool { return &o.plain })},
		{name: "output-format", value: "FORMAT", doc: "text, json (one result object) or stream-json (every message as a line; needs --verbose)",
			set: setChoice(func(o *options) *headless.Format { return &o.output }, headless.Text, headless.JSON, headless.StreamJSON)},
		{name: "input-format", value: "FORMAT", doc: "text, or stream-json: prompts and requests as lines of JSON on stdin",
			set: setChoice(func(o *options) *string { return &o.input }, inputText, inputStream)},
		{name: "verbose", doc: "say what is being done",
			set: setBool(func(o *options) *bool { return &o.verbose })},
		{name: "include-partial-messages", doc: "add the provider's own events to stream-json",
			set: setBool(func(o *options) *bool { return &o.partial })},
		{name: "include-hook-events", doc: "add what hooks do to stream-json",
			set: setBool(func(o *options) *bool { return &o.hookEvents })},

		{name: "replay-user-messages", doc: "add the prompts to stream-json when they are stored",
			set: setBool(func(o *options) *bool { return &o.replay })},
		{name: "json-schema", value: "SCHEMA|FILE", doc: "end each turn in a value that fits this JSON Schema; it is the structured_output of the result",
			set: setText(func(o *options) *string { return &o.schema })},

		{name: "model", value: "NAME", doc: "model id or alias, or replay:FILE for a script (adze models lists them)",
			set: setText(func(o *options) *string { return &o.model })},
		{name: "fallback-model", value: "NAME", doc: "model for the rest of the turn when the main one is overloaded",
			set: setText(func(o *options) *string { return &o.fallback })},
		{name: "provider", value: "NAME", doc: "where models are asked, such as anthropic",
			set: setText(func(o *options) *string { return &o.provider })},
		{name: "effort", value: "LEVEL", doc: "how hard the model should try: low, medium, high or max",
			set: setChoice(func(o *options) *model.Effort { return &o.effort }, model.EffortLow, model.EffortMedium, model.EffortHigh, model.EffortMax)},
		{name: "thinking", value: "MODE", doc: "adaptive, enabled or disabled",
			set: setChoice(func(o *options) *string { return &o.thinking }, thinkAdaptive, thinkEnabled, thinkDisabled)},
		{name: "max-thinking-tokens", value: "N", doc: "let the model think with a budget of N tokens; 0 switches it off",
			set: setCount(func(o *options) *int { return &o.thinkingTokens }, 0)},
		{name: "record-requests", value: "DIR", doc: "write requests and responses to DIR, as a script that can be replayed",
			set: setText(func(o *options) *string { return &o.record })},

		{name: "system-prompt", value: "TEXT", doc: "replace the system prompt",
			set: setText(func(o *options) *string { return &o.system })},
		{name: "system-prompt-file", value: "FILE", doc: "replace the system prompt by a file",
			set: setText(func(o *options) *string { return &o.systemFile })},
		{name: "append-system-prompt", value: "TEXT", doc: "add to the system prompt",
			set: setText(func(o *options) *string { return &o.appended })},
		{name: "append-system-prompt-file", value: "FILE", doc: "add a file to the system prompt",
			set: setText(func(o *options) *string { return &o.appendedFile })},
		{name: "disable-slash-commands", doc: "without a terminal, take commands such as /compact for prompts like any other",
			set: setBool(func(o *options) *bool { return &o.noCommands })},
		{name: "bare", doc: "read no instruction files but those of --add-dir, and run no hooks",
			set: setBool(func(o *options) *bool { return &o.bare })},

		{name: "allowed-tools", aliases: []string{"allowedTools", "allow"}, value: "RULES", more: looksLikeRule,
			doc: "tools that may run without a question, such as Bash or \"Bash(git status)\"; a comma list or several values",
			set: addList(func(o *options) *[]string { return &o.allow })},
		{name: "disallowed-tools", aliases: []string{"disallowedTools", "deny"}, value: "RULES", more: looksLikeRule,
			doc: "tools that may not run",
			set: addList(func(o *options) *[]string { return &o.deny })},
		{name: "tools", value: "NAMES", more: looksLikeRule, doc: "offer only these tools; \"default\" means all, an empty value none",
			set: addList(func(o *options) *[]string { return &o.tools })},
		{name: "permission-mode", value: "MODE", doc: "default, acceptEdits, plan, dontAsk, auto or bypassPermissions",
			set: setText(func(o *options) *string { return &o.mode })},
		{name: "permission-prompt-tool", value: "NAME", doc: "who is asked about calls; stdio means the host, over --input-format stream-json",
			set: setAsker},
		{name: "dangerously-skip-permissions", doc: "the same as --permission-mode bypassPermissions",
			set: setBool(func(o *options) *bool { return &o.bypass })},
		{name: "allow-dangerously-skip-permissions", doc: "let a host switch to bypassPermissions later",
			set: setBool(func(o *options) *bool { return &o.bypassAllowed })},
		{name: "add-dir", value: "DIR", more: isDir, doc: "a further directory to work in; may be repeated",
			set: setDir},

		{name: "max-turns", value: "N", doc: "stop after N model responses",
			set: setCount(func(o *options) *int { return &o.maxTurns }, 1)},
		{name: "max-budget-usd", value: "USD", doc: "stop when the session has cost this much",
			set: setBudget},
		{name: "token-budget", value: "N", doc: "work until about N output tokens are used",
			set: setCount(func(o *options) *int { return &o.tokenBudget }, 1)},

		{name: "session-id", value: "UUID", doc: "the id of the new session",
			set: setSession},
		{name: "continue", short: "c", doc: "go on with the latest session of this directory",
			set: setBool(func(o *options) *bool { return &o.latest })},
		{name: "resume", short: "r", value: "SESSION", bare: true, doc: "go on with an earlier session: its id, its title or its file; alone, at a terminal, it offers a list",
			set: setResume},
		{name: "resume-session-at", value: "ID", doc: "with --resume, go on after this message and leave out the later ones",
			set: setText(func(o *options) *string { return &o.resumeAt })},
		{name: "fork-session", doc: "with --resume or --continue, go on in a copy with an id of its own",
			set: setBool(func(o *options) *bool { return &o.fork })},
		{name: "rewind-files", value: "ID", doc: "with --resume, restore the files to what they were before this message",
			set: setText(func(o *options) *string { return &o.rewind })},
		{name: "force", doc: "with --rewind-files, also restore files that others have changed since",
			set: setBool(func(o *options) *bool { return &o.force })},
		{name: "no-session-persistence", doc: "write no transcript",
			set: setBool(func(o *options) *bool { return &o.ephemeral })},
		{name: "settings", value: "FILE|JSON", doc: "further settings",
			set: setText(func(o *options) *string { return &o.settings })},
		{name: "setting-sources", value: "LIST", doc: "read only these settings: user, project, local; an empty list reads none",
			set: setSources},
		{name: "managed-settings", value: "FILE|JSON", doc: "further settings that nobody can override",
			set: setText(func(o *options) *string { return &o.managed })},
		{name: "project-config-root", value: "DIR", doc: "where the project's settings are, if not here",
			set: setConfigRoot},
		{name: "trust", doc: "trust the workspace for this run",
			set: setBool(func(o *options) *bool { return &o.trust })},
		{name: "debug", value: "FILTER", optional: true, doc: "write a debug log; a filter is a comma list of words that lines must have, or with ! not have",
			set: func(o *options, v string) error { o.debug, o.filter = true, v; return nil }},
		{name: "debug-file", value: "FILE", doc: "write the debug log to FILE",
			set: func(o *options, v string) error { o.debug, o.debugFile = true, v; return nil }},
		{name: "pprof", value: "ADDRESS", doc: "serve profiles of the program at an address of this machine, such as 127.0.0.1:6060",
			set: setProfiling},

		{name: "version", short: "v", doc: "print the version", set: setBool(func(o *options) *bool { return &o.version })},
		{name: "help", short: "h", doc: "print this help", set: setBool(func(o *options) *bool { return &o.help })},
	}
}

const (
	thinkAdaptive = "adaptive"
	thinkEnabled  = "enabled"
	thinkDisabled = "disabled"
)

// missingFlags are those that clients know and this version does not have the part for.
func missingFlags() []flag {
	const (
		servers = "MCP servers"
		agents  = "sub-agents"
		hosting = "questions to the host"
	)
	return []flag{
		{name: "permission-prompts", value: "MODE", missing: hosting},
		{name: "mcp-config", value: "CONFIG", missing: servers},
		{name: "strict-mcp-config", missing: servers},
		{name: "plugin-dir", value: "DIR", missing: "plugins"},
		{name: "agent", value: "NAME", missing: agents},
		{name: "agents", value: "JSON", missing: agents},
		{name: "task-budget", value: "N", missing: "task budgets"},
		{name: "betas", value: "LIST", missing: "a way to ask for betas"},

		{name: "worktree", short: "w", value: "NAME", missing: "worktrees", refused: true},
		{name: "bg", missing: "background sessions", refused: true},
		{name: "tmux", missing: "worktrees", refused: true},
		{name: "ide", missing: "a connection to editors", refused: true},
		{name: "init", missing: "hooks at set-up", refused: true},
		{name: "init-only", missing: "hooks at set-up", refused: true},
		{name: "maintenance", missing: "hooks at set-up", refused: true},
	}
}
