// Package coordinator is the mode in which the main agent only directs workers: whether a conversation is in it, which
// tools it leaves, and what the model is told of its workers. Running workers is left to the package subagents.
package coordinator

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"adze/internal/agentdef"
	"adze/internal/agentdef/builtin"
	"adze/internal/app/settings"
	"adze/internal/msg"
	"adze/internal/platform/texts"
	"adze/internal/session"
)

// noteKind is the note that a session was in the mode, with what its model was told of workers.
const noteKind = "coordinator"

type note struct {
	On   bool   `json:"on"`
	Told string `json:"told"`
}

// Tools returns the tools of a coordinator. All other work is that of workers.
func Tools() []string { return []string{"Agent", "SendMessage", "TaskStop"} }

// Offers reports whether a coordinator has a tool.
func Offers(tool string) bool { return slices.Contains(Tools(), tool) }

// A Config says in which mode a conversation begins.
type Config struct {
	Settings settings.Agents
	// Resumed says that the session has been used before, and Last are the notes that it was left with.
	Resumed bool
	Last    map[string]json.RawMessage
	// Note keeps something for when the session is resumed, and Say tells the user something.
	Note func(kind string, fields map[string]any)
	Say  func(string)
	// Simple says that workers have the simplest tools only.
	Simple   bool
	Language func() texts.Language
}

// A Mode is the mode of a conversation that is in it. It is safe for concurrent use.
type Mode struct {
	// Workers returns what the model is told of its workers. It is set before something is heard.
	Workers func() builtin.Surroundings

	note     func(kind string, fields map[string]any)
	language func() texts.Language
	worker   *agentdef.Definition

	mu   sync.Mutex
	told string
}

// Open returns the mode, or nil if the conversation is not in it. A resumed session is in the mode if it was before,
// whatever the environment asks for; the user is told of a difference.
func Open(c Config) *Mode {
	var before note
	json.Unmarshal(c.Last[noteKind], &before) // ok: what cannot be read is not in the mode
	if !c.decide(before.On) {
		return nil
	}
	worker := builtin.NewWorker
	if c.Simple {
		worker = builtin.NewSimpleWorker
	}
	return &Mode{note: c.Note, language: c.Language, worker: worker(c.Language()), told: before.Told}
}

// decide reports whether the conversation is in the mode, given whether it was before.
func (c *Config) decide(was bool) bool {
	allowed, asked := c.Settings.Coordination, c.Settings.Coordinator
	switch {
	case c.Resumed && was && !allowed:
		c.Say("the session was in the coordinator mode, which the setting experimental.coordinator does not allow; it goes on in the normal mode")
	case asked && !allowed:
		c.Say("ADZE_COORDINATOR_MODE has no effect, because the setting experimental.coordinator is off")
	case c.Resumed && was && !asked:
		c.Say("the session was in the coordinator mode and goes on in it")
	case c.Resumed && !was && asked:
		c.Say("the session was not in the coordinator mode and goes on in the normal mode; begin a new session for a coordinator")
	}
	if c.Resumed {
		return was && allowed
	}
	return asked && allowed
}

// Unattached returns why files that the user mentions are not attached, or "" if they are.
func (m *Mode) Unattached() string {
	if m == nil {
		return ""
	}
	return "a coordinator reads no files itself; name the file to a worker"
}

// Worker returns the definition of workers.
func (m *Mode) Worker() *agentdef.Definition { return m.worker }

// Definitions returns the kinds of agents that a coordinator can launch.
func (m *Mode) Definitions() *agentdef.Set {
	return &agentdef.Set{Definitions: []*agentdef.Definition{m.worker}}
}

// Hear tells the model of its workers at the beginning of a turn, if it does not know that already.
func (m *Mode) Hear(context.Context, session.Prompt) (h session.Hearing) {
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

// Reset makes the next turn tell of workers again: what was told may be gone from the conversation. Nil does nothing.
func (m *Mode) Reset() {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.told = ""
}

// Describe returns what to tell of workers with these tools. Tools of servers are told by server.
func Describe(tools []msg.ToolSpec, scratchpad string) builtin.Surroundings {
	s := builtin.Surroundings{Scratchpad: scratchpad}
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
