package settings

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"adze/internal/platform/fs/fsys"
	"adze/internal/platform/fs/replace"
	"adze/internal/platform/fs/scope"
	"adze/internal/platform/fs/trust"
	"adze/internal/platform/proc/idle"
	"adze/internal/platform/text/rank"
	"adze/internal/settings/config"
	"adze/internal/setup"
)

// A Source specifies where settings are read from, and how the command line changes trust.
type Source struct {
	Dir     string // absolute working directory
	Managed string // directory of managed settings; may be empty
	Getenv  func(string) string

	Inline        string        // --settings: a file or JSON
	ManagedInline string        // --managed-settings
	Scopes        []scope.Scope // --setting-sources; nil means all
	Root          string        // --project-config-root; empty means Dir
	Trust         bool          // --trust: trust the workspace for this run
	Size          PromptSize    // --prompt-size; empty means the settings decide
	Hosted        bool          // a host drives the run
}

// A Project holds a workspace's current settings and its trust. It is safe for concurrent use.
type Project struct {
	// Dirs are the directories of adze's own files. If they are empty, HomeErr gives the reason.
	fsys.Dirs
	HomeErr error
	// User is the user's home directory, and Other the directory of the ecosystem's own
	// settings. Both may be empty.
	User, Other string
	Trust       *Trust
	// Pulse tracks activity by or for the user. While it is idle, files are not watched.
	Pulse idle.Tracker

	source  Source
	layout  config.Layout
	live    *config.Live
	decoded atomic.Pointer[decodedValues]
	narrow  atomic.Bool // the context window is narrow
}

// Open reads the workspace's settings, as far as it is trusted now.
func Open(src Source) (*Project, []config.Warning) {
	p := &Project{source: src}
	p.Dirs, p.HomeErr = fsys.FindDirs(src.Getenv)
	p.User = fsys.UserHome(src.Getenv)
	p.Other = otherHome(src.Getenv, p.User)
	locks := replace.New(filepath.Join(p.Home, "locks"))
	p.Trust = findTrust(src, p, locks)
	p.layout = config.Layout{
		Dirs: p.Dirs, Other: p.Other, Roots: p.Trust.roots(), Dir: src.Dir, Managed: src.Managed,
		Settings: src.Inline, ManagedSettings: src.ManagedInline, Sources: src.Scopes,
		Own: p.Trust.owns,
	}
	find := func() config.Sources {
		decided := p.Trust.follow() // first, since it determines which files are read
		return config.Sources{
			Files: p.Files(), Getenv: src.Getenv, Home: p.User, Root: p.Trust.Root, Closest: rank.Closest,
			Approved: func(c config.Claim) bool { return p.Trust.Approved(p.Trust.item(c)) }, Limits: p.Trust.limits(), Decided: decided,
		}
	}
	target := p.layout.Target
	if p.HomeErr != nil { // no directory for locks
		target = func(scope.Scope) (string, error) { return "", p.HomeErr }
	}
	var warnings []config.Warning
	p.live, warnings = config.Follow(find, config.WriteConfig{Target: target, Locks: locks, BeforeWrite: p.Trust.writing}, Keys())
	warnings = append(warnings, p.unconfirmed()...)
	if p.Trust.Problem != nil {
		warnings = append(warnings, config.Warning{Where: "trust", Text: p.Trust.Problem.Error()})
	}
	return p, warnings
}

// otherHome returns the directory of the ecosystem's own settings.
func otherHome(getenv func(string) string, home string) string {
	if dir := getenv("CLAUDE_CONFIG_DIR"); filepath.IsAbs(dir) {
		return dir
	}
	if !filepath.IsAbs(home) {
		return ""
	}
	return filepath.Join(home, ".claude")
}

// Check returns an error if a settings file cannot be read, because its restrictions are
// unknown. With skip, only managed files must be readable.
func (p *Project) Check(skip bool) error {
	for _, e := range p.Settings().Invalid() {
		if e.Scope == scope.Managed {
			return setup.Errorf("%v; adze does not start without the administrator's settings", e)
		}
		if !skip {
			return setup.Errorf("%v; unreadable settings could hide deny rules, so adze stops here: correct them%s", e, leaveOut(e.Scope))
		}
	}
	return nil
}

// leaveOut returns advice on ignoring a scope's settings.
func leaveOut(from scope.Scope) string {
	switch from {
	case scope.Project, scope.Local:
		return ", or ignore the project's settings with --setting-sources user"
	case scope.User:
		return ", or ignore your own settings with --setting-sources project,local"
	}
	return ""
}

// Settings returns the current settings, by key. Typed values are in [Project.Values].
func (p *Project) Settings() *config.Settings { return p.live.Settings() }

