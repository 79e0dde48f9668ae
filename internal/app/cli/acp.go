package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"adze/internal/agent"
	"adze/internal/app/artifacts"
	"adze/internal/app/cli/flags"
	"adze/internal/app/models"
	"adze/internal/app/wire"
	"adze/internal/commands/schedule"
	"adze/internal/platform/fs/fsys"
	"adze/internal/session/archive"
	"adze/internal/settings"
	"adze/internal/setup"
	"adze/internal/ui/acp"
)

// acpOptions holds the options of adze acp. They apply to every session of the editor.
type acpOptions struct {
	project settings.Source
	spec    wire.Spec
	prompt  promptText
	extensions
	login bool
}

func (o *acpOptions) flags() []flag {
	return slices.Concat(
		[]flag{{Name: "login", Doc: "store an API key at the terminal, as adze auth login does, instead of serving an editor", Set: flags.SetBool(&o.login)}},
		modelFlags(&o.spec.Model),
		promptFlags(&o.prompt),
		[]flag{bareFlag(&o.spec.Bare)},
		accessFlags(&o.spec.Access),
		limitFlags(&o.spec.Limits),
		flags.Only(newSessionFlags(&o.spec.Session), "no-session-persistence"),
		projectFlags(&o.project),
		serverFlags(&o.servers),
		agentFlags(&o.spec.MainAgent, &o.agents),
		[]flag{pluginDirFlag(&o.pluginDirs)},
		debugFlags(&o.spec.Debug),
	)
}

func (*acpOptions) explain() string {
	return "Editors start this command themselves; docs/editors.md shows how to set them up. The flags apply to every session. Each\n" +
		"session has the working directory that the editor names, with the settings and the trust of that directory.\n"
}

func (o *acpOptions) run(ctx context.Context, env *Env, in invocation) error {
	if o.login {
		return (&authOptions{}).run(ctx, env, invocation{Args: []string{"login"}})
	}
	dirs, err := fsys.FindDirs(env.Getenv)
	if err != nil {
		return setup.Errorf("%v", err)
	}
	if o.spec.Prompt, err = o.prompt.spec(); err != nil {
		return err
	}
	if env.StdinTerminal {
		env.Say("waiting for an editor on standard input; editors start adze acp themselves, ctrl+c ends it")
	}
	err = acp.Serve(ctx, acp.Config{
		In: env.Stdin, Out: env.Stdout, Version: env.Version, Now: env.Now, Say: env.Say, SignIn: []string{"--login"},
		Open:     func(ctx context.Context, s acp.Start) (*acp.Conversation, error) { return o.open(ctx, env, in, s) },
		SignedIn: func(ctx context.Context) error { return o.signedIn(ctx, env) },
		List: func(dir string) ([]archive.Info, error) {
			return archive.List(dirs.Home, archive.ListOptions{Dir: dir})
		},
		Remove: func(info *archive.Info) error { return artifacts.Remove(dirs.Home, info) },
	})
	if err == nil && ctx.Err() != nil {
		return &Ended{agent.AbortedStreaming}
	}
	return err
}

// open opens a session in a workspace of its own: directories differ in settings and trust.
func (o *acpOptions) open(ctx context.Context, env *Env, in invocation, s acp.Start) (*acp.Conversation, error) {
	at, spec, x := *env, o.spec, o.extensions
	at.Dir, at.messenger = s.Dir, &messenger{say: func(text string) { s.Say(strings.TrimPrefix(text, "adze: ")) }}
	spec.Entry, spec.Access.Asks = wire.Host, true
	spec.Access.Dirs = append(slices.Clip(spec.Access.Dirs), s.Dirs...)
	spec.Session.Resume, spec.Session.Fork, spec.Session.Whole = s.Resume, s.Fork, s.Replay
	x.servers.Configs = slices.Clip(x.servers.Configs)
	if s.Servers != nil {
		config, err := json.Marshal(map[string]json.RawMessage{"mcpServers": s.Servers})
		if err != nil {
			return nil, err
		}
		x.servers.Configs = append(x.servers.Configs, string(config))
	}
	x.editor = s.Editor
	x.ahead = func(w *wire.Workspace) { w.LookAhead(&spec) }
	w, err := openExtended(&at, o.project, in, &x)
	if err != nil {
		return nil, err
	}
	c, err := w.Converse(ctx, spec)
	if err != nil {
		w.Close()
		if errors.Is(err, models.ErrNoProvider) {
			err = fmt.Errorf("%w: %w", acp.ErrSignIn, err)
		}
		return nil, err
	}
	r := c.Commands()
	opened := &acp.Conversation{
		Session: c.Session, Commands: r, Earlier: c.Earlier, Explain: c.Explain,
		Attend: func(on bool) { schedule.Attend(r, on) },
		Close: func() {
			c.Close()
			w.Close()
		},
	}
	if c.Servers != nil {
		opened.OnComplete, opened.Ready = c.Servers.OnComplete, func(ctx context.Context) { c.Servers.Awaited(ctx) }
	}
	return opened, nil
}

// signedIn returns an error if no model provider is configured.
func (o *acpOptions) signedIn(ctx context.Context, env *Env) error {
	p := openLeniently(env, o.project)
	c := models.Config{Settings: p.Settings(), Keys: models.OpenKeys(p.Home), Provider: o.spec.Model.Provider, Version: env.Version, Say: env.Say}
	if _, missing := models.Unset(ctx, c, cmp.Or(o.spec.Model.Name, p.Values().Model.Name)); missing != nil {
		return fmt.Errorf("%w: %w", acp.ErrSignIn, missing)
	}
	return nil
}
