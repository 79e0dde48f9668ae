package subagents

import (
	"adze/internal/msg"
	"adze/internal/platform/task"
)

// A Keeper is what an agent has that looks after memories. It changes nothing else, is not continued, and its end is told
// to its caller alone. Without a definition it is a fork.
type Keeper struct {
	// Kind is the letter of its task.
	Kind     byte
	MaxTurns int
	// From is the conversation that a fork goes on from.
	From []msg.Entry
	// Reads are folders of adze's own that it may read beside the memories.
	Reads []string
	// Ended is called when it has ended.
	Ended func(out Outcome, err error)
}

// kind returns the letter of the task of an agent.
func (k *Keeper) kind() byte {
	if k == nil {
		return task.Agent
	}
	return k.Kind
}

func (k *Keeper) end(out Outcome, err error) {
	if k != nil {
		k.Ended(out, err)
	}
}
