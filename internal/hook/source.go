package hook

import (
	"encoding/json"
	"fmt"
	"time"

	"adze/internal/platform/scope"
	"adze/internal/tool"
)

// A Source is one place that defines hooks. Managed ones can be neither disabled nor replaced.
type Source struct {
	Name  string // as users know it, such as "user settings"
	Scope scope.Scope
	File  string // empty if there is none
	// JSON is the object that maps events to hooks.
	JSON json.RawMessage
	// Workspace says that the source lies in the workspace: its hooks run only if that is trusted, and
	// never see the secrets of providers.
	Workspace, Trusted bool
	// Plugin is the plugin that the source is of; nil for others. Its hooks never see the secrets of providers either.
	Plugin *Plugin
}

// A Problem is something wrong with a source. The rest of the source is in force.
type Problem struct {
	Source string
	File   string
	Path   string // within the source, such as "PreToolUse[0].hooks[1].timeout"
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

// A Type is how a hook is run.
type Type string

// The types. Settings can define all but callbacks.
const (
	TypeCommand  Type = "command"
	TypePrompt   Type = "prompt"
	TypeAgent    Type = "agent"
	TypeHTTP     Type = "http"
	TypeTool     Type = "mcp_tool"
	TypeCallback Type = "callback"
)

// A failure says what becomes of a call whose hook gave no verdict.
type failure uint8

const (
	failAsks failure = iota
	failContinues
	failBlocks
)

// A spec is one hook as it was defined.
type spec struct {
	event   Name
	matcher matcher
	cond    condition
	source  *Source
	raw     json.RawMessage // as it was written, for approval
	handler

	timeout     time.Duration // 0: the default
	status      string
	onFailure   failure
	once        bool
	async       bool
	asyncRewake bool
	asks        bool // it may ask the user: its standard input stays open
}

// A handler is what a hook runs. Which fields count depends on its type.
type handler struct {
	typ      Type
	words    []string // a command of several words is run without a shell
	command  string
	shell    string
	prompt   string
	model    string // that the prompt or agent is for; empty means the small one
	url      string
	headers  map[string]string
	allowed  []string // variables that headers may contain
	server   string   // that has the tool
	tool     string
	input    json.RawMessage // of the tool, with places for what the event says; may be nil
	callback string
}

// label is what users recognise the hook by.
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

// who is the hook as the subject of a sentence.
func (s *spec) who() string { return fmt.Sprintf("%s hook `%s`", s.event, tool.OneLine(s.label(), 80)) }

const (
	defaultTimeout = 10 * time.Minute
	promptTimeout  = 30 * time.Second // of hooks of type prompt
	agentTimeout   = time.Minute      // of hooks of type agent
)

// limit returns how long the hook may run. SessionEnd is for hooks of that event that set nothing.
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

// key tells apart hooks that do the same. Callbacks of the host are never the same.
func (s *spec) key() string {
	if s.typ == TypeCallback {
		return ""
	}
	root := ""
	if p := s.source.Plugin; p != nil {
		root = p.Root // the same template means another program in each plugin
	}
	return fmt.Sprintf("%s\x00%s\x00%q", root, s.typ, []string{s.shell, s.command, fmt.Sprint(s.words), s.url, s.prompt, s.model, s.server, s.tool, string(s.input), s.cond.text})
}
