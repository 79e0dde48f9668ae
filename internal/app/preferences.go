package app

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"adze/internal/platform/config"
	"adze/internal/platform/fsys"
	"adze/internal/platform/replace"
	"adze/internal/platform/scope"
	"adze/internal/platform/spell"
)

// Preferences are the settings of a run, with what decided about them.
type preferences struct {
	live      *config.Live
	home      string // the state home
	homeErr   error  // why there is none
	workspace *workspace
	layout    config.Layout
}

// readSettings reads the settings in force and tells the person what is wrong with them. A file that
// cannot be read is an error: what it forbids is not known.
func readSettings(env *Env, o *options) (*preferences, error) {
	p, warnings := findSettings(env, o)
	for _, w := range warnings {
		env.say(w.String())
	}
	for _, e := range p.live.Settings().Invalid() {
		if e.Scope == scope.Managed {
			return nil, setupErrorf("%v; nothing is started without the administrator's settings", e)
		}
		if !o.goOn {
			return nil, setupErrorf("%v; what it forbids is not known, so nothing is started: correct the file%s", e, leaveOut(e.Scope))
		}
	}
	p.workspace.announce(env, o, p.live.Settings().Withheld())
	return p, nil
}

// leaveOut says how to do without a file.
func leaveOut(s scope.Scope) string {
	switch s {
	case scope.Project, scope.Local:
		return ", or leave out those of the project with --setting-sources user"
	case scope.User:
		return ", or leave it out with --setting-sources project,local"
	}
	return ""
}

// loadSettings is for commands that only look: they do with what can be read. Home is the state home,
// empty when there is none.
func loadSettings(env *Env, o *options) (s *config.Settings, home string, err error) {
	p, warnings := findSettings(env, o)
	s = p.live.Settings()
	for _, w := range warnings {
		env.say(w.String())
	}
	for _, e := range s.Invalid() {
		env.say(e.Error() + "; none of its settings are used")
	}
	return s, p.home, p.homeErr
}

// findSettings reads the settings that count for the workspace as it is trusted now.
func findSettings(env *Env, o *options) (*preferences, []config.Warning) {
	p := &preferences{}
	p.home, p.homeErr = fsys.StateHome(env.Getenv)
	person := fsys.UserHome(env.Getenv)
	locks := replace.New(filepath.Join(p.home, "locks"))
	p.workspace = findWorkspace(env, o, p.home, locks)
	p.layout = config.Layout{
		Home: p.home, Other: otherHome(env, person), Roots: p.workspace.roots(), Dir: env.Dir, Managed: env.Managed,
		Settings: o.settings, ManagedSettings: o.managed, Sources: o.sources,
		Grant: p.workspace.grant(), Own: p.workspace.owns,
	}
	find := func() config.Sources {
		return config.Sources{
			Files: p.layout.Files(), Getenv: env.Getenv, Home: person, Root: p.workspace.Root, Closest: spell.Closest,
		}
	}
	target := p.layout.Target
	if p.homeErr != nil { // there is no place for locks
		target = func(scope.Scope) (string, error) { return "", p.homeErr }
	}
	var warnings []config.Warning
	p.live, warnings = config.Follow(find, target, settingKeys(), locks)
	if p.workspace.problem != nil {
		warnings = append(warnings, config.Warning{Where: "trust", Text: p.workspace.problem.Error()})
	}
	return p, warnings
}

// otherHome returns the folder of the ecosystem's own settings.
func otherHome(env *Env, person string) string {
	if dir := env.Getenv("CLAUDE_CONFIG_DIR"); filepath.IsAbs(dir) {
		return dir
	}
	if !filepath.IsAbs(person) {
		return ""
	}
	return filepath.Join(person, ".claude")
}

// save writes updates to the settings of a scope, and keeps the person's own file out of git.
func (p *preferences) save(ctx context.Context, say func(string), to scope.Scope, updates ...config.Update) error {
	written, err := p.live.Apply(ctx, to, updates...)
	p.keepOut(written, to, say)
	return err
}

// keepOut keeps a new file of local settings out of git, and says so.
func (p *preferences) keepOut(written config.Written, to scope.Scope, say func(string)) {
	if !written.Created || to != scope.Local {
		return
	}
	where, err := p.workspace.Hide(written.File)
	switch {
	case err != nil:
		say(fmt.Sprintf("%s is new and not kept out of git: %v", written.File, err))
	case where != "":
		say(fmt.Sprintf("%s is new; %s keeps it out of git", written.File, where))
	}
}

// setSources reads --setting-sources.
func setSources(o *options, v string) error {
	o.sources = []scope.Scope{}
	for name := range strings.SplitSeq(v, ",") {
		if name = strings.TrimSpace(name); name == "" {
			continue
		}
		from, err := scope.Parse(name)
		if err != nil || !from.Writable() {
			return fmt.Errorf("%q is none of user, project, local", name)
		}
		o.sources = append(o.sources, from)
	}
	return nil
}

func setConfigRoot(o *options, v string) (err error) {
	o.configRoot, err = filepath.Abs(v)
	return err
}
