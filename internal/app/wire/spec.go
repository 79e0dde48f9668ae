package wire

import (
	"encoding/json"

	"adze/internal/agentdef"
	"adze/internal/app/access"
	"adze/internal/app/debuglog"
	"adze/internal/app/instructions"
	"adze/internal/app/models"
	"adze/internal/app/teams"
	"adze/internal/app/transcript"
)

// A Spec is what makes one conversation differ from another over the same workspace. The zero value is a
// new conversation as the settings have it, without a user who could be asked.
type Spec struct {
	Session SessionSpec
	Model   ModelSpec
	Prompt  PromptSpec
	Access  AccessSpec
	Limits  Limits
	Entry   Entry
	Calls   Calls
	Debug   DebugSpec
	// Schema is what the final answer of each turn must fit; nil means any text.
	Schema json.RawMessage
	// MainAgent is the name of the agent that holds the conversation; empty leaves it to the settings.
	MainAgent string
	// Raw asks for the provider's own events beside ours.
	Raw bool
	// Bare leaves out hooks, memory, notes, and instruction files but those of further directories.
	Bare bool
	// Worktree has the conversation work in a worktree.
	Worktree WorktreeSpec
	// OmitInstructions leaves instruction files and the state of the repository out of what the model is told.
	OmitInstructions bool
	// Worker makes it the conversation of an agent that works for another one; nil for one of its own.
	Worker *Worker
	// Definition is that of MainAgent; opening the conversation finds it, and leaves it nil if there is none.
	Definition *agentdef.Definition
	// Team is the team that the conversation is a teammate of, if any.
	Team teams.Spec
	// Coordinator says that the model only directs workers; opening the conversation finds out.
	Coordinator bool
	// Preview builds the first request without sending it or starting servers.
	Preview bool
	// Includes are files outside the project that its instructions may include in this run.
	Includes []string
}

// Instructions says which instructions the conversation has.
func (s *Spec) Instructions() instructions.Spec {
	return instructions.Spec{Dirs: s.Access.Dirs, Bare: s.Bare, Includes: s.Includes}
}

// unattended reports whether there is one turn and no user who waits for it.
func (s *Spec) unattended() bool { return s.Entry == Print && s.Calls == FromModel }

// door returns the entry that the model is told of: a fork is told what its lead is.
func (s *Spec) door() Entry {
	if s.Worker.fork() {
		return s.Worker.Lead.spec.door()
	}
	return s.Entry
}

// An Entry says by which door the conversation is held.
type Entry int

// The entries.
const (
	Print       Entry = iota // one turn, and no user to ask
	Host                     // a program drives the session
	Interactive              // the user talks at a terminal
)

// String names the entry to the provider.
func (e Entry) String() string {
	switch e {
	case Host:
		return "sdk"
	case Interactive:
		return "interactive"
	}
	return "headless"
}

// Calls says where calls of tools come from.
type Calls int

// The sources of calls.
const (
	FromModel  Calls = iota
	FromStream       // the user, one after the other; there is no model
	Single           // the user, a single one that nothing outlives
	FromClient       // another program, several at once; its model is none of ours
)

// A SessionSpec says which session is begun or resumed.
type SessionSpec = transcript.Spec

// A ModelSpec says who answers, and how.
type ModelSpec = models.Spec

// A PromptSpec is what the user adds to the system prompt or puts in its place.
type PromptSpec struct {
	System *string // replaces the prompt; may be nil
	Append string
	// Agent is the prompt of a sub-agent; nil for other conversations.
	Agent *string
}

// An AccessSpec says what the model may do.
type AccessSpec = access.Spec

// Limits bound a turn or a session; 0 means no limit.
type Limits struct {
	MaxTurns, TokenBudget int
	MaxBudgetUSD          float64
}

// A DebugSpec says what is logged for debugging.
type DebugSpec = debuglog.Spec
