package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"adze/internal/app/cli/auth"
	"adze/internal/app/cli/memory"
	"adze/internal/app/models"
	"adze/internal/app/terminal"
	"adze/internal/app/wire"
	"adze/internal/commands"
	"adze/internal/commands/tips"
	"adze/internal/feature/instructions"
	"adze/internal/feature/mcp"
	"adze/internal/feature/plugins"
	"adze/internal/hook"
	"adze/internal/platform/fs/scope"
	"adze/internal/platform/fs/trust"
	"adze/internal/platform/proc/footprint"
	"adze/internal/platform/term"
	"adze/internal/platform/term/clipboard"
	"adze/internal/session/archive"
	"adze/internal/settings"
	"adze/internal/setup"
	"adze/internal/ui/console"
	"adze/internal/ui/controller"
	"adze/internal/ui/draw"
	"adze/internal/ui/plain"
	"adze/internal/ui/tui"
	"adze/internal/ui/tui/attention"
)

// An interactiveRun is the interactive front end. It runs one conversation after another.
type interactiveRun struct {
	ws   *wire.Workspace
	spec wire.Spec          // spec of the next conversation
	conv *wire.Conversation // open conversation; may be nil
	// release restores the terminal after the front end has ended.
	release          func()
	invitation, help string // invites the user to write; says how to get help
	// lines is true if the terminal edits input itself, so that adze gets no keys.
	lines bool
}

// interact runs conversations at the terminal until the user leaves.
func (o *runOptions) interact(ctx context.Context, env *Env, in invocation) error {
	env.messenger = &messenger{} // before others can use it
	p, err := o.meet(ctx, env)
	if err != nil {
		return err
	}
	for _, note := range in.Notes {
		env.Say(note)
	}
	if err := o.setUp(ctx, env, p); err != nil {
		return err
	}
	defer reportReplaced(env)()
	checking, stop := context.WithCancel(ctx)
	defer stop()
	go reportNewer(checking, env, p)
	place := env.wire()
	place.Agents, place.Servers, place.Plugins, place.Flags = o.agents, o.servers, o.plugins, in.Inherited
	t := &interactiveRun{ws: wire.Open(place, p), spec: o.spec, release: func() {}, help: "Type /help for commands."}
	defer t.ws.Close()
	defer t.close()
	defer func() { t.release() }()
	if err := env.front(ctx, o.frontEnd(env, t, in)); err != nil {
		return err
	}
	if cause := context.Cause(ctx); cause != errLeft {
		return cause
	}
	return nil
}

