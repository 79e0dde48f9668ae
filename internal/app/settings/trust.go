package settings

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"adze/internal/platform/config"
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

	state, other string       // the folders of the user's own settings; see [Project]
	store        *trust.Store // nil without a state home
	consent      trust.Consent
	run          bool        // it is trusted for this run
	named        bool        // its project settings are, because the command line names them
	began        Offer       // what the workspace enabled when it was trusted for this run
	hosted       bool        // a host drives the run: it wants the texts of the workspace
	vouched      atomic.Bool // the host says that the workspace may be trusted for this run
}

// findTrust finds the workspace of a run and how far it is trusted. If that cannot be read, it is not trusted.
func findTrust(src Source, p *Project, locks *replace.Replacer) *Trust {
	t := &Trust{Home: p.User, state: p.Home, other: p.Other}
	dir := src.Root
	if dir == "" {
		dir = src.Dir
	}
	t.Workspace, t.Problem = trust.Find(dir, t.Home)
	if t.Root == "" {
		t.Dir, t.Root = src.Dir, src.Dir
	}
	t.run, t.named = src.Trust, slices.Contains(src.Scopes, scope.Project) && !src.Hosted
	t.hosted = src.Hosted && (src.Scopes == nil || slices.Contains(src.Scopes, scope.Project))
	if t.state != "" {
		t.store = trust.Open(t.state, locks)
	}
	if t.store != nil && t.Problem == nil {
		t.consent, t.Problem = t.store.Consent(t.Workspace)
	}
	if t.run || t.named {
		t.began = t.ForRun()
	}
	return t
}

// Trusted reports whether the workspace's own settings, hooks, servers, skills and agents may be used in this run.
func (t *Trust) Trusted() bool { return t.consent.Trusted || t.run || t.named || t.vouched.Load() }

// Readable reports whether the model may be given the workspace's instruction files: the workspace is trusted, or a host
// drives the run, for which they are no more than text.
func (t *Trust) Readable() bool { return t.Trusted() || t.hosted }

// vouch trusts the workspace for this run, because the host says so.
func (t *Trust) vouch() {
	if t.Trusted() {
		return
	}
	t.began = t.ForRun()
	t.vouched.Store(true)
}

// Lasting reports whether the user trusts the workspace beyond this run.
func (t *Trust) Lasting() bool { return t.consent.Trusted }

// Approved reports whether an item of the workspace may run: it must be one of those that were shown when the
// workspace was trusted, or that were there when it was trusted for this run.
func (t *Trust) Approved(it trust.Item) bool {
	return t.Trusted() && slices.Contains(t.began.items(), it) || t.consent.Trusted && t.consent.Approved(it)
}

// Began returns what the workspace has enabled since it was trusted for this run. It is empty if it was not.
func (t *Trust) Began() Offer { return t.began }

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

// grants returns which of the workspace's settings apply: those of the project, and local ones that are not known to
// be the user's own.
func (t *Trust) grants() (project, local config.Grant) {
	switch {
	case t.consent.Trusted || t.run:
		return config.Workspace, config.Workspace
	case t.named:
		return config.Workspace, config.Untrusted
	case t.vouched.Load():
		return config.Hosted, config.Hosted
	}
	return config.Untrusted, config.Untrusted
}

// roots returns the directories whose settings apply, the outermost first.
func (t *Trust) roots() []string {
	if t.Dir == t.Root {
		return []string{t.Root}
	}
	return []string{t.Root, t.Dir}
}

// owns reports whether a file of local settings that holds data is the user's own: the workspace is trusted, and
// adze wrote this content or the user confirmed it. That git does not track the file proves nothing, since archives
// hold such files, too.
func (t *Trust) owns(path string, data []byte) bool {
	if !t.consent.Trusted && !t.run || t.store == nil || t.Problem != nil || !plainPath(path) {
		return false
	}
	if t.consent.Owns(path, data) {
		return true
	}
	now, err := t.store.Consent(t.Workspace) // another process may have written it
	return err == nil && now.Owns(path, data)
}

// plainPath reports whether there is no link in a path. What a link leads to may have come with the workspace.
func plainPath(path string) bool {
	real, err := filepath.EvalSymlinks(path)
	return err == nil && real == path
}

// writing prepares the store for a local file that adze is about to write, so that the file is the user's own at
// every moment, if it was before.
func (t *Trust) writing(ctx context.Context, to scope.Scope, path string, before, after []byte) error {
	if to != scope.Local || t.store == nil {
		return nil
	}
	return t.store.Rewrite(ctx, path, before, after)
}

// Brings returns the names of the workspace's files that need trust, and of those the names of texts.
func (t *Trust) Brings() (names, texts []string) {
	for _, root := range t.roots() {
		if (trust.Workspace{Root: root}).Covers(t.Home) {
			continue // the user's own
		}
		for _, name := range []string{".adze", ".claude", ".mcp.json", "ADZE.md", "AGENTS.md", "CLAUDE.md", "ADZE.local.md", "CLAUDE.local.md", "GEMINI.md"} {
			if _, err := os.Lstat(filepath.Join(root, name)); err != nil || slices.Contains(names, name) {
				continue
			}
			names = append(names, name)
			if strings.HasSuffix(name, ".md") {
				texts = append(texts, name)
			}
		}
	}
	return names, texts
}
