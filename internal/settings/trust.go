package settings

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"adze/internal/platform/fs/fsys"
	"adze/internal/platform/fs/replace"
	"adze/internal/platform/fs/scope"
	"adze/internal/platform/fs/trust"
	"adze/internal/settings/config"
)

// A Trust holds the trust state of a run's workspace.
type Trust struct {
	trust.Workspace
	// Problem is the error reading the trust store, if any; the workspace is not trusted then.
	Problem error
	// Home is the user's home directory.
	Home string

	dirs    fsys.Dirs                     // see [Project]
	other   string                        // see [Project]
	store   *trust.Store                  // nil without a state home
	consent atomic.Pointer[trust.Consent] // never nil
	now     decisions
	seen    seen
	run     bool  // trusted for this run
	began   Offer // effects when the workspace was trusted for this run
	granted map[trust.Item]bool
	hosted  bool        // a host drives the run
	project bool        // the run's scopes include the project's, so its texts are read
	vouched atomic.Bool // the host vouches for the workspace in this run
}

// findTrust finds a run's workspace and its trust. If trust cannot be read, the workspace is
// not trusted.
func findTrust(src Source, p *Project, locks *replace.Replacer) *Trust {
	t := &Trust{Home: p.User, dirs: p.Dirs, other: p.Other}
	t.consent.Store(&trust.Consent{})
	dir := src.Root
	if dir == "" {
		dir = src.Dir
	}
	t.Workspace, t.Problem = trust.Find(dir, t.Home)
	if t.Root == "" {
		t.Dir, t.Root = src.Dir, src.Dir
	}
	t.run = src.Trust
	t.hosted, t.project = src.Hosted, src.Scopes == nil || slices.Contains(src.Scopes, scope.Project)
	if t.dirs.Home != "" {
		t.store = trust.Open(t.dirs.Home, locks)
	}
	if t.store != nil && t.Problem == nil {
		t.Problem = refresh(t)
	}
	if t.run {
		t.begin()
	}
	return t
}

// begin records the workspace's current effects, because it is trusted for this run.
func (t *Trust) begin() {
	t.began, t.granted = t.ForRun(), map[trust.Item]bool{}
	for _, it := range t.began.items() {
		t.granted[it] = true
	}
}

// follow applies decisions the user has made in other processes since. It returns a number that
// changes when [Trust.Approved] may. A workspace trusted only now stays untrusted in this run.
func (t *Trust) follow() int {
	t.seen.mu.Lock()
	defer t.seen.mu.Unlock()
	if t.store == nil {
		return t.seen.n
	}
	if stamp := t.store.Stamp(); stamp != t.seen.stamp {
		c, _ := t.store.Consent(t.Workspace) // ok: then nothing is trusted
		c.Trusted = c.Trusted && t.consent.Load().Trusted
		t.consent.Store(&c)
		t.seen.stamp = stamp
		t.seen.n++
	}
	return t.seen.n
}

func (s *seen) bump() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.n++
}

// seen tracks which decisions have been applied.
type seen struct {
	mu    sync.Mutex
	stamp trust.Stamp
	n     int
}

// refresh rereads the user's decisions about the workspace.
func refresh(t *Trust) error {
	t.seen.mu.Lock()
	defer t.seen.mu.Unlock()
	stamp := t.store.Stamp()
	c, err := t.store.Consent(t.Workspace)
	t.consent.Store(&c)
	t.seen.stamp = stamp
	t.seen.n++
	return err
}

// decisions holds the items the user approved in this run.
type decisions struct {
	mu    sync.Mutex
	items []trust.Item
}

func (d *decisions) has(it trust.Item) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Contains(d.items, it)
}

func (d *decisions) add(it trust.Item) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.items = append(d.items, it)
}

func (d *decisions) remove(items []trust.Item) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.items = slices.DeleteFunc(d.items, func(it trust.Item) bool { return slices.Contains(items, it) })
}

// Trusted reports whether the workspace's own settings, hooks, servers, skills and agents may
// be used in this run.
func (t *Trust) Trusted() bool {
	return t.consent.Load().Trusted || t.run || t.vouched.Load()
}

// Readable reports whether the model is given the workspace's instruction files. They are only
// text, so they need no trust; but a run that names its scopes may exclude the project's.
func (t *Trust) Readable() bool { return t.project }

// Hosted reports whether a host drives the run.
func (t *Trust) Hosted() bool { return t.hosted }

// vouch trusts the workspace for this run on the host's behalf.
func (t *Trust) vouch() {
	if t.Trusted() {
		return
	}
	t.begin()
	t.vouched.Store(true)
}

// Lasting reports whether the user trusts the workspace beyond this run.
func (t *Trust) Lasting() bool { return t.consent.Load().Trusted }

// Approved reports whether a workspace item is approved: it was shown when the workspace was
// trusted, or existed when it was trusted for this run.
func (t *Trust) Approved(it trust.Item) bool {
	return t.Trusted() && (t.granted[it] || t.now.has(it)) || t.consent.Load().Trusted && t.consent.Load().Approved(it)
}

