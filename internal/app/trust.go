package app

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"adze/internal/platform/config"
	"adze/internal/platform/fileindex"
	"adze/internal/platform/fsys"
	"adze/internal/platform/replace"
	"adze/internal/platform/scope"
	"adze/internal/platform/term"
	"adze/internal/platform/trust"
)

// A workspace is where a run works, with how far it is trusted.
type workspace struct {
	trust.Workspace
	store   *trust.Store // nil without a state home
	problem error        // why nothing can be said about trust

	lasting bool // the person trusts it
	run     bool // it is trusted for this run
	hosted  bool // a host drives the run, and vouches for it

	approved func(trust.Item) bool
}

// findWorkspace finds out what the run works in and how far it is trusted. Without an answer it is not.
func findWorkspace(env *Env, o *options, home string, locks *replace.Replacer) *workspace {
	w := &workspace{approved: func(trust.Item) bool { return false }}
	w.Workspace, w.problem = trust.Find(firstOf(o.configRoot, env.Dir), fsys.UserHome(env.Getenv))
	if w.Root == "" {
		w.Dir, w.Root = env.Dir, env.Dir
	}
	named := slices.Contains(o.sources, scope.Project) || slices.Contains(o.sources, scope.Local)
	w.run = o.trust || named
	w.hosted = o.input == inputStream && o.sources == nil
	if home == "" || w.problem != nil {
		return w
	}
	w.store = trust.Open(home, locks)
	if w.lasting, w.problem = w.store.Trusted(w.Workspace); w.problem == nil {
		w.approved, w.problem = w.store.Approved(w.Workspace)
	}
	return w
}

// Trusted reports whether what the workspace brings along may be used in this run: its settings, hooks,
// servers, skills, agents and instruction files.
func (w *workspace) Trusted() bool { return w.lasting || w.run || w.hosted }

// Approved reports whether something that a file of that scope wants to run may run. What a person or an
// administrator wrote may; what comes with the workspace must be what was shown when it was trusted.
func (w *workspace) Approved(from scope.Scope, it trust.Item) bool {
	return from != scope.Project || w.run || w.hosted || w.lasting && w.approved(it)
}

// grant returns how much of the workspace's settings counts.
func (w *workspace) grant() config.Grant {
	switch {
	case w.lasting || w.run:
		return config.Workspace
	case w.hosted:
		return config.Hosted
	}
	return config.Untrusted
}

// roots returns the directories whose settings count, the outermost first.
func (w *workspace) roots() []string {
	if w.Dir == w.Root {
		return []string{w.Root}
	}
	return []string{w.Root, w.Dir}
}

// owns reports whether a file of local settings is the person's own: the workspace is trusted, and the
// file did not come with it.
func (w *workspace) owns(path string) bool {
	if !w.lasting && !w.run {
		return false
	}
	if real, err := filepath.EvalSymlinks(path); err != nil || real != path {
		return false
	}
	tracked, err := fileindex.Tracked(path)
	return err == nil && !tracked
}

