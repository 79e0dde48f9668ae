package hook

import (
	"encoding/json"
	"fmt"
	"time"

	"adze/internal/platform/fs/scope"
	"adze/internal/tool"
)

// A Source defines hooks. Managed sources can be neither disabled nor replaced.
type Source struct {
	Name  string // display name, such as "user settings"
	Scope scope.Scope
	File  string // empty if none
	// JSON is the object that maps events to hooks.
	JSON json.RawMessage
	// Workspace means that the source is in the workspace: its hooks run only if the workspace
	// is trusted, and never see provider secrets.
	Workspace, Trusted bool
	// Plugin is the source's plugin; nil for others. Its hooks never see provider secrets
	// either.
	Plugin *Plugin
}

// A Problem is an error in a source. The rest of the source applies.
type Problem struct {
	Source string
	File   string
	Path   string // path within the source, such as "PreToolUse[0].hooks[1].timeout"
	Text   string
}

// Error returns the problem as one line for the user.
func (p Problem) Error() string {
	where := p.File
	if where == "" {
		where = p.Source
	}
	if p.Path == "" {
		return fmt.Sprintf("%s: hooks: %s", where, p.Text)
	}
	return fmt.Sprintf("%s: hooks.%s: %s", where, p.Path, p.Text)
}

// A Type is a hook's type.
type Type string

// The types. Settings can define all except callbacks.
const (
	TypeCommand  Type = "command"
	TypePrompt   Type = "prompt"
	TypeAgent    Type = "agent"
	TypeHTTP     Type = "http"
	TypeTool     Type = "mcp_tool"
	TypeCallback Type = "callback"
)

// A failure determines the effect of a hook that gave no verdict.
type failure uint8

const (
	failAsks failure = iota
	failContinues
	failBlocks
)

// A spec is a hook's definition.
type spec struct {
	event   Name
	matcher matcher
	cond    condition
	source  *Source
	raw     json.RawMessage // original JSON, for approval
	handler

	timeout     time.Duration // 0 means the default
	status      string
	onFailure   failure
	once        bool
	async       bool
	asyncRewake bool
	asks        bool // may ask the user: its standard input stays open
}

// A handler holds the action of a hook. Its type determines which fields count.
type handler struct {
	typ      Type
	words    []string // run without a shell
	command  string
	shell    string
	prompt   string
	model    string // model for a prompt or agent; empty means the small one
	url      string
	headers  map[string]string
	allowed  []string // variables that headers may contain
	server   string   // the tool's server
	tool     string
	input    json.RawMessage // the tool's input, with placeholders for event values; may be nil
	callback string
}

// label identifies the hook to users.
func (s *handler) label() string {
	switch s.typ {
	case TypeCommand:
		return s.command
	case TypeHTTP:
		return s.url
	case TypePrompt, TypeAgent:
		return s.prompt
	case TypeTool:
		return s.server + " " + s.tool
	}
	return s.callback
}

// who returns the hook's description as the subject of a sentence.
func (s *spec) who() string { return fmt.Sprintf("%s hook `%s`", s.event, tool.OneLine(s.label(), 80)) }

const (
	defaultTimeout = 10 * time.Minute
	promptTimeout  = 30 * time.Second // default for prompt hooks
	agentTimeout   = time.Minute      // default for agent hooks
)

// limit returns the hook's time limit. SessionEnd is the default for hooks of that event.
func (s *spec) limit(k kind, sessionEnd time.Duration) time.Duration {
	switch {
	case s.timeout > 0:
		return s.timeout
	case k.name == SessionEnd:
		return sessionEnd
	case s.typ == TypePrompt:
		return promptTimeout
	case s.typ == TypeAgent:
		return agentTimeout
	case k.timeout > 0:
		return k.timeout
	}
	return defaultTimeout
}

// key identifies hooks that do the same. A host's callbacks are always distinct.
func (s *spec) key() string {
	if s.typ == TypeCallback {
		return ""
	}
	root := ""
	if p := s.source.Plugin; p != nil {
		root = p.Root // the same template runs another program in each plugin
	}
	return fmt.Sprintf("%s\x00%s\x00%q", root, s.typ, []string{s.shell, s.command, fmt.Sprint(s.words), s.url, s.prompt, s.model, s.server, s.tool, string(s.input), s.cond.text})
}
