package wire

import (
	"fmt"
	"os"
	"path/filepath"

	"adze/internal/app/artifacts"
	"adze/internal/platform/fs/scratch"
	"adze/internal/session/transcript"
)

// newScratch prepares a session's directory for temporary files. An ephemeral session uses the
// system's temporary directory. ready is called once the directory exists.
func (w *Workspace) newScratch(t *transcript.Transcript, ready func()) *scratch.Dir {
	path := artifacts.ScratchDir(w.Project.Home, t.ID)
	if t.Log == nil || w.Project.Home == "" {
		path = filepath.Join(os.TempDir(), "adze-scratch-"+t.ID)
	}
	return scratch.New(path, ready, func(err error) {
		w.Say(fmt.Sprintf("creating the session's scratch directory: %v", err))
	})
}
