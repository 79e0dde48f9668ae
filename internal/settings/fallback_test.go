package settings

import (
	"strings"
	"testing"

	"adze/internal/settings/config"
)

// TestFallbackVariables checks that another tool's variable applies if ours is unset. If both
// are set and differ, ours wins, and this is logged once to the debug log.
//
// Proves.
func TestFallbackVariables(t *testing.T) {
	for _, tt := range []struct{ key, own, other, value string }{
		{"", "ADZE_SIMPLE", "CLAUDE_CODE_SIMPLE", "1"},
		{"", "ADZE_DISABLE_INSTRUCTIONS", "CLAUDE_CODE_DISABLE_CLAUDE_MDS", "1"},
		{"", "ADZE_COORDINATOR_MODE", "CLAUDE_CODE_COORDINATOR_MODE", "1"},
		{"", "ADZE_TASK_LIST_ID", "CLAUDE_CODE_TASK_LIST_ID", "theirs"},
		{"", "ADZE_TEAM_NAME", "CLAUDE_CODE_TEAM_NAME", "theirs"},
		{"", "ADZE_DISABLE_CRON", "CLAUDE_CODE_DISABLE_CRON", "1"},
		{"", "ADZE_DISABLE_EXPERIMENTAL_BETAS", "CLAUDE_CODE_DISABLE_EXPERIMENTAL_BETAS", "1"},
		{"tools.deferral", "ADZE_EXTRA_TOOLS", "ENABLE_SEARCH_EXTRA_TOOLS", "auto:5"},
		{"tools.deferral", "ADZE_EXTRA_TOOLS", "ENABLE_TOOL_SEARCH", "auto:5"},
		{"read.maxTokens", "ADZE_FILE_READ_MAX_OUTPUT_TOKENS", "CLAUDE_CODE_FILE_READ_MAX_OUTPUT_TOKENS", "12345"},
		{"", "ADZE_USE_BUILTIN_RIPGREP", "USE_BUILTIN_RIPGREP", "1"},
		{"webSearch.adapter", "ADZE_WEB_SEARCH_ADAPTER", "WEB_SEARCH_ADAPTER", "brave"},
		{"shell.defaultTimeoutMs", "ADZE_BASH_DEFAULT_TIMEOUT_MS", "BASH_DEFAULT_TIMEOUT_MS", "12345"},
		{"shell.maxTimeoutMs", "ADZE_BASH_MAX_TIMEOUT_MS", "BASH_MAX_TIMEOUT_MS", "12345"},
		{"shell.maxOutputChars", "ADZE_BASH_MAX_OUTPUT_LENGTH", "BASH_MAX_OUTPUT_LENGTH", "12345"},
		{"", "ADZE_MAX_THINKING_TOKENS", "MAX_THINKING_TOKENS", "12345"},
		{"", "ADZE_MAX_OUTPUT_TOKENS", "CLAUDE_CODE_MAX_OUTPUT_TOKENS", "12345"},
		{"", "ADZE_MAX_RETRIES", "CLAUDE_CODE_MAX_RETRIES", "12"},
		{"", "ADZE_MEMORY_PATH_OVERRIDE", "CLAUDE_COWORK_MEMORY_PATH_OVERRIDE", "/theirs"},
		{"", "ADZE_MCP_TIMEOUT", "MCP_TIMEOUT", "12345"},
		{"", "ADZE_MCP_TOOL_TIMEOUT", "MCP_TOOL_TIMEOUT", "12345"},
		{"", "ADZE_MAX_MCP_OUTPUT_TOKENS", "MAX_MCP_OUTPUT_TOKENS", "12345"},
		{"", "ADZE_MCP_SERVER_CONNECTION_BATCH_SIZE", "MCP_SERVER_CONNECTION_BATCH_SIZE", "12"},
		{"", "ADZE_MCP_REMOTE_SERVER_CONNECTION_BATCH_SIZE", "MCP_REMOTE_SERVER_CONNECTION_BATCH_SIZE", "12"},
		{"", "ADZE_API_KEY", "ANTHROPIC_API_KEY", "theirs"},
		{"", "ADZE_AUTH_TOKEN", "ANTHROPIC_AUTH_TOKEN", "theirs"},
		{"", "ADZE_BASE_URL", "ANTHROPIC_BASE_URL", "https://theirs.example"},
		{"model", "ADZE_MODEL", "ANTHROPIC_MODEL", "theirs"},
		{"", "ADZE_SMALL_MODEL", "ANTHROPIC_SMALL_FAST_MODEL", "theirs"},
		{"", "ADZE_BEDROCK_BASE_URL", "ANTHROPIC_BEDROCK_BASE_URL", "https://theirs.example"},
		{"", "ADZE_VERTEX_PROJECT_ID", "ANTHROPIC_VERTEX_PROJECT_ID", "theirs"},
		{"", "ADZE_CACHE_1H_BEDROCK", "ENABLE_PROMPT_CACHING_1H_BEDROCK", "1"},
	} {
		t.Run(tt.other, func(t *testing.T) {
			key := tt.key
			if key == "" {
				key = tt.own
			}
			set := map[string]string{tt.other: tt.value}
			p := newPlace(t)
			settings := func() *config.Settings {
				src := Source{Dir: p.Path("work"), Managed: p.Path("etc"), Getenv: func(name string) string {
					if value, ok := set[name]; ok {
						return value
					}
					return p.Getenv(name)
				}}
				project, _ := Open(src) // ok: these are valid
				return project.Settings()
			}
			s := settings()
			if origin := s.Origin(key); origin != tt.other || len(s.Outdone()) > 0 {
				t.Errorf("alone: from %q, and %q", origin, s.Outdone())
			}
			set[tt.own] = tt.value
			if s = settings(); s.Origin(key) != tt.own || len(s.Outdone()) > 0 {
				t.Errorf("with the same value: from %q, and %q", s.Origin(key), s.Outdone())
			}
			set[tt.own] = strings.NewReplacer("12", "11", "1", "0", "theirs", "ours", "brave", "api", "5", "6").Replace(tt.value)
			s = settings()
			if want := tt.own + " is used, and not " + tt.other; s.Origin(key) != tt.own || strings.Join(s.Outdone(), "\n") != want {
				t.Errorf("with %s: from %q, and %q", set[tt.own], s.Origin(key), s.Outdone())
			}
		})
	}
}