// frontEnd returns the front end for the user's terminal.
func (o *runOptions) frontEnd(env *Env, t *interactiveRun, in invocation) front {
	p := t.ws.Project
	why := o.seat(env, p).LineByLine()
	simple := why != "" || !env.StdoutTerminal
	memory := footprint.New()
	cfg := tui.Config{
		Config: controller.Config{
			Open:  t.open,
			Beat:  func() { p.Pulse.Beat(); memory.Beat() },
			Home:  p.User,
			First: t.ws.FirstPrompt(&o.spec, strings.TrimSpace(strings.Join(in.Args, " "))),
			Programs: controller.Programs{
				Edit:  env.edit,
				Start: func(args []string) (bool, error) { return startSelf(env, args, o.project) },
				Copy:  func(text string) (bool, error) { return clipboard.Copy(text, env.Getenv, env.Environ()) },
			},
		},
		Terminal: tui.Terminal{In: env.Stdin, Out: env.Stdout, Width: env.width, Height: env.height},
		Dir:      env.Dir, Home: env.Getenv("HOME"), Verbose: o.verbose, Glyphs: draw.GlyphsFor(env.Getenv), Typing: t.typing(env),
		Palette:  draw.PaletteFor(!simple, p.Values().Display.Theme, env.Getenv),
		Thinking: func() bool { return p.Values().Display.Thinking },
		Motion:   func() bool { return !p.Values().Display.Still },
		Notify:   t.notifier(env),
	}
	if o.spec.Team.Team == "" { // teammates have no viewer
		cfg.Tip = tips.Store{Home: p.Home, On: func() bool { return p.Values().Display.Tips }, Keys: !simple}.Take
		cfg.Suggest = sandboxOffer(env, p, t.ws.SandboxProtects, t.ws.EnableSandbox)
	}
	if o.pick {
		cfg.First = commands.PickSession
	}
	o.recital.configure(&cfg)
	if !simple && t.takeKeys(env, &cfg) {
		theme := func() string { return p.Values().Display.Theme }
		paint := &repainter{now: cfg.Palette, name: theme(), theme: theme, getenv: env.Getenv, background: draw.BackgroundFor(env.Getenv)}
		cfg.Repaint, cfg.Reply = paint.palette, paint.reply
		dot := " " + cfg.Glyphs.Dot + " "
		t.invitation, t.help = "What shall we do?", strings.Join([]string{"/ commands", "@ files", "! shell", "# note", "? keys"}, dot)
		f := tui.New(cfg)
		o.recital.start(f)
		return f
	}
	t.lines = true
	if why == "CI" { // CI may have been set for another purpose
		t.help += " All appears line by line, because CI is set."
	}
	lines := plain.Config{
		Config: cfg.Config, In: cfg.In, Out: cfg.Out, Width: cfg.Width,
		Palette: cfg.Palette, Glyphs: cfg.Glyphs, Verbose: cfg.Verbose, Dir: cfg.Dir, Remember: cfg.Typing.Remember,
	}
	if env.Interrupts != nil {
		lines.Interrupts, _ = env.Interrupts() // until the program exits
	}
	return plain.New(lines)
}

// filesIn finds files named in answers and results, in a directory.
func filesIn(dir string) draw.Files {
	host, _ := os.Hostname() // ok: an address without a host is local too
	return draw.Files{Dir: dir, Host: host, Exists: func(path string) bool {
		info, err := os.Lstat(path)
		return err == nil && info.Mode().IsRegular()
	}}
}

// A front is a user-facing front end.
type front interface {
	Run(ctx context.Context) error
	// Tell shows a text among its own output, and Unshown returns the texts that were not shown.
	Tell(text string)
	Unshown() []string
}

// front runs a front end. If standard error is the same terminal, messages go through the front
// end.
func (env *Env) front(ctx context.Context, f front) error {
	if errs, ok := env.Stderr.(*os.File); ok && term.IsTerminal(errs) {
		env.messenger.set(f.Tell)
	}
	err := f.Run(ctx)
	env.messenger.set(nil)
	for _, text := range f.Unshown() { // the prefix is already there
		env.tell(text)
	}
	return err
}

// takeKeys switches the terminal to raw mode, and reports whether it succeeded.
// [terminal.release] restores it. While another program has the terminal, its original mode is
// restored.
func (t *interactiveRun) takeKeys(env *Env, cfg *tui.Config) bool {
	restore, err := env.raw()
	if err != nil {
		return false
	}
	if in, ok := env.Stdin.(*os.File); ok {
		cfg.In = io.MultiReader(bytes.NewReader(env.messenger.typed), term.Keys(in))
	}
	modes := term.KeyModes(env.Stdout, env.Getenv)
	modes.On()
	if cfg.Palette.Coloured() && term.Replies(env.Getenv) {
		modes.AskBackground()
	}
	changes, stop := term.Changes()
	cfg.Changes, cfg.Reflows = changes, term.Reflows(env.Getenv)
	if term.Links(env.Getenv) {
		cfg.Palette = cfg.Palette.Linked(filesIn(env.Dir))
	}
	leave := func() {
		modes.Off()
		if in, ok := env.Stdin.(*os.File); ok {
			term.DropInput(in)
		}
		restore()
	}
	again := func() {
		if now, err := env.raw(); err == nil {
			restore = now
		}
		modes.On()
	}
	cfg.Resume = func() {
		// Restoring first would echo text typed in the meantime; the saved state stays the
		// same.
		env.raw()   // ok: a terminal that cannot be set echoes input
		modes.Off() // avoids stacking the modes twice
		modes.On()
	}
	cfg.Suspend = func() {
		leave()
		if err := term.Suspend(); err != nil {
			env.Say(err.Error())
		}
		again()
	}
	edit, start := cfg.Programs.Edit, cfg.Programs.Start
	cfg.Programs.Edit = func(path string) error {
		leave()
		defer again()
		return edit(path)
	}
	cfg.Programs.Start = func(args []string) (bool, error) {
		leave()
		defer again()
		return start(args)
	}
	t.release = func() {
		stop()
		leave()
	}
	return true
}

