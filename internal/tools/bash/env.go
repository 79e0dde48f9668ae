package bash

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// readOnlyEnv returns what a read-only command gets to know of env: what is listed, and the names in
// keep. Of PATH only absolute directories outside roots are left, so that nothing of a project is run.
func readOnlyEnv(env, keep, roots []string) []string {
	var kept []string
	for _, entry := range env {
		name, value, _ := strings.Cut(entry, "=")
		switch {
		case name == "PATH":
			kept = append(kept, "PATH="+strings.Join(fixedPath(value, roots), string(os.PathListSeparator)))
		case name == "HOME", name == "USER", name == "LANG", name == "TMPDIR", strings.HasPrefix(name, "LC_"), slices.Contains(keep, name):
			kept = append(kept, entry)
		}
	}
	// A newer version of go that a project asks for would be fetched and run.
	return append(kept, "TERM=dumb", "PAGER=cat", "GOTOOLCHAIN=local")
}

func fixedPath(path string, roots []string) []string {
	return slices.DeleteFunc(filepath.SplitList(path), func(entry string) bool {
		return !filepath.IsAbs(entry) || slices.ContainsFunc(roots, func(root string) bool { return within(entry, root) })
	})
}

// within reports whether path is root or lies in it.
func within(path, root string) bool {
	rel, err := filepath.Rel(root, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// lookPath finds a program by its bare name.
func lookPath(name string, env []string) (string, error) {
	if strings.ContainsAny(name, `/\`) {
		return "", exec.ErrNotFound
	}
	for _, dir := range filepath.SplitList(lookup(env)("PATH")) {
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return path, nil
		}
	}
	return "", exec.ErrNotFound
}
