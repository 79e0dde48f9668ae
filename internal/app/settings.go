package app

import (
	"path/filepath"

	"adze/internal/platform/config"
	"adze/internal/platform/fsys"
	"adze/internal/platform/spell"
)

// settingKeys is the table of all settings: whatever the program reads from a settings file or from
// the environment is declared here. It must agree with docs/reference/settings.md.
func settingKeys() []config.Key {
	return []config.Key{
		{Name: "model", Env: []string{"ADZE_MODEL", "ANTHROPIC_MODEL"}, Kind: config.Text, Accepted: "a model id or alias, or `replay:FILE`",
			Doc: "the model to use", Requirement: "SESS-02"},
		{Name: "fallbackModel", Env: []string{"ADZE_FALLBACK_MODEL"}, Kind: config.Text, Accepted: "a model id or alias",
			Doc: "the model for the rest of a turn when the main one is overloaded", Requirement: "PROV-52"},
		{Name: "provider", Env: []string{"ADZE_PROVIDER"}, Kind: config.Text, Accepted: "a provider's name",
			Doc: "where models are asked", Requirement: "PROV-02"},
		{Name: "models", Kind: config.Object, Accepted: "an object by model id: `contextWindow`, `maxOutput`, `images`",
			Doc: "corrections to the table of models", Requirement: "PROV-12"},
		{Name: "modelPricing", Kind: config.Object, Accepted: "an object by model id: `input`, `output`, `cacheRead`, `cacheWrite`, in USD per million tokens",
			Doc: "prices of models", Requirement: "SESS-41"},
		{Name: "effort", Env: []string{"ADZE_EFFORT"}, Kind: config.Text, Choices: []string{"low", "medium", "high", "max"},
			Doc: "how hard the model should try", Requirement: "PROV-40"},

		{Env: []string{"ADZE_API_KEY", "ANTHROPIC_API_KEY"}, Kind: config.Text, Accepted: "a secret",
			Doc: "the key for the Anthropic API", Requirement: "PROV-02"},
		{Env: []string{"ADZE_AUTH_TOKEN", "ANTHROPIC_AUTH_TOKEN"}, Kind: config.Text, Accepted: "a secret",
			Doc: "a bearer token, instead of the key", Requirement: "PROV-03"},
		{Name: "apiKeyHelper", Kind: config.Text, Accepted: "a shell command",
			Doc: "a command that prints the key; asked again after 5 minutes and when the key is refused", Requirement: "PROV-04"},
		{Env: []string{"ADZE_BASE_URL", "ANTHROPIC_BASE_URL"}, Kind: config.Text, Accepted: "an address",
			Doc: "another server that speaks the protocol of the Anthropic API", Requirement: "PROV-03"},
		{Env: []string{"ADZE_CUSTOM_HEADERS", "ANTHROPIC_CUSTOM_HEADERS"}, Kind: config.Text, Accepted: "lines of `Name: value`",
			Doc: "headers to send with every request", Requirement: "PROV-03"},
		{Env: []string{"ADZE_EXTRA_BODY", "CLAUDE_CODE_EXTRA_BODY"}, Kind: config.Object, Accepted: "a JSON object",
			Doc: "members to add to every request", Requirement: "PROV-62"},
		{Env: []string{"ADZE_EXTRA_CA_CERTS", "NODE_EXTRA_CA_CERTS"}, Kind: config.Text, Accepted: "a file in PEM form",
			Doc: "certificates to trust besides the system's", Requirement: "PROV-03"},
		{Env: []string{"ADZE_ALLOW_INSECURE_HTTP"}, Kind: config.Bool, Default: "false",
			Doc: "permit plain http to other hosts", Requirement: "PROV-03"},
		{Env: []string{"CLAUDE_CODE_USE_BEDROCK"}, Kind: config.Bool, Default: "false", Doc: "choose the provider bedrock", Requirement: "PROV-02"},
		{Env: []string{"CLAUDE_CODE_USE_VERTEX"}, Kind: config.Bool, Default: "false", Doc: "choose the provider vertex", Requirement: "PROV-02"},
		{Env: []string{"CLAUDE_CODE_USE_FOUNDRY"}, Kind: config.Bool, Default: "false", Doc: "choose the provider foundry", Requirement: "PROV-02"},
		{Env: []string{"OPENAI_API_KEY"}, Kind: config.Text, Accepted: "a secret", Doc: "choose the provider openai", Requirement: "PROV-02"},
		{Env: []string{"GEMINI_API_KEY", "GOOGLE_API_KEY"}, Kind: config.Text, Accepted: "a secret", Doc: "choose the provider gemini", Requirement: "PROV-02"},
		{Env: []string{"XAI_API_KEY"}, Kind: config.Text, Accepted: "a secret", Doc: "choose the provider grok", Requirement: "PROV-02"},

		{Env: []string{"ADZE_MAX_RETRIES", "CLAUDE_CODE_MAX_RETRIES"}, Kind: config.Int, Default: "10", Min: 1, Max: 100, OrZero: true,
			Doc: "how often a request is sent again", Requirement: "PROV-50"},
		{Env: []string{"ADZE_UNATTENDED_RETRY"}, Kind: config.Bool, Default: "false",
			Doc: "wait out rate limits and overload for up to 6 hours", Requirement: "PROV-56"},
		{Env: []string{"ADZE_STREAM_IDLE_TIMEOUT_MS"}, Kind: config.Int, Default: "90000", Min: 1000, Max: 600_000,
			Doc: "how long an answer may be silent", Requirement: "PROV-21"},
		{Env: []string{"ADZE_MAX_OUTPUT_TOKENS", "CLAUDE_CODE_MAX_OUTPUT_TOKENS"}, Kind: config.Int, Min: 1, Max: 1_000_000,
			Doc: "the output limit of a response, which is then never raised", Requirement: "LOOP-22"},
		{Env: []string{"ADZE_MAX_THINKING_TOKENS", "MAX_THINKING_TOKENS"}, Kind: config.Int, Min: 1024, Max: 1_000_000, OrZero: true,
			Doc: "let the model think with this budget; 0 switches thinking off", Requirement: "PROV-40"},
		{Env: []string{"ADZE_DISABLE_PROMPT_CACHING", "DISABLE_PROMPT_CACHING"}, Kind: config.Bool, Default: "false",
			Doc: "send no cache marks", Requirement: "PROV-30"},
		{Name: "sendMetadata", Kind: config.Bool, Default: "false",
			Doc: "send the session's id to the provider", Requirement: "PROV-62"},
		{Name: "attributionHeader", Kind: config.Bool, Default: "true",
			Doc: "name adze and its version in the first block of the system prompt", Requirement: "CTX-17"},

		{Env: []string{"ADZE_SIMPLE", "CLAUDE_CODE_SIMPLE"}, Kind: config.Bool, Default: "false",
			Doc: "a system prompt of three lines, and only the tools Bash, Read and Edit", Requirement: "REG-07"},
		{Env: []string{"ADZE_MAX_TOOL_CONCURRENCY", "CLAUDE_CODE_MAX_TOOL_USE_CONCURRENCY"}, Kind: config.Int, Default: "10", Min: 1, Max: 64,
			Doc: "how many calls may run at once", Requirement: "EXEC-10"},
		{Env: []string{"ADZE_STREAMING_TOOLS"}, Kind: config.Bool, Default: "true",
			Doc: "start calls while the response still arrives", Requirement: "LOOP-13"},
		{Env: []string{"ADZE_OFFLINE"}, Kind: config.Bool, Default: "false",
			Doc: "use no network beside the provider", Requirement: "WSR-12"},
		{Name: "read.maxBytes", Kind: config.Int, Default: "262144", Min: 1024, Max: 64 << 20,
			Doc: "the largest file that Read shows without a limit", Requirement: "LIM-01"},
		{Name: "read.maxTokens", Env: []string{"ADZE_FILE_READ_MAX_OUTPUT_TOKENS", "CLAUDE_CODE_FILE_READ_MAX_OUTPUT_TOKENS"}, Kind: config.Int, Default: "25000", Min: 100, Max: 1_000_000,
			Doc: "the most that Read returns, in tokens", Requirement: "LIM-02"},
		{Name: "read.dedup", Kind: config.Bool, Default: "true",
			Doc: "answer a repeated read of an unchanged file with a note", Requirement: "READ-06"},
		{Name: "read.malwareReminderExempt", Kind: config.List, Default: "claude-opus-4-6", Accepted: "a list of model ids",
			Doc: "models that are not reminded about malware after a read", Requirement: "READ-09"},
		{Name: "edit.allowCovered", Kind: config.Bool, Default: "true",
			Doc: "allow edits inside the lines of a file that were read", Requirement: "FST-02"},
		{Name: "fileHistory.enabled", Kind: config.Bool, Default: "true",
			Doc: "keep what files held before they were changed, for going back", Requirement: "HIST-05"},
		{Name: "search.engine", Kind: config.Text, Default: "builtin", Accepted: "`builtin`, `system`, `auto`",
			Doc: "what searches: the engine of adze, or the ripgrep on the PATH", Requirement: "ENG-02"},
		{Env: []string{"ADZE_USE_BUILTIN_RIPGREP", "USE_BUILTIN_RIPGREP"}, Kind: config.Bool, Default: "true",
			Doc: "false is the same as the engine `system`", Requirement: "ENG-02"},
		{Name: "search.timeoutMs", Kind: config.Int, Min: 1000, Max: 600_000,
			Doc: "the time limit of a search; not set means 20 s, and 60 s in the Windows subsystem for Linux", Requirement: "ENG-07"},
		{Name: "shell.defaultTimeoutMs", Kind: config.Int, Default: "120000", Min: 1000, Max: 3_600_000,
			Doc: "the time limit of commands that give none", Requirement: "SHTO-01"},
		{Name: "shell.maxTimeoutMs", Kind: config.Int, Default: "600000", Min: 1000, Max: 3_600_000,
			Doc: "the time limit of all commands", Requirement: "SHTO-01"},
		{Env: []string{"ADZE_SUBPROCESS_ENV_SCRUB", "CLAUDE_CODE_SUBPROCESS_ENV_SCRUB"}, Kind: config.Bool, Default: "false",
			Doc: "keep variables that look like secrets from commands", Requirement: "SH-04"},
		{Name: "shell.passEnv", Kind: config.List, Accepted: "a list of variable names",
			Doc: "variables that commands get although they look like secrets", Requirement: "SH-04"},
		{Name: "permissions.allow", Kind: config.List, Accepted: "a list of rules", Doc: "calls that may run without a question", Requirement: "PERM-01"},
		{Name: "permissions.deny", Kind: config.List, Accepted: "a list of rules", Doc: "calls that may not run", Requirement: "PERM-01"},
		{Env: []string{"IS_SANDBOX"}, Kind: config.Bool, Default: "false",
			Doc: "say nothing when permissions are skipped as root, because this is a sandbox", Requirement: "PERM-22"},
		{Name: "permissions.defaultMode", Kind: config.Text, Accepted: "a permission mode", Doc: "the permission mode of new sessions", Requirement: "PERM-21"},

		{Env: []string{"ADZE_HOME"}, Kind: config.Text, Accepted: "a directory; `~/.adze` if not set",
			Doc: "where adze keeps its files", Requirement: "SESS-10"},
		{Env: []string{"ADZE_SKIP_TRANSCRIPT"}, Kind: config.Bool, Default: "false",
			Doc: "write no transcript", Requirement: "SESS-14"},
		{Name: "cleanupPeriodDays", Kind: config.Int, Min: 1, Max: 36_500, OrZero: true,
			Doc: "remove sessions that are older; not set means never, 0 means that none are kept at all", Requirement: "SESS-14"},
		{Env: []string{"ADZE_NO_FSYNC"}, Kind: config.Bool, Default: "false",
			Doc: "leave it to the system when records reach the disk, for measuring", Requirement: "SESS-12"},
	}
}

// loadSettings reads the settings in force and tells the person what is wrong with them. Home is the
// state home, empty when there is none.
func loadSettings(env *Env, o *options) (s *config.Settings, home string, err error) {
	home, err = fsys.StateHome(env.Getenv)
	file := ""
	if err == nil {
		file = filepath.Join(home, "settings.json")
	}
	s, warnings := config.Load(config.Sources{
		File: file, Extra: o.settings, Getenv: env.Getenv, Closest: spell.Closest,
	}, settingKeys())
	for _, w := range warnings {
		env.say(w.String())
	}
	return s, home, err
}
