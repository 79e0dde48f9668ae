package app

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"adze/internal/agent"
	"adze/internal/agent/collapse"
	"adze/internal/agent/exec"
	"adze/internal/agent/snip"
	"adze/internal/brief"
	"adze/internal/confine"
	"adze/internal/model"
	"adze/internal/model/catalog"
	"adze/internal/model/cost"
	"adze/internal/model/fit"
	"adze/internal/msg"
	"adze/internal/platform/config"
	"adze/internal/platform/envfile"
	"adze/internal/platform/filehistory"
	"adze/internal/platform/filestate"
	"adze/internal/platform/gitinfo"
	"adze/internal/platform/osproc"
	"adze/internal/platform/search"
	"adze/internal/platform/spell"
	"adze/internal/platform/task"
	"adze/internal/session"
	"adze/internal/session/lifecycle"
	"adze/internal/session/store"
	"adze/internal/tool"
	"adze/internal/tool/change"
	"adze/internal/tools/structured"
)

// A builder makes a session from flags and settings.
type builder struct {
	env      *Env
	o        *options
	settings *config.Settings
	home     string // the state home
	homeErr  error  // why there is none
	prefs    *preferences
	table    catalog.Table

	id      string
	earlier *store.Contents // of the session that is resumed, or nil
	log     *store.Log      // nil if none is kept, or before it is opened
	model   string          // as the user named it
	backend *backend
	gate    *gate
	sandbox *confine.Confinement
	hooks   *lifecycle.Hooks
	vars    *envfile.File
	runner  osproc.Runner
	tasks   *task.Table      // nil if nothing runs in the background
	snipper *snip.Snipper    // nil if nothing is cut out of the conversation
	folder  *collapse.Folder // nil if nothing of it is folded
	dir     *workdir         // where the session is
	closers []func()

	noteModel, notePlans, noteSmall, costOnce sync.Once

	files     *filehistory.History // nil if none is kept
	state     *filestate.Store     // what the conversation knows of files
	prompts   *brief.Prompt
	refused   []string         // files that instructions include and nobody approved of
	toolTexts *brief.ToolTexts // nil before there are tools
	watch     brief.Watch      // over the provider's cache
	git       func() brief.Git // what git said of the workspace; nil before it is asked
	announcer *brief.Announcer // nil before there is a session, and in the simple mode
	memory    *remembering
	schemas   structured.Cache
	output    structured.Output
}

// newBuilder reads the settings and the rules.
func newBuilder(env *Env, o *options) (*builder, error) {
	b := &builder{env: env, o: o, id: o.session}
	var err error
	if b.prefs, err = readSettings(env, o); err != nil {
		return nil, err
	}
	b.settings, b.home, b.homeErr = b.prefs.live.Settings(), b.prefs.home, b.prefs.homeErr
	b.table = modelTable(env, b.settings)
	if b.id == "" {
		b.id = msg.NewID()
	}
	b.openMemory()
	for _, note := range o.notes {
		env.say(note)
	}
	if b.sandbox, err = newConfinement(b.settings, env, nil); err != nil {
		return nil, err
	}
	b.closers = append(b.closers, b.sandbox.Close)
	if b.gate, err = newGate(o, b.settings, env, b.sandbox); err != nil {
		b.close()
		return nil, err
	}
	b.sandbox.Attach(b.gate)
	b.dir = newWorkdir(env.Dir, b.gate)
	b.runner.Reaper = env.Program
	b.closers = append(b.closers, b.runner.Close)
	if err := b.serveProfiles(); err != nil {
		return nil, err
	}
	return b, nil
}

// close gives back what the session holds, in reverse order.
func (b *builder) close() {
	for _, f := range slices.Backward(b.closers) {
		f()
	}
	b.closers = nil
}

// chooseModel settles which model is asked, and by which provider.
func (b *builder) chooseModel() (err error) {
	// A long conversation is mostly one large buffer and the texts it was made of: collecting it more often
	// costs little and keeps the peak down.
	debug.SetGCPercent(75)
	b.model = firstOf(b.o.model, b.settings.Text("model"), "default")
	fallback := b.fallback()
	if fallback != "" {
		main, err := b.resolve(b.model)
		if err != nil {
			return setupErrorf("%v", err)
		}
		other, err := b.resolve(fallback)
		if err != nil {
			return setupErrorf("--fallback-model: %v", err)
		}
		if main.ID == other.ID {
			return setupErrorf("the fallback model %s is the main model; name another one", fallback)
		}
	}
	if _, err := b.resolve(b.model); err != nil {
		return setupErrorf("%v", err)
	}
	b.backend, err = openBackend(b.env, b.o, b.settings, b.table, b.model)
	if err != nil {
		return err
	}
	b.closers = append(b.closers, func() {
		if err := b.backend.close(); err != nil {
			b.env.say(err.Error())
		}
	})
	if fallback != "" {
		if _, err := b.resolve(fallback); err != nil {
			return setupErrorf("--fallback-model: %v", err)
		}
	}
	return nil
}