// notifier returns a function that notifies the user, and fires hooks at the end of a turn;
// hooks learn of questions elsewhere.
func (t *interactiveRun) notifier(env *Env) func(attention.Cause) string {
	n := terminal.Notifier{Setting: func(name string) string { return t.ws.Project.Settings().Text(name) }, Getenv: env.Getenv, Environ: env.Environ, Dir: env.Dir, Say: env.Say}
	return func(c attention.Cause) string {
		if t.conv != nil && c == attention.TurnEnd {
			go t.conv.Hooks.Fire(context.Background(), hook.OnNotification("idle_prompt", "adze", "adze waits for your next message"))
		}
		return n.Notify(c.String())
	}
}

// typing returns the configuration of the input line.
func (t *interactiveRun) typing(env *Env) controller.InputConfig {
	p := t.ws.Project
	history := terminal.OpenHistory(p.Home, env.Dir, env.Now, env.Say)
	typing := controller.InputConfig{
		Bindings: t.ws.Keys.Map,
		Vim: func() (bool, string) {
			input := p.Values().Input
			return input.Vim, input.Escape
		},
		Remote:  env.Getenv("SSH_TTY") != "",
		History: history.Recent(), Remember: history.Add,
		Clipboard: func(ctx context.Context) (clipboard.Content, error) {
			return clipboard.Read(ctx, env.Getenv, env.Environ())
		},
		Pictures: terminal.OpenPictures(""), Home: p.User,
	}
	if p.Home != "" && !t.spec.Session.Ephemeral && !p.Values().Transcript.Never {
		drafts := terminal.OpenDrafts(p.Home, env.Dir, env.Say, func(session string) bool {
			_, err := archive.Find(p.Home, env.Dir, session)
			return err == nil
		})
		typing.LoadDraft, typing.SaveDraft, typing.Pictures = drafts.Load, drafts.Save, terminal.OpenPictures(p.Home)
	}
	return typing
}

// setUp asks a user without a configured model provider how to continue.
func (o *runOptions) setUp(ctx context.Context, env *Env, p *settings.Project) error {
	c := models.Config{Settings: p.Settings(), Keys: models.OpenKeys(p.Home), Provider: o.spec.Model.Provider, Version: env.Version, Say: env.Say}
	wanted := cmp.Or(o.spec.Model.Name, p.Values().Model.Name)
	local, screen := models.Unset(ctx, c, wanted)
	several := models.Several(ctx, c, wanted)
	if screen == nil && len(several) == 0 {
		return nil
	}
	asks := env.console()
	asks.Choose = chooser(env.dialog(ctx, o.seat(env, p)))
	var chosen auth.Selection
	var err error
	if screen == nil {
		chosen.Model, err = auth.ChooseModel(ctx, asks, several)
	} else {
		chosen, err = auth.SetUp(ctx, asks, c, auth.FirstStart{Models: local, Screen: screen, Demo: func() error {
			_, err := startSelf(env, []string{"demo"}, o.project)
			return err
		}})
	}
	switch {
	case err != nil:
		return answered(err)
	case chosen.Provider != "":
		keepDefault(ctx, env, p, "provider", chosen.Provider)
	case chosen.Model != "" && models.Alone(c):
		keepDefault(ctx, env, p, "model", chosen.Model)
	}
	o.spec.Model.Name = cmp.Or(chosen.Model, o.spec.Model.Name)
	o.spec.Model.Provider = cmp.Or(chosen.Provider, o.spec.Model.Provider)
	return nil
}

