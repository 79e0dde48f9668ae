package memory

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"adze/internal/platform/fsys"
)

// maxAdopted bounds a file that is taken over from elsewhere.
const maxAdopted = 1 << 20

// Adoptable returns how many memories another folder has that this one, which has none, could take over.
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

// Adopt copies the memories of another folder, and its index. What is no text, too large, or holds a secret
// is left out and named. The other folder stays as it is.
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
	errs = append(errs, f.Fix()) // lines of what was left out
	return copied, left, errors.Join(errs...)
}

// keep writes a memory that was made elsewhere; it is as old as it was there.
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
