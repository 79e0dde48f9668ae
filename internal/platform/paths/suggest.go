package paths

import (
	"os"
	"path/filepath"
	"strings"
)

// Suggest returns files that may have been meant by path, which does not exist: one beside it that
// differs in its extension only, and one under dir whose path differs in its first directories, since
// a model often drops or adds the directory of the repository. It names no file that is hidden; nil means
// that none is.
func Suggest(dir, path string, hidden func(string) bool) []string {
	if hidden == nil {
		hidden = func(string) bool { return false }
	}
	var found []string
	for _, near := range []string{sameStem(path, hidden), underDir(dir, path, hidden)} {
		if near != "" {
			found = append(found, near)
		}
	}
	return found
}

func sameStem(path string, hidden func(string) bool) string {
	dir, base := filepath.Split(path)
	stem := strings.TrimSuffix(base, filepath.Ext(base))
	entries, err := os.ReadDir(dir)
	if err != nil || stem == "" {
		return ""
	}
	for _, e := range entries {
		name, near := e.Name(), filepath.Join(dir, e.Name())
		if name != base && e.Type().IsRegular() && strings.TrimSuffix(name, filepath.Ext(name)) == stem && !hidden(near) {
			return near
		}
	}
	return ""
}

// maxDropped bounds how many directories are left out in search of a file.
const maxDropped = 32

func underDir(dir, path string, hidden func(string) bool) string {
	parts := strings.Split(strings.Trim(path, string(filepath.Separator)), string(filepath.Separator))
	for i := range min(len(parts), maxDropped) {
		near := filepath.Join(dir, filepath.Join(parts[i:]...))
		if info, err := os.Stat(near); err == nil && info.Mode().IsRegular() && !hidden(near) {
			return near
		}
	}
	return ""
}
