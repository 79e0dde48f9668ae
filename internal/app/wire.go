package app

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"adze/internal/agent"
	"adze/internal/model"
	"adze/internal/model/catalog"
	"adze/internal/model/cost"
	"adze/internal/msg"
	"adze/internal/platform/config"
	"adze/internal/platform/filehistory"
	"adze/internal/platform/filestate"
	"adze/internal/platform/osproc"
	"adze/internal/platform/search"
	"adze/internal/platform/spell"
	"adze/internal/session"
	"adze/internal/session/store"
	"adze/internal/tool"
)

// A builder makes a session from flags and settings.
type builder struct {
	env      *Env
	o        *options
	settings *config.Settings
	home     string // the state home
	homeErr  error  // why there is none
	table    catalog.Table

	id      string
	model   string // as the user named it
	backend *backend
	gate    *gate
	runner  osproc.Runner
	closers []func()

	noteModel sync.Once
}

// newBuilder reads the settings and the rules.
func newBuilder(env *Env, o *options) (*builder, error) {
	b := &builder{env: env, o: o, id: o.session}
	b.settings, b.home, b.homeErr = loadSettings(env, o)
	b.table = modelTable(env, b.settings)
	if b.id == "" {
		b.id = msg.NewID()
	}
	for _, note := range o.notes {
		env.say(note)
	}
	var err error
	if b.gate, err = newGate(o, b.settings, env); err != nil {
		return nil, err
	}
	b.closers = append(b.closers, b.runner.Close)
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
	b.backend, err = openBackend(b.env, b.o, b.settings, b.model)
	if err != nil {
		return err
	}
	b.closers = append(b.closers, func() {
		if err := b.backend.close(); err != nil {
			b.env.say(err.Error())
		}
	})
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

// session puts the session together. Nothing is written before its first message.
func (b *builder) session(system assembler) (*session.Session, error) {
	log, err := b.openLog()
	if err != nil {
		return nil, err
	}
	debug, closeDebug, err := openDebug(b.o, b.home, b.id)
	if err != nil {
		return nil, err
	}
	b.closers = append(b.closers, closeDebug)
	history, err := b.openHistory(debug)
	if err != nil {
		return nil, err
	}
	engine := newEngine(b.settings, b.env.Dir, b.env.say)
	b.closers = append(b.closers, engine.Close)
	var current *session.Session
	box := toolbox{
		engine:   engine,
		settings: b.settings, dir: b.env.Dir, runner: &b.runner, state: filestate.New(), log: debug,
		home: b.home, model: func() catalog.Model { m, _ := b.lookup(current.Model()); return m },
	}
	if history != nil {
		box.history = history
	}
	if b.backend == nil {
		box.model = nil
	}
	tools := box.tools()
	cfg := session.Config{
		ID:               b.id,
		Tools:            tool.NewRegistry(tools...),
		Denied:           b.denied(tools),
		Permission:       b.gate,
		Model:            b.model,
		Fallback:         b.fallback(),
		Resolve:          b.resolve,
		System:           system,
		Ledger:           cost.New(b.facts),
		MaxTurns:         b.o.maxTurns,
		MaxBudgetUSD:     b.o.maxBudget,
		TokenBudget:      b.o.tokenBudget,
		MaxTokens:        b.settings.Int("ADZE_MAX_OUTPUT_TOKENS"),
		Concurrency:      b.settings.Int("ADZE_MAX_TOOL_CONCURRENCY"),
		ToolsAfterStream: !b.settings.Bool("ADZE_STREAMING_TOOLS"),
		Effort:           firstOf(b.o.effort, model.Effort(b.settings.Text("effort"))),
		Thinking:         b.thinking(),
		Raw:              b.o.partial,
		Debug:            debug,
	}
	if log != nil {
		cfg.Log = log
	}
	if history != nil {
		cfg.Files = history
	}
	if b.backend != nil {
		cfg.Provider = fit(b.backend.provider, b.table, b.env.say)
	}
	if b.settings.Bool("sendMetadata") {
		cfg.UserID = "session_" + b.id
	}
	current = session.New(cfg)
	return current, nil
}

// tools returns the tools as they are listed; none of them is run.
func (b *builder) tools() []tool.Tool {
	return toolbox{settings: b.settings, dir: b.env.Dir, runner: &b.runner, state: filestate.New(), home: b.home, engine: new(search.Engine)}.tools()
}

// openHistory opens what files held before they were changed, or returns none if none is kept.
func (b *builder) openHistory(log *slog.Logger) (*filehistory.History, error) {
	if b.o.ephemeral || b.home == "" || !b.settings.Bool("fileHistory.enabled") {
		return nil, nil
	}
	h, err := filehistory.Open(filepath.Join(b.home, "file-history", b.id), log)
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

// openLog opens the transcript, or returns none if none is to be kept.
func (b *builder) openLog() (*store.Log, error) {
	days := b.settings.Int("cleanupPeriodDays")
	never := days == 0 && b.settings.Origin("cleanupPeriodDays") != ""
	if b.o.ephemeral || b.settings.Bool("ADZE_SKIP_TRANSCRIPT") || never {
		return nil, nil
	}
	if b.homeErr != nil {
		return nil, setupErrorf("%v", b.homeErr)
	}
	branch, _ := findBranch(b.env.Dir)
	log, err := store.Open(store.Options{
		Home: b.home, Dir: b.env.Dir, Session: b.id, Version: Version, Branch: branch,
		NoSync: b.settings.Bool("ADZE_NO_FSYNC"),
	})
	if err != nil {
		return nil, setupErrorf("%v", err)
	}
	b.closers = append(b.closers, func() {
		if err := log.Close(); err != nil {
			b.env.say(fmt.Sprintf("the transcript is not complete: %v", err))
		}
	})
	if b.o.session != "" {
		if _, err := os.Stat(log.Path()); err == nil {
			return nil, setupErrorf("--session-id: session %s exists already, and this version cannot resume it; give another id", b.id)
		}
	}
	b.cleanUp(days)
	return log, nil
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
		return model.Thinking{Mode: model.ThinkingBudget, Budget: max(budget, leastBudget)}
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
