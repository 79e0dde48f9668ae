// Package artifacts locates a session's files other than the transcript: file history, plan
// and temporary files. It determines which files are removed with a session and which a fork
// inherits.
package artifacts

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"adze/internal/domain/tasklist"
	"adze/internal/platform/fs/filehistory"
	"adze/internal/platform/fs/fsys"
	"adze/internal/platform/fs/paths"
	"adze/internal/session/archive"
	"adze/internal/session/store"
	"adze/internal/settings"
	"adze/internal/tools/plan"
)

// HistoryDir returns the directory of a session's file history.
func HistoryDir(home, id string) string { return filepath.Join(home, "file-history", id) }

// KeptPlans returns the default directory of plans.
func KeptPlans(home string) string { return filepath.Join(home, "plans") }

// IsKept reports whether a session is in the sessions directory. For a copy elsewhere, files
// named by its ID belong to the original session.
func IsKept(home string, info *archive.Info) bool {
	return filepath.Dir(filepath.Dir(info.Path)) == store.Projects(home)
}

// Of returns the files that belong to exactly one session, other than its log and the directory
// next to it. A plan in a directory named by the settings is the user's to keep.
func Of(home, id string) []string {
	if !plainID(id) {
		return nil
	}
	paths := []string{
		HistoryDir(home, id), HistoryDir(home, id) + ".new", ScratchDir(home, id), tasklist.Dir(home, id),
		filepath.Join(home, "session-env", id+".sh"), filepath.Join(home, "debug", id+".log"),
	}
	own := plan.File(KeptPlans(home), id, "")
	if _, err := os.Lstat(own); err != nil {
		return paths
	}
	others, err := archive.List(home, archive.ListOptions{})
	shares := func(i archive.Info) bool { return i.ID != id && plan.File(KeptPlans(home), i.ID, "") == own }
	if err == nil && !slices.ContainsFunc(others, shares) { // two sessions may share a generated name
		paths = append(paths, own)
	}
	return paths
}

// plainID reports whether an ID is a plain file name.
func plainID(id string) bool {
	return id != "" && filepath.IsLocal(id) && filepath.Base(id) == id && id != "."
}

// Remove removes a session with all its files. It fails with [store.ErrLocked], having removed
// nothing, if the session is open somewhere. Removing a missing session is not an error.
func Remove(home string, info *archive.Info) error {
	var beside []string
	if IsKept(home, info) {
		beside = Of(home, info.ID)
	}
	if err := store.Remove(info.Path, beside...); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Inherit copies the original's files to a fork: the plan, from whichever directory, the task
// list, and the file history, so that the fork can be rewound as far. dir is the session's
// directory. The fork remains valid if this fails.
func Inherit(ctx context.Context, p *settings.Project, from *archive.Info, id, dir string) error {
	home := p.Home
	if !IsKept(home, from) || !plainID(from.ID) || !plainID(id) {
		return nil
	}
	problems := []error{filehistory.Copy(ctx, HistoryDir(home, from.ID), HistoryDir(home, id)), tasklist.Copy(tasklist.Dir(home, from.ID), tasklist.Dir(home, id))}
	chosen, _ := PlansDir(home, dir, p.Values().Plan.Directory) // ok: reported when a conversation is opened
	for _, dir := range slices.Compact([]string{chosen, KeptPlans(home)}) {
		problems = append(problems, copyPlan(plan.File(dir, from.ID, ""), plan.File(dir, id, "")))
	}
	if err := errors.Join(problems...); err != nil {
		return fmt.Errorf("the fork lacks something of the original: %w", err)
	}
	return nil
}

// copyPlan copies a plan, if it exists and the destination does not.
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

// PlansDir returns a project's plan directory, given the setting. A relative one must be inside
// the project; otherwise problem explains the error.
func PlansDir(home, project, wanted string) (dir, problem string) {
	kept := KeptPlans(home)
	switch {
	case wanted == "":
		return kept, ""
	case filepath.IsAbs(wanted):
		return filepath.Clean(wanted), ""
	}
	full := filepath.Join(project, wanted)
	if paths.Relative(project, full) == full || strings.HasPrefix(wanted, "~") {
		return kept, fmt.Sprintf("plansDirectory is %s, which is outside the project; plans are kept in %s", wanted, kept)
	}
	return full, ""
}

// ScratchDir returns the directory for the temporary files of a stored session.
func ScratchDir(home, id string) string { return filepath.Join(home, "scratch", id) }
