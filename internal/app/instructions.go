package app

import (
	"context"
	"slices"
	"sync"
	"time"

	"adze/internal/agent/prompt"
	"adze/internal/hook"
	"adze/internal/instruct"
	"adze/internal/msg"
	"adze/internal/platform/fsys"
	"adze/internal/platform/paths"
	"adze/internal/platform/replace"
	"adze/internal/session"
	"adze/internal/tool"
)

// A background is what the model is told beside what the person says: instructions and the date, before
// the first message and whenever they change. It is safe for concurrent use.
type background struct {
	b        *builder
	language func() prompt.Language

	mu     sync.Mutex
	set    *instruct.Set    // nil if there are no instructions
	first  []msg.Part       // what goes before the first message; nil before it is made
	date   string           // as it was told last
	loaded []instruct.File  // that hooks have not been told of
	there  []prompt.Arrival // what has come and not gone
	known  []prompt.Arrival // of which the model was told
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
func (b *builder) instructions() instruct.Config { return b.prefs.instructions(b.env, b.o) }

// context returns what goes before the first message. It stays the same until the conversation begins anew.
func (g *background) context(ctx context.Context) []msg.Part {
	defer g.announce(ctx)
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.first == nil {
		g.begin()
	}
	return g.first
}

// begin makes what goes before the first message. The caller holds the lock.
func (g *background) begin() {
	var files []instruct.File
	if g.set != nil {
		files = g.set.Load()
		g.b.reportIncludes(g.set.Problems())
	}
	g.date = g.today()
	g.first = prompt.Context(g.language(), files, g.b.memory.index(g.language()), g.date, g.there...)
	g.known = slices.Clone(g.there)
}

// arrive says that something is there from now on, in place of what had the name before. The model is told
// with the next result or prompt, or before the first message if the conversation has not begun.
func (g *background) arrive(a prompt.Arrival) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if i := slices.IndexFunc(g.there, func(old prompt.Arrival) bool { return old.Kind == a.Kind && old.Name == a.Name }); i >= 0 {
		g.there[i] = a
		return
	}
	g.there = append(g.there, a)
}

// leave says that something is not there any more.
func (g *background) leave(kind prompt.ArrivalKind, name string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.there = slices.DeleteFunc(g.there, func(a prompt.Arrival) bool { return a.Kind == kind && a.Name == name })
}

// announcement returns what the model has to be told of what came and went. The caller holds the lock.
func (g *background) announcement() string {
	text := prompt.Announce(g.language(), g.known, g.there)
	g.known = slices.Clone(g.there)
	return text
}

// said returns what goes before the first message, or would if there were none yet.
func (g *background) said() []msg.Part {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.first == nil {
		g.begin()
	}
	return g.first
}

// problems returns which instructions are not used as they were meant.
func (g *background) problems() []instruct.Problem {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.set == nil {
		return nil
	}
	return g.set.Problems()
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

// places returns the files that a line can be added to.
func (g *background) places() []instruct.Place {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.set.Places()
}

// add adds a line to one of them. The model is told when it is told of changes.
func (g *background) add(ctx context.Context, files *replace.Replacer, path, line string) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.set.Add(ctx, files, path, line)
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
	if text := g.announcement(); text != "" {
		texts = append(texts, text)
	}
	return texts
}

// After implements [tool.After]: it adds the instructions that hold for the file a call worked on, and what
// came and went meanwhile.
func (g *background) After(ctx context.Context, u *tool.Use, r *tool.Result) error {
	defer g.announce(ctx)
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, text := range []string{g.found(u, r), g.announcement()} {
		if text != "" {
			r.Reminders = append(r.Reminders, text)
		}
	}
	return nil
}

// found returns the instructions that hold for the file a call worked on, as far as they are new.
func (g *background) found(u *tool.Use, r *tool.Result) string {
	p, ok := tool.As[tool.Pather](u.Call)
	if !ok || r.IsError || g.set == nil {
		return ""
	}
	path, err := paths.Base{Dir: g.b.env.Dir, Home: fsys.UserHome(g.b.env.Getenv)}.Expand(p.Path())
	if err != nil {
		return "" // the call has found its own way
	}
	return prompt.Found(g.language(), g.set.Touch(path))
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
