package conversation

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	"adze/internal/tool"
)

// MayRead checks a file that t would read with a gate, as for a model's call.
func MayRead(ctx context.Context, t tool.Tool, gate tool.Gate, path string) error {
	input, err := json.Marshal(map[string]string{"file_path": path})
	if err != nil {
		return err
	}
	call, err := t.Bind(input)
	if err != nil {
		return err
	}
	u := &tool.Use{Tool: t, Call: call}
	u.Name, u.Input = t.Spec().Name, input
	if err := gate.Before(ctx, u); err != nil {
		return err
	}
	if u.Verdict.Decision != tool.Allow {
		return fmt.Errorf("%s may not be read: %s", path, cmp.Or(u.Verdict.Reason, "the user said no"))
	}
	return nil
}
