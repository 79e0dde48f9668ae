package trust

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"adze/internal/platform/fs/fsys"
)

// Hide makes git ignore a workspace file without modifying tracked files. It returns the file
// it wrote to, or "" if that was unnecessary or the workspace is not a repository.
func (w Workspace) Hide(path string) (string, error) {
	rel, err := filepath.Rel(w.Root, path)
	if w.Exclude == "" || err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return "", nil
	}
	line := "/" + filepath.ToSlash(rel)
	const maxExclude = 1 << 20
	data, err := fsys.ReadSmall(w.Exclude, maxExclude)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("reading %s: %w", w.Exclude, err)
	}
	for have := range bytes.Lines(data) {
		if string(bytes.TrimSpace(have)) == line {
			return "", nil
		}
	}
	if err := os.MkdirAll(filepath.Dir(w.Exclude), 0o755); err != nil {
		return "", err
	}
	file, err := os.OpenFile(w.Exclude, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
	if err != nil {
		return "", err
	}
	text := line + "\n"
	if len(data) > 0 && data[len(data)-1] != '\n' {
		text = "\n" + text
	}
	_, err = file.WriteString(text)
	return w.Exclude, errors.Join(err, file.Close())
}
