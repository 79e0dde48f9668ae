package change

import (
	"io"

	"adze/internal/platform/fs/replace"
)

// Rehearse returns the error [Target.Apply] would return with the same edit, as far as it can
// be predicted. Nothing is written.
func (t *Target) Rehearse(edit func(OldContent) (NewContent, error)) error {
	set, err := t.Find()
	if err != nil {
		return err
	}
	var old OldContent
	if set.Info != nil {
		f, err := set.Open()
		if err != nil {
			return nil // the user may know why, so let the prompt happen
		}
		defer f.Close()
		version := &replace.Version{Info: set.Info}
		if info, err := f.Stat(); err == nil {
			version.Info = info
		}
		if version.Data, err = io.ReadAll(io.LimitReader(f, MaxBytes)); err != nil {
			return nil
		}
		if version, err = t.unsaved(version); err != nil {
			return err
		}
		if old, err = t.known(version); err != nil {
			return err
		}
	}
	_, err = edit(old)
	return err
}

// Recorded returns the error that changing a file that must have been read would cause, judging
// by its record.
func (t *Target) Recorded(edit func(OldContent) (NewContent, error)) error {
	entry, known := t.Known()
	switch {
	case !known:
		return t.NotRead(entry)
	case !entry.Complete || entry.Content == nil:
		return nil
	}
	_, err := edit(OldContent{Data: entry.Content, Exists: true, Entry: entry})
	return err
}
