package app

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"adze/internal/agent"
	"adze/internal/agent/prompt"
	"adze/internal/memory"
	"adze/internal/model"
	"adze/internal/msg"
	"adze/internal/platform/gitinfo"
	"adze/internal/session"
	"adze/internal/tools/bash"
)

// An assembler writes the system prompt of a turn.
type assembler = func(context.Context, agent.Model, []msg.ToolSpec) ([]msg.Part, []model.Mark)

// prompt returns what assembles the system prompt of each turn.
func (b *builder) prompt() (assembler, error) {
	w, err := b.writer()
	if err != nil {
		return nil, err
	}
	b.prompts = w
	return w.write, nil
}

// A writer writes the system prompt of a session, once for each thing it depends on, so that the blocks of
// all requests are the same ones.
type writer struct {
	b        *builder
	choice   prompt.Choice
	layout   prompt.Layout
	facts    prompt.Facts
	registry *prompt.Registry
	simple   bool
	git      func() prompt.Git // nil if nothing is asked

	mu      sync.Mutex // of what follows, and of the facts and the registry
	written map[variant]written
}

// A variant is what a prompt depends on.
type variant struct {
	model, answer string
	tools         int
	shared        bool
	language      prompt.Language
	memory        memory.Mode
}

type written struct {
	blocks []msg.Part
	marks  []model.Mark
}

func (b *builder) writer() (*writer, error) {
	replaced, err := textOrFile(b.o.system, b.o.systemFile, "--system-prompt-file")
	if err != nil {
		return nil, err
	}
	appended, err := textOrFile(b.o.appended, b.o.appendedFile, "--append-system-prompt-file")
	if err != nil {
		return nil, err
	}
	_, repository := findBranch(b.env.Dir)
	w := &writer{
		b:        b,
		choice:   prompt.Choice{Append: appended},
		layout:   prompt.Layout{None: b.settings.Bool("ADZE_DISABLE_PROMPT_CACHING"), Hour: b.cachesLong()},
		registry: prompt.NewRegistry(nil),
		simple:   b.settings.Bool("ADZE_SIMPLE"),
		written:  map[variant]written{},
		facts: prompt.Facts{
			Env: prompt.Environment{
				Dir: b.env.Dir, Extra: b.o.dirs, Repository: repository,
				Original: b.prefs.workspace.Main, Platform: runtime.GOOS + "/" + runtime.GOARCH, System: systemVersion(), Date: b.env.Now().Format(time.DateOnly),
			},
			Guide:     prompt.Guidance{Interactive: interactive(b.env, b.o)},
			Explained: b.settings.Text("communication") == "explained",
			Budget:    b.o.tokenBudget,
			Kept:      b.settings.Int("microCompact.keepResults"),
			NoteDown:  true,
		},
	}
	if shell, err := bash.Find(); err == nil { // the one that runs commands, not the person's own
		w.facts.Env.Shell = strings.TrimSuffix(filepath.Base(shell.Path), ".exe")
	}
	if b.settings.Bool("attributionHeader") {
		w.layout.Client = "adze/" + Version + " (" + b.entryPoint() + ")"
	}
	if b.o.given["system-prompt"] || b.o.given["system-prompt-file"] {
		w.choice.Custom = &replaced
	}
	if !w.simple && w.choice.Custom == nil && repository {
		w.git = b.snapshot()
	}
	return w, nil
}

// entryPoint says how the program is used.
func (b *builder) entryPoint() string {
	switch {
	case interactive(b.env, b.o):
		return "interactive"
	case b.o.input == inputStream:
		return "sdk"
	}
	return "headless"
}

// cachesLong reports whether requests of the main conversation are cached for an hour. The settings that
// the session began with decide, so that lifetimes are never mixed.
func (b *builder) cachesLong() bool {
	source := "sdk"
	if interactive(b.env, b.o) {
		source = "repl_main_thread"
	}
	return slices.ContainsFunc(b.settings.Strings("cache1h"), func(pattern string) bool {
		prefix, open := strings.CutSuffix(pattern, "*")
		return pattern == source || open && strings.HasPrefix(source, prefix)
	})
}

// write implements [assembler].
func (w *writer) write(_ context.Context, m agent.Model, tools []msg.ToolSpec) ([]msg.Part, []model.Mark) {
	v := w.variant(m, tools)
	w.mu.Lock()
	defer w.mu.Unlock()
	done, ok := w.written[v]
	if !ok {
		done.blocks, done.marks = w.assembly(v).Parts(w.layoutFor(v))
		w.written[v] = done
	}
	return done.blocks, done.marks
}

