package cli

import (
	"fmt"
	"strings"

	"adze/internal/app/settings"
	"adze/internal/app/wire"
)

// openWorkspace opens the workspace of a command that runs something, and tells the user about problems in the
// settings and about ignored configuration. A settings file that cannot be read is an error.
func openWorkspace(env *Env, src settings.Source, in invocation) (*wire.Workspace, error) {
	p, warnings := settings.Open(env.source(src))
	for _, w := range warnings {
		env.Say(w.String())
	}
	if err := p.Check(false); err != nil {
		return nil, err
	}
	withheld(env, p)
	enabled(env, p)
	for _, note := range in.notes {
		env.Say(note)
	}
	return wire.Open(env.wire(), p), nil
}

// withheld tells the user which parts of the workspace's configuration are ignored.
func withheld(env *Env, p *settings.Project) {
	t := p.Trust
	if t.Trusted() {
		return
	}
	switch names, texts := t.Brings(); {
	case t.Readable() && len(names) > len(texts):
		env.Say("this workspace is not trusted: of its files only instructions, and rules that deny or ask, are used; adze trust shows what else they would enable, a host trusts it with trustWorkspace or --trust")
	case !t.Readable() && len(names) > 0:
		env.Say(fmt.Sprintf("this workspace is not trusted: its files (%s) are ignored, except for rules that deny or ask; adze trust shows what they would enable, --trust trusts it for one run", strings.Join(names, ", ")))
	}
}

// enabled tells the user what the workspace may do in this run because of a flag.
func enabled(env *Env, p *settings.Project) {
	flag := "--trust"
	if !p.Source().Trust {
		flag = "--setting-sources"
	}
	if text := p.Trust.Began().Short(); text != "" {
		env.Say(flag + " enables, for this run: " + text)
	}
}

// openLeniently opens the settings for commands that change nothing: files that cannot be read are reported
// and ignored.
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
