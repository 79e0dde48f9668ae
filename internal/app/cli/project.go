package cli

import (
	"fmt"
	"strings"

	"adze/internal/app/wire"
	"adze/internal/feature/mcp"
	"adze/internal/feature/plugins"
	"adze/internal/platform/fs/scope"
	"adze/internal/settings"
)

// openWorkspace opens the workspace of a command that runs something, and reports problems in
// the settings and ignored configuration. An unreadable settings file is an error.
func openWorkspace(env *Env, src settings.Source, in invocation) (*wire.Workspace, error) {
	return openExtended(env, src, in, &extensions{})
}

// openExtended opens a workspace with the agents, servers and plugins from the command line.
// Problems with them are errors.
func openExtended(env *Env, src settings.Source, in invocation, x *extensions) (*wire.Workspace, error) {
	p, warnings := settings.Open(env.source(src))
	for _, w := range warnings {
		env.Say(w.String())
	}
	unused(env, p)
	if err := p.Check(false); err != nil {
		return nil, err
	}
	if err := tooOld(env, p); err != nil {
		return nil, err
	}
	withheld(env, p)
	enabled(env, p)
	for _, note := range in.Notes {
		env.Say(note)
	}
	place, flags := env.wire(), x.servers
	place.Agents, place.Flags, place.Editor = x.agents, in.Inherited, x.editor
	place.Plugins = plugins.Open(plugins.Config{Project: p, Dirs: x.pluginDirs, Say: env.Say})
	flags.Plugins = place.Plugins.Servers
	place.Servers = flags
	w := wire.Open(place, p)
	if x.ahead != nil {
		x.ahead(w)
	}
	list, err := mcp.Load(p, flags)
	if err != nil {
		w.Close()
		return nil, err
	}
	w.Servers.Loaded = list
	return w, nil
}

// unused reports directories of adze's that are not used.
func unused(env *Env, p *settings.Project) {
	if notice := p.Notice(); notice != "" {
		env.Say(notice)
	}
}

// withheld reports which parts of the workspace's configuration are ignored.
func withheld(env *Env, p *settings.Project) {
	t := p.Trust
	if t.Trusted() {
		return
	}
	names := t.LeftOut()
	if len(names) == 0 {
		return
	}
	how := "--trust trusts it for one run"
	if t.Hosted() {
		how = "a host trusts it with trustWorkspace or --trust"
	}
	env.Say(fmt.Sprintf("this workspace is not trusted: its files (%s) are ignored, except for deny and ask rules; adze trust lists their content, %s", strings.Join(names, ", "), how))
}

// enabled reports the effects of --trust in this run.
func enabled(env *Env, p *settings.Project) {
	if text := p.Trust.Began().Short(); text != "" && (p.Reads(scope.Project) || p.Reads(scope.Local)) {
		env.Say("--trust enables, for this run: " + text)
	}
}

// openLeniently opens the settings for read-only commands: unreadable files are reported and
// ignored.
func openLeniently(env *Env, src settings.Source) *settings.Project {
	p, warnings := settings.Open(env.source(src))
	for _, w := range warnings {
		env.Say(w.String())
	}
	for _, e := range p.Settings().Invalid() {
		env.Say(e.Error() + "; none of its settings are used")
	}
	return p
}