// reset makes the sections of the prompt be written anew, after the conversation was summed up.
func (w *writer) reset() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.registry.Reset()
	clear(w.written)
}

// blocks returns what write does, by sections, and whether it is cached for an hour.
func (w *writer) blocks(m agent.Model, tools []msg.ToolSpec) (blocks []prompt.Block, hour bool) {
	v := w.variant(m, tools)
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.assembly(v).Blocks(w.layoutFor(v)), w.layout.Hour
}

func (w *writer) variant(m agent.Model, tools []msg.ToolSpec) variant {
	return variant{
		model: m.ID, answer: w.b.prefs.live.Settings().Text("language"), tools: len(tools),
		shared: w.b.backend == nil || w.b.backend.shared, language: w.b.promptLanguage(),
		memory: w.b.memory.mode(),
	}
}

func (w *writer) layoutFor(v variant) prompt.Layout {
	l := w.layout
	l.Tools, l.Shared = v.tools, v.shared
	return l
}

// assembly returns the prompt that belongs to v.
func (w *writer) assembly(v variant) prompt.Assembly {
	known, _ := w.b.table.Lookup(v.model)
	if remember := w.b.memory.section(v.language); w.facts.Answer != v.answer || w.facts.Memory != remember {
		w.facts.Answer, w.facts.Memory = v.answer, remember
		w.registry.Reset()
	}
	if w.git != nil {
		w.facts.Git = w.git()
	}
	w.facts.Language = v.language
	w.facts.Model = prompt.Model{ID: v.model, Name: known.Name, Cutoff: known.Cutoff}
	a, err := w.choice.Select(func() prompt.Assembly {
		if w.simple {
			return prompt.Simple(v.language, w.facts.Env)
		}
		return w.registry.Assemble(&w.facts)
	})
	if err != nil {
		w.b.env.say(err.Error())
	}
	return a
}

// promptLanguage returns the language of the prompt as the settings have it now.
func (b *builder) promptLanguage() prompt.Language {
	return prompt.Language(b.prefs.live.Settings().Text("promptLanguage"))
}

// describeTools returns tools as they are described in the language of the prompt.
func (b *builder) describeTools(specs []msg.ToolSpec) []msg.ToolSpec {
	return b.described.in(b.promptLanguage(), specs)
}

// A described keeps the last description of tools: they seldom change. It is safe for concurrent use.
type described struct {
	mu       sync.Mutex
	language prompt.Language
	from, to []msg.ToolSpec
}

func (d *described) in(l prompt.Language, specs []msg.ToolSpec) []msg.ToolSpec {
	if l == prompt.English || len(specs) == 0 {
		return specs
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.language != l || len(d.from) != len(specs) || &d.from[0] != &specs[0] {
		d.language, d.from, d.to = l, specs, prompt.Describe(l, specs)
	}
	return d.to
}

// watchCache logs when the provider has to read anew what it had cached, with what made it so.
func (b *builder) watchCache(cfg *session.Config) {
	cfg.Answered = func(req *model.Request, u msg.Usage) {
		sent := *req
		sent.Tools = b.describeTools(req.Tools)
		if lost, ok := b.watch.Answered(&sent, u); ok && cfg.Debug != nil {
			cfg.Debug.Info("the provider's cache was lost", "changed", strings.Join(lost.Changed, ","), "request", lost.Request, "message", lost.Message, "tokens", lost.Lost)
		}
	}
}

// snapshot asks git about the workspace, once, while other things are made ready. It returns what waits for
// the answer. A workspace that is not trusted is not asked.
func (b *builder) snapshot() func() prompt.Git {
	if b.git != nil || !b.prefs.workspace.Trusted() {
		return b.git
	}
	ctx, cancel := context.WithCancel(context.Background())
	var answer prompt.Git
	var asked sync.WaitGroup
	asked.Go(func() { answer = prompt.Git(gitinfo.Take(ctx, &b.runner, b.env.Dir, environ(b.settings))) })
	b.closers = append(b.closers, func() { cancel(); asked.Wait() })
	b.git = func() prompt.Git { asked.Wait(); return answer }
	return b.git
}

// systemVersion returns the name and version of the operating system, where they can be read at once.
func systemVersion() string {
	release, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		return ""
	}
	return "Linux " + strings.TrimSpace(string(release))
}

func textOrFile(text, file, flag string) (string, error) {
	if file == "" {
		return text, nil
	}
	data, err := os.ReadFile(file)
	if err != nil {
		var path *os.PathError
		if errors.As(err, &path) {
			err = path.Err
		}
		return "", setupErrorf("%s: reading %s: %v", flag, file, err)
	}
	return string(data), nil
}
