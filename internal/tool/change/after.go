package change

import (
	"bytes"
	"context"
	"crypto/sha256"

	"adze/internal/msg"
	"adze/internal/platform/fs/filestate"
	"adze/internal/platform/fs/paths"
	"adze/internal/tool"
)

// After checks the file again after the hooks that follow a change, since a formatter may have
// changed it. The conversation then knows the new version, so that the next edit is not
// refused, and the model gets a note. It must run after all hooks.
func (f *Files) After(_ context.Context, u *tool.Use, r *tool.Result) error {
	call, ok := u.Call.(interface{ target() *Target })
	if !ok || r.IsError {
		return nil
	}
	t := call.target()
	known, ok := f.State.Get(t.Path)
	if !ok || known.Origin != filestate.Edit && known.Origin != filestate.Write {
		return nil
	}
	set, err := t.base.Resolve(t.typed)
	if err != nil || !known.At(set.Real) || set.Info == nil || set.Info.Size() > MaxBytes || filestate.StampOf(set.Info) == known.Stamp {
		return nil // the next call reports a missing or unreadable file
	}
	data, stamp, err := content(set)
	if err != nil {
		return nil // ok: as above
	}
	f.hashing.wait()
	known, _ = f.State.Get(t.Path)
	now := filestate.Entry{Path: t.Path, Real: set.Real, Hash: sha256.Sum256(data), Stamp: stamp, Origin: known.Origin, Complete: true}
	if len(data) <= maxKept {
		now.Content = data
	}
	if now.Hash == known.Hash || changedBy(t, set.Info, now.Hash) != "" { // only touched, or the next call is refused
		return nil
	}
	if f.History != nil && t.change > 0 {
		f.History.Wrote(t.change, set.Real, now.Hash) // the hook's output is part of the change
	}
	f.Writers.wrote(set.Real, f.Author, stamp, now.Hash)
	switch {
	case known.Complete:
		f.State.Record(now)
	default: // the set of seen lines is now unknown
		f.State.Forget(t.Path)
	}
	r.Parts = append(r.Parts[:len(r.Parts):len(r.Parts)], &msg.Text{
		Text: "After that the file was changed by a hook, most likely a formatter: it does not read exactly as you wrote it.",
	})
	return nil
}

// content reads the file at set.
func content(set paths.ResolvedPath) ([]byte, filestate.Stamp, error) {
	file, err := set.Open()
	if err != nil {
		return nil, filestate.Stamp{}, err
	}
	defer file.Close()
	var b bytes.Buffer
	if _, err := b.ReadFrom(file); err != nil {
		return nil, filestate.Stamp{}, err
	}
	info, err := file.Stat()
	if err != nil {
		return nil, filestate.Stamp{}, err
	}
	return b.Bytes(), filestate.StampOf(info), nil
}
