package app

import (
	"context"
	"path/filepath"
	"sync"
	"time"

	"adze/internal/agent/prompt"
	"adze/internal/hook"
	"adze/internal/instruct"
	"adze/internal/msg"
	"adze/internal/platform/fsys"
	"adze/internal/platform/paths"
	"adze/internal/session"
	"adze/internal/tool"
)

// A background is what the model is told beside what the person says: instructions and the date, before
// the first message and whenever they change. It is safe for concurrent use.
type background struct {
	b        *builder
	language func() prompt.Language

	mu     sync.Mutex
	set    *instruct.Set   // nil if there are no instructions
	first  []msg.Part      // what goes before the first message; nil before it is made
	date   string          // as it was told last
	loaded []instruct.File // that hooks have not been told of
}

// openBackground puts the instructions where the session asks for them. The simple mode has none.
func (b *builder) openBackground(cfg *session.Config) {
	if b.settings.Bool("ADZE_SIMPLE") {
		return
	}
	g := &background{b: b, language: b.promptLanguage}
	if !b.settings.Bool("ADZE_DISABLE_INSTRUCTIONS") {
		c := b.instructions()
		c.Loaded = func(f instruct.File) { g.loaded = append(g.loaded, f) }
		g.set = instruct.New(c)
	}
	b.told = g
	cfg.Context = g.context
	cfg.Afters = append(cfg.Afters, g)
	heard := cfg.Heard
	cfg.Heard = func(ctx context.Context, p session.Prompt) session.Hearing {
		var h session.Hearing
		if heard != nil {
			h = heard(ctx, p)
		}
		if h.Blocked == "" {
			for _, text := range g.news(ctx) {
				h.Context = append(h.Context, msg.Reminder(text))
			}
		}
		return h
	}
}

// instructions says where instructions are looked for.
func (b *builder) instructions() instruct.Config {
	w := b.prefs.workspace
	c := instruct.Config{
		Managed: b.env.Managed, User: b.home, Other: otherHome(b.env, fsys.UserHome(b.env.Getenv)), Home: fsys.UserHome(b.env.Getenv),
		Dir: b.env.Dir, Root: w.Root, Extra: b.o.dirs, Bare: b.o.bare, Trusted: w.Trusted(),
		Excludes: b.settings.Strings("instructionExcludes"),
	}
	if real, err := filepath.EvalSymlinks(c.Dir); err == nil {
		c.Dir = real
	}
	return c
}

// context returns what goes before the first message. It stays the same until the conversation begins anew.
func (g *background) context(ctx context.Context) []msg.Part {
	defer g.announce(ctx)
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.first == nil {
		var files []instruct.File
		if g.set != nil {
			files = g.set.Load()
		}
		g.date = g.today()
		g.first = prompt.Context(g.language(), files, g.date)
	}
	return g.first
}

// files returns the instructions in force.
func (g *background) files() []instruct.File {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.set == nil {
		return nil
	}
	return g.set.Files()
}

// Reset makes the next request begin with what holds then, after the conversation was shortened or cleared.
func (g *background) Reset() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.first = nil
}

func (g *background) today() string { return g.b.env.Now().Format(time.DateOnly) }

// news returns what changed since the model was last told.
func (g *background) news(ctx context.Context) []string {
	defer g.announce(ctx)
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.first == nil {
		return nil
	}
	var texts []string
	if now := g.today(); now != g.date {
		g.date = now
		texts = append(texts, prompt.Date(g.language(), now))
	}
	if g.set != nil {
		for _, c := range g.set.Changes() {
			texts = append(texts, prompt.Changed(g.language(), c))
		}
	}
	return texts
}

// After implements [tool.After]: it adds the instructions that hold for the file a call worked on.
func (g *background) After(ctx context.Context, u *tool.Use, r *tool.Result) error {
	p, ok := tool.As[tool.Pather](u.Call)
	if !ok || r.IsError || g.set == nil {
		return nil
	}
	path, err := paths.Base{Dir: g.b.env.Dir, Home: fsys.UserHome(g.b.env.Getenv)}.Expand(p.Path())
	if err != nil {
		return nil // ok: the call has found its own way
	}
	defer g.announce(ctx)
	g.mu.Lock()
	defer g.mu.Unlock()
	if text := prompt.Found(g.language(), g.set.Touch(path)); text != "" {
		r.Reminders = append(r.Reminders, text)
	}
	return nil
}

// announce tells the hooks which files were read.
func (g *background) announce(ctx context.Context) {
	g.mu.Lock()
	files := g.loaded
	g.loaded = nil
	g.mu.Unlock()
	if g.b.hooks == nil || !g.b.hooks.Has(hook.InstructionsLoaded) {
		return
	}
	for _, f := range files {
		g.b.hooks.Fire(ctx, hook.OnInstructionsLoaded(f.Path, f.Kind.String(), string(f.Reason), f.Globs))
	}
}
