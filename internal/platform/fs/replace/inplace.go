package replace

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"adze/internal/platform/fs/fsys"
)

// rewrite overwrites the file's content with pieces. It is used if the file cannot be replaced
// because of why. While it runs, a backup of the old content is kept in the lock directory; if
// writing fails, the old content is restored.
func (f *File) rewrite(old *Version, pieces [][]byte, why error) (Outcome, error) {
	if err := f.before(); err != nil {
		return Outcome{}, err
	}
	if err := f.unchanged(old); err != nil {
		return Outcome{}, err
	}
	if err := f.r.step("open in place"); err != nil {
		return Outcome{}, err
	}
	file, err := f.dir.open(f.name, os.O_WRONLY, 0)
	if err != nil {
		return Outcome{}, fmt.Errorf("%w; and rewriting it in place: %w", why, err)
	}
	defer file.Close()
	backup := filepath.Join(f.r.locks.dir, f.dir.key(f.name)+".old")
	if err := f.keep(backup, old.Data); err != nil {
		return Outcome{}, fmt.Errorf("keeping a copy before rewriting in place: %w", err)
	}
	// Both may be mapped from the file that is about to change.
	before, after := bytes.Clone(old.Data), bytes.Join(pieces, nil)
	if err := f.overwrite(file, after); err != nil {
		if restore := f.overwrite(file, before); restore != nil {
			return Outcome{}, fmt.Errorf("%w; the file is damaged, its old content is in %s", err, backup)
		}
		os.Remove(backup) // ok: at worst the backup remains
		return Outcome{}, err
	}
	os.Remove(backup) // ok: at worst the backup remains
	o := Outcome{Hash: hashOf([][]byte{after}), InPlace: why}
	if info, err := file.Stat(); err == nil {
		o.Info = info
	}
	return o, nil
}

func (f *File) keep(path string, data []byte) error {
	if err := f.r.step("keep"); err != nil {
		return err
	}
	file, err := fsys.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer file.Close()
	if _, err := file.Write(data); err != nil {
		return err
	}
	return file.Sync()
}

func (f *File) overwrite(file *os.File, content []byte) error {
	for offset := 0; ; offset += chunk {
		if err := f.r.step("write in place"); err != nil {
			return err
		}
		end := min(offset+chunk, len(content))
		if _, err := file.WriteAt(content[offset:end], int64(offset)); err != nil {
			return err
		}
		if end == len(content) {
			break
		}
	}
	if err := file.Truncate(int64(len(content))); err != nil {
		return err
	}
	return file.Sync()
}
