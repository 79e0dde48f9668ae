// Package agentdef loads agent definitions: an agent's prompt, permissions and run options.
// Definitions are Markdown files with front matter, JSON from the command line, or built in; a
// [Library] finds them and resolves name conflicts.
package agentdef

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Definition is an agent type. It is immutable; a changed file is a new definition.
type Definition struct {
	// Name is the agent's name, such as Explore or plugin:reviewer.
	Name        string
	Description string // intended use
	Prompt      string // system prompt; empty means the default one for agents
	Access
	Model  string // alias or ID; empty means the current one
	Effort string // empty means the current one
	// MaxTurns limits its iterations; 0 means no limit of its own.
	MaxTurns int
	// Hooks are active while it runs, in the format of settings; nil if none.
	Hooks  json.RawMessage
	Memory Memory
	// Background makes it always run in the background; Worktree gives it its own working copy.
	Background, Worktree bool
	// OmitInstructions omits instruction files and the repository state from its context.
	OmitInstructions bool
	// OneShot agents can't be continued after their report.
	OneShot bool
	// InitialPrompt is the first message if the agent runs the main conversation.
	InitialPrompt string
	Color         string // an element of [Colors], or empty
	Source        Source
	// File is the absolute path it was read from; may be empty.
	File string
}

// An Access lists the tools and resources an agent may use.
type Access struct {
	// Tools lists the tools it gets; nil means all that sub-agents may have, and an empty list
	// none.
	Tools []string
	// Disallowed lists tools it does not get.
	Disallowed []string
	// Mode is its permission mode, which can only be stricter than its parent's; empty means
	// the parent's.
	Mode string
	// Skills are loaded into its context when it starts.
	Skills []string
	// Servers are the MCP servers it uses: configured servers, by name, or its own.
	Servers []Server
	// Required are patterns for MCP servers it can't run without.
	Required []string
}

// A Server is an agent's MCP server.
type Server struct {
	Name string
	// Config configures a server of its own; nil means an already configured server.
	Config json.RawMessage
}

// A Memory is the scope of an agent's memory; empty means none.
type Memory string

// Memory scopes.
const (
	UserMemory    Memory = "user"    // shared by all projects
	ProjectMemory Memory = "project" // stored in the project, shared
	LocalMemory   Memory = "local"   // stored in the project, private to this user
)

// Colors returns the colors an agent can be shown in.
func Colors() []string {
	return []string{"red", "blue", "green", "yellow", "purple", "orange", "pink", "cyan"}
}

// A Source is the origin of a definition.
type Source struct {
	Kind Kind
	// By is the plugin it comes from; otherwise empty.
	By string
}

// A Kind ranks sources: of two definitions with the same name, the one with the higher kind is
// used.
type Kind uint8

// The kinds.
const (
	BuiltIn Kind = iota
	Plugin
	User
	Project
	Flag    // --agents
	Managed // set by the administrator
)

// String returns the source as shown to users.
func (s Source) String() string {
	switch s.Kind {
	case BuiltIn:
		return "built in"
	case Plugin:
		return "plugin " + s.By
	case User:
		return "your files"
	case Project:
		return "the project"
	case Flag:
		return "--agents"
	case Managed:
		return "the managed policy"
	}
	return "unknown"
}

// A Problem is the reason a file or field is not used as intended.
type Problem struct {
	File string
	// Line is the field's line, from 1; 0 for the whole file.
	Line  int
	Field string
	// Text describes the problem and its consequence.
	Text string
}

// Error returns a one-line message for the user.
func (p Problem) Error() string {
	where := p.File
	if p.Line > 0 {
		where += fmt.Sprintf(":%d", p.Line)
	}
	if p.Field != "" {
		return fmt.Sprintf("%s: %s: %s", where, p.Field, p.Text)
	}
	return fmt.Sprintf("%s: %s", where, p.Text)
}

// MaxName is the maximum length of a name, in characters.
const MaxName = 64

// NameRule describes valid agent names.
const NameRule = "use letters, digits, _ and -, at most 64 of them, and a letter first"

// ValidName reports whether name is a valid agent name; see [NameRule].
func ValidName(name string) bool {
	if n := utf8.RuneCountInString(name); n == 0 || n > MaxName || !utf8.ValidString(name) {
		return false
	}
	first, _ := utf8.DecodeRuneInString(name)
	return unicode.IsLetter(first) && !strings.ContainsFunc(name, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' && r != '-'
	})
}
