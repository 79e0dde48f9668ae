package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"adze/internal/platform/filehistory"
	"adze/internal/platform/fsys"
	"adze/internal/session/archive"
	"adze/internal/session/store"
	"adze/internal/tools/plan"
)

// historyDir returns where the file history of a session is.
func historyDir(home, id string) string { return filepath.Join(home, "file-history", id) }

// keptPlans returns where plans are, unless the settings say otherwise.
func keptPlans(home string) string { return filepath.Join(home, "plans") }

// isOurs reports whether a session is where sessions are kept. Of a copy elsewhere the id says nothing: what
// goes by it belongs to the session that was copied.
func isOurs(home string, info *archive.Info) bool {
	return filepath.Dir(filepath.Dir(info.Path)) == store.Projects(home)
}

// belongings returns what belongs to a session and to no other, beside its log and the folder next to that.
// A plan in a directory that the settings name is the person's to keep.
func belongings(home, id string) []string {
	if !plainID(id) {
		return nil
	}
	paths := []string{
		historyDir(home, id), historyDir(home, id) + ".new",
		filepath.Join(home, "session-env", id+".sh"), filepath.Join(home, "debug", id+".log"),
	}
	own := plan.File(keptPlans(home), id, "")
	if _, err := os.Lstat(own); err != nil {
		return paths
	}
	others, err := archive.List(home, archive.ListOptions{})
	shares := func(i archive.Info) bool { return i.ID != id && plan.File(keptPlans(home), i.ID, "") == own }
	if err == nil && !slices.ContainsFunc(others, shares) { // of so many names, two may be the same
		paths = append(paths, own)
	}
	return paths
}

// plainID reports whether an id is no more than a name of a file.
func plainID(id string) bool {
	return id != "" && filepath.IsLocal(id) && filepath.Base(id) == id && id != "."
}

// inherit gives a fork what its original has beside the transcript: the plan, in whichever directory it is,
// and what files were before, so that the fork can go back as far. The fork is there all the same if that
// fails.
func inherit(ctx context.Context, home string, from *archive.Info, id string, plans ...string) error {
	if !isOurs(home, from) || !plainID(from.ID) || !plainID(id) {
		return nil
	}
	problems := []error{filehistory.Copy(ctx, historyDir(home, from.ID), historyDir(home, id))}
	for _, dir := range plans {
		problems = append(problems, copyPlan(plan.File(dir, from.ID, ""), plan.File(dir, id, "")))
	}
	if err := errors.Join(problems...); err != nil {
		return fmt.Errorf("the fork lacks something of the original: %w", err)
	}
	return nil
}

// copyPlan copies a plan, if there is one and the place is free.
func copyPlan(from, to string) error {
	if info, err := os.Lstat(from); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	if _, err := os.Lstat(to); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	text, err := os.ReadFile(from)
	if err != nil {
		return fmt.Errorf("copying the plan: %w", err)
	}
	return fsys.WriteAtomic(to, text, 0o600)
}