// item returns the item to approve for a claim.
func (t *Trust) item(c config.Claim) trust.Item {
	return trust.Setting(c.Key, t.relative(c.Dir), c.Value)
}

// limit converts a claim to a limit.
func (t *Trust) limit(c config.Claim) trust.Limit {
	return trust.Limit{Key: c.Key, Value: c.Value, Dir: t.relative(c.Dir), File: t.relative(c.File)}
}

// limits returns the workspace's restrictions, which apply until the user approves their
// removal.
func (t *Trust) limits() (list []config.Claim) {
	all := t.consent.Load().Limits
	if !t.consent.Load().Trusted {
		all = t.began.limits
	}
	for _, l := range all {
		dir := filepath.Join(t.Root, l.Dir)
		if slices.Contains(t.roots(), dir) {
			list = append(list, config.Claim{Key: l.Key, Value: l.Value, File: filepath.Join(t.Root, l.File), Dir: dir})
		}
	}
	return list
}

// relative returns a path relative to the workspace.
func (t *Trust) relative(path string) string {
	rel, err := filepath.Rel(t.Root, path)
	if err != nil {
		return path
	}
	return filepath.ToSlash(rel)
}

// Began returns the effects recorded when the workspace was trusted for this run. It is empty
// if it was not.
func (t *Trust) Began() Offer { return t.began }

// Kept reports whether the user has approved an item before.
func (t *Trust) Kept(it trust.Item) bool { return t.now.has(it) || t.consent.Load().Approved(it) }

// Keep records that the user approved an item of a trusted workspace. Without a state home this
// lasts for the run only.
func (t *Trust) Keep(ctx context.Context, it trust.Item) error {
	t.now.add(it)
	if t.store == nil {
		t.seen.bump()
		return nil
	}
	return cmp.Or(t.store.Approve(ctx, t.Workspace, it), refresh(t))
}

// Withdraw revokes the user's approval of workspace items.
func (t *Trust) Withdraw(ctx context.Context, items ...trust.Item) error {
	t.now.remove(items)
	if t.store == nil {
		t.seen.bump()
		return nil
	}
	return cmp.Or(t.store.Withdraw(ctx, t.Workspace, items...), refresh(t))
}

// ServerFiles returns the workspace's files that may define servers, outermost first. They need
// not exist.
func (t *Trust) ServerFiles() (files []string) {
	for dir := t.Dir; ; dir = filepath.Dir(dir) {
		files = append(files, filepath.Join(dir, ".mcp.json"))
		if dir == t.Root || dir == filepath.Dir(dir) {
			break
		}
	}
	slices.Reverse(files)
	return files
}

// OneRunOnly reports whether the workspace can be trusted for one run only: it is or contains
// the user's home directory, or trust cannot be recorded for lack of a state home.
func (t *Trust) OneRunOnly() bool { return t.Covers(t.Home) || t.store == nil }

// Add trusts the workspace permanently, with everything in the offer.
func (t *Trust) Add(ctx context.Context, o Offer) error {
	return t.store.Add(ctx, t.Workspace, o.limits, o.items()...)
}

// Settled reports whether the workspace is already trusted with everything in the offer, so
// that no prompt is needed.
func (t *Trust) Settled(o Offer) bool {
	return t.Lasting() && len(o.gone) == 0 && !slices.ContainsFunc(o.items(), func(it trust.Item) bool { return !t.Kept(it) })
}

// Remove stops trusting a workspace. The directory need not exist anymore.
func (t *Trust) Remove(ctx context.Context, path string) error { return t.store.Remove(ctx, path) }

// List returns the trusted workspaces.
func (t *Trust) List() ([]trust.Entry, error) { return t.store.List() }

// grants returns which workspace settings apply: the project's, and local ones not known to be
// the user's own.
func (t *Trust) grants() (project, local config.Grant) {
	switch {
	case t.consent.Load().Trusted || t.run:
		return config.Workspace, config.Workspace
	case t.vouched.Load():
		return config.Hosted, config.Hosted
	}
	return config.Untrusted, config.Untrusted
}

// roots returns the directories whose settings apply, outermost first.
func (t *Trust) roots() []string {
	if t.Dir == t.Root {
		return []string{t.Root}
	}
	return []string{t.Root, t.Dir}
}

// owns reports whether a local settings file with the given data is the user's own: adze wrote
// this content here, or the user confirmed it and trusts the workspace. That git does not track
// the file proves nothing, since archives can contain such files too.
func (t *Trust) owns(path string, data []byte) bool {
	if t.store == nil || t.Problem != nil || !plainPath(path) {
		return false
	}
	trusted := t.consent.Load().Trusted || t.run
	own := func(c *trust.Consent) bool { return c.Wrote(path, data) || trusted && c.Owns(path, data) }
	if own(t.consent.Load()) {
		return true
	}
	now, err := t.store.Consent(t.Workspace) // another process may have written it
	return err == nil && own(&now)
}

