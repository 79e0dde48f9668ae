package paths

import (
	"os"
	"path/filepath"
	"strings"
)

// Suggest returns files that may have been meant by path, which does not exist: one beside it that
// differs in its extension only, and one under dir whose path differs in its first directories, since
// a model often drops or adds the directory of the repository.
func Suggest(dir, path string) []string {
	var found []string
	for _, near := range []string{sameStem(path), underDir(dir, path)} {
		if near != "" {
			found = append(found, near)
		}
	}
	return found
}

func sameStem(path string) string {
	dir, base := filepath.Split(path)
	stem := strings.TrimSuffix(base, filepath.Ext(base))
	entries, err := os.ReadDir(dir)
	if err != nil || stem == "" {
		return ""
	}
	for _, e := range entries {
		name := e.Name()
		if name != base && e.Type().IsRegular() && strings.TrimSuffix(name, filepath.Ext(name)) == stem {
			return filepath.Join(dir, name)
		}
	}
	return ""
}

func underDir(dir, path string) string {
	parts := strings.Split(strings.Trim(path, string(filepath.Separator)), string(filepath.Separator))
	for i := range parts {
		candidate := filepath.Join(dir, filepath.Join(parts[i:]...))
		if info, err := os.Stat(candidate); err == nil && info.Mode().IsRegular() {
			return candidate
		}
	}
	return ""
}
