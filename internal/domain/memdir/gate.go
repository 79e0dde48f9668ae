package memdir

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"slices"
	"strings"

	"adze/internal/tool"
)

// errSecret is the reason a memory is refused.
var errSecret = errors.New("it seems to contain a secret, and memories are stored in plain text: save where to find the secret or its purpose, but not the secret itself")

// A Gate checks the tools' writes to the memory folder. It is a [tool.Gate] that follows the
// permission check, and a [tool.After].
type Gate struct {
	// Folder returns the folder, or false while memory is off.
	Folder func() (Folder, bool)
	// Claim, if non-nil, is called before a write to the folder.
	Claim func() error
	// Wrote, if non-nil, is called after a call has changed the folder.
	Wrote func()
}

// Before refuses a call that would write a secret into the folder.
func (g *Gate) Before(ctx context.Context, u *tool.Use) error {
	if _, ok := g.target(u); !ok || u.Verdict.Decision != tool.Allow {
		return nil
	}
	if HasSecret(given(u.Input)) || HasSecret(added(ctx, u.Call)) {
		u.Verdict.Decide(tool.Deny, "the memory check", "The text was not saved: "+errSecret.Error()+".")
		return nil
	}
	if g.Claim != nil {
		return g.Claim()
	}
	return nil
}

// After removes a memory that was written empty, which is how the model forgets it.
func (g *Gate) After(_ context.Context, u *tool.Use, r *tool.Result) error {
	path, ok := g.target(u)
	if !ok || r.IsError {
		return nil
	}
	if g.Wrote != nil {
		g.Wrote()
	}
	if !strings.HasSuffix(path, ".md") || strings.HasSuffix(path, IndexName) {
		return nil
	}
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > 0 {
		return nil
	}
	if err := os.Remove(path); err != nil {
		return err
	}
	r.Reminders = append(r.Reminders, "The memory is gone: its file was empty and has been removed.")
	return nil
}

// target returns the file in the folder that a call changes.
func (g *Gate) target(u *tool.Use) (string, bool) {
	f, on := g.Folder()
	path, ok := tool.PathOf(u.Call)
	if !on || !ok || tool.FactsOf(u.Call).ReadOnly {
		return "", false
	}
	return path, f.Holds(path)
}

// given returns the text that a call adds, without the text it removes.
func given(input json.RawMessage) string {
	var fields map[string]any
	if json.Unmarshal(input, &fields) != nil {
		return string(input)
	}
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if text, ok := fields[name].(string); ok && !strings.HasPrefix(name, "old_") {
			b.WriteString(text + "\n")
		}
	}
	return b.String()
}

// added returns the lines that a call would add to a file, because a secret can form where
// texts meet.
func added(ctx context.Context, c tool.Call) string {
	p, ok := tool.As[tool.Previewer](c)
	if !ok {
		return ""
	}
	shown, err := p.Preview(ctx)
	if err != nil {
		return "" // the call will report the error
	}
	diff, _ := shown.(tool.Diff)
	var b strings.Builder
	for _, h := range diff.Hunks {
		for _, line := range h.Lines {
			if text, ok := strings.CutPrefix(line, "+"); ok {
				b.WriteString(text + "\n")
			}
		}
	}
	return b.String()
}
