package wire

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"adze/internal/app/artifacts"
	"adze/internal/app/models"
	"adze/internal/commands"
	"adze/internal/commands/about"
	"adze/internal/commands/display"
	"adze/internal/commands/extensions"
	"adze/internal/commands/memory"
	"adze/internal/commands/rules"
	"adze/internal/feature/agents"
	"adze/internal/feature/mcp"
	"adze/internal/mcp/editor"
	"adze/internal/model"
	"adze/internal/model/catalog"
	"adze/internal/permission"
	"adze/internal/platform/fs/scope"
	"adze/internal/session/archive"
	"adze/internal/settings"
	"adze/internal/settings/config"
	"adze/internal/ui/markdown"
)

// permissionCommands gives commands access to the conversation's permissions.
func (c *Conversation) permissionCommands() commands.Permission {
	return commands.Permission{
		Mode: func() string { return string(c.Gate.Mode()) }, Policy: c.Gate.Policy, Apply: c.Gate.Apply, Judged: c.Gate.Judged,
		Allowed: func(mode string) bool { return c.Gate.Offers(permission.Mode(mode)) },
		Dirs: func() []string {
			return slices.DeleteFunc(slices.Clone(c.dir.Roots()), func(dir string) bool { return dir == c.dir.Home() })
		},
	}
}

// commandEnv gives commands access to the conversation's environment. Changed settings apply
// to all conversations.
func (c *Conversation) commandEnv() commands.Env {
	w := c.ws
	line := about.NewStatusLine(func() string { return w.Project.Values().Display.StatusLine }, about.Place{
		Runner: w.runner, Dir: w.Dir, Environ: func() []string { return w.environment().List }, Trusted: w.Project.Trust.Trusted,
	})
	inherit := func(ctx context.Context, from *archive.Info, id string) error {
		return artifacts.Inherit(ctx, w.Project, from, id, w.Dir)
	}
	s := commands.Env{
		HTML: markdown.HTML, StatusLine: line.Line, CompactPercent: func() int { return w.values().Window.Percent },
		Score: c.ws.usage().Score, Remarks: c.remarks(),
		Settings: func() commands.Settings {
			return commands.Settings{Values: w.Project.Written(), Effort: c.model.Working(c.Session.Model()), AutoCompact: w.values().Window.Auto}
		},
		Keys:    w.Keys.Commands(),
		Enabled: func(setting string) bool { return w.Project.Settings().Bool(setting) },
		Styles:  c.styleCommands(), Sections: about.Sections(about.Config{
			StatusLine: line,
			Variables:  func() []about.Variable { return settings.Variables(w.Getenv) },
			Feedback:   func() string { return w.Project.Values().Display.Feedback },
			Inherit:    inherit,
		}),
		Sessions: commands.SessionFiles{Inherit: inherit, Remove: func(_ context.Context, info *archive.Info) error { return artifacts.Remove(w.Project.Home, info) }},
		About:    c.statusFields,
		Examine:  c.examine,
		Options: func(all bool) []commands.Option {
			s, keys := w.Project.Settings(), settings.Keys()
			var list []commands.Option
			for i := range keys {
				v := settings.Describe(s, &keys[i])
				if v.Origin != "" || all && keys[i].Name != "" {
					list = append(list, commands.Option{Key: v.Key, Value: v.Text(), Doc: keys[i].Doc, Origin: v.Origin, Values: settings.Accepted(&keys[i])})
				}
			}
			return list
		},
		Change: func(ctx context.Context, key string, value *string) (string, error) {
			file, idle, err := w.Project.Change(ctx, w.Say, scope.User, key, value)
			if err != nil {
				return "", err
			}
			w.tell(config.Change{Files: []config.ChangedFile{{Scope: scope.User, Path: file}}})
			switch {
			case idle != "":
				return idle, nil
			case value == nil:
				return fmt.Sprintf("%s is no longer set in %s.", key, file), nil
			}
			return fmt.Sprintf("%s is now %s in %s. Some settings take effect with the next conversation.", key, *value, file), nil
		},
	}
	s.Sections = slices.Concat(s.Sections, rules.Sections(), memory.Sections(), extensions.Sections())
	s.Sections = append(s.Sections, display.Sections(display.Config{Getenv: w.Getenv, Ask: w.runProgram()})...)
	s.Request = func(ctx context.Context) (commands.Request, bool) {
		if !w.Project.Values().Display.PullRequests || !w.Project.Trust.Trusted() {
			return commands.Request{}, false
		}
		return display.Request(ctx, w.runProgram()), true
	}
	c.parts.Offer(&s)
	return s
}

// extensionCommands gives commands access to the user's extensions.
func (c *Conversation) extensionCommands() commands.Extensions {
	agents := agents.Files{Project: c.ws.Project, Library: c.ws.Agents, Language: c.ws.language}.Commands()
	agents.Working = func() []commands.RunningAgent { return c.agents.Working() }
	return commands.Extensions{
		Skills: c.skills.Set, ReloadSkills: c.skills.Reload, Servers: c.Servers.Commands(),
		Agents:  agents,
		Editors: func() []editor.Editor { return mcp.Editors(c.ws.Project) },
		Plugins: c.ws.PluginManager().Commands(c.ws.Dir, c.takeSettings),
		Hooks: func() commands.Hooks {
			return commands.Hooks{List: c.Hooks.List(), Policy: hookPolicy(c.ws.values().Hooks, c.spec.Bare), Mute: c.Hooks.Mute}
		},
	}
}

// modelCommands gives commands access to the models.
func (c *Conversation) modelCommands() commands.Models {
	return commands.Models{
		Catalog: c.model.Known(), Thinking: c.model.ThinkingWith,
		Here: func(ctx context.Context) []catalog.Model {
			return models.Here(ctx, c.ws.backendConfig(c.spec.Model))
		},
		Limits: func() []model.Limit {
			if c.model.Backend == nil {
				return nil
			}
			return c.model.Backend.Router.Limits(c.Session.Model())
		},
	}
}

// statusFields returns additional session information.
func (c *Conversation) statusFields() commands.Fields {
	var fields commands.Fields
	if b := c.model.Backend; b != nil {
		fields = append(fields, commands.Field{Name: "Provider", Value: b.Name + ", selected by " + b.Why}, commands.Field{Name: "Credentials", Value: b.KeySource})
	}
	sandbox := "off; /config sandbox.enabled true switches it on"
	if c.ws.values().Sandbox.Enabled {
		sandbox = "on"
	}
	fields = append(fields, commands.Field{Name: "Sandbox", Value: sandbox})
	var files []string
	for _, f := range c.ws.Project.Files() {
		if _, err := os.Stat(f.Path); err == nil {
			files = append(files, shortPath(c.ws.Dir, c.ws.Project.User, f.Path))
		}
	}
	if len(files) == 0 {
		files = []string{"none"}
	}
	fields = append(fields, commands.Field{Name: "Settings", Value: strings.Join(files, ", ")})
	trusted := "not trusted; its settings, hooks and allow rules are not used (adze trust)"
	if c.ws.Project.Trust.Trusted() {
		trusted = "trusted"
	}
	return append(fields, commands.Field{Name: "Workspace", Value: trusted})
}
