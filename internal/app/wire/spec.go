package wire

import (
	"encoding/json"

	"adze/internal/app/conversation"
	"adze/internal/app/models"
	"adze/internal/domain/agentdef"
	"adze/internal/feature/instructions"
	"adze/internal/feature/teams"
	"adze/internal/session/transcript"
)

// A Spec holds the options of one conversation in a workspace. The zero value is a new,
// unattended conversation with the settings' defaults.
type Spec struct {
	Session SessionSpec
	Model   ModelSpec
	Prompt  PromptSpec
	Access  AccessSpec
	Limits  Limits
	Entry   Entry
	Calls   Calls
	Debug   DebugSpec
	// Schema is the JSON schema for the final answer of each turn; nil means any text.
	Schema json.RawMessage
	// MainAgent is the name of the conversation's agent; empty means the settings decide.
	MainAgent string
	// Raw also emits the provider's own events.
	Raw bool
	// Bare disables hooks, memory, notes, and instruction files except in additional
	// directories.
	Bare bool
	// Worktree selects a worktree for the conversation.
	Worktree WorktreeSpec
	// OmitInstructions omits instruction files and repository state from the prompt.
	OmitInstructions bool
	// Definition is MainAgent's definition, or nil. It is set when the conversation is opened.
	Definition *agentdef.Definition
	// Team is the team the conversation belongs to, if any.
	Team teams.Spec
	// Coordinator restricts the model to directing workers. It is set when the conversation is
	// opened.
	Coordinator bool
	// Preview builds the first request without sending it or starting servers.
	Preview bool
	// Includes are files outside the project that its instructions may include during this run.
	Includes []string

	worker worker // zero for a main conversation
}

// Instructions returns the options for loading instruction files.
func (s *Spec) Instructions() instructions.Spec {
	return instructions.Spec{Dirs: s.Access.Dirs, Bare: s.Bare, Includes: s.Includes}
}

// unattended reports whether the conversation is a single turn without a user.
func (s *Spec) unattended() bool { return s.Entry == Print && s.Calls == FromModel }

// shownEntry returns the entry shown to the model. A fork reports its lead's.
func (s *Spec) shownEntry() Entry {
	if s.worker.fork {
		return s.worker.lead.entry
	}
	return s.Entry
}

// An Entry identifies how the conversation is driven.
type Entry int

// Entry values.
const (
	Print       Entry = iota // one turn, no user to prompt
	Host                     // a program drives the session
	Interactive              // a user at a terminal
)

// String returns the entry's name as sent to the provider.
func (e Entry) String() string {
	switch e {
	case Host:
		return "sdk"
	case Interactive:
		return "interactive"
	}
	return "headless"
}

// Calls identifies the source of tool calls.
type Calls int

// Sources of calls.
const (
	FromModel  Calls = iota
	FromStream       // the user, sequentially; no model
	Single           // the user, a single call; nothing outlives it
	FromClient       // another program, concurrently; no model of ours
)

// A SessionSpec selects the session to start or resume.
type SessionSpec = transcript.Spec

// A ModelSpec selects the model and its options.
type ModelSpec = models.ChoiceSpec

// A PromptSpec holds the user's changes to the system prompt.
type PromptSpec struct {
	System *string // replaces the prompt unless nil
	Append string
	// Agent is the prompt of a sub-agent; nil for other conversations.
	Agent *string
}

// An AccessSpec configures the model's permissions.
type AccessSpec = conversation.AccessSpec

// Limits bound a turn or a session; 0 means no limit.
type Limits struct {
	MaxTurns, TokenBudget int
	MaxBudgetUSD          float64
}

// A DebugSpec configures debug logging.
type DebugSpec = conversation.LogSpec