func (b *builder) fallback() string { return firstOf(b.o.fallback, b.settings.Text("fallbackModel")) }

// resolve finds the limits of a model by name.
func (b *builder) resolve(name string) (agent.Model, error) {
	m, err := b.lookup(name)
	return loopModel(m), err
}

func (b *builder) lookup(name string) (catalog.Model, error) {
	if strings.HasPrefix(name, replayPrefix) {
		if b.backend != nil && name != b.model {
			return catalog.Model{}, fmt.Errorf("the session uses %s; another script needs another session", b.model)
		}
		m, _ := b.table.Resolve(scriptedModel)
		return m, nil
	}
	m, err := b.table.Resolve(name)
	if err == nil && b.backend != nil {
		err = b.backend.router.Open(m.ID)
	}
	if err == nil && !m.Known && b.backend != nil && !b.backend.scripted {
		b.noteModel.Do(func() {
			text := fmt.Sprintf("%s is not in the table of models (%s): its limits are assumed, and tokens are counted without a price", m.ID, catalog.Date)
			if near := b.table.Closest(m.ID); len(near) > 0 {
				text += "; known models are " + strings.Join(near, ", ")
			}
			b.env.say(text)
		})
	}
	return m, err
}

// scriptedModel is the id of the model that a script plays.
const scriptedModel = "replay"

// parts are what a session is made with and gives back in the end.
type parts struct {
	debug   *slog.Logger
	history *filehistory.History // nil if none is kept
	engine  *search.Engine
	shell   *shelling
	changes *change.Files // what the writing tools share; nil without them
}

// open opens the parts of the session. Nothing is written before its first message.
func (b *builder) open(ctx context.Context) (p parts, err error) {
	if err := b.openLog(); err != nil {
		return p, err
	}
	b.vars = b.openEnvFile()
	var closeDebug func()
	if p.debug, closeDebug, err = openDebug(b.o, b.home, b.id); err != nil {
		return p, err
	}
	b.closers = append(b.closers, closeDebug)
	if p.history, err = b.openHistory(p.debug); err != nil {
		return p, err
	}
	p.engine = newEngine(b.settings, b.env.Dir, b.env.say)
	b.closers = append(b.closers, p.engine.Close)
	if p.shell, err = b.openShell(ctx); err != nil {
		return p, err
	}
	b.sandbox.Begin(ctx)
	return p, nil
}

// session puts the session together.
func (b *builder) session(ctx context.Context, system assembler) (*session.Session, error) {
	p, err := b.open(ctx)
	if err != nil {
		return nil, err
	}
	lost := b.lostTasks()
	var current *session.Session
	tools := b.makeTools(&p, func() catalog.Model { m, _ := b.lookup(current.Model()); return m })
	cfg := b.config(p, tools, system)
	b.openHooks(&cfg)
	guard := b.memory.wire(&cfg)
	b.openAnnouncer(&cfg)
	b.watchCache(&cfg)
	b.keepWithin(&cfg)
	cfg.Hearers = []session.Hearer{
		{Name: "hooks", Hear: b.hooks.Hear},
		{Name: "shell", Hear: p.shell.warmUp},
		{Name: "mode", Hear: b.remind},
	}
	cfg.Gates = []exec.Gate{
		{Name: "hooks", Gate: b.hooks},
		{Name: "permission", Gate: b.hooks.Denials(b.gate)},
	}
	cfg.Afters = []exec.After{{Name: "hooks", After: b.hooks}}
	if guard != nil {
		cfg.Gates = append(cfg.Gates, exec.Gate{Name: "memory", Gate: guard})
		cfg.Afters = append(cfg.Afters, exec.After{Name: "memory", After: guard})
	}
	if b.announcer != nil {
		cfg.Hearers = append(cfg.Hearers, session.Hearer{Name: "instructions", Hear: b.announce})
		cfg.Afters = append(cfg.Afters, exec.After{Name: "instructions", After: b.announcer})
	}
	if p.changes != nil {
		cfg.Afters = append(cfg.Afters, exec.After{Name: "changes", After: p.changes})
	}
	current = session.Open(ctx, cfg)
	b.hooks.Attach(current)
	for _, n := range lost {
		b.hooks.Notify(session.Notify{Text: n.Text()})
	}
	if !p.shell.once {
		b.followSettings(ctx)
	}
	return current, nil
}

