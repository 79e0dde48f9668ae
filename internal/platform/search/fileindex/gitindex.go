package fileindex

import (
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"adze/internal/platform/git/gitindex"
)

// repository returns the working tree that contains dir and its git directory, or empty
// strings.
func repository(dir string) (top, gitDir string) {
	for {
		path := filepath.Join(dir, ".git")
		if info, err := os.Stat(path); err == nil {
			if info.IsDir() {
				return dir, path
			}
			if gitDir := linkedDir(path); gitDir != "" {
				return dir, gitDir
			}
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", ""
		}
		dir = up
	}
}

// linkedDir reads a .git file, as found in worktrees and submodules.
func linkedDir(path string) string {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > 64<<10 {
		return ""
	}
	text, err := os.ReadFile(path)
	dir, ok := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir:")
	if err != nil || !ok {
		return ""
	}
	dir = strings.TrimSpace(dir)
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(filepath.Dir(path), dir)
	}
	return dir
}

// indexFile returns the git index of the repository that contains dir, or "".
func indexFile(dir string) string {
	_, gitDir := repository(dir)
	if gitDir == "" {
		return ""
	}
	return filepath.Join(gitDir, "index")
}

const maxIndexFile = 512 << 20

// readIndex returns the files in a git index, in byte order.
func readIndex(path string) ([]string, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, nil // empty repository
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular() || info.Size() > maxIndexFile:
		return nil, fmt.Errorf("%s is not a file, or too large", path)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	names, err := parseIndex(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return names, nil
}

var errChecksum = errors.New("its checksum is wrong")

// parseIndex reads an index of version 2, 3 or 4, with either object name size.
func parseIndex(data []byte) ([]string, error) {
	if len(data) < gitindex.HeaderSize+sha1.Size {
		return nil, gitindex.ErrDamaged
	}
	hash, err := hashSize(data)
	if err != nil {
		return nil, err
	}
	var names []string
	err = gitindex.Read(data, hash, func(e gitindex.Entry) error {
		switch e.Mode & gitindex.KindMask {
		case gitindex.KindFile, gitindex.KindLink:
		case gitindex.KindModule:
			return nil
		default: // a directory whose files are not listed
			return gitindex.ErrPartial
		}
		if !legal(e.Name) {
			return gitindex.ErrDamaged
		}
		if !e.Skipped && (len(names) == 0 || names[len(names)-1] != string(e.Name)) { // a conflict has several entries
			names = append(names, string(e.Name))
		}
		return nil
	})
	if err == nil && !slices.IsSorted(names) {
		err = gitindex.ErrDamaged
	}
	if err != nil {
		return nil, err
	}
	return names, nil
}

// hashSize determines the object name size from the checksum at the end. An index without a
// checksum has zeros there.
func hashSize(data []byte) (int, error) {
	if sum := sha1.Sum(data[:len(data)-sha1.Size]); bytes.Equal(sum[:], data[len(data)-sha1.Size:]) {
		return sha1.Size, nil
	}
	if n := len(data) - sha256.Size; n > gitindex.HeaderSize {
		if sum := sha256.Sum256(data[:n]); bytes.Equal(sum[:], data[n:]) {
			return sha256.Size, nil
		}
	}
	if bytes.Equal(data[len(data)-sha1.Size:], make([]byte, sha1.Size)) {
		return sha1.Size, nil
	}
	return 0, errChecksum
}

// legal reports whether name is valid for a file in the tree.
func legal(name []byte) bool {
	for element := range bytes.SplitSeq(name, []byte{'/'}) {
		if len(element) == 0 || string(element) == ".." {
			return false
		}
	}
	return true
}
