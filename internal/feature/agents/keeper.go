package agents

import (
	"adze/internal/msg"
	"adze/internal/platform/proc/task"
)

// A MemoryTask configures an agent that maintains memories. It changes nothing else, cannot be
// continued, and reports only to its caller. Without a definition it is a fork.
type MemoryTask struct {
	// Kind is the task's letter.
	Kind     byte
	MaxTurns int
	// From is the conversation that a fork continues.
	From []msg.Entry
	// Reads are further adze directories it may read.
	Reads []string
	// Ended is called when the agent has ended.
	Ended func(out Outcome, err error)
}

// kind returns the letter of an agent's task.
func (k *MemoryTask) kind() byte {
	if k == nil {
		return task.Agent
	}
	return k.Kind
}

func (k *MemoryTask) end(out Outcome, err error) {
	if k != nil {
		k.Ended(out, err)
	}
}