// makeTools returns the tools of the session. Now says which model reads their results.
func (b *builder) makeTools(p *parts, now func() catalog.Model) []tool.Tool {
	box := toolbox{
		shell: p.shell, sandbox: b.sandbox, engine: p.engine, vars: b.vars,
		settings: b.settings, dir: b.env.Dir, runner: &b.runner, state: filestate.New(), log: p.debug, home: b.home,
		hidden: b.gate.Hidden, hides: b.gate.Hides, plan: b.planConfig(), output: &b.output,
		made: func(f *change.Files) { p.changes = f; b.closers = append(b.closers, f.Wait) },
	}
	if b.backend != nil {
		box.model, box.count = now, countTokens(b.backend.provider, now)
	}
	if p.history != nil {
		box.history = p.history
	}
	b.files, b.state, b.tasks = p.history, box.state, p.shell.tasks
	b.keepFiles()
	b.experiment(&box)
	tools := box.tools()
	b.toolTexts = brief.NewToolTexts(tools)
	b.recall(tools)
	return tools
}

// config returns what flags and settings make of a session; what goes beyond one value is wired after it.
func (b *builder) config(p parts, tools []tool.Tool, system assembler) session.Config {
	cfg := session.Config{
		ID:        b.id,
		Models:    session.Models{Main: b.model, Fallback: b.fallback(), Resolve: b.resolve},
		Tools:     session.Tools{Registry: tool.NewRegistry(tools...), Denied: b.denied(tools)},
		Preamble:  session.Preamble{System: system},
		Goal:      b.goal,
		Controls:  session.Controls{SetMode: b.gate.SetMode},
		Listeners: session.Listeners{Spent: b.saveCost},
		Records:   session.Records{Ledger: b.spent()},
		Loop: agent.Options{
			MaxTurns:         b.o.maxTurns,
			MaxBudgetUSD:     b.o.maxBudget,
			TokenBudget:      b.o.tokenBudget,
			MaxTokens:        b.settings.Int("ADZE_MAX_OUTPUT_TOKENS"),
			Concurrency:      b.settings.Int("ADZE_MAX_TOOL_CONCURRENCY"),
			ToolsAfterStream: !b.settings.Bool("ADZE_STREAMING_TOOLS"),
			Effort:           firstOf(b.o.effort, model.Effort(b.settings.Text("effort"))),
			Thinking:         b.thinking(),
			Raw:              b.o.partial,
		},
		Debug: p.debug,
		Now:   b.env.Now,
	}
	if b.log != nil {
		cfg.Records.Log = b.log
	}
	if b.earlier != nil {
		cfg.Records.History = b.earlier.Entries
	}
	if p.history != nil {
		cfg.Records.Files = p.history
	}
	if b.backend != nil {
		cfg.Provider = fit.New(b.backend.provider, fit.Config{Table: b.table, Note: b.env.say, Describe: b.describeTools})
	}
	if b.settings.Bool("sendMetadata") {
		cfg.Loop.UserID = "session_" + b.id
	}
	if p.shell.tasks != nil {
		cfg.Controls.Detach = p.shell.tasks.Detach
	}
	return cfg
}

// tools returns the tools as they are listed; none of them is run.
func (b *builder) tools() []tool.Tool {
	box := toolbox{shell: still(b.env.Dir, b.gate), settings: b.settings, dir: b.env.Dir, runner: &b.runner, state: filestate.New(), home: b.home, engine: new(search.Engine), plan: b.planConfig(), output: &b.output}
	b.experiment(&box)
	return box.tools()
}

// openHistory opens what files held before they were changed, or returns none if none is kept.
func (b *builder) openHistory(log *slog.Logger) (*filehistory.History, error) {
	if b.o.ephemeral || b.home == "" || !b.settings.Bool("fileHistory.enabled") {
		return nil, nil
	}
	h, err := filehistory.Open(historyDir(b.home, b.id), log)
	if err != nil {
		return nil, setupErrorf("%v", err)
	}
	b.closers = append(b.closers, func() {
		if err := h.Close(); err != nil {
			b.env.say(fmt.Sprintf("the file history is not complete: %v", err))
		}
	})
	return h, nil
}

