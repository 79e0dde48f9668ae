package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"adze/internal/app/cli/flags"
	"adze/internal/feature/instructions"
	"adze/internal/platform/fs/fsys"
	"adze/internal/platform/term"
	"adze/internal/settings"
	"adze/internal/setup"
)

// trustOptions holds the options of adze trust.
type trustOptions struct{ list, remove, show, yes, json bool }

func (o *trustOptions) flags() []flag {
	return []flag{
		{Name: "list", Doc: "list the trusted workspaces", Set: flags.SetBool(&o.list)},
		{Name: "json", Doc: "with --list, print JSON", Set: flags.SetBool(&o.json)},
		{Name: "remove", Doc: "stop trusting DIR", Set: flags.SetBool(&o.remove)},
		{Name: "show", Doc: "only list DIR's configuration", Set: flags.SetBool(&o.show)},
		{Name: "yes", Doc: "trust DIR without asking; needed where there is no terminal", Set: flags.SetBool(&o.yes)},
	}
}

// run lists a workspace's configuration and trusts it permanently.
func (o *trustOptions) run(ctx context.Context, env *Env, in invocation) error {
	if len(in.Args) > 1 || o.list && (o.remove || len(in.Args) > 0) || o.json && !o.list {
		return setup.Errorf("usage: adze trust [DIR], adze trust --remove [DIR] or adze trust --list [--json]")
	}
	src := env.source(settings.Source{})
	if len(in.Args) == 1 {
		src.Root = in.Args[0]
		if !filepath.IsAbs(src.Root) {
			src.Root = filepath.Join(env.Dir, src.Root)
		}
		if !o.remove && !fsys.IsDir(src.Root) {
			return setup.Errorf("%s is not a directory", src.Root)
		}
	}
	p, _ := settings.Open(src) // ok: problems are reported when settings are used
	switch {
	case p.HomeErr != nil:
		return setup.Errorf("%v", p.HomeErr)
	case o.list:
		return o.listTrusted(env, p.Trust)
	case o.remove:
		return removeTrust(ctx, env, p.Trust, src.Root)
	case p.Trust.Problem != nil:
		return p.Trust.Problem
	}
	return o.trust(ctx, env, p)
}

// trust trusts the workspace if the user agrees.
func (o *trustOptions) trust(ctx context.Context, env *Env, p *settings.Project) error {
	offer := p.Trust.Offer()
	offer.Outside = instructions.Outside(p, instructions.Spec{})
	if offer.Broken != nil {
		return setup.Errorf("%v; fix the file first: its content can't be read", offer.Broken)
	}
	if !o.show && p.Trust.Settled(offer) {
		return env.print(term.Sanitize(p.Trust.Root) + " is already trusted. adze trust --show lists its configuration; --remove stops trusting it.\n")
	}
	if err := env.print(offer.String()); err != nil || o.show {
		return err
	}
	if p.Trust.OneRunOnly() {
		return setup.Errorf("%s is or contains your home directory, which can only be trusted for one run: use --trust", p.Trust.Root)
	}
	switch {
	case o.yes:
	case !env.StdinTerminal || !env.StdoutTerminal:
		return setup.Errorf("no terminal to ask at; use adze trust --yes")
	default:
		if yes, err := env.confirm("Trust this workspace?"); err != nil || !yes {
			return err
		}
	}
	if err := p.Trust.Add(ctx, offer); err != nil {
		return err
	}
	return env.print("trusted: " + term.Sanitize(p.Trust.Root) + "\n")
}

// listTrusted prints the trusted workspaces.
func (o *trustOptions) listTrusted(env *Env, t *settings.Trust) error {
	entries, err := t.List()
	if err != nil {
		return err
	}
	if o.json {
		type row struct {
			Path       string    `json:"path"`
			Repository bool      `json:"repository"`
			Since      time.Time `json:"since"`
		}
		rows := []row{}
		for _, e := range entries {
			rows = append(rows, row{e.Path, e.Repository, e.Since})
		}
		return env.printJSON(rows)
	}
	var b strings.Builder
	for _, e := range entries {
		fmt.Fprintf(&b, "%s  %s\n", e.Since.Format("2006-01-02"), term.Sanitize(e.Path))
	}
	return env.print(b.String())
}

// removeTrust stops trusting a workspace. A directory that no longer exists is identified by
// its path.
func removeTrust(ctx context.Context, env *Env, t *settings.Trust, dir string) error {
	path := t.Root
	if t.Problem != nil && dir != "" {
		path = filepath.Clean(dir)
	}
	if err := t.Remove(ctx, path); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return env.print("no longer trusted: " + term.Sanitize(path) + "\n")
}