// brings returns what the workspace brings along, by name.
func (w *workspace) brings(env *Env) []string {
	var names []string
	for _, root := range w.roots() {
		if (trust.Workspace{Root: root}).Covers(fsys.UserHome(env.Getenv)) {
			continue // the person's own
		}
		for _, name := range []string{".adze", ".claude", ".mcp.json", "ADZE.md", "AGENTS.md", "CLAUDE.md", "ADZE.local.md", "CLAUDE.local.md", "GEMINI.md"} {
			if _, err := os.Lstat(filepath.Join(root, name)); err == nil && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// announce tells the person once what of the workspace is left out.
func (w *workspace) announce(env *Env, o *options, withheld int) {
	switch {
	case interactive(env, o): // there it is asked
	case !w.Trusted():
		if names := w.brings(env); len(names) > 0 {
			env.say(fmt.Sprintf("this workspace is not trusted: what it brings along (%s) is left out, except for rules that deny or ask; adze trust shows what it would enable, --trust is for one run", strings.Join(names, ", ")))
		}
	case withheld > 0 && !w.lasting:
		env.say(fmt.Sprintf("%d rules and directories of the project that allow something wait until the workspace is trusted; see adze trust", withheld))
	}
}

// interactive reports whether a person talks with the run.
func interactive(env *Env, o *options) bool {
	return env.StdinTerminal && env.StdoutTerminal && !o.print && o.input != inputStream
}

// meet settles with the person, before anything else, what only they can decide: whether to go on
// without a file of settings, and whether to trust the workspace.
func meet(ctx context.Context, env *Env, o *options) error {
	p, _ := findSettings(env, o) // ok: warnings are told later
	for _, e := range p.live.Settings().Invalid() {
		if e.Scope == scope.Managed {
			return setupErrorf("%v; nothing is started without the administrator's settings", e)
		}
		env.say(e.Error())
		yes, err := env.confirm("Go on without the file? What it forbids would not be forbidden.")
		if err != nil || !yes {
			return errors.Join(err, setupErrorf("correct the file and start again"))
		}
		o.goOn = true
	}
	w := p.workspace
	if w.Trusted() || w.problem != nil || len(w.brings(env)) == 0 {
		return nil
	}
	offer := w.offer()
	offer.include(p.outsiders(env, o))
	if err := env.print(w.describe(offer)); err != nil {
		return err
	}
	yes, err := env.confirm("Trust this workspace?")
	if err != nil || !yes {
		return err
	}
	if w.Covers(fsys.UserHome(env.Getenv)) || w.store == nil {
		o.trust = true
		for _, out := range offer.outside {
			o.includes = append(o.includes, out.path)
		}
		return nil
	}
	return w.store.Add(ctx, w.Workspace, offer.items()...)
}

// confirm asks a question that is answered with yes or no; no answer is a no.
func (env *Env) confirm(question string) (bool, error) {
	if err := env.print(question + " [y/N] "); err != nil {
		return false, err
	}
	line, err := bufio.NewReaderSize(oneByOne{env.Stdin}, 16).ReadString('\n')
	if err != nil && err != io.EOF {
		return false, err
	}
	answer := strings.ToLower(strings.TrimSpace(line))
	return answer == "y" || answer == "yes", nil
}

// oneByOne reads single bytes, so that nothing is taken from whoever reads next.
type oneByOne struct{ io.Reader }

func (r oneByOne) Read(p []byte) (int, error) { return r.Reader.Read(p[:min(len(p), 1)]) }

func trustFlags() []flag {
	return append([]flag{
		{name: "list", doc: "list the workspaces that are trusted", set: setBool(func(o *options) *bool { return &o.list })},
		{name: "remove", doc: "do not trust DIR any more", set: setBool(func(o *options) *bool { return &o.remove })},
		{name: "show", doc: "only show what DIR would enable", set: setBool(func(o *options) *bool { return &o.show })},
	}, helpFlags()...)
}

// runTrust shows what a workspace would enable and trusts it from then on.
func runTrust(ctx context.Context, env *Env, o *options) error {
	if len(o.args) > 1 || o.list && (o.remove || len(o.args) > 0) {
		return setupErrorf("write adze trust [DIR], adze trust --remove [DIR] or adze trust --list")
	}
	if len(o.args) == 1 {
		o.configRoot = o.args[0]
		if !filepath.IsAbs(o.configRoot) {
			o.configRoot = filepath.Join(env.Dir, o.configRoot)
		}
		if !o.remove && !isDir(o.configRoot) {
			return setupErrorf("%s is not a directory", o.configRoot)
		}
	}
	p, _ := findSettings(env, o) // ok: wrong settings are told when they are used
	w := p.workspace
	switch {
	case p.homeErr != nil:
		return setupErrorf("%v", p.homeErr)
	case o.list:
		return listTrusted(env, w.store)
	case o.remove:
		return removeTrust(ctx, env, w, o.configRoot)
	case w.problem != nil:
		return w.problem
	}
	offer := w.offer()
	offer.include(p.outsiders(env, o))
	if offer.broken != nil {
		return setupErrorf("%v; what it would enable cannot be told: correct the file first", offer.broken)
	}
	if err := env.print(w.describe(offer)); err != nil || o.show {
		return err
	}
	if w.Covers(fsys.UserHome(env.Getenv)) {
		return setupErrorf("%s is or holds your home directory, which is trusted for one run only: give --trust", w.Root)
	}
	if env.StdinTerminal && env.StdoutTerminal {
		if yes, err := env.confirm("Trust this workspace?"); err != nil || !yes {
			return err
		}
	}
	if err := w.store.Add(ctx, w.Workspace, offer.items()...); err != nil {
		return err
	}
	return env.print("trusted: " + term.Sanitize(w.Root) + "\n")
}

func listTrusted(env *Env, store *trust.Store) error {
	entries, err := store.List()
	if err != nil {
		return err
	}
	var b strings.Builder
	for _, e := range entries {
		fmt.Fprintf(&b, "%s  %s\n", e.Since.Format("2006-01-02"), term.Sanitize(e.Path))
	}
	return env.print(b.String())
}

// removeTrust takes trust back. The directory may be gone, and then is known by its path.
func removeTrust(ctx context.Context, env *Env, w *workspace, dir string) error {
	path := w.Root
	if w.problem != nil && dir != "" {
		path = filepath.Clean(dir)
	}
	if err := w.store.Remove(ctx, path); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return env.print("not trusted any more: " + term.Sanitize(path) + "\n")
}
