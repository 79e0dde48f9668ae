package wire

import (
	"context"
	"os"
	"sync"

	"adze/internal/app/toolbox"
	"adze/internal/domain/skill"
	"adze/internal/domain/skill/library"
	"adze/internal/feature/skills"
	"adze/internal/feature/skills/bundled"
	"adze/internal/feature/skills/remote"
	"adze/internal/hook"
	"adze/internal/platform/fs/paths"
	"adze/internal/platform/fs/trust"
	"adze/internal/session"
)

// libraryOf returns a function that starts the workspace's skill scan on its first call.
func (w *Workspace) openLibrary() func(added []string) *library.Library {
	var once sync.Once
	var l *library.Library
	return func(added []string) *library.Library {
		once.Do(func() {
			own := bundled.New(os.TempDir())
			open := skills.OpenLibrary
			if w.start.cache.Start() != nil {
				open = skills.OpenLater
			}
			l = open(w.Project, w.Dir, added, skills.Plugins{
				Roots: func() []library.Root { return w.pluginSet().Roots() },
				Early: func() []library.Root { return w.earlyPlugins().Roots() },
			}, own)
			w.closers.add(own.Close)
			w.closers.add(l.Close)
			w.closers.add(l.Watch(func() {})) // conversations check the set before every request
		})
		return l
	}
}

// LookAhead starts scanning for skills and agents, which the first request lists, while other
// parts are set up. It does nothing if an earlier session left a cached listing, or if the scan
// is already running.
func (w *Workspace) LookAhead(s *Spec) {
	if s.Calls != FromModel || w.values().Size.Reduced() {
		return
	}
	w.start.recall(w, s.Access.Dirs)
	w.library(s.Access.Dirs)
	if w.start.cache.Start() != nil {
		return
	}
	var looking sync.WaitGroup
	looking.Go(func() { w.Agents.Early() })
	w.closers.add(looking.Wait)
}

// usesSkills reports whether the conversation has skills. Only models use them.
func (c *Conversation) usesSkills() bool {
	return c.spec.Calls == FromModel && !c.ws.values().Size.Reduced()
}

func (c *Conversation) openSkills() {
	if !c.usesSkills() {
		return
	}
	cfg := skills.Config{
		Library: c.ws.library(c.spec.Access.Dirs), Off: c.spec.Bare, Gate: c.Gate, Session: func() *session.Session { return c.Session },
		SetHooks: func(sources []hook.Source) []hook.Problem { return c.Hooks.SetTurn(sources) },
		Trusted:  c.ws.Project.Trust.Trusted, Approved: c.ws.Project.Trust.Approved,
		Approve: func(ctx context.Context, it trust.Item) error { return c.ws.Project.Trust.Keep(ctx, it) },
		Markets: func() []string { return c.ws.values().Skills.Markets },
		NoShell: func() bool { return c.ws.values().Skills.NoShell },
		Used:    c.ws.usage().Used,
		Vars: func(k *skill.Skill) skill.Vars {
			var v skill.Vars
			if k != nil {
				v = c.ws.pluginSet().Vars(k.Origin)
			}
			v.SessionID, v.Effort, v.ProjectDir = c.record.ID, string(c.model.Working(c.Session.Model())), c.ws.Project.Trust.Root
			return v
		},
		Models: skills.Models{
			Lookup:    c.model.Lookup,
			Elsewhere: func(id string) bool { return c.model.Backend == nil || !c.model.Backend.Router.FirstParty(id) },
		},
		Base:     func() paths.Base { return paths.Base{Dir: c.dir.Here(), Home: c.ws.Project.User} },
		Last:     c.record.State().Last,
		Language: c.ws.language, Say: c.ws.Say,
		Fork: func(ctx context.Context, f skills.Fork) (string, error) { return c.forkSkill(ctx, f) },
	}
	cfg.Note = c.note
	if c.Servers != nil && c.ws.values().MCP.Skills {
		cfg.Servers = c.Servers.Skills
	}
	if v := c.ws.values(); len(v.Skills.Remote) > 0 && !v.Web.Offline {
		from, wrong := remote.New(v.Skills.Remote, toolbox.Pages(c.ws.online()).Client)
		for _, err := range wrong {
			c.ws.Say(err.Error())
		}
		cfg.Library = skills.Fetching(cfg.Library, from)
	}
	c.skills = skills.New(cfg)
	c.skills.Begin(c.cachedStart())
}

// preloaded returns the skills loaded at the start of an agent's conversation. A resumed
// conversation already has them.
func (c *base) preloadedSkills() []string {
	d := agentDefinition(&c.spec)
	if d == nil || c.record.Earlier != nil {
		return nil
	}
	return d.Skills
}
