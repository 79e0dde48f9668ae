package wire

import (
	"context"
	"os"
	"path/filepath"

	"adze/internal/app/belongings"
	"adze/internal/app/setup"
	"adze/internal/app/transcript"
	"adze/internal/session/archive"
)

// openTranscript begins a transcript, or loads the one that the spec names. Nothing is written before the
// first message.
func (w *Workspace) openTranscript(ctx context.Context, spec SessionSpec, parts *closers) (*transcript.Transcript, error) {
	v, p := w.values().Transcript, w.Project
	t, err := transcript.Open(ctx, transcript.Config{
		Home: p.Home, HomeErr: p.HomeErr, Dir: w.Dir, Version: w.Version,
		Never: v.Never, NoSync: v.NoSync, Cleanup: v.Cleanup,
		Facts: w.Models.Facts,
		Inherit: func(ctx context.Context, from *archive.Info, fork string) error {
			return belongings.Inherit(ctx, p, from, fork, w.Dir)
		},
		Belongings: func(id string) []string { return belongings.Of(p.Home, id) },
		Say:        w.Say, Now: w.Now,
	}, spec)
	if err != nil {
		return nil, err
	}
	parts.add(t.Close)
	return t, nil
}

// temporary returns a directory for what a conversation without a transcript puts down while it lasts.
func temporary(parts *closers) (string, error) {
	dir, err := os.MkdirTemp("", "adze-session-")
	if err != nil {
		return "", setup.Errorf("making a folder for the output of commands: %v", err)
	}
	parts.add(func() { os.RemoveAll(dir) }) // ok: it is the system's to clean up then
	return filepath.Clean(dir), nil
}