type decodedValues struct {
	from   *config.Settings
	narrow bool
	values *Values
}

// narrowWindow is the context window, in tokens, below which the automatic prompt is small.
const narrowWindow = 16_000

// FitPrompt makes an automatic prompt small for the rest of the run if the context window is
// narrow. It reports whether the prompt became small.
func (p *Project) FitPrompt(window int) bool {
	if window <= 0 || window >= narrowWindow || p.size(promptSize(p.Settings())) != AutoPrompt {
		return false
	}
	return !p.narrow.Swap(true)
}

// size returns the prompt size chosen by the flag or else the settings.
func (p *Project) size(set PromptSize) PromptSize { return cmp.Or(p.source.Size, set, AutoPrompt) }

// Values returns the current settings, decoded. They are decoded once per change of the files.
func (p *Project) Values() *Values {
	s, narrow := p.live.Settings(), p.narrow.Load()
	if d := p.decoded.Load(); d != nil && d.from == s && d.narrow == narrow {
		return d.values
	}
	d := &decodedValues{s, narrow, Decode(s)}
	switch d.values.Size = p.size(d.values.Size); {
	case d.values.Size == AutoPrompt && narrow:
		d.values.Size = SmallPrompt
	case d.values.Size == AutoPrompt:
		d.values.Size = FullPrompt
	}
	p.decoded.Store(d)
	return d.values
}

// Written returns the settings in effect that a file can hold, by name. Variables and servers
// are omitted because they may hold keys.
func (p *Project) Written() map[string]json.RawMessage {
	s, values := p.Settings(), map[string]json.RawMessage{}
	for _, key := range Keys() {
		if key.Name != "" && key.Name != "mcpServers" && s.Origin(key.Name) != "" {
			values[key.Name] = s.JSON(key.Name)
		}
	}
	return values
}

// Files returns the settings files.
func (p *Project) Files() []config.File {
	l := p.layout
	l.Grant, l.LocalGrant = p.Trust.grants()
	return l.Files()
}

// Vouch trusts the workspace for this run on the host's behalf, and rereads the settings. Rules
// and directories that grant access still require the user's trust; see [config.Hosted].
func (p *Project) Vouch() []config.Warning {
	p.Trust.vouch()
	change, _ := p.Poll()
	return change.Problems
}

// Source returns the source the project was opened with.
func (p *Project) Source() Source { return p.source }

// Main returns the main working tree of the repository that the working directory belongs to,
// or the directory itself outside a repository.
func (p *Project) Main() string {
	w := p.Trust.Workspace
	if found, err := trust.Find(p.source.Dir, p.User); err == nil {
		w = found // the settings may belong to another workspace
	}
	return cmp.Or(w.Main, w.Shared, w.Root)
}

// Reads reports whether the run reads a scope's settings.
func (p *Project) Reads(s scope.Scope) bool {
	return p.source.Scopes == nil || slices.Contains(p.source.Scopes, s)
}

// pollInterval is the polling interval for settings files.
const pollInterval = time.Second

// Watch calls notify for each change of the settings files until ctx is done.
func (p *Project) Watch(ctx context.Context, notify func(config.Change)) {
	p.live.Watch(func() bool { return p.Pulse.Wait(ctx, pollInterval) }, func(c config.Change) { notify(p.withUnconfirmed(c)) })
}

// Poll checks the settings files once, for tests that do not wait for [Project.Watch].
func (p *Project) Poll() (config.Change, bool) {
	c, ok := p.live.Poll()
	return p.withUnconfirmed(c), ok
}

// withUnconfirmed adds warnings about unconfirmed files to a change.
func (p *Project) withUnconfirmed(c config.Change) config.Change {
	if len(c.Files) == 0 {
		return c
	}
	for _, w := range p.unconfirmed() {
		if slices.ContainsFunc(c.Files, func(f config.ChangedFile) bool { return f.Path == w.Where }) {
			c.Problems = append(c.Problems, w)
		}
	}
	return c
}

// Save writes updates to a scope's settings. A new local settings file is excluded from git;
// say notifies the user.
func (p *Project) Save(ctx context.Context, say func(string), to scope.Scope, updates ...config.Update) error {
	written, err := p.live.Apply(ctx, to, updates...)
	p.keepOut(written, to, say)
	if err == nil && written.Changed && p.Unconfirmed(written.File) != "" {
		say(fmt.Sprintf("%s holds settings that you have not confirmed: it has the rights of project settings until you do; adze trust shows them and asks", written.File))
	}
	return err
}

