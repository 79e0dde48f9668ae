package wire

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"adze/internal/app/artifacts"
	"adze/internal/platform/fs/scratch"
	"adze/internal/session"
	"adze/internal/session/transcript"
)

// newScratch prepares a session's directory for temporary files. An ephemeral session uses the
// system's temporary directory. ready is called once the directory exists.
func newScratch(w *Workspace, t *transcript.Transcript, ready func()) *scratch.Dir {
	path := artifacts.ScratchDir(w.Project.Home, t.ID)
	if t.Log == nil || w.Project.Home == "" {
		path = filepath.Join(os.TempDir(), "adze-scratch-"+t.ID)
	}
	return scratch.New(path, ready, func(err error) {
		w.Say(fmt.Sprintf("there is no directory for temporary files in this session: %v", err))
	})
}

// makesScratch returns a hearer that creates the directory on the first user prompt.
func makesScratch(d *scratch.Dir) func(context.Context, session.Prompt) session.HookResult {
	return func(context.Context, session.Prompt) (h session.HookResult) {
		d.Path()
		return h
	}
}
