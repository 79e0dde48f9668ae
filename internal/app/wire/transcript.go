package wire

import (
	"context"

	"adze/internal/app/artifacts"
	"adze/internal/session/archive"
	"adze/internal/session/transcript"
)

// openTranscript starts a transcript, or loads the session named by spec. Nothing is written
// before the first message.
func (w *Workspace) openTranscript(ctx context.Context, spec SessionSpec, parts *closers) (*transcript.Transcript, error) {
	v, p := w.values().Transcript, w.Project
	t, err := transcript.Open(ctx, transcript.Config{
		Home: p.Home, HomeErr: p.HomeErr, Dir: w.Dir, Version: w.Version,
		Never: v.Never, NoSync: v.NoSync, Cleanup: v.Cleanup,
		Facts: w.Models.Facts,
		Inherit: func(ctx context.Context, from *archive.Info, fork string) error {
			return artifacts.Inherit(ctx, p, from, fork, w.Dir)
		},
		Belongings: func(id string) []string { return artifacts.Of(p.Home, id) },
		Say:        w.Say, Now: w.Now,
	}, spec)
	if err != nil {
		return nil, err
	}
	parts.add(t.Close)
	return t, nil
}