// Unconfirmed lists the settings in a local file that are inactive because the user has not
// confirmed the file, or returns "".
func (p *Project) Unconfirmed(path string) string {
	s := p.Settings()
	var names []string
	for _, d := range s.Demoted() {
		if d.File == path {
			names = append(names, d.Names...)
		}
	}
	for _, part := range s.Parts("hooks") {
		if part.File == path {
			names = append(names, p.unapproved(part)...)
		}
	}
	return shown(strings.Join(slices.Compact(names), ", "))
}

// unapproved returns the names of hooks in a part that do not run because the user has not
// approved them.
func (p *Project) unapproved(part config.Part) (names []string) {
	if part.Scope != scope.Project {
		return nil
	}
	for _, it := range hookItems(part.JSON) {
		if !p.Trust.Approved(it) {
			names = append(names, "hooks."+it.Name)
		}
	}
	return names
}

// unconfirmed returns a warning for each workspace file with inactive settings.
func (p *Project) unconfirmed() (warnings []config.Warning) {
	for _, file := range p.Settings().LocalFiles() {
		names := p.Unconfirmed(file)
		if names == "" {
			continue
		}
		why := "the file has changes that you have not confirmed: run adze trust to review them"
		if !plainPath(file) {
			why = "a symbolic link leads to the file, so that it has no more rights than project settings"
		}
		warnings = append(warnings, config.Warning{Where: file, Text: fmt.Sprintf("not in force: %s; %s", names, why)})
	}
	local := p.Settings().LocalFiles()
	for _, file := range p.changedFiles() {
		if slices.Contains(local, file) {
			continue
		}
		if names := p.waiting(file); len(names) > 0 {
			warnings = append(warnings, config.Warning{Where: file, Text: fmt.Sprintf(
				"not used until you approve it: %s; review it with adze trust", shown(listed(names)))})
		}
		if names := p.retained(file); len(names) > 0 {
			warnings = append(warnings, config.Warning{Where: file, Text: fmt.Sprintf(
				"no longer has %s, which stays until you agree; review it with adze trust", shown(listed(names)))})
		}
	}
	return warnings
}

// changedFiles returns the project files that differ from their approved content.
func (p *Project) changedFiles() (files []string) {
	s := p.Settings()
	for _, part := range s.Parts("hooks") {
		files = append(files, part.File)
	}
	for _, c := range slices.Concat(s.Waiting(), s.Retained()) {
		files = append(files, c.File)
	}
	slices.Sort(files)
	return slices.Compact(files)
}

// waiting returns a project file's settings that are inactive because the user has not approved
// them.
func (p *Project) waiting(file string) (names []string) {
	s := p.Settings()
	for _, part := range s.Parts("hooks") {
		if part.File == file {
			names = append(names, p.unapproved(part)...)
		}
	}
	for _, c := range s.Waiting() {
		if c.File == file {
			names = append(names, c.String())
		}
	}
	return names
}

// retained returns the settings removed from a project file that still apply.
func (p *Project) retained(file string) (names []string) {
	for _, c := range p.Settings().Retained() {
		if c.File == file {
			names = append(names, c.String())
		}
	}
	return names
}

// listed joins names, abbreviating long lists.
func listed(names []string) string {
	names = slices.Compact(names)
	if n := len(names) - maxNames; n > 0 {
		return strings.Join(names[:maxNames], ", ") + fmt.Sprintf(" and %d more", n)
	}
	return strings.Join(names, ", ")
}

// Set writes one value to a scope's settings; nil removes it. It returns the file.
func (p *Project) Set(ctx context.Context, say func(string), to scope.Scope, name string, raw []byte) (string, error) {
	written, err := p.live.Set(ctx, to, name, raw)
	if err != nil {
		return "", err
	}
	p.keepOut(written, to, say)
	return written.File, nil
}

// SetMember writes one member of an object setting to a scope's settings; nil removes it. It
// returns the file.
func (p *Project) SetMember(ctx context.Context, say func(string), to scope.Scope, name, member string, raw json.RawMessage) (string, error) {
	written, err := p.live.SetMember(ctx, to, name, member, raw)
	if err != nil {
		return "", err
	}
	p.keepOut(written, to, say)
	return written.File, nil
}

// keepOut excludes a new local settings file from git, and notifies the user.
func (p *Project) keepOut(written config.WriteResult, to scope.Scope, say func(string)) {
	if !written.Created || to != scope.Local {
		return
	}
	where, err := p.Trust.Hide(written.File)
	switch {
	case err != nil:
		say(fmt.Sprintf("%s is new and not kept out of git: %v", written.File, err))
	case where != "":
		say(fmt.Sprintf("saved in %s, which %s keeps out of git", written.File, where))
	}
}
