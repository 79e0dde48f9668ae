// Package belongings knows what belongs to a session beside its transcript, and where: the file history, the plan, temporary
// files. It says what is removed with a session and what a fork inherits.
package belongings

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"adze/internal/app/settings"
	"adze/internal/platform/filehistory"
	"adze/internal/platform/fsys"
	"adze/internal/platform/paths"
	"adze/internal/session/archive"
	"adze/internal/session/store"
	"adze/internal/tasklist"
	"adze/internal/tools/plan"
)

// HistoryDir returns where the file history of a session is.
func HistoryDir(home, id string) string { return filepath.Join(home, "file-history", id) }

// KeptPlans returns where plans are, unless the settings say otherwise.
func KeptPlans(home string) string { return filepath.Join(home, "plans") }

// IsKept reports whether a session is where sessions are kept. Of a copy elsewhere the id says nothing: what
// goes by it belongs to the session that was copied.
func IsKept(home string, info *archive.Info) bool {
	return filepath.Dir(filepath.Dir(info.Path)) == store.Projects(home)
}

// Of returns what belongs to a session and to no other, beside its log and the folder next to that.
// A plan in a directory that the settings name is the user's to keep.
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
	if err == nil && !slices.ContainsFunc(others, shares) { // of so many names, two may be the same
		paths = append(paths, own)
	}
	return paths
}

// plainID reports whether an id is no more than a name of a file.
func plainID(id string) bool {
	return id != "" && filepath.IsLocal(id) && filepath.Base(id) == id && id != "."
}

// Remove removes a session with what belongs to it. It fails with [store.ErrLocked] if the session is open somewhere, and
// has removed nothing then. One that is gone already is no error.
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

// Inherit gives a fork what its original has beside the transcript: the plan, in whichever directory it is,
// the task list, and the file history, so that the fork can be rewound as far. Dir is the directory of the session. The fork
// is there all the same if that fails.
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

// PlansDir returns the directory of plans of a project, given what the settings say. A relative one must lie
// inside the project; if it does not, the problem says so.
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

// ScratchDir returns where the temporary files of a session that is kept are.
func ScratchDir(home, id string) string { return filepath.Join(home, "scratch", id) }