// keeps reports whether the session is kept on disk.
func (b *builder) keeps() bool {
	never := b.settings.Int("cleanupPeriodDays") == 0 && b.settings.Origin("cleanupPeriodDays") != ""
	return !b.o.ephemeral && !b.settings.Bool("ADZE_SKIP_TRANSCRIPT") && !never
}

func (b *builder) logOptions() store.Options {
	branch, _ := gitinfo.Branch(b.env.Dir)
	return store.Options{
		Home: b.home, Dir: b.env.Dir, Session: b.id, Version: Version, Branch: branch,
		NoSync: b.settings.Bool("ADZE_NO_FSYNC"),
	}
}

// openLog opens the transcript, if one is to be kept and it is not open already.
func (b *builder) openLog() (err error) {
	if !b.keeps() {
		return nil
	}
	if b.homeErr != nil {
		return setupErrorf("%v", b.homeErr)
	}
	if b.log == nil {
		if b.log, err = store.Open(b.logOptions()); err != nil {
			return setupErrorf("%v", err)
		}
		b.closeLog()
		if b.o.session != "" {
			if _, err := os.Stat(b.log.Path()); err == nil {
				return setupErrorf("--session-id: session %s exists already; go on with it by --resume %s, or give another id", b.id, b.id)
			}
		}
	}
	if len(b.o.dirs) > 0 {
		if err := b.log.Note(store.Dirs(b.o.dirs)); err != nil {
			b.env.say(err.Error())
		}
	}
	b.cleanUp(b.settings.Int("cleanupPeriodDays"))
	return nil
}

// closeLog sees to it that the transcript is closed in the end.
func (b *builder) closeLog() {
	if b.log == nil {
		return
	}
	b.closers = append(b.closers, func() {
		if err := b.log.Close(); err != nil {
			b.env.say(fmt.Sprintf("the transcript is not complete: %v", err))
		}
	})
}

// denied returns which tools are not offered: denied by a rule, not among --tools, or too many for
// the simple mode.
func (b *builder) denied(tools []tool.Tool) func(name string) bool {
	only := splitNames(b.o.tools)
	all := !b.o.given["tools"] || slices.Contains(only, "default")
	simple := b.settings.Bool("ADZE_SIMPLE")
	if !all {
		b.checkNames(only, tools)
	}
	hidden := map[string]bool{}
	for _, t := range tools {
		name := t.Spec().Name
		chosen := all || slices.ContainsFunc(only, func(n string) bool { return named(t, n) })
		hidden[name] = !chosen || simple && !slices.Contains(simpleTools[:], name)
	}
	return func(name string) bool { return hidden[name] || b.gate.denies(name) }
}

// checkNames tells the person which names of --tools nobody has.
func (b *builder) checkNames(names []string, tools []tool.Tool) {
	var known []string
	for _, t := range tools {
		known = append(known, t.Spec().Name)
	}
	for _, name := range names {
		if slices.ContainsFunc(tools, func(t tool.Tool) bool { return named(t, name) }) {
			continue
		}
		text := fmt.Sprintf("--tools: there is no tool %s", name)
		if near := spell.Closest(name, known, 1); len(near) > 0 {
			text += "; did you mean " + near[0] + "?"
		}
		b.env.say(text)
	}
}

func (b *builder) facts(id string) cost.Facts {
	m, ok := b.table.Lookup(id)
	if !ok {
		m = catalog.Unknown(id)
	}
	return cost.Facts{Price: m.Price, ContextWindow: m.ContextWindow, MaxOutput: m.MaxOutput}
}

// thinking returns what the user wants; the model may not be able to.
func (b *builder) thinking() model.Thinking {
	budget, said := b.o.thinkingTokens, b.o.given["max-thinking-tokens"]
	if !said && b.o.thinking == "" {
		budget = b.settings.Int("ADZE_MAX_THINKING_TOKENS")
		said = b.settings.Origin("ADZE_MAX_THINKING_TOKENS") != ""
	}
	switch {
	case said && budget > 0:
		return model.Thinking{Mode: model.ThinkingBudget, Budget: max(budget, fit.LeastBudget)}
	case said || b.o.thinking == thinkDisabled:
		return model.Thinking{}
	}
	return model.Thinking{Mode: model.ThinkingAdaptive}
}

// firstOf returns the first value that is not empty.
func firstOf[T ~string](values ...T) T {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}

func splitNames(lists []string) []string {
	var names []string
	for _, list := range lists {
		for name := range strings.FieldsFuncSeq(list, func(r rune) bool { return r == ',' || r == ' ' }) {
			names = append(names, name)
		}
	}
	return names
}
