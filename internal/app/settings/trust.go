package settings

import (
	"context"
	"os"
	"path/filepath"
	"slices"

	"adze/internal/platform/config"
	"adze/internal/platform/fileindex"
	"adze/internal/platform/replace"
	"adze/internal/platform/scope"
	"adze/internal/platform/trust"
)

// A Trust says how far the workspace of a run is trusted.
type Trust struct {
	trust.Workspace
	// Problem says why trust cannot be read; the workspace is not trusted then.
	Problem error
	// Home is the user's home directory.
	Home string

	store   *trust.Store // nil without a state home
	consent trust.Consent
	run     bool // it is trusted for this run
	hosted  bool // a host drives the run, and vouches for it
}

// findTrust finds the workspace of a run and how far it is trusted. If that cannot be read, it is not trusted.
func findTrust(src Source, stateHome, home string, locks *replace.Replacer) *Trust {
	t := &Trust{Home: home}
	dir := src.Root
	if dir == "" {
		dir = src.Dir
	}
	t.Workspace, t.Problem = trust.Find(dir, home)
	if t.Root == "" {
		t.Dir, t.Root = src.Dir, src.Dir
	}
	named := slices.Contains(src.Scopes, scope.Project) || slices.Contains(src.Scopes, scope.Local)
	t.run = src.Trust || named
	t.hosted = src.Hosted && src.Scopes == nil
	if stateHome != "" {
		t.store = trust.Open(stateHome, locks)
	}
	if t.store != nil && t.Problem == nil {
		t.consent, t.Problem = t.store.Consent(t.Workspace)
	}
	return t
}

// Trusted reports whether the workspace's own settings, hooks, servers, skills, agents and instruction files
// may be used in this run.
func (t *Trust) Trusted() bool { return t.consent.Trusted || t.run || t.hosted }

// Lasting reports whether the user trusts the workspace beyond this run.
func (t *Trust) Lasting() bool { return t.consent.Trusted }

// Approved reports whether an item from a file of that scope may run. Items of the user or an administrator
// may; items of the workspace must be those that were shown when it was trusted.
func (t *Trust) Approved(from scope.Scope, it trust.Item) bool {
	return from != scope.Project || t.run || t.hosted || t.consent.Trusted && t.consent.Approved(it)
}

// Kept reports whether the user has approved an item before.
func (t *Trust) Kept(it trust.Item) bool { return t.consent.Approved(it) }

// Keep records that the user approved an item of a trusted workspace. Without a state home nothing is
// recorded.
func (t *Trust) Keep(ctx context.Context, it trust.Item) error {
	if t.store == nil {
		return nil
	}
	return t.store.Approve(ctx, t.Workspace, it)
}

// OneRunOnly reports whether the workspace can be trusted for one run only: it is or contains the user's home
// directory, or there is no state home to record trust in.
func (t *Trust) OneRunOnly() bool { return t.Covers(t.Home) || t.store == nil }

// Add trusts the workspace, with everything in the offer, from now on.
func (t *Trust) Add(ctx context.Context, o Offer) error {
	return t.store.Add(ctx, t.Workspace, o.items()...)
}

// Remove stops trusting a workspace. The directory need not exist any more.
func (t *Trust) Remove(ctx context.Context, path string) error { return t.store.Remove(ctx, path) }

// List returns the workspaces that are trusted.
func (t *Trust) List() ([]trust.Entry, error) { return t.store.List() }

// grant returns which of the workspace's settings apply.
func (t *Trust) grant() config.Grant {
	switch {
	case t.consent.Trusted || t.run:
		return config.Workspace
	case t.hosted:
		return config.Hosted
	}
	return config.Untrusted
}

// roots returns the directories whose settings apply, the outermost first.
func (t *Trust) roots() []string {
	if t.Dir == t.Root {
		return []string{t.Root}
	}
	return []string{t.Root, t.Dir}
}

// Owns reports whether a file of local settings is the user's own: the workspace is trusted, and the
// file did not come with it.
func (t *Trust) Owns(path string) bool {
	if !t.consent.Trusted && !t.run {
		return false
	}
	if real, err := filepath.EvalSymlinks(path); err != nil || real != path {
		return false
	}
	tracked, err := fileindex.Tracked(path)
	return err == nil && !tracked
}

// Brings returns the names of the workspace's files that need trust.
func (t *Trust) Brings() []string {
	var names []string
	for _, root := range t.roots() {
		if (trust.Workspace{Root: root}).Covers(t.Home) {
			continue // the user's own
		}
		for _, name := range []string{".adze", ".claude", ".mcp.json", "ADZE.md", "AGENTS.md", "CLAUDE.md", "ADZE.local.md", "CLAUDE.local.md", "GEMINI.md"} {
			if _, err := os.Lstat(filepath.Join(root, name)); err == nil && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}
