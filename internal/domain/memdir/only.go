package memdir

import (
	"context"

	"adze/internal/tool"
)

// Only is a [tool.Gate] for an agent that may change nothing but memories. It allows read-only
// calls, and calls that change a file in the folder after resolving symlinks.
type Only struct {
	// Folder returns the folder, or false while memory is off.
	Folder func() (Folder, bool)
}

// Before denies every other call, regardless of rules. It does not trust a server tool's claim
// to be read-only.
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