// keepDefault stores the model or provider that the user chose.
func keepDefault(ctx context.Context, env *Env, p *settings.Project, key, name string) {
	raw, err := json.Marshal(name)
	if err == nil {
		_, err = p.Set(ctx, env.Say, scope.User, key, raw)
	}
	if err != nil {
		env.Say(fmt.Sprintf("the %s was not saved as the default: %v", key, err))
		return
	}
	env.Say(fmt.Sprintf("%s is the default %s from now on; `adze config unset %s` forgets it", name, key, key))
}

// chooser adapts a dialog for package auth, or returns nil.
func chooser(ask func(q console.Choice) (int, error)) func(q console.Choice) (int, error) {
	if ask == nil {
		return nil
	}
	return func(q console.Choice) (int, error) {
		chosen, err := ask(q)
		var ended *Ended
		if errors.As(err, &ended) {
			err = auth.ErrInterrupted
		}
		return chosen, err
	}
}

// open opens a conversation in place of the previous one.
func (t *interactiveRun) open(ctx context.Context, resume string) (*controller.Conversation, error) {
	if resume != "" {
		if _, err := archive.Find(t.ws.Project.Home, t.ws.Dir, resume); err != nil {
			return nil, err
		}
	}
	t.close()
	spec := t.spec
	if resume != "" {
		spec.Session.Resume, spec.Worktree = resume, wire.WorktreeSpec{}
	}
	// The session flags apply to the first conversation only.
	t.spec.Session = wire.SessionSpec{Ephemeral: t.spec.Session.Ephemeral}
	c, err := t.ws.Converse(ctx, spec)
	if err != nil {
		return nil, err
	}
	t.conv = c
	if spec.Worktree.Wanted {
		t.spec.Worktree.Name = c.Worktree() // later conversations use it too
	}
	r := c.Commands()
	r.Env.Keys.Lines = t.lines
	greeting := c.Greeting(r.Glance())
	greeting.Invitation, greeting.Help = t.invitation, t.help
	return &controller.Conversation{
		Session: c.Session, Registry: r, Greeting: greeting, Earlier: c.Earlier,
		Explain: c.Explain, PlanFile: c.PlanFile(), Unsaved: spec.Session.Ephemeral, WarnUSD: t.ws.Project.Values().Model.CostWarning,
	}, nil
}

func (t *interactiveRun) close() {
	if t.conv != nil {
		t.conv.Close()
		t.conv = nil
	}
}

// meet opens the project of an interactive conversation, first prompting for decisions only the
// user can make: whether to continue without a broken settings file, whether to trust the
// workspace, and which files outside it the model may read. Settings and trust are read once,
// unless an answer changes them.
func (o *runOptions) meet(ctx context.Context, env *Env) (*settings.Project, error) {
	p, warnings := settings.Open(env.source(o.project))
	if env.messenger != nil {
		env.messenger.ask = env.dialog(ctx, o.seat(env, p))
	}
	if err := confirmInvalid(env, p); err != nil {
		return nil, err
	}
	trusted, err := o.offerTrust(ctx, env, p)
	if err != nil {
		return nil, err
	}
	if trusted {
		p, warnings = settings.Open(env.source(o.project))
	} else {
		enabled(env, p)
	}
	for _, w := range warnings {
		env.Say(w.String())
	}
	unused(env, p)
	if err := p.Check(true); err != nil {
		return nil, err
	}
	if err := tooOld(env, p); err != nil {
		return nil, err
	}
	if err := o.offerIncludes(ctx, env, p); err != nil {
		return nil, err
	}
	if err := o.offerServers(ctx, env, p); err != nil {
		return nil, err
	}
	return p, memory.Offer(env.streams(), p, o.spec.Bare)
}

