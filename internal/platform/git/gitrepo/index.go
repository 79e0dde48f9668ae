package gitrepo

import (
	"errors"
	"fmt"
	"path/filepath"

	"adze/internal/platform/fs/fsys"
	"adze/internal/platform/git/gitindex"
)

// maxIndex is the maximum size of an index that is read without git.
const maxIndex = 512 << 20

// errOdd means that the index has a path outside the work tree or inside the git directory.
var errOdd = errors.New("the index has an entry")

func indexOf(gitDir string) string { return filepath.Join(gitDir, "index") }

// readLinks reads an index and returns the paths of its submodules and the file's stamp at that
// time. Hash is the object name size in bytes.
func readLinks(gitDir string, hash int) (links []string, index dependency, err error) {
	index = dependency{path: indexOf(gitDir), look: entry, stamp: stampOf(indexOf(gitDir), entry)}
	switch {
	case !index.stamp.exists():
		return nil, index, nil // empty repository
	case !index.stamp.regular():
		return nil, index, errors.New("the index is not a file")
	case hash == 0:
		return nil, index, errors.New("the object format is unknown")
	}
	data, err := fsys.ReadSmall(index.path, maxIndex)
	if err != nil {
		return nil, index, err
	}
	var strange error // reported later: entries of a split index have no names
	err = gitindex.Read(data, hash, func(e gitindex.Entry) error {
		switch {
		case e.Mode&gitindex.KindMask == gitindex.KindDir:
			return gitindex.ErrPartial
		case isOutsideTree(e.Name):
			strange = fmt.Errorf("%w %q", errOdd, e.Name)
		case e.Mode&gitindex.KindMask == gitindex.KindModule:
			links = append(links, string(e.Name))
		}
		return nil
	})
	switch {
	case err != nil:
	case stampOf(index.path, entry) != index.stamp:
		err = errChanged
	default:
		err = strange
	}
	return links, index, err
}

// current returns the verdict if it is still valid, or nil if git must run again. If only the
// index has changed, and neither the old nor the new one contains submodules, it returns a copy
// for the new index.
func (v *Verdict) current() *Verdict {
	if !v.roles.hold() {
		return nil
	}
	if len(v.indexes) == 0 || v.indexes.hold() {
		return v
	}
	if v.doubt != nil || v.links || v.attributes || len(v.indexes) != 1 {
		return nil
	}
	links, index, err := readLinks(v.Dir, v.hash)
	if err != nil || len(links) > 0 {
		return nil
	}
	now := *v
	now.indexes = dependencies{index}
	return &now
}
