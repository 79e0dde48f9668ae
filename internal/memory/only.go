package memory

import (
	"context"

	"adze/internal/tool"
)

// Only is a [tool.Gate] for an agent that changes nothing but memories. It lets calls through that only read, and those
// that change a file in the folder, wherever links lead.
type Only struct {
	// Folder returns the folder, or false while there is no memory.
	Folder func() (Folder, bool)
}

// Before denies every other call, whatever rules allow. What a tool of a server says of itself is not relied on.
func (o Only) Before(_ context.Context, u *tool.Use) error {
	own := u.Tool.Traits().Origin == ""
	if own && tool.FactsOf(u.Call).ReadOnly {
		return nil
	}
	f, on := o.Folder()
	if path, ok := tool.PathOf(u.Call); own && on && ok && f.Holds(path) {
		return nil
	}
	u.Verdict.Decide(tool.Deny, "the memory check", "This agent may read, and change files in the memory folder, but nothing else.")
	return nil
}