// ownFile reports whether a local settings file exists and is the user's own.
func (t *Trust) ownFile(path string) bool {
	data, err := fsys.ReadSmall(path, maxOwn)
	return err == nil && t.owns(path, data)
}

// maxOwn is the maximum size of settings files that adze may have written, in bytes.
const maxOwn = 16 << 20

// plainPath reports whether a path contains no symlinks. A symlink's target may have come with
// the workspace.
func plainPath(path string) bool {
	real, err := filepath.EvalSymlinks(path)
	return err == nil && real == path
}

// writing prepares the store before adze writes a workspace file for the user: a local file
// stays their own, and changes in a project file are approved.
func (t *Trust) writing(ctx context.Context, to scope.Scope, path string, before, after []byte) error {
	switch {
	case t.store == nil:
	case to == scope.Local:
		if err := t.store.Rewrite(ctx, path, before, after); err != nil || !t.Lasting() {
			return err
		}
		return t.relimit(ctx, to, path, before, after)
	case to == scope.Project && t.Trusted():
		return t.rewrite(ctx, path, before, after)
	}
	return nil
}

// relimit replaces a file's recorded limits. From a project file, only limits that tighten or
// are approved are recorded.
func (t *Trust) relimit(ctx context.Context, to scope.Scope, path string, before, after []byte) error {
	dir := filepath.Dir(filepath.Dir(path))
	old, now := limitsIn(path, dir, before), limitsIn(path, dir, after)
	same := func(a, b trust.Limit) bool {
		return a.Key == b.Key && a.Dir == b.Dir && string(a.Value) == string(b.Value)
	}
	if !slices.Contains([]string{".adze", ".claude"}, filepath.Base(filepath.Dir(path))) || len(old)+len(now) == 0 {
		return nil
	}
	err := t.store.Relimit(ctx, t.Workspace, func(limits []trust.Limit) []trust.Limit {
		for _, c := range old {
			limits = slices.DeleteFunc(limits, func(l trust.Limit) bool { return same(l, t.limit(c)) })
		}
		for _, c := range now {
			if to == scope.Local || c.Effect == config.Tightens || t.Approved(t.item(c)) {
				limits = append(limits, t.limit(c))
			}
		}
		return limits
	})
	return cmp.Or(err, refresh(t))
}

// limitsIn returns the restrictions in a settings file.
func limitsIn(path, dir string, data []byte) []config.Claim {
	return slices.DeleteFunc(config.ClaimsIn(path, dir, data, Keys()), func(c config.Claim) bool {
		return c.Effect != config.Tightens && c.Effect != config.Shifts
	})
}

// rewrite approves additions to a project file, and lets removed settings stop applying.
func (t *Trust) rewrite(ctx context.Context, path string, before, after []byte) error {
	dir := filepath.Dir(filepath.Dir(path))
	old, now := config.ClaimsIn(path, dir, before, Keys()), config.ClaimsIn(path, dir, after, Keys())
	for _, c := range now {
		if slices.ContainsFunc(old, c.Same) {
			continue
		}
		if err := t.Keep(ctx, t.item(c)); err != nil {
			return err
		}
	}
	if !t.Lasting() {
		return nil
	}
	return t.relimit(ctx, scope.Project, path, before, after)
}

// LeftOut returns the names of the workspace's files that are not used, for lack of trust or
// because the run does not read the project's scope. Deny and ask rules in settings apply
// anyway.
func (t *Trust) LeftOut() []string {
	if t.Trusted() {
		return nil
	}
	names, texts := t.Brings()
	if t.Readable() {
		names = slices.DeleteFunc(names, func(name string) bool { return slices.Contains(texts, name) })
	}
	return names
}

// holdsOwn reports whether a directory for adze's files contains nothing that needs trust: only
// worktrees, which configure nothing, and local settings that are the user's own.
func (t *Trust) holdsOwn(folder string) bool {
	if filepath.Base(folder) != ".adze" {
		return false
	}
	entries, err := os.ReadDir(folder)
	for _, e := range entries {
		switch {
		case e.IsDir() && e.Name() == "worktrees":
		case e.Type().IsRegular() && e.Name() == localSettings && t.ownFile(filepath.Join(folder, e.Name())):
		default:
			return false
		}
	}
	return err == nil && len(entries) > 0
}

const localSettings = "settings.local.json"

// Brings returns the names of the workspace's own files, and the subset that are texts.
func (t *Trust) Brings() (names, texts []string) {
	for _, root := range t.roots() {
		if (trust.Workspace{Root: root}).Covers(t.Home) {
			continue // the user's own
		}
		for _, name := range []string{".adze", ".claude", ".mcp.json", "ADZE.md", "AGENTS.md", "CLAUDE.md", "ADZE.local.md", "CLAUDE.local.md", "GEMINI.md"} {
			path := filepath.Join(root, name)
			if _, err := os.Lstat(path); err != nil || slices.Contains(names, name) || t.holdsOwn(path) {
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
