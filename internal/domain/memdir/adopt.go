package memdir

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"adze/internal/platform/fs/fsys"
)

// maxAdopted bounds a file copied from elsewhere.
const maxAdopted = 1 << 20

// Adoptable returns the number of memories in another folder that this one could adopt; 0
// unless this one is empty.
func (f Folder) Adoptable(other Folder) int {
	if mine, err := f.List(); err != nil || len(mine) > 0 {
		return 0
	}
	if index, err := f.Index(); err != nil || index != "" {
		return 0
	}
	theirs, err := other.List()
	if err != nil {
		return 0
	}
	n := 0
	for _, m := range theirs {
		if !m.Broken && m.Size <= maxAdopted {
			n++
		}
	}
	return n
}

// Adopt copies another folder's memories and its index. Files that are binary, too large or
// contain a secret are skipped and returned in left. The other folder is not modified.
func (f Folder) Adopt(other Folder) (copied int, left []string, err error) {
	theirs, err := other.List()
	if err != nil {
		return 0, nil, err
	}
	if err := fsys.MkdirPrivate(f.Dir); err != nil {
		return 0, nil, fmt.Errorf("creating the memory folder: %w", err)
	}
	var errs []error
	for _, m := range theirs {
		text, readErr := other.Read(m.Name, maxAdopted+1)
		if m.Broken || readErr != nil || len(text) > maxAdopted || HasSecret(text) {
			left = append(left, m.Name)
			continue
		}
		if err := f.keep(m, text); err != nil {
			errs = append(errs, err)
			continue
		}
		copied++
	}
	if index, err := other.Index(); err == nil && strings.TrimSpace(index) != "" && !HasSecret(index) {
		errs = append(errs, f.writeIndex(index))
	}
	errs = append(errs, f.Fix()) // drop the lines of skipped files
	return copied, left, errors.Join(errs...)
}

// keep writes a memory from elsewhere, preserving its modification time.
func (f Folder) keep(m Memory, text string) error {
	path := f.Path(m.Name)
	if err := fsys.MkdirPrivate(filepath.Dir(path)); err != nil {
		return err
	}
	if err := fsys.WriteAtomic(path, []byte(text), 0o600); err != nil {
		return err
	}
	return os.Chtimes(path, m.Modified, m.Modified)
}
