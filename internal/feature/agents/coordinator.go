package agents

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"adze/internal/domain/agentdef"
	"adze/internal/feature"
	"adze/internal/feature/agents/builtin"
	"adze/internal/msg"
	"adze/internal/platform/text/texts"
	"adze/internal/session"
	"adze/internal/settings"
)

// noteKind is the kind of note recording that a session was in coordinator mode, with the
// description of workers sent to its model.
const noteKind = "coordinator"

type note struct {
	On   bool   `json:"on"`
	Told string `json:"told"`
}

// Tools returns a coordinator's tools. Workers do everything else.
func CoordinatorTools() []string { return []string{"Agent", "SendMessage", "TaskStop"} }

// Offers reports whether a coordinator has a tool.
func CoordinatorOffers(tool string) bool { return slices.Contains(CoordinatorTools(), tool) }

// Config configures coordinator mode.
type CoordinatorConfig struct {
	Settings settings.Agents
	// Resumed is true for a resumed session, and Last holds its latest notes.
	Resumed bool
	Last    map[string]json.RawMessage
	// Note saves a note for resume, and Say shows the user a message.
	Note func(kind string, fields map[string]any)
	Say  func(string)
	// Simple restricts workers to the simplest tools.
	Simple   bool
	Language func() texts.Language
}

// A Mode is the state of a conversation in coordinator mode. It is safe for concurrent use.
type Coordinator struct {
	// Workers returns the description of workers. It must be set before the first turn.
	Workers func() builtin.WorkerInfo

	note     func(kind string, fields map[string]any)
	language func() texts.Language
	worker   *agentdef.Definition

	mu   sync.Mutex
	told string
}

// Open returns the mode, or nil if the conversation is not in it. A resumed session keeps its
// mode regardless of the environment; the user is notified of a difference.
func OpenCoordinator(c CoordinatorConfig) *Coordinator {
	var before note
	json.Unmarshal(c.Last[noteKind], &before) // ok: unreadable means not in the mode
	if !c.decide(before.On) {
		return nil
	}
	worker := builtin.NewWorker
	if c.Simple {
		worker = builtin.NewSimpleWorker
	}
	return &Coordinator{note: c.Note, language: c.Language, worker: worker(c.Language()), told: before.Told}
}

// decide reports whether the conversation is in the mode, given whether it was before.
func (c *CoordinatorConfig) decide(was bool) bool {
	allowed, asked := c.Settings.Coordination, c.Settings.Coordinator
	switch {
	case c.Resumed && was && !allowed:
		c.Say("the session was in the coordinator mode, which the setting experimental.coordinator does not allow; continuing in normal mode")
	case asked && !allowed:
		c.Say("ADZE_COORDINATOR_MODE has no effect, because the setting experimental.coordinator is off")
	case c.Resumed && was && !asked:
		c.Say("the session was in the coordinator mode; continuing in it")
	case c.Resumed && !was && asked:
		c.Say("the session was not in the coordinator mode; continuing in normal mode. Start a new session for a coordinator")
	}
	if c.Resumed {
		return was && allowed
	}
	return asked && allowed
}

// Unattached returns why mentioned files are not attached, or "" if they are.
func (m *Coordinator) Unattached() string {
	if m == nil {
		return ""
	}
	return "a coordinator reads no files itself; name the file to a worker"
}

// Worker returns the definition of workers.
func (m *Coordinator) Worker() *agentdef.Definition { return m.worker }

// Definitions returns the agent types a coordinator can launch.
func (m *Coordinator) Definitions() *agentdef.Set {
	return &agentdef.Set{Definitions: []*agentdef.Definition{m.worker}}
}

// Part returns the mode's contribution to a conversation. m may be nil.
func (m *Coordinator) Part() feature.Part {
	if m == nil {
		return feature.Part{Name: "coordinator"}
	}
	return feature.Part{Name: "coordinator", PromptHook: m.PromptHook, Compacted: m.reset, Rewound: m.reset}
}

// PromptHook describes the workers to the model at the start of a turn, if the description has
// changed.
func (m *Coordinator) PromptHook(context.Context, session.Prompt) (h session.HookResult) {
	text := builtin.CoordinatorContext(m.language(), m.Workers())
	m.mu.Lock()
	defer m.mu.Unlock()
	if text == m.told {
		return h
	}
	m.told = text
	m.note(noteKind, map[string]any{"on": true, "told": text})
	h.Context = append(h.Context, msg.Reminder(text))
	return h
}

// reset makes the next turn describe the workers again, because the description may be gone
// from the conversation.
func (m *Coordinator) reset() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.told = ""
}

// Describe returns the description of workers with these tools. Server tools are grouped by
// server.
func DescribeTools(tools []msg.ToolSpec, scratchpad string) builtin.WorkerInfo {
	s := builtin.WorkerInfo{Scratchpad: scratchpad}
	for _, t := range tools {
		rest, foreign := strings.CutPrefix(t.Name, "mcp__")
		if !foreign {
			s.Tools = append(s.Tools, t.Name)
			continue
		}
		if server, _, _ := strings.Cut(rest, "__"); !slices.Contains(s.Servers, server) {
			s.Servers = append(s.Servers, server)
		}
	}
	return s
}
