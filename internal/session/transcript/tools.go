package transcript

import (
	"encoding/json"

	"adze/internal/msg"
	"adze/internal/session/store"
	"adze/internal/tool"
)

// RestoreTools restores the tools' state from the earlier conversation's reads and writes. It
// then drops the structured results.
func RestoreTools(tools []tool.Tool, earlier *store.Contents) {
	if earlier == nil {
		return
	}
	restore := map[string]func(json.RawMessage){}
	doors := tool.ForwardersOf(tools)
	for _, t := range tools {
		traits := t.Traits()
		for _, name := range append([]string{t.Spec().Name}, traits.Aliases...) {
			restore[name] = traits.Restore
		}
	}
	names := map[string]string{} // tool names, by use ID
	for i := range earlier.Entries {
		e := &earlier.Entries[i]
		for _, use := range e.Message.Uses() {
			names[use.ID] = doors.See(use).Name
		}
		for _, part := range e.Message.Parts {
			r, ok := part.(*msg.ToolResult)
			if !ok || r.IsError || e.Structured[r.ID] == nil {
				continue
			}
			if known := restore[names[r.ID]]; known != nil {
				known(e.Structured[r.ID])
			}
		}
		e.Structured = nil
	}
}
