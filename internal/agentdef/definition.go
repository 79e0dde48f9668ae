// Package agentdef knows how agents are defined: what one is told, what it may use and how it runs. Definitions are
// Markdown files with a head, JSON from the command line, or built in; a [Library] finds them and says which of several
// with the same name is used. Running agents is left to others.
package agentdef

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Definition is a kind of agent. It does not change; a file that changed is another definition.
type Definition struct {
	// Name is what it is called by, such as Explore or plugin:reviewer.
	Name        string
	Description string // when to use it
	Prompt      string // the system prompt; empty means the usual one of agents
	Access
	Model  string // an alias or id; empty means the one in use
	Effort string // empty means the one in use
	// MaxTurns bounds its iterations; 0 means no bound of its own.
	MaxTurns int
	// Hooks are in force while it runs, as in settings; nil if there are none.
	Hooks  json.RawMessage
	Memory Memory
	// Background says that it always runs in the background, Worktree that it gets a working copy of its own.
	Background, Worktree bool
	// OmitInstructions leaves instruction files and the state of the repository out of what it is told.
	OmitInstructions bool
	// OneShot says that it is not continued after its report.
	OneShot bool
	// InitialPrompt is what the conversation begins with if the agent holds the main one.
	InitialPrompt string
	Color         string // one of [Colors], or empty
	Source        Source
	// File is the file that it was read from, absolute; empty if there is none.
	File string
}

// An Access says what an agent may use.
type Access struct {
	// Tools are the tools that it gets; nil means all that sub-agents may have, and an empty list none.
	Tools []string
	// Disallowed are tools that it does not get.
	Disallowed []string
	// Mode is its permission mode, which can only be stricter than that of its parent; empty means that one.
	Mode string
	// Skills are told to it when it begins.
	Skills []string
	// Servers are MCP servers that it uses: configured ones, by name, or its own.
	Servers []Server
	// Required are patterns of MCP servers without which it does not run.
	Required []string
}

// A Server is an MCP server of an agent.
type Server struct {
	Name string
	// Config is the configuration of a server of its own; nil means one that is configured already.
	Config json.RawMessage
}

// A Memory says where an agent keeps what it remembers; empty means that it remembers nothing.
type Memory string

// The memories.
const (
	UserMemory    Memory = "user"    // for all projects
	ProjectMemory Memory = "project" // in the project, for all who work on it
	LocalMemory   Memory = "local"   // in the project, for this user
)

// Colors returns the colours that an agent can be shown in.
func Colors() []string {
	return []string{"red", "blue", "green", "yellow", "purple", "orange", "pink", "cyan"}
}

// A Source is where a definition comes from.
type Source struct {
	Kind Kind
	// By is the plugin that it comes from; empty for others.
	By string
}

// A Kind ranks sources: of two definitions with the same name, that of the higher kind is used.
type Kind uint8

// The kinds.
const (
	BuiltIn Kind = iota
	Plugin
	User
	Project
	Flag    // --agents
	Managed // of the administrator
)

// String returns the source as users are told it.
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

// A Problem is why a file, or a field of it, is not used as it was meant.
type Problem struct {
	File string
	// Line is where the field is, from 1; 0 if it is the whole file.
	Line  int
	Field string
	// Text says what is wrong, and what happens.
	Text string
}

// Error returns the problem as one line for the user.
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

// MaxName is how many characters a name may have.
const MaxName = 64

// NameRule says which names agents may have.
const NameRule = "use letters, digits, _ and -, at most 64 of them, and a letter first"

// ValidName reports whether an agent can be called that; see [NameRule].
func ValidName(name string) bool {
	if n := utf8.RuneCountInString(name); n == 0 || n > MaxName || !utf8.ValidString(name) {
		return false
	}
	first, _ := utf8.DecodeRuneInString(name)
	return unicode.IsLetter(first) && !strings.ContainsFunc(name, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' && r != '-'
	})
}
