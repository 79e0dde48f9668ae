package wire

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"adze/internal/app/settings"
	"adze/internal/platform/filehistory"
	"adze/internal/platform/fsys"
	"adze/internal/session/archive"
	"adze/internal/session/store"
	"adze/internal/tasklist"
	"adze/internal/tools/plan"
)

// HistoryDir returns where the file history of a session is.
func HistoryDir(home, id string) string { return filepath.Join(home, "file-history", id) }

// keptPlans returns where plans are, unless the settings say otherwise.
func keptPlans(home string) string { return filepath.Join(home, "plans") }

// IsKept reports whether a session is where sessions are kept. Of a copy elsewhere the id says nothing: what
// goes by it belongs to the session that was copied.
func IsKept(home string, info *archive.Info) bool {
	return filepath.Dir(filepath.Dir(info.Path)) == store.Projects(home)
}

// Belongings returns what belongs to a session and to no other, beside its log and the folder next to that.
// A plan in a directory that the settings name is the user's to keep.
func Belongings(home, id string) []string {
	if !plainID(id) {
		return nil
	}
	paths := []string{
		HistoryDir(home, id), HistoryDir(home, id) + ".new", scratchDir(home, id), tasklist.Dir(home, id),
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

// Inherit gives a fork what its original has beside the transcript: the plan, in whichever directory it is,
// the task list, and the file history, so that the fork can be rewound as far. Dir is the directory of the session. The fork
// is there all the same if that fails.
func Inherit(ctx context.Context, p *settings.Project, from *archive.Info, id, dir string) error {
	home := p.Home
	if !IsKept(home, from) || !plainID(from.ID) || !plainID(id) {
		return nil
	}
	problems := []error{filehistory.Copy(ctx, HistoryDir(home, from.ID), HistoryDir(home, id)), tasklist.Copy(tasklist.Dir(home, from.ID), tasklist.Dir(home, id))}
	chosen, _ := plansDir(home, dir, p.Values().Plan.Directory) // ok: reported when a conversation is opened
	for _, dir := range slices.Compact([]string{chosen, keptPlans(home)}) {
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