// confirmInvalid asks whether to continue without the unreadable settings files.
func confirmInvalid(env *Env, p *settings.Project) error {
	for _, e := range p.Settings().Invalid() {
		if e.Scope == scope.Managed {
			return p.Check(true)
		}
		env.Say(e.Error())
		yes, err := env.confirm("Continue without the file? The restrictions in it would not apply.")
		if err != nil || !yes {
			return errors.Join(err, setup.Errorf("fix the file and start again"))
		}
	}
	return nil
}

// offerTrust asks whether to trust a workspace with its own settings, hooks or instructions,
// and reports the answer.
func (o *runOptions) offerTrust(ctx context.Context, env *Env, p *settings.Project) (bool, error) {
	t := p.Trust
	if t.Trusted() || t.Problem != nil {
		return false, nil
	}
	names, texts := t.Brings()
	if len(names) == 0 {
		return false, nil
	}
	outside := instructions.Outside(p, o.spec.Instructions())
	if len(names) == len(texts) && len(outside) == 0 {
		return false, nil // texts are read without trust
	}
	offer := t.Offer()
	if t.OneRunOnly() {
		offer = t.ForRun()
	}
	if offer.Broken != nil {
		env.Say(offer.Broken.Error() + "; fix the file before trusting the workspace: its configuration can't be read")
		return false, nil
	}
	offer.Outside = outside
	yes, err := env.agree(console.Choice{Title: "Trust", Body: offer.String(), Question: "Trust this workspace?"})
	if err != nil || !yes {
		return false, err
	}
	if t.OneRunOnly() {
		o.project.Trust = true
		for _, out := range offer.Outside {
			o.spec.Includes = append(o.spec.Includes, out.Path)
		}
		return true, nil
	}
	return true, t.Add(ctx, offer)
}

// offerServers prompts for the project servers that need approval.
func (o *runOptions) offerServers(ctx context.Context, env *Env, p *settings.Project) (err error) {
	o.plugins = plugins.Open(plugins.Config{Project: p, Dirs: o.pluginDirs, Say: env.Say})
	o.servers.Plugins = o.plugins.Servers
	if o.servers.Loaded, err = mcp.Load(p, o.servers); err != nil {
		return err
	}
	decided, err := mcp.Ask(ctx, env.streams(), p, o.servers.Loaded)
	if decided {
		o.servers.Loaded = nil // outdated now
	}
	return err
}

// offerIncludes asks once about each file outside the project that a trusted workspace's
// instructions include. The answer is stored with the trust.
func (o *runOptions) offerIncludes(ctx context.Context, env *Env, p *settings.Project) error {
	t := p.Trust
	if !t.Trusted() || t.Problem != nil {
		return nil
	}
	var refused []string
	for _, out := range instructions.Outside(p, o.spec.Instructions()) {
		switch {
		case slices.Contains(o.spec.Includes, out.Path) || t.Kept(trust.Include(out.Path)):
			continue
		case slices.Contains(refused, out.By) || t.Kept(trust.NoInclude(out.Path)):
			refused = append(refused, out.Path)
			continue
		}
		yes, err := env.confirm(fmt.Sprintf("%s includes %s, which is outside the project. Show it to the model, now and in the future?", term.Sanitize(out.By), term.Sanitize(out.Path)))
		if err != nil {
			return err
		}
		answer := trust.NoInclude(out.Path)
		if yes {
			answer = trust.Include(out.Path)
			o.spec.Includes = append(o.spec.Includes, out.Path)
		} else {
			refused = append(refused, out.Path)
		}
		if err := t.Keep(ctx, answer); err != nil {
			return err
		}
	}
	return nil
}
